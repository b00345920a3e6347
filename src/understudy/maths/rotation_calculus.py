"""Derivatives of rotations: how a rotation vector's change turns into angular velocity, and back.

With R(t) = exp(v(t)), the angular velocity in the outer (world) frame is w = J(v) v', where J is the left Jacobian
of SO(3). In the turning (body) frame it is J(-v) v' = J(v)^T v'. Nothing here is singular for angles from 0 up to
pi, which is all that `quaternion.to_rotation_vector` gives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import linear, quaternion

# Taylor coefficients in a^2 of (a - sin a) / a^3 and of (1 - (a/2) cot(a/2)) / a^2, a the angle. With six terms the
# first misses less than 1e-15 below 0.35, the second less than 1e-15 as well; the closed forms lose 12 eps / a^2,
# 2e-14 at 0.35 and all at 1e-8.
_SINE_SERIES = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800)
_COTANGENT_SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
SERIES_BELOW = 0.35


def left_jacobian(vector: ArrayLike) -> Array:
    """J(v) = I + (1 - cos a)/a^2 [v] + (a - sin a)/a^3 [v]^2, a = |v|. (..., 3) -> (..., 3, 3)."""
    a, small, safe = _angle(vector)
    first = 0.5 * np.sinc(0.5 * a / np.pi) ** 2  # (1 - cos a)/a^2 without its cancellation
    second = np.where(small, _polynomial(a, small, _SINE_SERIES), (safe - np.sin(safe)) / safe**3)
    return _series(vector, first, second)


def left_jacobian_inverse(vector: ArrayLike) -> Array:
    """J(v)^-1 = I - [v]/2 + (1 - (a/2) cot(a/2))/a^2 [v]^2, a = |v| < 2 pi. (..., 3) -> (..., 3, 3)."""
    a, small, safe = _angle(vector)
    closed = (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2
    second = np.where(small, _polynomial(a, small, _COTANGENT_SERIES), closed)
    return _series(vector, np.full_like(a, -0.5), second)


def _angle(vector: ArrayLike) -> tuple[Array, Array, Array]:
    """The angle, where the series serves, and an angle that the closed forms stand everywhere."""
    a = linear.length(vector)
    small = a < SERIES_BELOW
    return a, small, np.where(small, 1.0, a)


def _polynomial(a: Array, small: Array, coefficients: tuple[float, ...]) -> Array:
    """The series in a^2 where a is small, its first term elsewhere."""
    square = np.where(small, a * a, 0.0)
    total = np.zeros_like(square)
    for coefficient in reversed(coefficients):
        total = total * square + coefficient
    return total


def _series(vector: ArrayLike, first: Array, second: Array) -> Array:
    """I + first [v] + second [v]^2."""
    cross = linear.skew(vector)
    return np.eye(3) + first[..., None, None] * cross + second[..., None, None] * (cross @ cross)


def angular_velocity(quaternions: ArrayLike, rate: float) -> Array:
    """World-frame angular velocity in radians per second of rotations (F, ..., 4) sampled `rate` times a second ->
    (F, ..., 3).

    The mean of the step before and the step after each frame; at the ends the line through the two nearest steps.
    Both are exact to second order, and unlike a difference over two frames this can tell turns of up to pi a frame.
    """
    q = np.asarray(quaternions, dtype=float)
    if len(q) < 2:
        return np.zeros((*q.shape[:-1], 3))
    steps = rate * quaternion.to_rotation_vector(quaternion.multiply(q[1:], quaternion.conjugate(q[:-1])))
    out = np.empty((*q.shape[:-1], 3))
    out[1:-1] = 0.5 * (steps[1:] + steps[:-1])
    out[0], out[-1] = steps[0], steps[-1]
    if len(steps) > 1:
        out[0] += 0.5 * (steps[0] - steps[1])
        out[-1] += 0.5 * (steps[-1] - steps[-2])
    return out
