"""Compiled twin of `corrections.carry`."""

from __future__ import annotations

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def carry(d: Array, home: Array, matrices: Array, out: Array) -> None:
    """out (F, V, 3) += M_h d, of d (F, V, 3), home (V,) and matrices (F, B, 9)."""
    for f in range(len(out)):
        for i in range(len(home)):
            m, x, y, z = matrices[f, home[i]], d[f, i, 0], d[f, i, 1], d[f, i, 2]
            out[f, i, 0] += m[0] * x + m[1] * y + m[2] * z
            out[f, i, 1] += m[3] * x + m[4] * y + m[5] * z
            out[f, i, 2] += m[6] * x + m[7] * y + m[8] * z
