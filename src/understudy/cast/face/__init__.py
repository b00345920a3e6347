"""The face: a head of this project's own making with ARKit's 52 shapes and 68 landmarks, and its hand animation.

It is made by `body` when the files that are shipped are built (`build`). Loading reads these files.
"""

from __future__ import annotations

from pathlib import Path

from understudy.cast.face.landmarks import NAMES as LANDMARK_NAMES
from understudy.cast.face.landmarks import read as _landmarks
from understudy.character import Asset

__all__ = ["FILE", "LANDMARKS", "LANDMARK_NAMES", "face"]

FILE = Path(__file__).with_name("face.npz")
LANDMARKS = _landmarks()  # (68,) vertices of the whole character, in the order of the iBUG scheme


def face() -> Asset:
    """The face and its animation: curves of ARKit's weights, each with its label and the moment of its `peak`."""
    from understudy.cast.face import clips
    from understudy.cast.sculpting import store

    return Asset([store.read(FILE)], curves=clips.clips(), format="cast")
