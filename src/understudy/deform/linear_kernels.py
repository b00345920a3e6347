"""Compiled twins of `linear`.

Many frames: frames are the innermost axis, so that one vertex is blended for a whole block of frames with straight
vector arithmetic and its influences are looked up once a block. The matrices come as (blocks, B, 12 * width): for each
block of `width` frames and each bone, twelve runs of `width` numbers. A block of vertices is finished in a buffer that
stays in the cache and then written frame by frame.

`width` is a constant of each kernel, because the compiler then knows how the runs lie to each other and needs no checks
for overlap before it vectorises. Two widths serve all lengths: WIDE carries the bulk, NARROW the rest. They are
multiples of 8 (the vector) but not of 32, so the runs of one bone do not fall on the same lines of the first-level
cache (measured: 104 takes half the time of 64 for a frame).

Few frames: one vertex at a time, all its sums in registers.

`fastmath` allows fused multiply-adds only, so NaN and infinity reach the result and can be found there.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

WIDE, NARROW = 104, 24
BLOCK = 48  # vertices: 48 x 3 x 104 floats are 60 KB, and each frame's run in the result is 9 whole cache lines


@compiled(fastmath=FAST, inline="always")
def gather_influences(joints: Array, weights: Array, i: int, found_joints: Array, found_weights: Array) -> int:
    """How many influences of vertex i are not zero, and which; three more of weight zero follow to fill groups."""
    n = 0
    for k in range(joints.shape[1]):
        if weights[i, k] != 0:
            found_joints[n], found_weights[n] = joints[i, k], weights[i, k]
            n += 1
    for k in range(n, n + 3):
        found_joints[k], found_weights[k] = found_joints[0], np.float32(0)
    return n


def _fixed(width: int) -> Any:
    """The kernel for vertices that are the same in all frames."""

    @compiled(parallel=True, fastmath=FAST, error_model="numpy")
    def blend(vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array) -> None:
        count, frames = vertices.shape[1], out.shape[0]
        for piece in numba.prange((count + BLOCK - 1) // BLOCK):
            start, stop = piece * BLOCK, min(count, (piece + 1) * BLOCK)
            done = np.empty((3, BLOCK, width), np.float32)
            j, w = np.zeros(joints.shape[1] + 4, np.int32), np.zeros(joints.shape[1] + 4, np.float32)
            for block in range(matrices.shape[0]):
                m = matrices[block]
                for i in range(start, stop):
                    x, y, z = vertices[0, i, 0], vertices[0, i, 1], vertices[0, i, 2]
                    n = gather_influences(joints, weights, i, j, w)
                    for r in range(3):
                        o = done[r, i - start]
                        for f in range(width):
                            o[f] = 0
                    for k in range(0, n, 4):
                        a, b, c, d = m[j[k]], m[j[k + 1]], m[j[k + 2]], m[j[k + 3]]
                        a3, b3, c3, d3 = w[k], w[k + 1], w[k + 2], w[k + 3]
                        a0, a1, a2, b0, b1, b2 = a3 * x, a3 * y, a3 * z, b3 * x, b3 * y, b3 * z
                        c0, c1, c2, d0, d1, d2 = c3 * x, c3 * y, c3 * z, d3 * x, d3 * y, d3 * z
                        for r in range(3):
                            o = done[r, i - start]
                            h = 4 * r * width
                            g, u, v = h + width, h + 2 * width, h + 3 * width
                            if n - k == 1:
                                for f in range(width):
                                    o[f] += a0 * a[h + f] + a1 * a[g + f] + a2 * a[u + f] + a3 * a[v + f]
                            elif n - k == 2:
                                for f in range(width):
                                    o[f] += (a0 * a[h + f] + a1 * a[g + f] + a2 * a[u + f] + a3 * a[v + f]) + (
                                        b0 * b[h + f] + b1 * b[g + f] + b2 * b[u + f] + b3 * b[v + f]
                                    )
                            else:
                                for f in range(width):
                                    o[f] += (
                                        (a0 * a[h + f] + a1 * a[g + f] + a2 * a[u + f] + a3 * a[v + f])
                                        + (b0 * b[h + f] + b1 * b[g + f] + b2 * b[u + f] + b3 * b[v + f])
                                        + (c0 * c[h + f] + c1 * c[g + f] + c2 * c[u + f] + c3 * c[v + f])
                                        + (d0 * d[h + f] + d1 * d[g + f] + d2 * d[u + f] + d3 * d[v + f])
                                    )
                write_frames(done, start, stop, first + block * width, min(width, frames - first - block * width), out)

    return blend


@compiled(inline="always")
def write_frames(done: Array, start: int, stop: int, first: int, frames: int, out: Array) -> None:
    """done (3, BLOCK, width) to out[first : first + frames, start:stop]."""
    for f in range(frames):
        row = out[first + f]
        for i in range(start, stop):
            row[i, 0], row[i, 1], row[i, 2] = done[0, i - start, f], done[1, i - start, f], done[2, i - start, f]


def _moving(width: int) -> Any:
    """The kernel for vertices (F, V, 3) that already differ from frame to frame (after blend shapes)."""

    @compiled(parallel=True, fastmath=FAST, error_model="numpy")
    def blend(vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array) -> None:
        count, frames = vertices.shape[1], out.shape[0]
        for piece in numba.prange((count + BLOCK - 1) // BLOCK):
            start, stop = piece * BLOCK, min(count, (piece + 1) * BLOCK)
            rest, done = np.zeros((BLOCK, 3 * width), np.float32), np.empty((3, BLOCK, width), np.float32)
            j, w = np.zeros(joints.shape[1] + 4, np.int32), np.zeros(joints.shape[1] + 4, np.float32)
            for block in range(matrices.shape[0]):
                m = matrices[block]
                read_frames(vertices, start, stop, first + block * width, width, rest)
                for i in range(start, stop):
                    p = rest[i - start]
                    n = gather_influences(joints, weights, i, j, w)
                    for r in range(3):
                        o = done[r, i - start]
                        for f in range(width):
                            o[f] = 0
                    for k in range(0, n, 2):
                        a, b, a3, b3 = m[j[k]], m[j[k + 1]], w[k], w[k + 1]
                        for r in range(3):
                            o = done[r, i - start]
                            h = 4 * r * width
                            g, u, v = h + width, h + 2 * width, h + 3 * width
                            for f in range(width):
                                o[f] += (
                                    p[f] * (a3 * a[h + f] + b3 * b[h + f])
                                    + p[width + f] * (a3 * a[g + f] + b3 * b[g + f])
                                    + p[2 * width + f] * (a3 * a[u + f] + b3 * b[u + f])
                                    + (a3 * a[v + f] + b3 * b[v + f])
                                )
                write_frames(done, start, stop, first + block * width, min(width, frames - first - block * width), out)

    return blend


@compiled(inline="always")
def read_frames(vertices: Array, start: int, stop: int, first: int, width: int, rest: Array) -> None:
    """vertices[first : first + width, start:stop] to rest (BLOCK, 3 * width); beyond the last frame nothing changes."""
    for f in range(min(width, vertices.shape[0] - first)):
        row = vertices[first + f]
        for i in range(start, stop):
            p = rest[i - start]
            p[f], p[width + f], p[2 * width + f] = row[i, 0], row[i, 1], row[i, 2]


fixed_wide, fixed_narrow = _fixed(WIDE), _fixed(NARROW)
moving_wide, moving_narrow = _moving(WIDE), _moving(NARROW)


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _vertex(x: float, y: float, z: float, joints: Array, weights: Array, m: Array, i: int, row: Array) -> None:
    """One vertex in one frame; m (B, 12)."""
    o0, o1, o2 = np.float32(0), np.float32(0), np.float32(0)
    for k in range(joints.shape[1]):
        w = weights[i, k]
        if w != 0:
            j = joints[i, k]
            a, b, c = w * x, w * y, w * z
            o0 += a * m[j, 0] + b * m[j, 1] + c * m[j, 2] + w * m[j, 3]
            o1 += a * m[j, 4] + b * m[j, 5] + c * m[j, 6] + w * m[j, 7]
            o2 += a * m[j, 8] + b * m[j, 9] + c * m[j, 10] + w * m[j, 11]
    row[i, 0], row[i, 1], row[i, 2] = o0, o1, o2


@compiled(fastmath=FAST, error_model="numpy")
def few(vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array) -> None:
    """Frames first, first + 1, ... of `out`, from matrices (frames, B, 12), on the calling thread."""
    for f in range(matrices.shape[0]):
        rest = vertices[min(first + f, vertices.shape[0] - 1)]
        for i in range(rest.shape[0]):
            _vertex(rest[i, 0], rest[i, 1], rest[i, 2], joints, weights, matrices[f], i, out[first + f])


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def few_shared(vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array) -> None:
    """The same with the vertices shared among the threads."""
    for i in numba.prange(vertices.shape[1]):
        for f in range(matrices.shape[0]):
            rest = vertices[min(first + f, vertices.shape[0] - 1)]
            _vertex(rest[i, 0], rest[i, 1], rest[i, 2], joints, weights, matrices[f], np.int64(i), out[first + f])
