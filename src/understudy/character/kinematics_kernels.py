"""World transforms: one frame is one pass over the joints, parents before children.

A pose of 60 joints is 8 KB and stays in the first-level cache, so the job runs near the speed of writing the result.
Arrays that are the same in every frame come with a leading axis of one and are read at its only frame, 0.

`fastmath` allows fused multiply-adds only: NaN and infinity pass through to the result.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel


# Frames that share one scratch pose: large enough to hide its allocation, small enough to balance threads.
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
