"""Compiled twin of the last line of `NeuroEnveloping.deform_reference`."""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def add(bone: Array, directions: Array, o: Array, Q: Array, out: Array) -> None:
    """out (F, V, 3) += Q_b sum_d o_d U_d; directions (D, V, 3), o (F, D), Q (F, B, 3, 3)."""
    block = 512
    count = len(bone)
    for piece in numba.prange((count + block - 1) // block):
        start, stop = piece * block, min(count, (piece + 1) * block)
        own = np.empty((block, 3), np.float32)
        for f in range(out.shape[0]):
            own[:] = 0
            for d in range(directions.shape[0]):
                amount, u = o[f, d], directions[d]
                for v in range(start, stop):
                    own[v - start, 0] += amount * u[v, 0]
                    own[v - start, 1] += amount * u[v, 1]
                    own[v - start, 2] += amount * u[v, 2]
            for v in range(start, stop):
                q, p = Q[f, bone[v]], own[v - start]
                out[f, v, 0] += q[0, 0] * p[0] + q[0, 1] * p[1] + q[0, 2] * p[2]
                out[f, v, 1] += q[1, 0] * p[0] + q[1, 1] * p[1] + q[1, 2] * p[2]
                out[f, v, 2] += q[2, 0] * p[0] + q[2, 1] * p[1] + q[2, 2] * p[2]
