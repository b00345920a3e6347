"""Compiled twin of `figure.mark_tiles_numpy`."""

from __future__ import annotations

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def mark_tiles(low: Array, high: Array, triangles: Array, touched: Array) -> None:
    """Set touched (rows, columns) where a triangle's box, from its corners' lowest to highest tile (V, 2), lies."""
    rows, columns = touched.shape
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        left = max(min(low[a, 0], low[b, 0], low[c, 0]), 0)
        right = min(max(high[a, 0], high[b, 0], high[c, 0]), columns - 1)
        bottom = max(min(low[a, 1], low[b, 1], low[c, 1]), 0)
        top = min(max(high[a, 1], high[b, 1], high[c, 1]), rows - 1)
        for y in range(bottom, top + 1):
            for x in range(left, right + 1):
                touched[y, x] = True
