"""The actor: a person who acts six emotions. `body` makes the figure, the package ships it as a file."""

from __future__ import annotations

from pathlib import Path

from understudy.cast.actor.skeleton import LIMITS
from understudy.character import Asset

__all__ = ["FILE", "LIMITS", "actor"]

FILE = Path(__file__).with_name("actor.npz")


def actor() -> Asset:
    """The actor and the six emotions, a dense clip each."""
    from understudy.cast.actor import clips
    from understudy.cast.sculpting import store

    return Asset([store.read(FILE)], clips=clips.clips(), format="cast")
