"""Motions by name: what a user gives (a file, several clips of one) as the sources that pairs speak of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from understudy import files, formats, tables
from understudy.character import Asset
from understudy.errors import BadFile, InvalidInput
from understudy.retarget.pair_file import LARGEST
from understudy.retarget.source import Source, factor_of, source_of


def sources_of(
    asset: Asset,
    stem: str,
    clips: Iterable[str] = (),
    *,
    rate: float | None = None,
    units: str | float | None = None,
) -> dict[str, Source]:
    """The motions of an asset by name: a single animation by the stem of its file, several by their own names."""
    chosen = [asset.animation(clip) for clip in clips] or list(asset.animations)
    if not chosen:
        raise InvalidInput(f"{stem} should hold a motion, but nothing moves in it")
    alone = len(asset.animations) == 1
    found = {}
    for animation in chosen:
        short = animation.name.rpartition("|")[2]
        found[stem if alone else short] = source_of(asset, animation, rate=rate, units=units)
    return found


def named_motions(path: str | Path) -> list[str]:
    """The motions that a PAIRS.toml names, each once; mistakes in it are told when its pairs are read."""
    table = tables.loads(files.read_text(path), str(path), LARGEST)
    entries = table.get("pair", [])
    names = [entry.get("motion") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def reading(path: str | Path, units: str | float | None) -> tuple[dict[str, Any], str | float | None]:
    """How a file with lengths in `units` is read: options of its reader, and the units of what it hands over.

    Readers that guess units by themselves, as that of BVH, are told, and hand over metres.
    """
    factor = factor_of(units)
    if factor is None or not formats.readable(path) or "scale" not in formats.by_ending(path).options:
        return {}, units
    return {"scale": factor}, 1.0


def beside(
    names: Iterable[str], folders: Iterable[Path], *, rate: float | None = None, units: str | float | None = None
) -> dict[str, Source]:
    """The motions of those names, from files of that stem in the first of the folders that has one."""
    found: dict[str, Source] = {}
    places = list(dict.fromkeys(folders))
    for name in names:
        files_there = [p for folder in places for p in sorted(folder.glob(f"{_plain(name)}.*")) if formats.readable(p)]
        if files_there:
            try:
                options, left = reading(files_there[0], units)
                found |= sources_of(formats.read(files_there[0], **options), name, rate=rate, units=left)
            except InvalidInput as error:
                raise BadFile(files_there[0], str(error)) from None
    return found


def _plain(name: str) -> str:
    """A name without what would match other files."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name if c not in "/\\")
