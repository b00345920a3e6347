"""Euler angles, as files and people use them: BVH columns, rig controls, graph editors.

An order such as "ZXY" is intrinsic, R = Rz(angles[0]) Rx(angles[1]) Ry(angles[2]) for column vectors, which is how
BVH stacks its channels. All twelve orders: six with three different axes (Tait-Bryan) and six that repeat the first
("ZXZ", proper Euler).

**Rates.** R = R_i(a) R_j(b) R_k(c) turns with the world-frame angular velocity w = E (a', b', c'), where the columns of
E are the current axes: e_i, R_i e_j, R_i R_j e_k. A unit quaternion changes by q' = (w, 0) q / 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array, one_of
from understudy.maths import quaternion

TAIT_BRYAN = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
ORDERS = (*TAIT_BRYAN, "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ")

GIMBAL_TOLERANCE_RAD = 1e-7
"""Closer than this to gimbal lock the first and third angle cannot be separated and one of them is chosen. The rotation
changes by that much at most; below 1e-8 the noise of float32 sources (6e-8) would scatter the two angles instead."""

MIN_RATE_SINGULAR_VALUE = 1e-5
"""Singular values of E below this count as gimbal lock, with no rotation about the lost axis. The smallest is about the
distance to lock in radians: at 1e-5 an ordinary rotation of 1 radian a second would be 1e5 in angles."""


def from_euler(angles: ArrayLike, order: str) -> Array:
    """Angles (..., 3) in radians, in the order's own sequence -> unit quaternions (..., 4).

    The product of three quaternions (sin(t/2) axis, cos(t/2)), multiplied out: half the time of two products.
    """
    (i, j, k), proper, e = _read(order)
    half = 0.5 * np.asarray(angles, dtype=float)
    (a, b, c), (sa, sb, sc) = np.moveaxis(np.cos(half), -1, 0), np.moveaxis(np.sin(half), -1, 0)
    q = np.empty((*half.shape[:-1], 4))
    if proper:
        q[..., 3] = b * (a * c - sa * sc)
        q[..., i] = b * (sa * c + a * sc)
        q[..., j] = sb * (a * c + sa * sc)
        q[..., 3 - i - j] = e * sb * (sa * c - a * sc)
    else:
        q[..., 3] = a * b * c - e * sa * sb * sc
        q[..., i] = sa * b * c + e * a * sb * sc
        q[..., j] = a * sb * c - e * sa * b * sc
        q[..., k] = a * b * sc + e * sa * sb * c
    return q


def to_euler(q: ArrayLike, order: str) -> Array:
    """Unit quaternions (..., 4) -> angles (..., 3) in radians, in the order's own sequence.

    The outer two lie in [-pi, pi], the middle one in [-pi/2, pi/2] (Tait-Bryan) or [0, pi] (proper). In gimbal lock the
    third angle is zero. [Bernardes and Viollet 2022], straight from the quaternion: with i, j, k the axes and e the
    sign of their permutation, the pairs (a, b) and (c, d) have the lengths cos and sin of half the middle angle, and
    the directions of half the sum and half the difference of the outer two.
    """
    (i, j, k), proper, parity = _read(order)
    q = np.asarray(q, dtype=float)
    x, w = q[..., :3], q[..., 3]
    if proper:
        e = 1.0
        a, b, c, d = w, x[..., i], x[..., j], parity * x[..., 3 - i - j]
    else:
        e = -parity  # the derivation runs over the axes from last to first
        a, b = w - x[..., j], x[..., k] + e * x[..., i]
        c, d = w + x[..., j], e * x[..., i] - x[..., k]
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    low, high = middle < GIMBAL_TOLERANCE_RAD, middle > np.pi - GIMBAL_TOLERANCE_RAD
    first = np.where(low, 2.0 * half_sum, np.where(high, 2.0 * half_difference, half_sum + half_difference))
    third = np.where(low | high, 0.0, half_sum - half_difference)
    if not proper:
        middle = middle - 0.5 * np.pi
    return np.stack((_wrap(e * first), middle, _wrap(third)), axis=-1)


def unroll_euler(angles: ArrayLike, order: str, axis: int = 0) -> Array:
    """The same rotations with angles (..., 3) that move continuously along `axis` (time), from the first frame on.

    Each frame takes the nearest to the one before among the triples of equal rotation: whole turns of each angle;
    the flipped triple, (a + pi, pi - b, c + pi) or for proper orders (a + pi, -b, c + pi); and in gimbal lock,
    where only a sum or a difference of the outer angles matters, any split of it.
    """
    shape = _read(order)
    out = np.moveaxis(np.array(angles, dtype=float), axis, 0)
    mirror = 0.0 if shape.proper else np.pi
    flipped = np.array((np.pi, mirror, np.pi)) + out * np.array((1.0, -1.0, 1.0))
    middle = out[..., 1]
    locked = np.abs(np.sin(middle) if shape.proper else np.cos(middle)) < GIMBAL_TOLERANCE_RAD
    side = np.sign(np.cos(middle)) if shape.proper else shape.parity * np.sign(np.sin(middle))
    for frame in range(1, len(out)):
        before = out[frame - 1]
        plain, other = (before + _wrap(triple - before) for triple in (out[frame], flipped[frame]))
        nearer = np.sum((other - before) ** 2, axis=-1) < np.sum((plain - before) ** 2, axis=-1)
        out[frame] = np.where(nearer[..., None], other, plain)
        if locked[frame].any():
            split = _split(out[frame], before, side[frame])
            out[frame] = np.where(locked[frame][..., None], split, out[frame])
    return np.moveaxis(out, 0, axis)


def euler_rate_axes(angles: ArrayLike, order: str) -> Array:
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
    velocity = np.einsum("...ij,...j->...i", euler_rate_axes(angles, order), np.asarray(rates, dtype=float))
    turning = np.concatenate((velocity, np.zeros((*velocity.shape[:-1], 1))), axis=-1)
    return 0.5 * quaternion.multiply(turning, from_euler(angles, order))


def euler_rates(angles: ArrayLike, q: ArrayLike, rates: ArrayLike, order: str) -> Array:
    """The rates (..., 3) of the angles (..., 3) of unit quaternions q (..., 4) that change by `rates` (..., 4).

    In gimbal lock the smallest rates that come nearest (`MIN_RATE_SINGULAR_VALUE`).
    """
    velocity = 2.0 * quaternion.multiply(rates, quaternion.conjugate(q))[..., :3]
    inverse = np.linalg.pinv(euler_rate_axes(angles, order), rcond=MIN_RATE_SINGULAR_VALUE)
    return np.einsum("...ij,...j->...i", inverse, velocity)


class _Order(NamedTuple):
    """The axes of an order, whether it is proper Euler, and its handedness."""

    axes: tuple[int, int, int]
    proper: bool
    parity: float  # +1 where the axes follow x -> y -> z -> x


def _read(order: str) -> _Order:
    letters = one_of(order.upper(), "Euler order", ORDERS)
    i, j, k = ("XYZ".index(letter) for letter in letters)
    return _Order((i, j, k), i == k, 1.0 if (j - i) % 3 == 1 else -1.0)


def _wrap(angle: Array) -> Array:
    """The same angle within [-pi, pi]."""
    return angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))


def _split(triple: Array, before: Array, side: Array) -> Array:
    """Among the triples with the same a + side c, the one nearest to `before`: share the change between both angles."""
    change = _wrap((triple[..., 0] - before[..., 0]) + side * (triple[..., 2] - before[..., 2]))
    first, third = before[..., 0] + 0.5 * change, before[..., 2] + 0.5 * side * change
    return np.stack((first, triple[..., 1], third), axis=-1)
