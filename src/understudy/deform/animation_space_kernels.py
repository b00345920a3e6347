"""Compiled twin of `animation_space`: one vertex at a time, its sums in registers."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def blend(points: Array, joints: Array, matrices: Array, out: Array) -> None:
    """out (F, V, 3) from points (V, K, 4), joints (V, K), matrices (F, B, 12), all float32."""
    for f in range(len(out)):
        for i in range(len(points)):
            x, y, z = np.float32(0), np.float32(0), np.float32(0)
            for k in range(joints.shape[1]):
                m, p = matrices[f, joints[i, k]], points[i, k]
                x += m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3] * p[3]
                y += m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7] * p[3]
                z += m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11] * p[3]
            out[f, i, 0], out[f, i, 1], out[f, i, 2] = x, y, z
