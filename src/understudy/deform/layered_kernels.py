"""Compiled twins of `layered`: a block of 32 vertices at a time, x, y and z apart.

Frames go in groups of GROUP: a block's shapes are read from memory once a group. The finished blocks of a group lie in
a buffer in the order of the blocks, and are then written to the result in the order of the vertices.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.deform.lattice_kernels import LANES, ROOM, RUN, displacement
from understudy.deform.layered import FLAT, Blocks, Poses
from understudy.maths.accelerate import FAST, compiled

SIZE = 3 * LANES
GROUP = 8  # frames: the shapes of a block (10 KB) stay in the first-level cache, the buffer (2 MB) near it


@compiled(fastmath=FAST, inline="always")
def _add_shapes(
    first: int, last: int, shape_of: Array, rows: Array, weights: Array, row: Array, w: Array, p: Array
) -> None:
    """p (SIZE,) += the shapes of rows first:last, four at a time; row and w are room for a list of those in use."""
    n = 0
    for k in range(first, last):
        if weights[shape_of[k]] != 0:
            row[n], w[n] = k, weights[shape_of[k]]
            n += 1
    if n:
        for k in range(n, n + 3):
            row[k], w[k] = row[0], 0
    for k in range(0, n, 4):
        a, b, c, d = rows[row[k]], rows[row[k + 1]], rows[row[k + 2]], rows[row[k + 3]]
        wa, wb, wc, wd = w[k], w[k + 1], w[k + 2], w[k + 3]
        for i in range(SIZE):
            p[i] += (wa * a[i] + wb * b[i]) + (wc * c[i] + wd * d[i])


@compiled(fastmath=FAST, inline="always")
def _skin(
    first: int, last: int, joint_of: Array, rows: Array, motions: Array, moved: Array, p: Array, x: Array
) -> None:
    """x = p + sum_j a_j E_j p, of one frame's motions (J, 12)."""
    for i in range(SIZE):
        x[i] = p[i]
    for k in range(first, last):
        j = joint_of[k]
        if moved[j]:
            a, e = rows[k], motions[j]
            e0, e1, e2, e3, e4, e5 = e[0], e[1], e[2], e[3], e[4], e[5]
            e6, e7, e8, e9, e10, e11 = e[6], e[7], e[8], e[9], e[10], e[11]
            for i in range(LANES):
                px, py, pz = p[i], p[LANES + i], p[2 * LANES + i]
                x[i] += a[i] * (e0 * px + e1 * py + e2 * pz + e3)
                x[LANES + i] += a[i] * (e4 * px + e5 * py + e6 * pz + e7)
                x[2 * LANES + i] += a[i] * (e8 * px + e9 * py + e10 * pz + e11)


@compiled(fastmath=FAST, inline="always")
def _turn(turn: Array, d: Array, x: Array) -> None:
    """x += L d."""
    t0, t1, t2, t3, t4, t5, t6, t7, t8 = turn[0], turn[1], turn[2], turn[3], turn[4], turn[5], turn[6], turn[7], turn[8]
    for i in range(LANES):
        dx, dy, dz = d[i], d[LANES + i], d[2 * LANES + i]
        x[i] += t0 * dx + t1 * dy + t2 * dz
        x[LANES + i] += t3 * dx + t4 * dy + t5 * dz
        x[2 * LANES + i] += t6 * dx + t7 * dy + t8 * dz


@compiled(fastmath=FAST, error_model="numpy")
def _group(start: int, stop: int, blocks: Blocks, poses: Poses, out: Array) -> None:
    """Frames start:stop."""
    count = blocks.rest.shape[0]
    done = np.empty((stop - start, count * SIZE), np.float32)
    p, d, run = np.empty(SIZE, np.float32), np.empty(SIZE, np.float32), np.empty(RUN, np.float32)
    cell, room = np.empty(LANES, np.int32), np.empty(ROOM, np.float32)
    longest = 0
    for b in range(count):
        longest = max(longest, blocks.shape_first[b + 1] - blocks.shape_first[b])
    row, w = np.empty(longest + 3, np.int64), np.empty(longest + 3, np.float32)
    for b in range(count):
        rest, shapes, joints = blocks.rest[b], blocks.shape_first[b : b + 2], blocks.joint_first[b : b + 2]
        for f in range(start, stop):
            for i in range(SIZE):
                p[i] = rest[i]
            _add_shapes(shapes[0], shapes[1], blocks.shape_of, blocks.shape_rows, poses.weights[f], row, w, p)
            x = done[f - start, b * SIZE : (b + 1) * SIZE]
            _skin(joints[0], joints[1], blocks.joint_of, blocks.joint_rows, poses.motions[f], poses.moved[f], p, x)
            if poses.bent[f]:
                m, reach, table = poses.u_from_world[f], poses.reach[f], poses.tables[f]
                if displacement(x, m, reach, poses.counts, table, cell, room, run, d):
                    _turn(poses.turns[f], d, x)
    for f in range(start, stop):
        source, target = done[f - start], out[f]
        for v in range(blocks.place.shape[0]):
            s = blocks.place[v]
            target[v, 0], target[v, 1], target[v, 2] = source[s], source[s + LANES], source[s + 2 * LANES]


@compiled(fastmath=FAST, error_model="numpy")
def deform(blocks: Blocks, poses: Poses, out: Array) -> None:
    """All frames on the calling thread."""
    for start in range(0, out.shape[0], GROUP):
        _group(start, min(start + GROUP, out.shape[0]), blocks, poses, out)


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def deform_shared(blocks: Blocks, poses: Poses, out: Array) -> None:
    """All frames, in groups shared among the threads."""
    frames = out.shape[0]
    for group in numba.prange((frames + GROUP - 1) // GROUP):
        start = np.int64(group) * GROUP
        _group(start, min(start + GROUP, frames), blocks, poses, out)


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _blend(b: int, f: int, blocks: Blocks, poses: Poses, a: Array) -> None:
    """a (9, LANES) = 1 + sum_j a_j E_j, the linear parts, of block b in frame f."""
    for n in range(9):
        for i in range(LANES):
            a[n, i] = np.float32(1 if n % 4 == 0 else 0)
    for k in range(blocks.joint_first[b], blocks.joint_first[b + 1]):
        j = blocks.joint_of[k]
        if poses.moved[f, j]:
            for n in range(9):
                e, row, w = poses.motions[f, j, n + n // 3], a[n], blocks.joint_rows[k]
                for i in range(LANES):
                    row[i] += w[i] * e


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def before_skinning(blocks: Blocks, poses: Poses, moves: Array, out: Array) -> None:
    """out = (1 + sum_j a_j E_j)^-1 moves, (F, V, 3); the inverse by cofactors, zero where there is none."""
    count, vertices = blocks.rest.shape[0], blocks.place.shape[0]
    for f in numba.prange(out.shape[0]):
        blends = np.empty((count, 9, LANES), np.float32)
        for b in range(count):
            _blend(b, np.int64(f), blocks, poses, blends[b])
        for v in range(vertices):
            x, y, z = moves[f, v, 0], moves[f, v, 1], moves[f, v, 2]
            a, i = blends[blocks.place[v] // SIZE], blocks.place[v] % LANES
            c0 = a[4, i] * a[8, i] - a[5, i] * a[7, i]
            c1 = a[5, i] * a[6, i] - a[3, i] * a[8, i]
            c2 = a[3, i] * a[7, i] - a[4, i] * a[6, i]
            det = a[0, i] * c0 + a[1, i] * c1 + a[2, i] * c2
            if abs(det) > FLAT and (x != 0 or y != 0 or z != 0):
                c3, c4 = a[2, i] * a[7, i] - a[1, i] * a[8, i], a[0, i] * a[8, i] - a[2, i] * a[6, i]
                c5, c6 = a[1, i] * a[6, i] - a[0, i] * a[7, i], a[1, i] * a[5, i] - a[2, i] * a[4, i]
                c7, c8 = a[2, i] * a[3, i] - a[0, i] * a[5, i], a[0, i] * a[4, i] - a[1, i] * a[3, i]
                out[f, v, 0] = (c0 * x + c3 * y + c6 * z) / det
                out[f, v, 1] = (c1 * x + c4 * y + c7 * z) / det
                out[f, v, 2] = (c2 * x + c5 * y + c8 * z) / det
