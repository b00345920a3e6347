"""Compiled twins of `kinematics`: one frame is one pass over the joints, parents before children.

A pose of 60 joints is 8 KB and stays in the first-level cache, so the job runs near the speed of writing the result.
Arrays that are the same in every frame come with a leading axis of one and are read at its only frame, 0.

`fastmath` allows fused multiply-adds only: NaN and infinity pass through as they do in the NumPy twin.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

# Frames that share one scratch pose: large enough to hide its allocation, small enough to balance threads.
FRAMES_PER_BLOCK = 64


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _place(ft: int, fq: int, fs: int, j: int, p: int, t: Array, q: Array, s: Array, world: Array, slot: int) -> None:
    """world[slot, j] rows 0-2 = world[slot, p] @ (translation, rotation, scale of joint j in frames ft, fq, fs)."""
    x, y, z, w = q[fq, j, 0], q[fq, j, 1], q[fq, j, 2], q[fq, j, 3]
    s0, s1, s2 = s[fs, j, 0], s[fs, j, 1], s[fs, j, 2]
    t0, t1, t2 = t[ft, j, 0], t[ft, j, 1], t[ft, j, 2]
    m00, m01, m02 = s0 * (1.0 - 2.0 * (y * y + z * z)), s1 * (2.0 * (x * y - w * z)), s2 * (2.0 * (x * z + w * y))
    m10, m11, m12 = s0 * (2.0 * (x * y + w * z)), s1 * (1.0 - 2.0 * (x * x + z * z)), s2 * (2.0 * (y * z - w * x))
    m20, m21, m22 = s0 * (2.0 * (x * z - w * y)), s1 * (2.0 * (y * z + w * x)), s2 * (1.0 - 2.0 * (x * x + y * y))
    if p < 0:
        world[slot, j, 0, 0], world[slot, j, 0, 1], world[slot, j, 0, 2], world[slot, j, 0, 3] = m00, m01, m02, t0
        world[slot, j, 1, 0], world[slot, j, 1, 1], world[slot, j, 1, 2], world[slot, j, 1, 3] = m10, m11, m12, t1
        world[slot, j, 2, 0], world[slot, j, 2, 1], world[slot, j, 2, 2], world[slot, j, 2, 3] = m20, m21, m22, t2
    else:
        for a in range(3):
            g0, g1, g2, g3 = world[slot, p, a, 0], world[slot, p, a, 1], world[slot, p, a, 2], world[slot, p, a, 3]
            world[slot, j, a, 0] = g0 * m00 + g1 * m10 + g2 * m20
            world[slot, j, a, 1] = g0 * m01 + g1 * m11 + g2 * m21
            world[slot, j, a, 2] = g0 * m02 + g1 * m12 + g2 * m22
            world[slot, j, a, 3] = g0 * t0 + g1 * t1 + g2 * t2 + g3


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def transforms(parents: Array, t: Array, q: Array, s: Array, out: Array) -> None:
    """World transforms (F, J, 4, 4) of many frames, frames shared among the threads."""
    for frame in numba.prange(out.shape[0]):
        f = np.int64(frame)  # the loop's own index is unsigned, and mixing the two makes floats
        ft, fq, fs = min(f, t.shape[0] - 1), min(f, q.shape[0] - 1), min(f, s.shape[0] - 1)
        for j in range(parents.shape[0]):
            _place(ft, fq, fs, j, parents[j], t, q, s, out, f)
            out[f, j, 3, 0], out[f, j, 3, 1], out[f, j, 3, 2], out[f, j, 3, 3] = 0.0, 0.0, 0.0, 1.0


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def transforms_serial(parents: Array, t: Array, q: Array, s: Array, out: Array) -> None:
    """`transforms` on the calling thread, for a few poses: waking the other threads would cost more than the work."""
    for f in range(out.shape[0]):
        ft, fq, fs = min(f, t.shape[0] - 1), min(f, q.shape[0] - 1), min(f, s.shape[0] - 1)
        for j in range(parents.shape[0]):
            _place(ft, fq, fs, j, parents[j], t, q, s, out, f)
            out[f, j, 3, 0], out[f, j, 3, 1], out[f, j, 3, 2], out[f, j, 3, 3] = 0.0, 0.0, 0.0, 1.0


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def positions(parents: Array, t: Array, q: Array, s: Array, out: Array) -> None:
    """World positions (F, J, 3); the transforms live in a scratch pose and are never written to main memory."""
    frames, count = out.shape[0], parents.shape[0]
    for block in numba.prange((frames + FRAMES_PER_BLOCK - 1) // FRAMES_PER_BLOCK):
        pose = np.empty((1, count, 3, 4))
        for f in range(block * FRAMES_PER_BLOCK, min(frames, (block + 1) * FRAMES_PER_BLOCK)):
            ft, fq, fs = min(f, t.shape[0] - 1), min(f, q.shape[0] - 1), min(f, s.shape[0] - 1)
            for j in range(count):
                _place(ft, fq, fs, j, parents[j], t, q, s, pose, 0)
                out[f, j, 0], out[f, j, 1], out[f, j, 2] = pose[0, j, 0, 3], pose[0, j, 1, 3], pose[0, j, 2, 3]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def locals_of(parents: Array, world: Array, singular: float, out: Array) -> int:
    """parent_from_joint (F, J, 4, 4) of world_from_joint, by the adjugate of the parent's linear part.

    Returns how many times a parent had no inverse: |det| at most `singular` times the product of its column lengths.
    """
    flat = 0
    for f in numba.prange(world.shape[0]):
        for j in range(parents.shape[0]):
            p = parents[j]
            if p < 0:
                for a in range(4):
                    for b in range(4):
                        out[f, j, a, b] = world[f, j, a, b]
                continue
            a00, a01, a02 = world[f, p, 0, 0], world[f, p, 0, 1], world[f, p, 0, 2]
            a10, a11, a12 = world[f, p, 1, 0], world[f, p, 1, 1], world[f, p, 1, 2]
            a20, a21, a22 = world[f, p, 2, 0], world[f, p, 2, 1], world[f, p, 2, 2]
            c00, c01, c02 = a11 * a22 - a12 * a21, a02 * a21 - a01 * a22, a01 * a12 - a02 * a11
            c10, c11, c12 = a12 * a20 - a10 * a22, a00 * a22 - a02 * a20, a02 * a10 - a00 * a12
            c20, c21, c22 = a10 * a21 - a11 * a20, a01 * a20 - a00 * a21, a00 * a11 - a01 * a10
            det = a00 * c00 + a01 * c10 + a02 * c20
            lengths = (a00 * a00 + a10 * a10 + a20 * a20) * (a01 * a01 + a11 * a11 + a21 * a21)
            lengths = np.sqrt(lengths * (a02 * a02 + a12 * a12 + a22 * a22))
            if abs(det) <= singular * lengths:
                flat += 1
            n = 1.0 / det
            for b in range(4):
                u, v, w = world[f, j, 0, b], world[f, j, 1, b], world[f, j, 2, b]
                if b == 3:
                    u, v, w = u - world[f, p, 0, 3], v - world[f, p, 1, 3], w - world[f, p, 2, 3]
                out[f, j, 0, b] = n * (c00 * u + c01 * v + c02 * w)
                out[f, j, 1, b] = n * (c10 * u + c11 * v + c12 * w)
                out[f, j, 2, b] = n * (c20 * u + c21 * v + c22 * w)
                out[f, j, 3, b] = 1.0 if b == 3 else 0.0
    return flat
