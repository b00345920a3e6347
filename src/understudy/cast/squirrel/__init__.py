"""The squirrel: a big head and a tail as large as itself. `body` makes it, the package ships it as a file."""

from __future__ import annotations

from pathlib import Path

from understudy.cast.squirrel.skeleton import LIMITS
from understudy.character import Asset

__all__ = ["FILE", "LIMITS", "squirrel"]

FILE = Path(__file__).with_name("squirrel.npz")


def squirrel() -> Asset:
    """The squirrel in its rest pose."""
    from understudy.cast.sculpting import store

    return Asset([store.read(FILE)], format="cast")
