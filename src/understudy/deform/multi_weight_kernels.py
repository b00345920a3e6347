"""Compiled twin of `multi_weight`: one vertex at a time, its sums in registers."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def blend(entries: Array, pair_of: Array, home: Array, relative: Array, matrices: Array, out: Array) -> None:
    """out (F, V, 3) from entries (V, K, 12), pair_of (V, K), home (V,), relative (F, P, 12), matrices (F, B, 12)."""
    for f in range(len(out)):
        for i in range(len(home)):
            x, y, z = np.float32(0), np.float32(0), np.float32(0)
            for k in range(pair_of.shape[1]):
                n, c = relative[f, pair_of[i, k]], entries[i, k]
                x += n[0] * c[0] + n[1] * c[1] + n[2] * c[2] + n[3] * c[3]
                y += n[4] * c[4] + n[5] * c[5] + n[6] * c[6] + n[7] * c[7]
                z += n[8] * c[8] + n[9] * c[9] + n[10] * c[10] + n[11] * c[11]
            m = matrices[f, home[i]]
            out[f, i, 0] = m[0] * x + m[1] * y + m[2] * z + m[3]
            out[f, i, 1] = m[4] * x + m[5] * y + m[6] * z + m[7]
            out[f, i, 2] = m[8] * x + m[9] * y + m[10] * z + m[11]
