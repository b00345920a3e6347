"""A transform as a rigid motion after a scale: what dual quaternion skinning needs of each joint.

    M = (R S | t),  R a rotation, S symmetric: the polar decomposition of the 3x3 part L.

Where L mirrors (det L < 0) the sign goes to S, so that R stays a rotation; UsdSkel does the same. The rigid part (R, t)
is written as the dual quaternion a + eps b with a the quaternion of R and b = t a / 2 (t as a quaternion without real
part); Kavan, Collins, Zara and O'Sullivan 2007, "Skinning with dual quaternions".
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import dualquaternion, quaternion

RIGID = 1e-6  # |L^T L - 1|; single-precision rotations stay below 5e-7, and a scale of 1e-6 is below their rounding
FLAT = 1e-13  # |det L| / |L|^3 where Newton's iteration gives way to the SVD; 1e-16 is all that rounding leaves of zero
STEPS = 40  # Newton doubles the digits at each step once close; a scale of 1e-4 takes 9


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
        loose = ~((strain <= RIGID) & (volume > 0))
    rotation, scale = linear, np.broadcast_to(identity, linear.shape)
    if loose.any():
        rotation, scale = linear.copy(), scale.copy()
        rotation[loose] = nearest_rotation(linear[loose])
        with np.errstate(invalid="ignore"):
            scale[loose] = np.swapaxes(rotation[loose], -1, -2) @ linear[loose]
    with np.errstate(invalid="ignore"):
        motions = dualquaternion.from_rotation_translation(quaternion.from_matrix(rotation), t)
    return motions, scale, loose.any(axis=0)


def nearest_rotation(linear: Array) -> Array:
    """R of L = R S for each L (N, 3, 3): the orthogonal polar factor, times -1 where L mirrors.

    Newton's iteration X <- (g X + X^-T / g) / 2 with g = sqrt(|X^-T| / |X|) (Higham 1986, "Computing the polar
    decomposition"), on all matrices at once; matrices without an inverse by the SVD. NaN and infinity give NaN.
    """
    x = np.moveaxis(linear.reshape(-1, 9), -1, 0).copy()  # (9, N): one run of memory for each entry
    with np.errstate(all="ignore"):
        cofactors, det = _cofactors(x)
        flat = (np.abs(det) <= FLAT * np.sqrt((x * x).sum(axis=0)) ** 3) & np.isfinite(det)
        x[:, ~np.isfinite(x).all(axis=0)] = np.nan
        sign = np.where(det < 0, -1.0, 1.0)
        for _ in range(STEPS):
            inverse = cofactors / det
            g = np.sqrt(np.sqrt((inverse * inverse).sum(axis=0) / (x * x).sum(axis=0)))
            step = 0.5 * (g * x + inverse / g) - x
            x += step
            if not (np.abs(step) > 1e-13).any(axis=0)[~flat].any():
                break
            cofactors, det = _cofactors(x)
        result = np.moveaxis(sign * x, 0, -1).reshape(-1, 3, 3)
    if flat.any():
        u, _, vt = np.linalg.svd(linear[flat])
        u[..., 2] *= np.linalg.det(u @ vt)[..., None]
        result[flat] = u @ vt
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
