"""The built-in characters and their hand animation, made by this project's own code: nothing has to be downloaded."""

from __future__ import annotations

import importlib

from understudy import checks
from understudy.character import Asset

# name: module below understudy.cast, which has a function of the same name that builds the asset
CAST = {"dragon": "dragon", "lamp": "lamp"}


def names() -> tuple[str, ...]:
    """Who is in the cast."""
    return tuple(CAST)


def load(name: str) -> Asset:
    """A cast member with its animation; an unknown name is refused with the list of those known."""
    module = CAST[checks.one_of(name, "cast member", CAST)]
    asset: Asset = getattr(importlib.import_module(f"understudy.cast.{module}"), name)()
    return asset
