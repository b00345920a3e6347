"""The compiled twin of `quaternion.from_matrix`."""

from __future__ import annotations

import math

from understudy.checks import Array
from understudy.maths.accelerate import compiled


@compiled(nogil=True)
def column_of(m: Array, q: Array) -> None:
    """q (4,) times some factor of a rotation matrix (3, 3): the column of 4 q q' with the largest diagonal entry."""
    xx, yy, zz = 1 + m[0, 0] - m[1, 1] - m[2, 2], 1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]
    ww = 1 + m[0, 0] + m[1, 1] + m[2, 2]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    xw, yw, zw = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    most = max(max(xx, yy), max(zz, ww))
    if xx == most:
        q[0], q[1], q[2], q[3] = xx, xy, xz, xw
    elif yy == most:
        q[0], q[1], q[2], q[3] = xy, yy, yz, yw
    elif zz == most:
        q[0], q[1], q[2], q[3] = xz, yz, zz, zw
    else:
        q[0], q[1], q[2], q[3] = xw, yw, zw, ww


@compiled(nogil=True)
def from_matrix(m: Array, out: Array) -> None:
    """Quaternions (N, 4) of rotation matrices (N, 3, 3)."""
    for n in range(m.shape[0]):
        q = out[n]
        column_of(m[n], q)
        size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        for i in range(4):
            q[i] /= size
