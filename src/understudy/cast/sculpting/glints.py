"""Glints: unlit discs on the eyes, which hang on the head and not on the eyeball, and stay where the light is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.sculpting.patches import Patch, facing_out, held
from understudy.checks import Array
from understudy.maths import linear

Glint = tuple[float, float, float, float]  # degrees left, up, radius; height over the eye, of its radius


def glints(eye: ArrayLike, radius: float, looking: Array, table: Sequence[Glint], joint: str = "Head") -> list[Patch]:
    """Discs on the left eye at `eye` (3,), which looks along `looking` (3,), and on the right one.

    They stand on the same side of both, since both mirror one window.
    """
    patches = []
    for number, (left, up, size, height) in enumerate(table, 1):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            centre, gaze = np.asarray(eye) * [sign, 1.0, 1.0], looking * [sign, 1.0, 1.0]
            right = linear.normalise(np.array([1.0, 0.0, 0.0]) - gaze * gaze[0])
            a, b = np.radians(left), np.radians(up)
            toward = np.array([np.sin(a) * np.cos(b), np.sin(b), np.cos(a) * np.cos(b)])
            middle = toward @ np.stack([right, np.cross(gaze, right), gaze])
            vertices = centre + radius * height * _disc(middle, np.radians(size))
            around = 1 + np.arange(len(vertices) - 1)
            fan = np.stack([np.zeros_like(around), around, np.roll(around, -1)], axis=1)
            patches.append(held(f"Highlight{number}.{side}", facing_out(vertices, fan, centre), np.ones(3), joint))
    return patches


def _disc(middle: Array, radius: float, sides: int = 20) -> Array:
    """(1 + sides, 3) a disc on the unit sphere: its middle, then its rim, a little narrower than tall."""
    across = linear.normalise(np.cross(middle, [0.0, 1.0, 0.0]))
    up = np.cross(middle, across)
    angle = np.arange(sides) * (2 * np.pi / sides)
    rim = middle + np.tan(radius) * (0.85 * np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * up)
    return np.concatenate([middle[None], linear.normalise(rim)])
