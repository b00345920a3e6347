"""Pictures that a material names: inside the package (`.usdz`) or in files beside the layer, never from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pxr import Ar

from understudy import files
from understudy.character import Image
from understudy.errors import FileError
from understudy.formats.usd.reading import Reading

MIMES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


def read(reading: Reading, asset: Any) -> Image | None:
    """The picture behind an asset path; without its bytes where it cannot be read, None where no file is named."""
    given = str(asset.path)
    if not given:
        return None
    if given not in reading.images:
        reading.images[given] = _load(reading, given, str(asset.resolvedPath))
    return reading.images[given]


def _load(reading: Reading, given: str, resolved: str) -> Image:
    name = given.replace("\\", "/").rsplit("/", 1)[-1].rstrip("]")
    mime = MIMES.get(Path(name).suffix.lower(), "application/octet-stream")
    package, bracket, _ = resolved.partition("[")
    place = Path(package if bracket else resolved)
    folder = reading.path.resolve().parent
    if not resolved or not place.is_file():
        reading.note("pictures were not found: {}", given)
    elif not place.resolve().is_relative_to(folder):
        reading.note(f"picture {given} lies outside the file's folder and was not read")
    else:
        data = _packed(reading, resolved) if bracket else _plain(reading, place)
        if data is not None:
            return Image(name, mime, data)
    return Image(given, mime, b"")


def _plain(reading: Reading, place: Path) -> bytes | None:
    try:
        return files.read_bytes(place)
    except FileError as error:
        reading.note(f"picture {place.name} {error.reason}")
        return None


def _packed(reading: Reading, resolved: str) -> bytes | None:
    asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(resolved))
    if not asset:
        reading.note(f"picture {resolved.partition('[')[2].rstrip(']')} cannot be read from the package")
        return None
    return bytes(asset.GetBuffer())
