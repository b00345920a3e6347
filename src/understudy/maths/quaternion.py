"""Rotations as unit quaternions x, y, z, w.

`multiply(a, b)` rotates by b first, then by a, as the matrices do: to_matrix(multiply(a, b)) = to_matrix(a) @
to_matrix(b). q and -q are the same rotation. Curves through key rotations and derivatives are in `rotation_spline`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import vector as vec

IDENTITY = (0.0, 0.0, 0.0, 1.0)
Scalars = tuple[float, float, float, float]  # one quaternion x, y, z, w as plain numbers


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
