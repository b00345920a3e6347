"""Vectors in the last axis: products, lengths, safe directions.

`numpy.cross` and `numpy.linalg.norm` spend most of their time on axis handling for three columns; these do not, and
they broadcast over any leading dimensions. No function divides by zero: a vector without a direction gets the one
asked for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array

MIN_LENGTH = 1e-100
"""Lengths below this count as zero. Above it the square (1e-200) is still a normal float64, so that ratios keep all
their digits; anything physical is larger by ninety orders of magnitude."""


def dot(a: ArrayLike, b: ArrayLike) -> Array:
    """Sum of products over the last axis: (..., D), (..., D) -> (...)."""
    return np.einsum("...i,...i->...", np.asarray(a, dtype=float), np.asarray(b, dtype=float))


def length(v: ArrayLike) -> Array:
    """Euclidean length of the last axis: (..., D) -> (...)."""
    v = np.asarray(v, dtype=float)
    return np.sqrt(np.einsum("...i,...i->...", v, v))


def normalise(v: ArrayLike, otherwise: ArrayLike = 0.0) -> Array:
    """Unit vectors (..., D); a vector of length zero becomes `otherwise`."""
    v = np.asarray(v, dtype=float)
    size = length(v)[..., None]
    empty = size < MIN_LENGTH
    unit = v / np.where(empty, 1.0, size)
    return np.where(empty, otherwise, unit) if empty.any() else unit


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """Cross product: (..., 3), (..., 3) -> (..., 3)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def perpendicular(v: ArrayLike) -> Array:
    """Some unit vector at a right angle to each v (..., 3): v crossed with the axis in which v is smallest."""
    v = np.asarray(v, dtype=float)
    axis = np.eye(3)[np.argmin(np.abs(v), axis=-1)]
    return normalise(cross(v, axis), otherwise=(1.0, 0.0, 0.0))


def skew(v: ArrayLike) -> Array:
    """The matrix [v] with [v] u = v x u: (..., 3) -> (..., 3, 3)."""
    v = np.asarray(v, dtype=float)
    out = np.zeros((*v.shape[:-1], 3, 3))
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = v[..., 0], v[..., 1], v[..., 2]
    out[..., 1, 2], out[..., 2, 0], out[..., 0, 1] = -v[..., 0], -v[..., 1], -v[..., 2]
    return out
