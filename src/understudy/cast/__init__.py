"""The built-in characters and their hand animation, made by this project's own code: nothing has to be downloaded."""

from __future__ import annotations

import importlib
from types import ModuleType

from understudy import checks
from understudy.character import Asset
from understudy.checks import Array

# name: module below understudy.cast, which has a function of the same name that builds the asset
CAST = {"dragon": "dragon", "face": "face", "lamp": "lamp"}


def names() -> tuple[str, ...]:
    """Who is in the cast."""
    return tuple(CAST)


def load(name: str) -> Asset:
    """A cast member with its animation; an unknown name is refused with the list of those known."""
    asset: Asset = getattr(_module(name), name)()
    return asset


def poses(name: str) -> dict[str, Array]:
    """The full poses of a cast member's library, name -> row (C,) of its rig; none where it has no library."""
    library: dict[str, Array] = getattr(_module(name), "poses", dict)()
    return {pose: row for pose, row in library.items() if "." not in pose}  # `lids.angry` moves the lids alone


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"understudy.cast.{CAST[checks.one_of(name, 'cast member', CAST)]}")
