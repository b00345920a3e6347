"""The penguin: round, with flippers, short legs and a scarf. `body` makes it, the package ships it as a file."""

from __future__ import annotations

from pathlib import Path

from understudy.cast.penguin.skeleton import LIMITS
from understudy.character import Asset

__all__ = ["FILE", "LIMITS", "penguin"]

FILE = Path(__file__).with_name("penguin.npz")


def penguin() -> Asset:
    """The penguin in its rest pose."""
    from understudy.cast.sculpting import store

    return Asset([store.read(FILE)], format="cast")
