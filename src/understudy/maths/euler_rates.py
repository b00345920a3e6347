"""How fast Euler angles change, and how fast the rotation: both ways, by derivatives.

R = R_i(a) R_j(b) R_k(c) turns with the world-frame angular velocity w = E (a', b', c'), where the columns of E are the
axes as they stand: e_i, R_i e_j, R_i R_j e_k. A unit quaternion changes by q' = (w, 0) q / 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import euler, quaternion

LOCKED = 1e-5
"""Singular values of E below this count as gimbal lock, and nothing turns about the axis that is lost. The smallest
is about the distance to lock in radians: at 1e-5 an ordinary turn of 1 radian a second would be 1e5 in angles."""


def axes(angles: ArrayLike, order: str) -> Array:
    """E: (..., 3) radians, in the order's own sequence -> (..., 3, 3), one axis a column."""
    angles = np.asarray(angles, dtype=float)
    i, j, k = ("XYZ".index(letter) for letter in order.upper())
    unit = np.eye(3)
    first = quaternion.from_axis_angle(unit[i], angles[..., 0])
    second = quaternion.multiply(first, quaternion.from_axis_angle(unit[j], angles[..., 1]))
    still = np.broadcast_to(unit[i], angles.shape)
    return np.stack((still, quaternion.rotate(first, unit[j]), quaternion.rotate(second, unit[k])), axis=-1)


def quaternion_rates(angles: ArrayLike, rates: ArrayLike, order: str) -> Array:
    """q' (..., 4) of `euler.from_euler(angles, order)`, angles (..., 3) changing by `rates` (..., 3) a second."""
    velocity = np.einsum("...ij,...j->...i", axes(angles, order), np.asarray(rates, dtype=float))
    turning = np.concatenate((velocity, np.zeros((*velocity.shape[:-1], 1))), axis=-1)
    return 0.5 * quaternion.multiply(turning, euler.from_euler(angles, order))


def euler_rates(angles: ArrayLike, q: ArrayLike, rates: ArrayLike, order: str) -> Array:
    """The rates (..., 3) of the angles (..., 3) of unit quaternions q (..., 4) that change by `rates` (..., 4).

    In gimbal lock the smallest rates that come nearest (`LOCKED`).
    """
    velocity = 2.0 * quaternion.multiply(rates, quaternion.conjugate(q))[..., :3]
    inverse = np.linalg.pinv(axes(angles, order), rcond=LOCKED)
    return np.einsum("...ij,...j->...i", inverse, velocity)
