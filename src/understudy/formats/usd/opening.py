"""Opening a USD file safely: what it composes, whether it is sound, and the library's errors as ours."""

from __future__ import annotations

from pathlib import Path

from pxr import Ar, Sdf, Tf, Usd

from understudy import files
from understudy.character import Asset
from understudy.errors import BadFile, FileError, InvalidInput, Unsupported
from understudy.formats.usd import guard, library, read_asset

MOST_LAYERS = 1_000


def read(path: Path) -> Asset:
    """The asset in a file; whatever is binary, or composes something binary, is tried in a child process first."""
    if path.is_dir() or not path.exists() or path.stat().st_size > files.LARGEST_FILE:
        files.read_bytes(path)  # says what is wrong with it
    if not guard.is_text(path):
        guard.finish(guard.start(path), path)
        return read_here(path)
    with library.quiet():
        only_text = _check_layers(path, text_only=True) is not None
    if not only_text:
        guard.finish(guard.start(path), path)
    return read_here(path)


def read_here(path: Path) -> Asset:
    """The asset in a file, read in this process."""
    with library.quiet():
        try:
            missing = _check_layers(path) or []
            asset = read_asset.read(path, _open(path))
        except FileError:
            raise
        except InvalidInput as error:
            raise BadFile(path, str(error)) from error
        except Tf.ErrorException as error:
            raise BadFile(path, f"is damaged: {library.first_message(error)}") from None
    notes = [f"the layer {name} that the file refers to was not found" for name in missing]
    return Asset(asset.characters, asset.clips, asset.curves, (*asset.notes, *notes), "usd")


def _open(path: Path) -> Usd.Stage:
    stage = Usd.Stage.Open(str(path), Usd.Stage.LoadAll)
    if not stage:
        raise BadFile(path, "is not a USD file")
    return stage


def _check_layers(path: Path, text_only: bool = False) -> list[str] | None:
    """Follow sublayers, references and payloads; refuse any outside the file's folder, and return those not found.

    With `text_only` return None as soon as one is binary, without opening it.
    """
    folder = path.resolve().parent
    missing: list[str] = []
    seen: set[str] = set()
    waiting = [str(path)]
    while waiting:
        layer = _layer(path, waiting.pop())
        for name in layer.GetCompositionAssetDependencies():
            found = str(Ar.GetResolver().Resolve(layer.ComputeAbsolutePath(name)))
            if not found:
                missing.append(name)
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
    return missing


def _layer(path: Path, name: str) -> Sdf.Layer:
    try:
        layer = Sdf.Layer.FindOrOpen(name)
    except Tf.ErrorException as error:
        raise BadFile(path, f"is damaged: {library.first_message(error)}") from None
    if not layer:
        raise BadFile(path, "is not a USD file, or is damaged")
    return layer
