"""Compiled turns of single joints, x, y, z, w, for the loops of `leg_reach`."""

from __future__ import annotations

import math

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def multiply(a: Array, b: Array, out: Array) -> None:
    """out = a b, quaternions x, y, z, w; out may be neither."""
    out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1]
    out[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0]
    out[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3]
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def rotate(q: Array, v: Array, back: float, out: Array) -> None:
    """out = q v q*, or with back = -1 q* v q; out may not be v."""
    x, y, z, w = back * q[0], back * q[1], back * q[2], q[3]
    a, b, c = 2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])
    out[0] = v[0] + w * a + y * c - z * b
    out[1] = v[1] + w * b + z * a - x * c
    out[2] = v[2] + w * c + x * b - y * a


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def exponential(v: Array, out: Array) -> None:
    """The quaternion of a rotation vector."""
    a = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    s = 0.5 - a * a / 48.0 if a < 1e-4 else math.sin(0.5 * a) / a
    out[0], out[1], out[2], out[3] = s * v[0], s * v[1], s * v[2], math.cos(0.5 * a)


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def logarithm(q: Array, out: Array) -> None:
    """The rotation vector of a quaternion, the shorter way round."""
    sign = 1.0 if q[3] >= 0.0 else -1.0
    s = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    factor = 2.0 * sign if s < 1e-9 else sign * 2.0 * math.atan2(s, sign * q[3]) / s
    out[0], out[1], out[2] = factor * q[0], factor * q[1], factor * q[2]
