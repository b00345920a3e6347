"""Smooth rotation through keys, and derivatives of rotations.

**Spline.** Cubic Hermite pieces in the logarithm relative to each key, with one exponential per sample. Between keys k
and k+1, h seconds apart, q(t) = q_k exp(p(s)), s = (t - t_k)/h, p the cubic with p(0) = 0, p(1) = log(q_k^-1 q_k+1) and
end slopes that give each key one angular velocity seen from both sides. The curve passes its keys and its velocity is
continuous; unlike squad it needs no inner control rotations, and its velocities at the keys are the given ones.

**Derivatives.** With R(t) = exp(v(t)), the angular velocity in the outer (world) frame is w = J(v) v', where J is the
left Jacobian of SO(3). In the turning (body) frame it is J(-v) v' = J(v)^T v'. Nothing here is singular for angles from
0 up to pi, the range of `quaternion.to_rotation_vector`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.maths import vector as vec

# Taylor coefficients in a^2 of (a - sin a) / a^3 and of (1 - (a/2) cot(a/2)) / a^2, a the angle. With six terms the
# first misses less than 1e-15 below 0.35, the second less than 1e-15 as well; the closed forms lose 12 eps / a^2,
# 2e-14 at 0.35 and all at 1e-8.
_SINE_SERIES = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800)
_COTANGENT_SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
SERIES_ANGLE_RAD = 0.35  # below which the series are used


def smooth(times: ArrayLike, quaternions: ArrayLike, queries: ArrayLike, velocities: ArrayLike | None = None) -> Array:
    """Rotations at `queries` (M,) of the curve through keys at rising `times` (K,): (K, ..., 4) -> (M, ..., 4).

    `velocities` (K, ..., 3) are body-frame angular velocities at the keys, by default `key_velocities`. Before the
    first and after the last key the curve holds still. Signs of the answer follow the keys' own: keys that were
    unrolled give an unrolled curve.
    """
    times, q = np.asarray(times, dtype=float), np.asarray(quaternions, dtype=float)
    queries = np.asarray(queries, dtype=float)
    if len(times) == 0 or len(times) != len(q) or (np.diff(times) <= 0).any():
        raise InvalidInput(f"keys should have one rising time a rotation, but {len(q)} rotations have times {times}")
    if len(times) == 1:
        return np.repeat(q, len(queries), axis=0)
    w = key_velocities(times, q) if velocities is None else np.asarray(velocities, dtype=float)
    k = np.clip(np.searchsorted(times, queries, side="right") - 1, 0, len(times) - 2)
    h = np.diff(times).reshape(-1, *[1] * (q.ndim - 1))
    chord = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(q[:-1]), q[1:]))
    # Body velocity is J(-p) p': at the start p = 0 and J = 1; at the end p' = J(-p)^-1 w.
    end = np.einsum("...ij,...j->...i", left_jacobian_inverse(-chord), w[1:]) * h
    s = np.clip((queries - times[k]) / h.ravel()[k], 0.0, 1.0).reshape(-1, *[1] * (q.ndim - 1))
    p = s * (1 - s) ** 2 * (w[:-1] * h)[k] + s * s * (3 - 2 * s) * chord[k] - s * s * (1 - s) * end[k]
    return quaternion.multiply(q[k], quaternion.from_rotation_vector(p))


def key_velocities(times: ArrayLike, quaternions: ArrayLike) -> Array:
    """Body-frame angular velocities at the keys, radians per second: (K,), (K, ..., 4) -> (K, ..., 3).

    The parabola through three keys, in logarithms: each neighbour's mean velocity weighs as much as the other's
    time. The first and last key take their only neighbour's.
    """
    times, q = np.asarray(times, dtype=float), np.asarray(quaternions, dtype=float)
    out = np.zeros((*q.shape[:-1], 3))
    if len(times) < 2:
        return out
    h = np.diff(times).reshape(-1, *[1] * (q.ndim - 1))
    mean = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(q[:-1]), q[1:])) / h
    out[0], out[-1] = mean[0], mean[-1]
    out[1:-1] = (h[1:] * mean[:-1] + h[:-1] * mean[1:]) / (h[1:] + h[:-1])
    return out


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
    """The angle, bool where the series applies, and an angle that is safe in the closed forms."""
    a = vec.length(vector)
    small = a < SERIES_ANGLE_RAD
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
    cross = vec.skew(vector)
    return np.eye(3) + first[..., None, None] * cross + second[..., None, None] * (cross @ cross)
