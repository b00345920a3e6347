"""Decoding, frame by frame: `reduction.FeaturePca.restore`, `root_motion.exponentials`, `RootJoint.apply_ground`.

Live, a character is decoded one row at a time, where NumPy costs a call for every product. Each frame is computed on
its own and in the same order, so that one row and many rows agree to the last bit.
"""

from __future__ import annotations

import math

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.maths.vector import MIN_LENGTH


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS)
def add_four(y: Array, rows: Array, out: Array) -> None:
    """out (E,) += y (4,) @ rows (4, E)."""
    y0, y1, y2, y3 = y[0], y[1], y[2], y[3]
    r0, r1, r2, r3 = rows[0], rows[1], rows[2], rows[3]
    for e in range(out.size):
        total = out[e]
        total += y0 * r0[e]
        total += y1 * r1[e]
        total += y2 * r2[e]
        total += y3 * r3[e]
        out[e] = total


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS)
def restore(reduced: Array, back: Array, mean: Array, out: Array) -> None:
    """out (M, E) = reduced (M, D) @ back (D, E) + mean (E,); by four rows, so that out is seldom read and written."""
    whole = len(back) // 4 * 4
    for m in range(len(reduced)):
        y, own = reduced[m], out[m]
        own[:] = mean
        for d in range(0, whole, 4):
            add_four(y[d : d + 4], back[d : d + 4], own)
        for d in range(whole, len(back)):
            row = back[d]
            for e in range(own.size):
                own[e] += y[d] * row[e]


@compile_kernel(nogil=True)
def multiply_quaternion(
    ax: float, ay: float, az: float, aw: float, x: float, y: float, z: float, w: float, out: Array
) -> None:
    """out (4,) = a q."""
    out[0] = aw * x + ax * w + ay * z - az * y
    out[1] = aw * y - ax * z + ay * w + az * x
    out[2] = aw * z + ax * y - ay * x + az * w
    out[3] = aw * w - ax * x - ay * y - az * z


@compile_kernel(nogil=True)
def rotations(logs: Array, reference: Array, out: Array) -> None:
    """out (F, R, 4) = r exp(v) of v (F, R, 3) about r (R, 4)."""
    for f in range(logs.shape[0]):
        for r in range(logs.shape[1]):
            x, y, z = logs[f, r, 0], logs[f, r, 1], logs[f, r, 2]
            angle = math.sqrt(x * x + y * y + z * z)
            scale = 0.5 if angle < MIN_LENGTH else math.sin(0.5 * angle) / angle
            a = reference[r]
            multiply_quaternion(
                a[0], a[1], a[2], a[3], scale * x, scale * y, scale * z, math.cos(0.5 * angle), out[f, r]
            )


@compile_kernel(nogil=True)
def apply_ground(
    translations: Array,
    turns: Array,
    grounds: Array,
    world_from_parent: Array,
    parent_from_world: Array,
    parent_turn: Array,
    moved: Array,
    rotated: Array,
) -> None:
    """moved (F, 3) and rotated (F, 4): a joint's local transforms with each frame on its ground (F, 3)."""
    p, inverse = world_from_parent, parent_from_world
    px, py, pz, pw = parent_turn[0], parent_turn[1], parent_turn[2], parent_turn[3]
    for f in range(len(grounds)):
        tx, ty, tz = translations[f, 0], translations[f, 1], translations[f, 2]
        x = p[0, 0] * tx + p[0, 1] * ty + p[0, 2] * tz + p[0, 3]
        y = p[1, 0] * tx + p[1, 1] * ty + p[1, 2] * tz + p[1, 3]
        z = p[2, 0] * tx + p[2, 1] * ty + p[2, 2] * tz + p[2, 3]
        heading = grounds[f, 2]
        sine, cosine = math.sin(heading), math.cos(heading)
        x, z = cosine * x + sine * z + grounds[f, 0], cosine * z - sine * x + grounds[f, 1]
        for i in range(3):
            moved[f, i] = inverse[i, 0] * x + inverse[i, 1] * y + inverse[i, 2] * z + inverse[i, 3]
        # a turn s about +Y seen from the parent is p^-1 s p: its axis is +Y turned back by p
        s, c = math.sin(0.5 * heading), math.cos(0.5 * heading)
        multiply_quaternion(
            s * 2.0 * (px * py + pz * pw),
            s * (1.0 - 2.0 * (px * px + pz * pz)),
            s * 2.0 * (py * pz - px * pw),
            c,
            turns[f, 0],
            turns[f, 1],
            turns[f, 2],
            turns[f, 3],
            rotated[f],
        )
