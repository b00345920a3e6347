"""Kernels of `layered` and `blend_shapes`, and of the normals in `linear`.

Lattice, in float32, for VERTICES_PER_BLOCK points at a time, x, y and z apart. First, in straight vector arithmetic,
each point finds its cell and its three weights along each axis. Then, point by point, for each of the nine (i, j) the
three lattice points along z lie side by side in the padded table, four numbers each (x, y, z and a pad): the sum over
(i, j) is one loop over sixteen numbers, two vectors, and only the last step, along z, is scalar.

Layers: a block of 32 vertices at a time, x, y and z apart. Frames go in groups of FRAMES_PER_GROUP: a block's shapes
are read from memory once a group. The finished blocks of a group lie in a buffer in the order of the blocks, and are
then written to the result in the order of the vertices.

Normals: one frame is one thread's work, so the order of the sums does not depend on the threads. Sums are in double
precision: corners of a millimetre give cross products of 1e-6 square metres, and a fan of slivers would otherwise lose
its direction.

Shapes: block by block, four shapes at a time. A block of vertices is a run of FLOATS_PER_SHAPE_BLOCK numbers (x, y, z
of each), so adding a shape to it is one straight vector loop of a length that the compiler knows. The sums stay in the
first-level cache and are written once. `fastmath` allows fused multiply-adds only: a NaN weight reaches the result.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.character.skinning.layered import MIN_DETERMINANT, PoseBlock, VertexBlocks
from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

VERTICES_PER_BLOCK = 32
RUN_FLOATS = 16  # of one run along z: four points, the last of them without weight
SCRATCH_FLOATS = 9 * VERTICES_PER_BLOCK  # of scratch: the weights of VERTICES_PER_BLOCK points
FLOATS_PER_VERTEX_BLOCK = 3 * VERTICES_PER_BLOCK
FRAMES_PER_GROUP = 8  # the shapes of a block (10 KB) stay in the first-level cache, the buffer (2 MB) near it
FLOATS_PER_SHAPE_BLOCK = 96  # 32 vertices


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _weigh(u: float, low: float, high: float, i: int, axis: int, w: Array) -> np.int32:
    """The cell of u, and its weights on the points that begin two, one and no cells before.

    Beyond `low` and `high` nothing is moved, and u is held there; so is NaN, which passes no comparison.
    """
    u = u if u > low else low
    u = u if u < high else high
    cell = np.int32(u)
    t = u - np.float32(cell)
    r = np.float32(1) - t
    half = np.float32(0.5)
    w[3 * axis * VERTICES_PER_BLOCK + i], w[(3 * axis + 1) * VERTICES_PER_BLOCK + i] = half * r * r, half + t * r
    w[(3 * axis + 2) * VERTICES_PER_BLOCK + i] = half * t * t
    return cell


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def displacement(
    x: Array, m: Array, reach: Array, counts: Array, table: Array, cell: Array, w: Array, run: Array, d: Array
) -> int:
    """d (3 L,) at x (3 L,), L = VERTICES_PER_BLOCK; returns the number of points inside the support.

    m (12,) are the rows of u from x, reach (6,) where in cells the offsets begin and end to move anything, and table
    (N,) one frame of `lattice.padded`; cell (LANES,) int32, w (ROOM,) and run (RUN,) are scratch.
    """
    row, slab = np.uint64(4 * (counts[2] + 6)), np.uint64(4 * (counts[2] + 6) * (counts[1] + 5))
    m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11 = (
        m[0],
        m[1],
        m[2],
        m[3],
        m[4],
        m[5],
        m[6],
        m[7],
        m[8],
        m[9],
        m[10],
        m[11],
    )
    wide, long, four = np.int32(slab), np.int32(row), np.int32(4)
    ax, ay, az, bx, by, bz = reach[0], reach[1], reach[2], reach[3], reach[4], reach[5]
    for i in range(VERTICES_PER_BLOCK):
        px, py, pz = x[i], x[VERTICES_PER_BLOCK + i], x[2 * VERTICES_PER_BLOCK + i]
        ux, uy = m0 * px + m1 * py + m2 * pz + m3, m4 * px + m5 * py + m6 * pz + m7
        uz = m8 * px + m9 * py + m10 * pz + m11
        ix, iy, iz = _weigh(ux, ax, bx, i, 0, w), _weigh(uy, ay, by, i, 1, w), _weigh(uz, az, bz, i, 2, w)
        inside = (ux > ax) & (uy > ay) & (uz > az) & (ux < bx) & (uy < by) & (uz < bz)
        cell[i] = np.int32(ix * wide + iy * long + four * iz) if inside else np.int32(-1)
    hits = 0
    for i in range(VERTICES_PER_BLOCK):
        if cell[i] >= 0:
            hits += 1
            _sum(np.uint64(np.uint32(cell[i])), row, slab, i, table, w, run, d)
        else:
            d[i], d[VERTICES_PER_BLOCK + i], d[2 * VERTICES_PER_BLOCK + i] = np.float32(0), np.float32(0), np.float32(0)
    return hits


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _sum(s: int, row: int, slab: int, i: int, table: Array, w: Array, run: Array, d: Array) -> None:
    """d of point i, whose cell's first lattice point begins at table[s].

    Indices are unsigned: a signed one might count from the end, and the check for it would break the vector loop.
    """
    t, u, two = s + slab, s + slab + slab, row + row
    ax, bx, cx = w[i], w[VERTICES_PER_BLOCK + i], w[2 * VERTICES_PER_BLOCK + i]
    ay, by, cy = w[3 * VERTICES_PER_BLOCK + i], w[4 * VERTICES_PER_BLOCK + i], w[5 * VERTICES_PER_BLOCK + i]
    az, bz, cz = w[6 * VERTICES_PER_BLOCK + i], w[7 * VERTICES_PER_BLOCK + i], w[8 * VERTICES_PER_BLOCK + i]
    wa, wb, wc, wd, we, wf = ax * ay, ax * by, ax * cy, bx * ay, bx * by, bx * cy
    wg, wh, wi = cx * ay, cx * by, cx * cy
    for n in range(np.uint64(RUN_FLOATS)):
        run[n] = (
            ((wa * table[s + n] + wb * table[s + row + n]) + (wc * table[s + two + n] + wd * table[t + n]))
            + ((we * table[t + row + n] + wf * table[t + two + n]) + (wg * table[u + n] + wh * table[u + row + n]))
            + wi * table[u + two + n]
        )
    d[i] = az * run[0] + bz * run[4] + cz * run[8]
    d[VERTICES_PER_BLOCK + i] = az * run[1] + bz * run[5] + cz * run[9]
    d[2 * VERTICES_PER_BLOCK + i] = az * run[2] + bz * run[6] + cz * run[10]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _displace_frame(points: Array, m: Array, reach: Array, counts: Array, table: Array, out: Array) -> None:
    cell, w, run = (
        np.empty(VERTICES_PER_BLOCK, np.int32),
        np.empty(SCRATCH_FLOATS, np.float32),
        np.empty(RUN_FLOATS, np.float32),
    )
    x, d = np.zeros(3 * VERTICES_PER_BLOCK, np.float32), np.zeros(3 * VERTICES_PER_BLOCK, np.float32)
    for first in range(0, points.shape[0], VERTICES_PER_BLOCK):
        last = min(first + VERTICES_PER_BLOCK, points.shape[0])
        for i in range(first, last):
            for c in range(3):
                x[c * VERTICES_PER_BLOCK + i - first] = points[i, c]
        displacement(x, m, reach, counts, table, cell, w, run, d)
        for i in range(first, last):
            for c in range(3):
                out[i, c] = d[c * VERTICES_PER_BLOCK + i - first]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def displace(points: Array, m: Array, reaches: Array, counts: Array, tables: Array, out: Array) -> None:
    """points (F or 1, N, 3), tables (F or 1, N'), reaches (F or 1, 6), out (F, N, 3), on the calling thread."""
    for f in range(out.shape[0]):
        t = min(f, tables.shape[0] - 1)
        _displace_frame(points[min(f, points.shape[0] - 1)], m, reaches[t], counts, tables[t], out[f])


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def displace_parallel(points: Array, m: Array, reaches: Array, counts: Array, tables: Array, out: Array) -> None:
    """The same with the frames shared among the threads."""
    for f in numba.prange(out.shape[0]):
        t = min(f, tables.shape[0] - 1)
        _displace_frame(points[min(f, points.shape[0] - 1)], m, reaches[t], counts, tables[t], out[f])


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
def _add_shapes(
    first: int, last: int, shape_of: Array, rows: Array, weights: Array, row: Array, w: Array, p: Array
) -> None:
    """p (3 L,) += the shapes of rows first:last, four at a time; row and w are scratch for a list of those in use."""
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
        for i in range(FLOATS_PER_VERTEX_BLOCK):
            p[i] += (wa * a[i] + wb * b[i]) + (wc * c[i] + wd * d[i])


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
def _skin(
    first: int, last: int, joint_of: Array, rows: Array, motions: Array, moved: Array, p: Array, x: Array
) -> None:
    """x = p + sum_j a_j E_j p, of one frame's motions (J, 12)."""
    for i in range(FLOATS_PER_VERTEX_BLOCK):
        x[i] = p[i]
    for k in range(first, last):
        j = joint_of[k]
        if moved[j]:
            a, e = rows[k], motions[j]
            e0, e1, e2, e3, e4, e5 = e[0], e[1], e[2], e[3], e[4], e[5]
            e6, e7, e8, e9, e10, e11 = e[6], e[7], e[8], e[9], e[10], e[11]
            for i in range(VERTICES_PER_BLOCK):
                px, py, pz = p[i], p[VERTICES_PER_BLOCK + i], p[2 * VERTICES_PER_BLOCK + i]
                x[i] += a[i] * (e0 * px + e1 * py + e2 * pz + e3)
                x[VERTICES_PER_BLOCK + i] += a[i] * (e4 * px + e5 * py + e6 * pz + e7)
                x[2 * VERTICES_PER_BLOCK + i] += a[i] * (e8 * px + e9 * py + e10 * pz + e11)


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
def _turn(turn: Array, d: Array, x: Array) -> None:
    """x += L d."""
    t0, t1, t2, t3, t4, t5, t6, t7, t8 = turn[0], turn[1], turn[2], turn[3], turn[4], turn[5], turn[6], turn[7], turn[8]
    for i in range(VERTICES_PER_BLOCK):
        dx, dy, dz = d[i], d[VERTICES_PER_BLOCK + i], d[2 * VERTICES_PER_BLOCK + i]
        x[i] += t0 * dx + t1 * dy + t2 * dz
        x[VERTICES_PER_BLOCK + i] += t3 * dx + t4 * dy + t5 * dz
        x[2 * VERTICES_PER_BLOCK + i] += t6 * dx + t7 * dy + t8 * dz


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _group(start: int, stop: int, blocks: VertexBlocks, poses: PoseBlock, out: Array) -> None:
    """Frames start:stop."""
    count = blocks.rest.shape[0]
    done = np.empty((stop - start, count * FLOATS_PER_VERTEX_BLOCK), np.float32)
    p, d, run = (
        np.empty(FLOATS_PER_VERTEX_BLOCK, np.float32),
        np.empty(FLOATS_PER_VERTEX_BLOCK, np.float32),
        np.empty(RUN_FLOATS, np.float32),
    )
    cell, room = np.empty(VERTICES_PER_BLOCK, np.int32), np.empty(SCRATCH_FLOATS, np.float32)
    longest = 0
    for b in range(count):
        longest = max(longest, blocks.shape_first[b + 1] - blocks.shape_first[b])
    row, w = np.empty(longest + 3, np.int64), np.empty(longest + 3, np.float32)
    for b in range(count):
        rest, shapes, joints = blocks.rest[b], blocks.shape_first[b : b + 2], blocks.joint_first[b : b + 2]
        for f in range(start, stop):
            for i in range(FLOATS_PER_VERTEX_BLOCK):
                p[i] = rest[i]
            _add_shapes(shapes[0], shapes[1], blocks.shape_of, blocks.shape_rows, poses.weights[f], row, w, p)
            x = done[f - start, b * FLOATS_PER_VERTEX_BLOCK : (b + 1) * FLOATS_PER_VERTEX_BLOCK]
            _skin(joints[0], joints[1], blocks.joint_of, blocks.joint_rows, poses.motions[f], poses.moved[f], p, x)
            if poses.bent[f]:
                m, reach, table = poses.u_from_world[f], poses.reach[f], poses.tables[f]
                if displacement(x, m, reach, poses.counts, table, cell, room, run, d):
                    _turn(poses.turns[f], d, x)
    for f in range(start, stop):
        source, target = done[f - start], out[f]
        for v in range(blocks.place.shape[0]):
            s = blocks.place[v]
            target[v, 0], target[v, 1], target[v, 2] = (
                source[s],
                source[s + VERTICES_PER_BLOCK],
                source[s + 2 * VERTICES_PER_BLOCK],
            )


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def deform(blocks: VertexBlocks, poses: PoseBlock, out: Array) -> None:
    """All frames on the calling thread."""
    for start in range(0, out.shape[0], FRAMES_PER_GROUP):
        _group(start, min(start + FRAMES_PER_GROUP, out.shape[0]), blocks, poses, out)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def deform_parallel(blocks: VertexBlocks, poses: PoseBlock, out: Array) -> None:
    """All frames, in groups shared among the threads."""
    frames = out.shape[0]
    for group in numba.prange((frames + FRAMES_PER_GROUP - 1) // FRAMES_PER_GROUP):
        start = np.int64(group) * FRAMES_PER_GROUP
        _group(start, min(start + FRAMES_PER_GROUP, frames), blocks, poses, out)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _blend(b: int, f: int, blocks: VertexBlocks, poses: PoseBlock, a: Array) -> None:
    """a (9, L) = 1 + sum_j a_j E_j, the linear parts, of block b in frame f."""
    for n in range(9):
        for i in range(VERTICES_PER_BLOCK):
            a[n, i] = np.float32(1 if n % 4 == 0 else 0)
    for k in range(blocks.joint_first[b], blocks.joint_first[b + 1]):
        j = blocks.joint_of[k]
        if poses.moved[f, j]:
            for n in range(9):
                e, row, w = poses.motions[f, j, n + n // 3], a[n], blocks.joint_rows[k]
                for i in range(VERTICES_PER_BLOCK):
                    row[i] += w[i] * e


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def undo_skinning(blocks: VertexBlocks, poses: PoseBlock, moves: Array, out: Array) -> None:
    """out = (1 + sum_j a_j E_j)^-1 moves, (F, V, 3); the inverse by cofactors, zero where there is none."""
    count, vertices = blocks.rest.shape[0], blocks.place.shape[0]
    for f in numba.prange(out.shape[0]):
        blends = np.empty((count, 9, VERTICES_PER_BLOCK), np.float32)
        for b in range(count):
            _blend(b, np.int64(f), blocks, poses, blends[b])
        for v in range(vertices):
            x, y, z = moves[f, v, 0], moves[f, v, 1], moves[f, v, 2]
            a, i = blends[blocks.place[v] // FLOATS_PER_VERTEX_BLOCK], blocks.place[v] % VERTICES_PER_BLOCK
            c0 = a[4, i] * a[8, i] - a[5, i] * a[7, i]
            c1 = a[5, i] * a[6, i] - a[3, i] * a[8, i]
            c2 = a[3, i] * a[7, i] - a[4, i] * a[6, i]
            det = a[0, i] * c0 + a[1, i] * c1 + a[2, i] * c2
            if abs(det) > MIN_DETERMINANT and (x != 0 or y != 0 or z != 0):
                c3, c4 = a[2, i] * a[7, i] - a[1, i] * a[8, i], a[0, i] * a[8, i] - a[2, i] * a[6, i]
                c5, c6 = a[1, i] * a[6, i] - a[0, i] * a[7, i], a[1, i] * a[5, i] - a[2, i] * a[4, i]
                c7, c8 = a[2, i] * a[3, i] - a[0, i] * a[5, i], a[0, i] * a[4, i] - a[1, i] * a[3, i]
                out[f, v, 0] = (c0 * x + c3 * y + c6 * z) / det
                out[f, v, 1] = (c1 * x + c4 * y + c7 * z) / det
                out[f, v, 2] = (c2 * x + c5 * y + c8 * z) / det


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _corner_angle(a: Array, b: Array, c: Array) -> float:
    """The angle of the triangle a, b, c at corner a."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return np.arctan2(np.sqrt(x * x + y * y + z * z), ux * vx + uy * vy + uz * vz)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _frame_normals(v: Array, triangles: Array, by_angle: bool, total: Array, out: Array) -> None:
    """Normals (V, 3) of one frame's vertices (V, 3); total (V, 3) is scratch."""
    total[:] = 0.0
    corner = np.empty((3, 3))
    for t in range(triangles.shape[0]):
        for k in range(3):
            for c in range(3):
                corner[k, c] = v[triangles[t, k], c]
        ux, uy, uz = corner[1, 0] - corner[0, 0], corner[1, 1] - corner[0, 1], corner[1, 2] - corner[0, 2]
        vx, vy, vz = corner[2, 0] - corner[0, 0], corner[2, 1] - corner[0, 1], corner[2, 2] - corner[0, 2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        area = np.sqrt(x * x + y * y + z * z)
        if area == 0:
            continue
        for k in range(3):
            i, share = triangles[t, k], 1.0
            if by_angle:
                share = _corner_angle(corner[k], corner[(k + 1) % 3], corner[(k + 2) % 3]) / area
            total[i, 0] += share * x
            total[i, 1] += share * y
            total[i, 2] += share * z
    for i in range(total.shape[0]):
        x, y, z = total[i, 0], total[i, 1], total[i, 2]
        length = np.sqrt(x * x + y * y + z * z)
        n = 1.0 / length if length != 0 else 0.0
        out[i, 0], out[i, 1], out[i, 2] = n * x, n * y, n * z


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def vertex_normals_serial(vertices: Array, triangles: Array, by_angle: bool, out: Array) -> None:
    """Normals of frames (F, V, 3), one after the other on the calling thread."""
    total = np.empty((vertices.shape[1], 3))
    for f in range(vertices.shape[0]):
        _frame_normals(vertices[f], triangles, by_angle, total, out[f])


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def vertex_normals_parallel(vertices: Array, triangles: Array, by_angle: bool, out: Array) -> None:
    """Normals of frames (F, V, 3), frames shared among the threads."""
    for f in numba.prange(vertices.shape[0]):
        _frame_normals(vertices[f], triangles, by_angle, np.empty((vertices.shape[1], 3)), out[f])


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
def _block(b: int, rest: Array, starts: Array, shape_of: Array, rows: Array, weights: Array, out: Array) -> None:
    """Block b of all frames. rest (F or 1, 3V), rows (N, 96) of block b are starts[b]:starts[b + 1], out (F, 3V)."""
    first, last, base = starts[b], starts[b + 1], b * FLOATS_PER_SHAPE_BLOCK
    length = min(FLOATS_PER_SHAPE_BLOCK, out.shape[1] - base)
    total = np.zeros(FLOATS_PER_SHAPE_BLOCK, np.float32)
    row, w = np.zeros(last - first + 3, np.int64), np.zeros(last - first + 3, np.float32)
    for f in range(out.shape[0]):
        n = 0
        for k in range(first, last):
            if weights[f, shape_of[k]] != 0:
                row[n], w[n] = k, weights[f, shape_of[k]]
                n += 1
        if n:
            for k in range(n, n + 3):
                row[k], w[k] = row[0], 0
        source = rest[min(f, rest.shape[0] - 1)]
        for c in range(length):
            total[c] = source[base + c]
        for k in range(0, n, 4):
            p, q, r, s = rows[row[k]], rows[row[k + 1]], rows[row[k + 2]], rows[row[k + 3]]
            wp, wq, wr, ws = w[k], w[k + 1], w[k + 2], w[k + 3]
            for c in range(FLOATS_PER_SHAPE_BLOCK):
                total[c] += (wp * p[c] + wq * q[c]) + (wr * r[c] + ws * s[c])
        target = out[f]
        for c in range(length):
            target[base + c] = total[c]


@compile_kernel(fastmath=FASTMATH_FLAGS)
def add_shape_blocks(rest: Array, starts: Array, shape_of: Array, rows: Array, weights: Array, out: Array) -> None:
    """All blocks on the calling thread."""
    for b in range(starts.shape[0] - 1):
        _block(b, rest, starts, shape_of, rows, weights, out)


@compile_kernel(fastmath=FASTMATH_FLAGS, parallel=True)
def add_shape_blocks_parallel(
    rest: Array, starts: Array, shape_of: Array, rows: Array, weights: Array, out: Array
) -> None:
    """All blocks, shared among the threads."""
    for b in numba.prange(starts.shape[0] - 1):
        _block(np.int64(b), rest, starts, shape_of, rows, weights, out)
