"""The sculpted fields at points. See `sculpt_kernels` for the sculpture; building needs numba."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.sculpting.fields import Field
from understudy.checks import Array


def _kernels() -> ModuleType:
    from understudy.cast.face import sculpt_kernels

    return sculpt_kernels


def distance(points: ArrayLike, field: str = "skin") -> Array:
    """(M,) signed distance to one of `sculpt_kernels.FIELDS` at points (M, 3)."""
    kernels = _kernels()
    result: Array = kernels.at_points(np.ascontiguousarray(points, dtype=float), kernels.FIELDS.index(field))
    return result


def field(name: str) -> Field:
    """One of `sculpt_kernels.FIELDS` as a function."""
    return lambda points: distance(points, name)


def hair_field(locks: Array) -> Field:
    """The hair of locks (N, P, 4): points and radii."""
    kernels = _kernels()

    def at(points: Array) -> Array:
        result: Array = kernels.hair_at_points(np.ascontiguousarray(points, dtype=float), locks)
        return result

    return at


def piece(name: str, points: Array) -> Array:
    """(M,) distance to one piece of the head (`upper_lip`, `lower_lip`, `concha`, `collar`) at left points (M, 3)."""
    result: Array = getattr(_kernels(), name)(*np.asarray(points, dtype=float).T)
    return result


def lip_line(points: ArrayLike) -> Array:
    """(M,) height at which the lips meet above or below points (M, 3)."""
    result: Array = _kernels().lip_line(np.abs(np.asarray(points, dtype=float)[:, 0]))
    return result


def along_rays(origin: ArrayLike, directions: ArrayLike, near: float, far: float) -> Array:
    """(M, 3) where rays leave the closed head between `near` (inside) and `far` (outside), by bisection."""
    origin, directions = np.broadcast_arrays(np.asarray(origin, float), np.asarray(directions, float))
    low, high = np.full(len(directions), near), np.full(len(directions), far)
    for _ in range(40):
        middle = 0.5 * (low + high)
        inside = distance(origin + middle[:, None] * directions, "closed") < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(origin + low[:, None] * directions)


def on_front(xy: ArrayLike) -> Array:
    """(M, 3) places on the closed head's front at (M, 2) x and y."""
    xy = np.asarray(xy, dtype=float)
    origin = np.concatenate([xy, np.zeros((len(xy), 1))], axis=1)
    return along_rays(origin, np.tile([0.0, 0.0, 1.0], (len(xy), 1)), 0.05, 0.55)
