"""The sculpted fields at points: distances, gradients and the lips' sheet. See `sculpt_kernels` for the sculpture.

Building needs numba: four million samples in half a second instead of a minute.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import linear


def _kernels() -> ModuleType:
    from understudy.cast.dragon import sculpt_kernels

    return sculpt_kernels


def distance(points: ArrayLike, field: str = "skin") -> Array:
    """(M,) signed distance to `skin`, `closed` (no carving) or `without_mouth` at points (M, 3), in HL."""
    kernels = _kernels()
    result: Array = kernels.at_points(np.ascontiguousarray(points, dtype=float), kernels.FIELDS.index(field))
    return result


def gradient(points: ArrayLike, step: float = 0.003) -> Array:
    """(M, 3) gradient of the skin's distance."""
    result: Array = _kernels().skin_gradient(np.ascontiguousarray(points, dtype=float), step)
    return result


def lip_sheet(points: ArrayLike) -> Array:
    """(M,) height at which the lips meet above or below points (M, 3)."""
    points = np.asarray(points, dtype=float)
    result: Array = _kernels().lip_sheet(np.abs(points[:, 0]), points[:, 2])
    return result


def slit_width(points: ArrayLike) -> Array:
    """(M,) half the width of the mouth's slit at points (M, 3)."""
    result: Array = _kernels().slit_width(np.asarray(points, dtype=float)[:, 2])
    return result


def on_grid(xs: Array, ys: Array, zs: Array) -> Array:
    """(X, Y, Z) float32 distance to the skin."""
    result: Array = _kernels().skin_on_grid(xs, ys, zs)
    return result


def onto_skin(points: Array, steps: int = 4, longest: float = 0.01) -> Array:
    """Points (M, 3) moved onto the zero set: Newton's p -= d g / |g|^2, no step longer than `longest`."""
    for _ in range(steps):
        d, g = distance(points), gradient(points)
        move = (d / np.maximum(linear.dot(g, g), 0.2))[:, None] * g
        points = points - move * np.minimum(1.0, longest / np.maximum(linear.length(move), 1e-9))[:, None]
    return points


def along_ray(origin: ArrayLike, direction: ArrayLike, near: float, far: float) -> Array:
    """(3,) where the ray leaves the skin between `near` (inside) and `far` (outside), by bisection."""
    origin, direction = np.asarray(origin, dtype=float), np.asarray(direction, dtype=float)
    for _ in range(40):
        middle = 0.5 * (near + far)
        if distance((origin + middle * direction)[None])[0] < 0:
            near = middle
        else:
            far = middle
    return np.asarray(origin + near * direction)


def unit_gradient(points: ArrayLike, step: float = 0.004) -> Array:
    """(M, 3) outward unit normals of the sculpture."""
    return linear.normalise(gradient(points, step), (0.0, 1.0, 0.0))
