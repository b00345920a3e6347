"""Compiled twins of `lattice`, in float32, for LANES points at a time, x, y and z apart.

First, in straight vector arithmetic, each point finds its cell and its three weights along each axis. Then, point by
point, for each of the nine (i, j) the three lattice points along z lie side by side in the padded table, four numbers
each (x, y, z and a pad): the sum over (i, j) is one loop over sixteen numbers, two vectors, and only the last step,
along z, is scalar.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

LANES = 32
RUN = 16  # numbers of one run along z: four points, the last of them without weight
ROOM = 9 * LANES  # numbers of scratch: the weights of LANES points


@compiled(fastmath=FAST, error_model="numpy", inline="always")
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
    w[3 * axis * LANES + i], w[(3 * axis + 1) * LANES + i] = half * r * r, half + t * r
    w[(3 * axis + 2) * LANES + i] = half * t * t
    return cell


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def displacement(
    x: Array, m: Array, reach: Array, counts: Array, table: Array, cell: Array, w: Array, run: Array, d: Array
) -> int:
    """d (3 LANES,) at x (3 LANES,); returns how many points lie where anything is moved.

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
    for i in range(LANES):
        px, py, pz = x[i], x[LANES + i], x[2 * LANES + i]
        ux, uy = m0 * px + m1 * py + m2 * pz + m3, m4 * px + m5 * py + m6 * pz + m7
        uz = m8 * px + m9 * py + m10 * pz + m11
        ix, iy, iz = _weigh(ux, ax, bx, i, 0, w), _weigh(uy, ay, by, i, 1, w), _weigh(uz, az, bz, i, 2, w)
        inside = (ux > ax) & (uy > ay) & (uz > az) & (ux < bx) & (uy < by) & (uz < bz)
        cell[i] = np.int32(ix * wide + iy * long + four * iz) if inside else np.int32(-1)
    hits = 0
    for i in range(LANES):
        if cell[i] >= 0:
            hits += 1
            _sum(np.uint64(np.uint32(cell[i])), row, slab, i, table, w, run, d)
        else:
            d[i], d[LANES + i], d[2 * LANES + i] = np.float32(0), np.float32(0), np.float32(0)
    return hits


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _sum(s: int, row: int, slab: int, i: int, table: Array, w: Array, run: Array, d: Array) -> None:
    """d of point i, whose cell's first lattice point begins at table[s].

    Indices are unsigned: a signed one might count from the end, and the check for it would break the vector loop.
    """
    t, u, two = s + slab, s + slab + slab, row + row
    ax, bx, cx = w[i], w[LANES + i], w[2 * LANES + i]
    ay, by, cy = w[3 * LANES + i], w[4 * LANES + i], w[5 * LANES + i]
    az, bz, cz = w[6 * LANES + i], w[7 * LANES + i], w[8 * LANES + i]
    wa, wb, wc, wd, we, wf = ax * ay, ax * by, ax * cy, bx * ay, bx * by, bx * cy
    wg, wh, wi = cx * ay, cx * by, cx * cy
    for n in range(np.uint64(RUN)):
        run[n] = (
            ((wa * table[s + n] + wb * table[s + row + n]) + (wc * table[s + two + n] + wd * table[t + n]))
            + ((we * table[t + row + n] + wf * table[t + two + n]) + (wg * table[u + n] + wh * table[u + row + n]))
            + wi * table[u + two + n]
        )
    d[i] = az * run[0] + bz * run[4] + cz * run[8]
    d[LANES + i] = az * run[1] + bz * run[5] + cz * run[9]
    d[2 * LANES + i] = az * run[2] + bz * run[6] + cz * run[10]


@compiled(fastmath=FAST, error_model="numpy")
def _frame(points: Array, m: Array, reach: Array, counts: Array, table: Array, out: Array) -> None:
    cell, w, run = np.empty(LANES, np.int32), np.empty(ROOM, np.float32), np.empty(RUN, np.float32)
    x, d = np.zeros(3 * LANES, np.float32), np.zeros(3 * LANES, np.float32)
    for first in range(0, points.shape[0], LANES):
        last = min(first + LANES, points.shape[0])
        for i in range(first, last):
            for c in range(3):
                x[c * LANES + i - first] = points[i, c]
        displacement(x, m, reach, counts, table, cell, w, run, d)
        for i in range(first, last):
            for c in range(3):
                out[i, c] = d[c * LANES + i - first]


@compiled(fastmath=FAST, error_model="numpy")
def displace(points: Array, m: Array, reaches: Array, counts: Array, tables: Array, out: Array) -> None:
    """points (F or 1, N, 3), tables (F or 1, N'), reaches (F or 1, 6), out (F, N, 3), on the calling thread."""
    for f in range(out.shape[0]):
        t = min(f, tables.shape[0] - 1)
        _frame(points[min(f, points.shape[0] - 1)], m, reaches[t], counts, tables[t], out[f])


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def displace_shared(points: Array, m: Array, reaches: Array, counts: Array, tables: Array, out: Array) -> None:
    """The same with the frames shared among the threads."""
    for f in numba.prange(out.shape[0]):
        t = min(f, tables.shape[0] - 1)
        _frame(points[min(f, points.shape[0] - 1)], m, reaches[t], counts, tables[t], out[f])
