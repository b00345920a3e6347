"""Affine transforms as 4x4 matrices for column vectors: p' = M p, M = T R S.

Names say which way a matrix goes: `world_from_joint = world_from_parent @ parent_from_joint`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion, vector


def compose(translation: ArrayLike, rotation: ArrayLike, scale: ArrayLike = 1.0) -> Array:
    """M = T R S: (..., 3), unit quaternions (..., 4), (..., 3) or one number -> (..., 4, 4)."""
    translation, rotation = np.asarray(translation, dtype=float), np.asarray(rotation, dtype=float)
    scale = np.asarray(scale, dtype=float)
    scale = np.broadcast_to(scale, (3,)) if scale.ndim == 0 else scale
    lead = np.broadcast_shapes(translation.shape[:-1], rotation.shape[:-1], scale.shape[:-1])
    out = np.zeros((*lead, 4, 4))
    out[..., :3, :3] = quaternion.to_matrix(rotation) * scale[..., None, :]
    out[..., :3, 3] = translation
    out[..., 3, 3] = 1.0
    return out


def decompose(matrix: ArrayLike) -> tuple[Array, Array, Array]:
    """Translation (..., 3), rotation (..., 4), scale (..., 3) of (..., 4, 4), by the rules of three.js'
    Matrix4.decompose.

    Scale is the length of each column; with a negative determinant the x scale is negated. Shear cannot be kept:
    `shear_error` tells how much of it there was. A column of length zero gets scale 0 and a direction that
    completes the others.
    """
    matrix = np.asarray(matrix, dtype=float)
    columns = np.swapaxes(matrix[..., :3, :3], -1, -2)  # (..., column, xyz)
    scale = vector.length(columns)
    scale[..., 0] = np.where(determinant(matrix) < 0, -scale[..., 0], scale[..., 0])
    flat = np.abs(scale) < vector.MIN_LENGTH
    axes = columns / np.where(flat, 1.0, scale)[..., None]
    if flat.any():
        axes = _complete(axes, flat)
    return matrix[..., :3, 3].copy(), quaternion.from_matrix(np.swapaxes(axes, -1, -2)), scale


def _complete(axes: Array, flat: Array) -> Array:
    """Fill in the directions `flat` (..., 3) of frames `axes` (..., 3, 3) with right-handed ones at right angles."""
    axes = axes.copy()
    axes[flat.all(axis=-1)] = np.eye(3)
    missing = flat & ~flat.all(axis=-1, keepdims=True)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        alone = missing[..., j] & missing[..., k]  # only axis i is known: choose j freely
        axes[alone, j] = vector.perpendicular(axes[alone, i])
        missing[alone, j] = False
    for i in range(3):
        gap = missing[..., i]
        axes[gap, i] = vector.normalise(vector.cross(axes[gap, (i + 1) % 3], axes[gap, (i + 2) % 3]), (1.0, 0.0, 0.0))
    return axes


def shear_error(matrix: ArrayLike) -> Array:
    """How much `decompose` loses: |L - R S| / |L| in the 3x3 part L. (..., 4, 4) -> (...), 0 is nothing."""
    matrix = np.asarray(matrix, dtype=float)
    kept = compose(*decompose(matrix))
    lost = np.sqrt(np.sum((matrix - kept)[..., :3, :3] ** 2, axis=(-2, -1)))
    size = np.sqrt(np.sum(matrix[..., :3, :3] ** 2, axis=(-2, -1)))
    return lost / np.where(size < vector.MIN_LENGTH, 1.0, size)


def determinant(matrix: ArrayLike) -> Array:
    """Determinant of the 3x3 part: negative where the transform mirrors. (..., 4, 4) or (..., 3, 3) -> (...)."""
    m = np.asarray(matrix, dtype=float)
    return vector.dot(m[..., :3, 0], vector.cross(m[..., :3, 1], m[..., :3, 2]))


def polar(matrix: ArrayLike) -> tuple[Array, Array]:
    """L = R S, with R the nearest rotation (..., 3, 3) and S symmetric (..., 3, 3): the 3x3 part of (..., 4, 4).

    From the singular values L = U D V^T: R = U V^T and S = V D V^T. Where L mirrors, the smallest singular value is
    negated so that R stays a rotation.
    """
    u, d, vt = np.linalg.svd(np.asarray(matrix, dtype=float)[..., :3, :3])
    sign = np.where(determinant(u) * determinant(vt) < 0, -1.0, 1.0)
    d[..., 2] *= sign
    rotation = u.copy()
    rotation[..., :, 2] *= sign[..., None]
    return rotation @ vt, np.swapaxes(vt, -1, -2) @ (d[..., :, None] * vt)


def invert(matrix: ArrayLike) -> Array:
    """Inverse of affine transforms (..., 4, 4), last row 0 0 0 1. A transform that flattens space is refused.

    The rows of L^-1 are the cross products of L's columns over its determinant.
    """
    matrix = np.asarray(matrix, dtype=float)
    a, b, c = matrix[..., :3, 0], matrix[..., :3, 1], matrix[..., :3, 2]
    adjugate = np.stack((vector.cross(b, c), vector.cross(c, a), vector.cross(a, b)), axis=-2)
    volume = vector.dot(a, adjugate[..., 0, :])
    if (volume == 0).any():
        where = tuple(int(i) for i in np.argwhere(volume == 0)[0])
        raise InvalidInput(
            f"a transform to be inverted should have a volume, but that at {list(where)} is flat (determinant 0)"
        )
    return _affine_inverse(adjugate / volume[..., None, None], matrix)


def invert_rigid(matrix: ArrayLike) -> Array:
    """Inverse of rotation and translation only, M^-1 = (R^T, -R^T t): (..., 4, 4) -> (..., 4, 4)."""
    matrix = np.asarray(matrix, dtype=float)
    return _affine_inverse(np.swapaxes(matrix[..., :3, :3], -1, -2), matrix)


def _affine_inverse(inverse: Array, matrix: Array) -> Array:
    out = np.zeros(matrix.shape)
    out[..., :3, :3] = inverse
    out[..., :3, 3] = -np.einsum("...ij,...j->...i", inverse, matrix[..., :3, 3])
    out[..., 3, 3] = 1.0
    return out


def unscale(matrix: ArrayLike) -> Array:
    """(..., 3, 3) the rotations of matrices (..., 3, 3) or (..., 4, 4) that have scales but no shear."""
    linear = np.asarray(matrix)[..., :3, :3]
    return np.asarray(linear / np.maximum(np.linalg.norm(linear, axis=-2, keepdims=True), 1e-12))


def apply(matrix: ArrayLike, points: ArrayLike) -> Array:
    """Move points: p' = L p + t.

    Leading dimensions broadcast: (4, 4) moves (V, 3); (J, 4, 4) moves (J, 3); (F, 1, 4, 4) moves (F, V, 3).
    """
    return apply_direction(matrix, points) + np.asarray(matrix, dtype=float)[..., :3, 3]


def apply_direction(matrix: ArrayLike, vectors: ArrayLike) -> Array:
    """Turn and scale vectors without moving them: v' = L v. Broadcasts as `apply` does."""
    matrix, vectors = np.asarray(matrix, dtype=float), np.asarray(vectors, dtype=float)
    if matrix.ndim == 2:
        return vectors @ matrix[:3, :3].T
    return np.einsum("...ij,...j->...i", matrix[..., :3, :3], vectors)
