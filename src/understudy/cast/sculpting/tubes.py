"""Tubes with oval rings, closed at both ends: brows, lashes, gums, tongue."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.sculpting.patches import grid
from understudy.checks import Array
from understudy.maths import linear

TIP = 0.6  # of the last ring's half height: how far the closing point stands off


def tube(path: Array, high: Array, deep: Array, sides: int, up: ArrayLike) -> Array:
    """(N sides + 2, 3) rings along `path` (N, 3) with half axes `high` (N,) along `up` and `deep` (N,) across.

    Ring r has the vertices r sides ... , the first of them on its top; the last two close the ends.
    """
    tangent = linear.normalise(np.gradient(path, axis=0))
    upwards = np.broadcast_to(np.asarray(up, dtype=float), path.shape)
    top = linear.normalise(upwards - tangent * linear.dot(upwards, tangent)[:, None])
    side = linear.cross(tangent, top)
    angle = np.arange(sides) * (2 * np.pi / sides)
    rings = (
        path[:, None]
        + high[:, None, None] * np.cos(angle)[None, :, None] * top[:, None]
        + deep[:, None, None] * np.sin(angle)[None, :, None] * side[:, None]
    )
    ends = [path[0] - tangent[0] * high[0] * TIP, path[-1] + tangent[-1] * high[-1] * TIP]
    return np.concatenate([rings.reshape(-1, 3), ends])


def triangles(rings: int, sides: int) -> Array:
    """(T, 3) of such a tube."""
    count = rings * sides
    first, last = np.arange(sides), np.arange(count - sides, count)
    fans = [
        np.stack([np.roll(first, -1), first, np.full(sides, count)], axis=1),
        np.stack([last, np.roll(last, -1), np.full(sides, count + 1)], axis=1),
    ]
    return np.concatenate([grid(rings, sides, around=True), *fans])
