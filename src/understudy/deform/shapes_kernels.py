"""Compiled twin of `shapes`: block by block, four shapes at a time.

A block of vertices is a run of SIZE numbers (x, y, z of each), so adding a shape to it is one straight vector loop of a
length that the compiler knows. The sums stay in the first-level cache and are written once. `fastmath` allows fused
multiply-adds only: a NaN weight reaches the result.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

SIZE = 96  # numbers in a block: 32 vertices


@compiled(fastmath=FAST, inline="always")
def _block(b: int, rest: Array, starts: Array, shape_of: Array, rows: Array, weights: Array, out: Array) -> None:
    """Block b of all frames. rest (F or 1, 3V), rows (N, SIZE) of block b are starts[b]:starts[b + 1], out (F, 3V)."""
    first, last, base = starts[b], starts[b + 1], b * SIZE
    length = min(SIZE, out.shape[1] - base)
    total = np.zeros(SIZE, np.float32)
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
            for c in range(SIZE):
                total[c] += (wp * p[c] + wq * q[c]) + (wr * r[c] + ws * s[c])
        target = out[f]
        for c in range(length):
            target[base + c] = total[c]


@compiled(fastmath=FAST)
def add(rest: Array, starts: Array, shape_of: Array, rows: Array, weights: Array, out: Array) -> None:
    """All blocks on the calling thread."""
    for b in range(starts.shape[0] - 1):
        _block(b, rest, starts, shape_of, rows, weights, out)


@compiled(fastmath=FAST, parallel=True)
def add_shared(rest: Array, starts: Array, shape_of: Array, rows: Array, weights: Array, out: Array) -> None:
    """All blocks, shared among the threads."""
    for b in numba.prange(starts.shape[0] - 1):
        _block(np.int64(b), rest, starts, shape_of, rows, weights, out)
