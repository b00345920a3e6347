"""USD, both ways: UsdSkel characters with skins, blend shapes and animation (`.usda`, `.usdc`, `.usd`, `.usdz`).

Needs the extra `usd` (Pixar's own library); everything else in understudy works without it.
"""

from __future__ import annotations

from pathlib import Path

from understudy.character import Asset
from understudy.formats.usd import library


def read(path: str | Path) -> Asset:
    """Characters and curves of a USD file, in metres with Y up; `notes` say what was dropped or changed."""
    library.require("reading USD files")
    library.check_name(path)
    from understudy.formats.usd.reader import read as read_file

    return read_file(Path(path))


def write(asset: Asset, path: str | Path) -> list[str]:
    """Write an asset as USD; returns what the format could not hold."""
    library.require("writing USD files")
    from understudy.formats.usd.writer import write as write_file

    return write_file(asset, Path(path))
