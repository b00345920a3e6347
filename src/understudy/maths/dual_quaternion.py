"""Rigid motions as unit dual quaternions, r + e d: rotation and translation that blend without collapsing [Kavan 2007].

Eight numbers in the last axis: r (x, y, z, w), then d (x, y, z, w), with d = (t, 0) r / 2. `multiply(a, b)` moves
by b first. As with quaternions, both signs are the same motion. Scale and shear are no rigid motion: `from_matrix`
returns them as a factor to be applied before it, as Kavan and UsdSkel do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import quaternion, transform, vector
from understudy.maths.rotation_spline import left_jacobian, left_jacobian_inverse


def from_rotation_translation(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """Turn by unit quaternions (..., 4), then move by (..., 3): (..., 8)."""
    r, t = np.asarray(rotation, dtype=float), np.asarray(translation, dtype=float)
    d = 0.5 * quaternion.multiply(np.concatenate((t, np.zeros((*t.shape[:-1], 1))), axis=-1), r)
    return np.concatenate((np.broadcast_to(r, d.shape), d), axis=-1)


def to_rotation_translation(motion: ArrayLike) -> tuple[Array, Array]:
    """Unit quaternions (..., 4) and translations (..., 3) = 2 d r*, of motions (..., 8) of unit length."""
    motion = np.asarray(motion, dtype=float)
    r, d = motion[..., :4], motion[..., 4:]
    return r.copy(), 2.0 * quaternion.multiply(d, quaternion.conjugate(r))[..., :3]


def from_matrix(matrix: ArrayLike) -> tuple[Array, Array]:
    """M = rigid S: motions (..., 8) and the symmetric factors S (..., 3, 3), of affine (..., 4, 4). Rigid: S = 1."""
    matrix = np.asarray(matrix, dtype=float)
    rotation, stretch = transform.polar(matrix)
    return from_rotation_translation(quaternion.from_matrix(rotation), matrix[..., :3, 3]), stretch


def to_matrix(motion: ArrayLike) -> Array:
    """Motions (..., 8) of unit length -> (..., 4, 4)."""
    r, t = to_rotation_translation(motion)
    return transform.compose(t, r)


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """a b = ra rb + e (ra db + da rb): b first, then a. (..., 8), (..., 8) -> (..., 8)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    ra, da, rb, db = a[..., :4], a[..., 4:], b[..., :4], b[..., 4:]
    real, dual = quaternion.multiply(ra, rb), quaternion.multiply(ra, db) + quaternion.multiply(da, rb)
    return np.concatenate((real, dual), axis=-1)


def inverse(motion: ArrayLike) -> Array:
    """The inverse motion, r* + e d*, for motions of unit length."""
    return np.asarray(motion, dtype=float) * np.array((-1.0, -1.0, -1.0, 1.0) * 2)


def normalise(motion: ArrayLike) -> Array:
    """Unit motions: divide by |r|, then drop from d what is not at a right angle to r (it is no motion)."""
    motion = np.asarray(motion, dtype=float)
    size = vector.length(motion[..., :4])[..., None]
    scaled = motion / np.where(size < vector.MIN_LENGTH, 1.0, size)
    r = np.where(size < vector.MIN_LENGTH, quaternion.IDENTITY, scaled[..., :4])
    d = scaled[..., 4:]
    return np.concatenate((r, d - vector.dot(r, d)[..., None] * r), axis=-1)


def blend(motions: ArrayLike, weights: ArrayLike, pivot: ArrayLike | None = None) -> Array:
    """Dual quaternion linear blending: the normalised weighted sum. (..., N, 8), (..., N) -> (..., 8).

    Signs are aligned with the motion at index `pivot` (...), by default that of the largest weight; the first may have
    hardly any.
    """
    motions, weights = np.asarray(motions, dtype=float), np.asarray(weights, dtype=float)
    lead = np.broadcast_shapes(motions.shape[:-1], weights.shape)
    motions, weights = np.broadcast_to(motions, (*lead, 8)), np.broadcast_to(weights, lead)
    index = np.broadcast_to(np.argmax(weights, axis=-1) if pivot is None else np.asarray(pivot), lead[:-1])
    reference = np.take_along_axis(motions, index[..., None, None], axis=-2)[..., :4]
    signed = np.where(vector.dot(motions[..., :4], reference) < 0, -weights, weights)
    return normalise(np.einsum("...n,...ni->...i", signed, motions))


def apply(motion: ArrayLike, points: ArrayLike) -> Array:
    """Move points: (..., 8), (..., 3) -> (..., 3)."""
    r, t = to_rotation_translation(motion)
    return quaternion.rotate(r, points) + t


def to_twist(motion: ArrayLike) -> Array:
    """The logarithm: (v, u) with v the rotation vector and u = J(v)^-1 t. (..., 8) -> (..., 6)."""
    r, t = to_rotation_translation(motion)
    v = quaternion.to_rotation_vector(r)
    return np.concatenate((v, np.einsum("...ij,...j->...i", left_jacobian_inverse(v), t)), axis=-1)


def from_twist(twist: ArrayLike) -> Array:
    """The exponential: one second of turning at v and moving at u, in the moving frame. (..., 6) -> (..., 8)."""
    twist = np.asarray(twist, dtype=float)
    v, u = twist[..., :3], twist[..., 3:]
    translation = np.einsum("...ij,...j->...i", left_jacobian(v), u)
    return from_rotation_translation(quaternion.from_rotation_vector(v), translation)


def sclerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Screw motion from a to b (..., 8), the short way at constant speed: a exp(t log(a^-1 b)), t (...) -> (..., 8)."""
    t = np.asarray(t, dtype=float)
    return multiply(a, from_twist(t[..., None] * to_twist(multiply(inverse(a), b))))
