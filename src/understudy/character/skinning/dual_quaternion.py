"""Dual quaternion skinning, with scale.

Each joint's matrix is a rigid motion after a scale,

    M = (R S | t),  R a rotation, S symmetric: the polar decomposition of the 3x3 part L.

Where L mirrors (det L < 0) the sign goes to S, so that R stays a rotation; UsdSkel does the same. The rigid part (R, t)
is written as the unit dual quaternion q = a + eps b with a the quaternion of R and b = t a / 2 (t as a quaternion
without real part). The scales S_k are blended linearly and applied first, the rigid motions q_k by

    q = sum_k w_k s_k q_k / |sum_k w_k s_k q_k|,        s_k = -1 where q_k lies on the other side of the pivot, else 1
    v' = q (sum_k w_k S_k v / sum_k w_k) q*

(Kavan, Collins, Zara and O'Sullivan 2007, "Skinning with dual quaternions", and their 2008 "Geometric skinning with
approximate dual quaternion blending" for the two phases). q and -q are the same motion, and the pivot, the influence of
the largest weight, decides which of the two counts. UsdSkel computes the same for `skinningMethod = "dualQuaternion"`.

Only the ratio of the weights matters, and a vertex without influences stays where it is.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning import linear
from understudy.character.skinning.linear import MIN_BLOCK_FRAMES, MIN_PARALLEL_VERTICES, split_frames
from understudy.checks import Array
from understudy.maths import jit, quaternion, transform

RIGID_TOLERANCE = 1e-6  # |L^T L - 1|: single-precision rotations stay below 5e-7, and a scale of 1e-6 is rounding
# |det L| / |L|^3 below which the SVD replaces Newton's iteration; rounding leaves 1e-16 of zero.
MIN_DETERMINANT_RATIO = 1e-13
NEWTON_STEPS = 40  # at most; Newton doubles the digits at each step once close, a scale of 1e-4 takes 9
KERNELS = "understudy.character.skinning.blend_kernels"


def dual_blend(
    vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike, out: Array | None = None
) -> Array:
    """Skinned vertices (F, V, 3) float32; arguments as for `linear_blend`. One frame (B, ...) gives (V, 3)."""
    given = linear.check(vertices, joints, weights, matrices, out)
    if given.out.size:
        _blend_parts(jit.kernels(KERNELS), given)
    return given.result


def _blend_parts(kernels: ModuleType, given: linear.Skinning) -> None:
    v, j, w, out = given.vertices, given.joints, given.weights, given.out
    frames, bones = given.matrices.shape[:2]
    if not bones or not j.shape[1]:  # no influences: every vertex stays
        out[...] = v
        return
    rigid, scale, scaled = rigid_and_scale(given.matrices)
    scale = scale.reshape(frames, bones, 9) if scaled.any() else np.zeros((frames, bones, 0))
    blend = {
        kernels.FRAMES_PER_WIDE_BLOCK: kernels.blend_dual_wide,
        kernels.FRAMES_PER_NARROW_BLOCK: kernels.blend_dual_narrow,
    }
    for first, last, width in split_frames(
        frames, kernels.FRAMES_PER_WIDE_BLOCK, kernels.FRAMES_PER_NARROW_BLOCK, MIN_BLOCK_FRAMES
    ):
        if width:
            d, s = (linear.frames_innermost(part[first:last], width) for part in (rigid, scale))
            with jit.LOCK:
                blend[width](v, j, w, d, s, scaled, first, out)
            continue
        d, s = (np.ascontiguousarray(part[first:last], dtype=np.float32) for part in (rigid, scale))
        if (last - first) * v.shape[1] < MIN_PARALLEL_VERTICES:
            kernels.blend_dual_few(v, j, w, d, s, first, out)
        else:
            with jit.LOCK:
                kernels.blend_dual_few_parallel(v, j, w, d, s, first, out)


def rigid_and_scale(matrices: Array) -> tuple[Array, Array, Array]:
    """Dual quaternions (F, B, 8), S (F, B, 3, 3), and which bones (B,) are scaled in some frame.

    `matrices` is (F, B, 3 or 4, 4). A dual quaternion is real x, y, z, w, then dual x, y, z, w.
    """
    linear, t = matrices[..., :3, :3].astype(np.float64), matrices[..., :3, 3].astype(np.float64)
    identity = np.eye(3)
    with np.errstate(invalid="ignore", over="ignore"):
        a, b, c = linear[..., 0], linear[..., 1], linear[..., 2]
        volume = np.einsum("...i,...i->...", np.cross(a, b), c)
        strain = np.abs(np.swapaxes(linear, -1, -2) @ linear - identity).max(axis=(-1, -2), initial=0)
        loose = ~((strain <= RIGID_TOLERANCE) & (volume > 0))
    rotation, scale = linear, np.broadcast_to(identity, linear.shape)
    if loose.any():
        rotation, scale = linear.copy(), scale.copy()
        rotation[loose] = nearest_rotation(linear[loose])
        with np.errstate(invalid="ignore"):
            scale[loose] = np.swapaxes(rotation[loose], -1, -2) @ linear[loose]
    with np.errstate(invalid="ignore"):
        motions = _from_rotation_translation(quaternion.from_matrix(rotation), t)
    return motions, scale, loose.any(axis=0)


def _from_rotation_translation(r: Array, t: Array) -> Array:
    """Dual quaternions (..., 8) that turn by unit quaternions r (..., 4), then move by t (..., 3)."""
    d = 0.5 * quaternion.multiply(np.concatenate((t, np.zeros((*t.shape[:-1], 1))), axis=-1), r)
    return np.concatenate((r, d), axis=-1)


def nearest_rotation(linear: Array) -> Array:
    """R of L = R S for each L (N, 3, 3): the orthogonal polar factor, times -1 where L mirrors.

    Newton's iteration X <- (g X + X^-T / g) / 2 with g = sqrt(|X^-T| / |X|) (Higham 1986, "Computing the polar
    decomposition"), on all matrices at once; matrices without an inverse by the SVD. NaN and infinity give NaN.
    """
    x = np.moveaxis(linear.reshape(-1, 9), -1, 0).copy()  # (9, N): each entry contiguous
    with np.errstate(all="ignore"):
        cofactors, det = _cofactors(x)
        flat = (np.abs(det) <= MIN_DETERMINANT_RATIO * np.sqrt((x * x).sum(axis=0)) ** 3) & np.isfinite(det)
        x[:, ~np.isfinite(x).all(axis=0)] = np.nan
        sign = np.where(det < 0, -1.0, 1.0)
        for _ in range(NEWTON_STEPS):
            inverse = cofactors / det
            g = np.sqrt(np.sqrt((inverse * inverse).sum(axis=0) / (x * x).sum(axis=0)))
            step = 0.5 * (g * x + inverse / g) - x
            x += step
            if not (np.abs(step) > 1e-13).any(axis=0)[~flat].any():
                break
            cofactors, det = _cofactors(x)
        result = np.moveaxis(sign * x, 0, -1).reshape(-1, 3, 3)
    if flat.any():
        result[flat] = transform.polar(linear[flat])[0]
    return result


def _cofactors(x: Array) -> tuple[Array, Array]:
    """Cofactor matrices (9, N) and determinants (N,) of matrices (9, N) in row order; X^-T = cofactors / det."""
    a, b, c, d, e, f, g, h, i = x
    cofactors = np.stack(
        (
            *(e * i - f * h, f * g - d * i, d * h - e * g),
            *(c * h - b * i, a * i - c * g, b * g - a * h),
            *(b * f - c * e, c * d - a * f, a * e - b * d),
        )
    )
    return cofactors, a * cofactors[0] + b * cofactors[1] + c * cofactors[2]
