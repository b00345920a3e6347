"""Compiled twin of `weighted_pose_space`: for each vertex a row of kernels over the examples, then three sums.

Sums may be reordered here, or they would not be vectorised; NaN and infinity still reach the result.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import compiled

ONE = np.float32(1)


@compiled(fastmath={"contract", "reassoc", "arcp"}, error_model="numpy")
def correct(heard: Array, shares: Array, coefficients: Array, table: Array, out: Array) -> None:
    """out (F, V, 3) = sum_e a_e k_e, from table (F, M, E), heard and shares (V, L), coefficients (V, 3, E)."""
    examples = coefficients.shape[2]
    k = np.empty(examples, np.float32)
    for f in range(len(out)):
        for i in range(len(heard)):
            for e in range(examples):
                k[e] = ONE
            for place in range(heard.shape[1]):
                u, row = shares[i, place], table[f, heard[i, place]]
                if u != 0:
                    for e in range(examples):
                        k[e] += u * row[e]
            for e in range(examples):
                b = ONE / k[e]
                b *= b
                k[e] = b * b
            for c in range(3):
                a, total = coefficients[i, c], np.float32(0)
                for e in range(examples):
                    total += a[e] * k[e]
                out[f, i, c] = total
