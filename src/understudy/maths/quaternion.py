"""Rotations as unit quaternions x, y, z, w.

`multiply(a, b)` rotates by b first, then by a, as the matrices do: to_matrix(multiply(a, b)) = to_matrix(a) @
to_matrix(b). q and -q are the same rotation.

**Spline.** Cubic Hermite pieces in the logarithm relative to each key, with one exponential per sample. Between keys k
and k+1, h seconds apart, q(t) = q_k exp(p(s)), s = (t - t_k)/h, p the cubic with p(0) = 0, p(1) = log(q_k^-1 q_k+1) and
end slopes that give each key one angular velocity seen from both sides. The curve passes its keys and its velocity is
continuous; unlike squad it needs no inner control rotations, and its velocities at the keys are the given ones.

**Derivatives.** With R(t) = exp(v(t)), the angular velocity in the outer (world) frame is w = J(v) v', where J is the
left Jacobian of SO(3). In the turning (body) frame it is J(-v) v' = J(v)^T v'. Nothing here is singular for angles from
0 up to pi, the range of `to_rotation_vector`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import vector as vec

IDENTITY = (0.0, 0.0, 0.0, 1.0)
Scalars = tuple[float, float, float, float]  # one quaternion x, y, z, w as plain numbers
# Taylor coefficients in a^2 of (a - sin a) / a^3 and of (1 - (a/2) cot(a/2)) / a^2, a the angle. With six terms the
# first misses less than 1e-15 below 0.35, the second less than 1e-15 as well; the closed forms lose 12 eps / a^2,
# 2e-14 at 0.35 and all at 1e-8.
_SINE_SERIES = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800)
_COTANGENT_SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
SERIES_ANGLE_RAD = 0.35  # below which the series are used


def identity(shape: tuple[int, ...] = ()) -> Array:
    """No rotation, many times: shape -> (*shape, 4)."""
    out = np.zeros((*shape, 4))
    out[..., 3] = 1.0
    return out


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """The product a b (b first, then a): (..., 4), (..., 4) -> (..., 4)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 1] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 2] = aw * bz + ax * by - ay * bx + az * bw
    out[..., 3] = aw * bw - ax * bx - ay * by - az * bz
    return out


def conjugate(q: ArrayLike) -> Array:
    """(-x, -y, -z, w): the inverse of a unit quaternion."""
    return np.asarray(q, dtype=float) * np.array((-1.0, -1.0, -1.0, 1.0))


def inverse(q: ArrayLike) -> Array:
    """conj(q) / |q|^2, for quaternions of any length above zero."""
    q = np.asarray(q, dtype=float)
    return conjugate(q) / vec.dot(q, q)[..., None]


def normalise(q: ArrayLike) -> Array:
    """Unit quaternions; a quaternion of length zero becomes the identity."""
    return vec.normalise(q, otherwise=IDENTITY)


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Turn vectors: v' = v + 2 w (u x v) + 2 u x (u x v), q = (u, w) of unit length. (..., 4), (..., 3) -> (..., 3)."""
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    u, w = q[..., :3], q[..., 3:]
    twice = 2.0 * vec.cross(u, v)
    return v + w * twice + vec.cross(u, twice)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Turn by `angle` (...) radians about `axis` (..., 3) of any length above zero (a zero axis gives the identity)."""
    return from_rotation_vector(vec.normalise(axis) * np.asarray(angle, dtype=float)[..., None])


def from_rotation_vector(vector: ArrayLike) -> Array:
    """The exponential: exp(v) = (v sin(|v|/2) / |v|, cos(|v|/2)). (..., 3) -> (..., 4).

    sin(x)/x keeps all digits down to the smallest x, so only zero itself needs care, and no series is used.
    """
    vector = np.asarray(vector, dtype=float)
    angle = vec.length(vector)
    small = angle < vec.MIN_LENGTH
    out = np.empty((*vector.shape[:-1], 4))
    scale = np.where(small, 0.5, np.sin(0.5 * angle) / np.where(small, 1.0, angle))
    out[..., :3] = scale[..., None] * vector
    out[..., 3] = np.cos(0.5 * angle)
    return out


def to_rotation_vector(q: ArrayLike) -> Array:
    """The logarithm: log(u, w) = 2 atan2(|u|, w) u / |u|, of length 0 to pi. (..., 4) -> (..., 3).

    q and -q give the same vector, also at half turns, where of the two opposite vectors the one is taken whose first
    component other than zero is positive. atan2 is well conditioned at both ends, unlike acos, and q need not be
    normalised.
    """
    q = positive_hemisphere(q)
    u, w = q[..., :3], q[..., 3]
    size = vec.length(u)
    small = size < vec.MIN_LENGTH
    scale = np.where(
        small, 2.0 / np.where(small & (w > 0), w, 1.0), 2.0 * np.arctan2(size, w) / np.where(small, 1.0, size)
    )
    return scale[..., None] * u


exp = from_rotation_vector
log = to_rotation_vector


def positive_hemisphere(q: ArrayLike) -> Array:
    """The one of q and -q with w > 0; where w = 0, the one whose first component other than zero is positive."""
    q = np.asarray(q, dtype=float)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    negative = w < 0
    if (w == 0).any():
        negative = negative | ((w == 0) & ((x < 0) | ((x == 0) & ((y < 0) | ((y == 0) & (z < 0))))))
    return np.where(negative[..., None], -q, q)


def angle_between(a: ArrayLike, b: ArrayLike) -> Array:
    """Angle of the rotation from a to b, 0 to pi: (..., 4), (..., 4) -> (...).

    4 atan2(|a - b|, |a + b|), with the nearer of b and -b: exact for tiny angles, where acos of a dot product gives
    0 or 1e-8.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    apart, along = vec.length(a - b), vec.length(a + b)
    return 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))


def from_matrix(matrix: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3), or the rotation part of (..., 4, 4), -> (..., 4).

    4 q q^T is linear in the matrix. Its column with the largest diagonal entry (at least 1: Shepperd) is q times a
    factor that never comes near zero, so no rotation loses digits. The largest component comes out positive.
    """
    m = np.asarray(matrix, dtype=float)
    x, y, z = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xx, yy, zz, ww = 1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z, 1.0 + x + y + z
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    xw, yw, zw = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    largest = np.maximum(np.maximum(xx, yy), np.maximum(zz, ww))
    by_x, by_y, by_z = xx == largest, yy == largest, zz == largest
    out = np.empty((*m.shape[:-2], 4))
    rows = ((xx, xy, xz, xw), (xy, yy, yz, yw), (xz, yz, zz, zw), (xw, yw, zw, ww))
    for i, (in_x, in_y, in_z, in_w) in enumerate(rows):
        out[..., i] = np.where(by_x, in_x, np.where(by_y, in_y, np.where(by_z, in_z, in_w)))
    return normalise(out)


def to_matrix(q: ArrayLike) -> Array:
    """Unit quaternions (..., 4) -> rotation matrices (..., 3, 3) for column vectors."""
    q = np.asarray(q, dtype=float)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    out = np.empty((*q.shape[:-1], 3, 3))
    xx, yy, zz = 2 * x * x, 2 * y * y, 2 * z * z
    xy, xz, yz = 2 * x * y, 2 * x * z, 2 * y * z
    wx, wy, wz = 2 * w * x, 2 * w * y, 2 * w * z
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = 1 - yy - zz, xy - wz, xz + wy
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = xy + wz, 1 - xx - zz, yz - wx
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = xz - wy, yz + wx, 1 - xx - yy
    return out


def from_two_vectors(a: ArrayLike, b: ArrayLike) -> Array:
    """The shortest rotation that turns direction a into direction b: (..., 3), (..., 3) -> (..., 4).

    With unit a and b: q = (a x b / |a + b|, |a + b| / 2). Beyond a right angle the axis comes from a x (a + b),
    which keeps its digits where a x b cancels; for opposite directions any axis at a right angle to a serves. A
    zero vector gives the identity.
    """
    a, b = np.broadcast_arrays(vec.normalise(a), vec.normalise(b))
    apart, along = vec.length(b - a), vec.length(a + b)
    wide = along < apart
    axis = vec.cross(a, np.where(wide[..., None], a + b, b - a))
    # Below 1e-15 the cross product is rounding (a and b are sound to 1e-16) and any axis at a right angle to a turns it
    # to within 1e-15 of b; above, |a + b| is all sideways and the axis is at a right angle to a to the last digits.
    opposite = vec.length(axis) < 1e-15
    axis_far = np.where(opposite[..., None], vec.perpendicular(a), vec.normalise(axis))
    u = np.where(wide[..., None], axis_far * (0.5 * apart)[..., None], axis / np.where(wide, 1.0, along)[..., None])
    q = np.concatenate((u, (0.5 * along)[..., None]), axis=-1)
    usable = (vec.length(a) > 0) & (vec.length(b) > 0)
    return np.where(usable[..., None], normalise(q), IDENTITY)


def slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Constant-speed interpolation the short way, t (...) from 0 to 1 (beyond: extrapolation). -> (..., 4)

    q = a sin((1 - t) o) / sin(o) + b sin(t o) / sin(o), o the angle between a and b as 4-vectors; b is negated where
    a . b < 0. As in three.js o is the arc cosine of a . b, also where rounded keys are a little short of unit length;
    close to each other, from a . b = 0.9995 up, where three.js falls back to linear interpolation and departs by up to
    1.01e-6 radians, atan2 keeps the ratio of the sines exact.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    t = np.asarray(t, dtype=float)
    cosine = vec.dot(a, b)
    b = np.where(cosine[..., None] < 0, -b, b)
    close = np.abs(cosine) > 0.9995
    near = 2.0 * np.arctan2(vec.length(a - b), vec.length(a + b))
    o = np.where(close, near, np.arccos(np.minimum(np.abs(cosine), 1.0)))
    equal = o < vec.MIN_LENGTH
    sine = np.where(equal, 1.0, np.sin(o))
    weight_a = np.where(equal, 1.0 - t, np.sin((1.0 - t) * o) / sine)
    weight_b = np.where(equal, t, np.sin(t * o) / sine)
    return weight_a[..., None] * a + weight_b[..., None] * b


def unroll(q: ArrayLike, axis: int = 0) -> Array:
    """The same rotations with signs chosen so that neighbours along `axis` (time) lie on one side: no jumps to -q."""
    q = np.asarray(q, dtype=float)
    if axis in (-1, q.ndim - 1):
        raise InvalidInput("axis should be the time axis, but is the last one, which holds x, y, z, w")
    q = np.moveaxis(q, axis, 0)
    flips = np.where(vec.dot(q[1:], q[:-1]) < 0, -1.0, 1.0)
    out = q.copy()
    out[1:] *= np.cumprod(flips, axis=0)[..., None]
    return np.moveaxis(out, 0, axis)


def blend(quaternions: ArrayLike, weights: ArrayLike) -> Array:
    """Fast weighted blend of many: the normalised weighted sum. (..., N, 4), (..., N) -> (..., 4).

    Signs are aligned with the quaternion of the largest weight, which is also the result where the sum vanishes.
    Exact for N = 2 at equal weights. For four rotations within 30, 60, 90 degrees of each other it was within 0.08, 0.7
    and 2.6 degrees of `mean`.
    """
    q, w = np.asarray(quaternions, dtype=float), np.asarray(weights, dtype=float)
    lead = np.broadcast_shapes(q.shape[:-1], w.shape)
    q, w = np.broadcast_to(q, (*lead, 4)), np.broadcast_to(w, lead)
    pivot = np.take_along_axis(q, np.argmax(w, axis=-1)[..., None, None], axis=-2)
    signed = np.where(vec.dot(q, pivot) < 0, -w, w)
    return vec.normalise(np.einsum("...n,...ni->...i", signed, q), otherwise=pivot[..., 0, :])


def mean(quaternions: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """The average rotation [Markley 2007]: (..., N, 4), weights (..., N) or None for equal -> (..., 4).

    The unit q that maximises q^T M q with M = sum w q q^T: the last eigenvector of M, independent of the signs of
    the inputs. The sign of the result follows the first quaternion.
    """
    q = np.asarray(quaternions, dtype=float)
    weighted = q if weights is None else q * np.asarray(weights, dtype=float)[..., None]
    _, vectors = np.linalg.eigh(np.swapaxes(weighted, -1, -2) @ q)
    average = vectors[..., -1]
    return np.where(vec.dot(average, q[..., 0, :])[..., None] < 0, -average, average)


def multiply_scalar(a: Scalars, b: Scalars) -> Scalars:
    """a b, b first: `multiply` of plain numbers, ten times as fast."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def to_scalars(q: Array) -> Scalars:
    """A quaternion (4,) as plain numbers."""
    x, y, z, w = q.tolist()
    return x, y, z, w


def conjugate_scalar(q: Scalars) -> Scalars:
    """The inverse of a unit quaternion."""
    return -q[0], -q[1], -q[2], q[3]


def spline(times: ArrayLike, quaternions: ArrayLike, queries: ArrayLike, velocities: ArrayLike | None = None) -> Array:
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
    chord = to_rotation_vector(multiply(conjugate(q[:-1]), q[1:]))
    # Body velocity is J(-p) p': at the start p = 0 and J = 1; at the end p' = J(-p)^-1 w.
    end = np.einsum("...ij,...j->...i", left_jacobian_inverse(-chord), w[1:]) * h
    s = np.clip((queries - times[k]) / h.ravel()[k], 0.0, 1.0).reshape(-1, *[1] * (q.ndim - 1))
    p = s * (1 - s) ** 2 * (w[:-1] * h)[k] + s * s * (3 - 2 * s) * chord[k] - s * s * (1 - s) * end[k]
    return multiply(q[k], from_rotation_vector(p))


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
    mean = to_rotation_vector(multiply(conjugate(q[:-1]), q[1:])) / h
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
