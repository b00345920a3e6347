"""Opening a USD file safely: what it composes, whether it is sound, and the library's errors as ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pxr import Ar, Sdf, Tf, Usd

from understudy import files
from understudy.character import Asset
from understudy.errors import BadFile, FileError, InvalidInput, Unsupported
from understudy.formats.usd import guard, library, read_asset

MOST_LAYERS = 1_000


@dataclass
class Layers:
    """The layers that a file is made of, kept open so that none is parsed twice, and those that were not found."""

    found: list[Sdf.Layer] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def read(path: Path) -> Asset:
    """The asset in a file; whatever is binary, or composes something binary, is tried in a child process first."""
    if path.is_dir() or not path.exists() or path.stat().st_size > files.LARGEST_FILE:
        files.read_bytes(path)  # says what is wrong with it
    layers = None
    if guard.is_text(path):
        with library.quiet():
            layers = _layers(path, text_only=True)
    if layers is None:
        guard.finish(guard.start(path), path)
    return read_here(path, layers)


def read_here(path: Path, layers: Layers | None = None) -> Asset:
    """The asset in a file, read in this process; `layers` are its layers where they are open already."""
    with library.quiet():
        try:
            layers = layers or _layers(path) or Layers()
            asset = read_asset.read(path, _open(path))
        except FileError:
            raise
        except InvalidInput as error:
            raise BadFile(path, str(error)) from error
        except UnicodeDecodeError:
            raise BadFile(path, "is damaged: it holds text that is not UTF-8") from None
        except Tf.ErrorException as error:
            raise BadFile(path, f"is damaged: {library.first_message(error)}") from None
    notes = [f"the layer {name} that the file refers to was not found" for name in layers.missing]
    return Asset(asset.characters, asset.clips, asset.curves, (*asset.notes, *notes), "usd")


def _open(path: Path) -> Usd.Stage:
    stage = Usd.Stage.Open(str(path), Usd.Stage.LoadAll)
    if not stage:
        raise BadFile(path, "is not a USD file")
    return stage


def _layers(path: Path, text_only: bool = False) -> Layers | None:
    """Follow sublayers, references and payloads; refuse any outside the file's folder.

    With `text_only` return None as soon as one is binary, without opening it.
    """
    folder = path.resolve().parent
    result = Layers()
    seen: set[str] = set()
    waiting = [str(path)]
    while waiting:
        layer = _layer(path, waiting.pop())
        result.found.append(layer)
        for name in layer.GetCompositionAssetDependencies():
            found = str(Ar.GetResolver().Resolve(layer.ComputeAbsolutePath(name)))
            if not found:
                result.missing.append(name)
                continue
            if found in seen:
                continue
            seen.add(found)
            place = Path(found.partition("[")[0])
            if not place.resolve().is_relative_to(folder):
                raise Unsupported(path, f"refers to {name}, which lies outside its folder; put both into one")
            if len(seen) > MOST_LAYERS:
                raise Unsupported(path, f"refers to more than {MOST_LAYERS:,} layers")
            if text_only and not guard.is_text(place):
                return None
            waiting.append(found)
    return result


def _layer(path: Path, name: str) -> Sdf.Layer:
    try:
        layer = Sdf.Layer.FindOrOpen(name)
    except Tf.ErrorException as error:
        raise BadFile(path, f"is damaged: {library.first_message(error)}") from None
    if not layer:
        raise BadFile(path, "is not a USD file, or is damaged")
    if not layer.dirty:
        layer.Reload()  # where this process had it open already and the file has changed since
    return layer
