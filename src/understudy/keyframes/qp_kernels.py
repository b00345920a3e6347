"""The compiled twin of `qp.gram_slowly`."""

from __future__ import annotations

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(nogil=True, fastmath=FAST)
def gram(rows: Array, weights: Array, out: Array) -> None:
    """Add sum_r w_r a_r a_r' to `out` (N, N); rows are half empty, and what is zero is passed over."""
    n = out.shape[0]
    for r in range(rows.shape[0]):
        for i in range(n):
            scaled = weights[r] * rows[r, i]
            if scaled != 0.0:
                for j in range(i + 1):
                    out[i, j] += scaled * rows[r, j]
    for i in range(n):
        for j in range(i):
            out[j, i] = out[i, j]
