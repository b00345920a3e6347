"""Compiled twin of `packing.Normals`: single precision, one thread, nothing allocated.

The sums of `deform.normals` are in double precision, since results are measured there; here they are looked at.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def normals(points: Array, triangles: Array, place: Array, total: Array, out: Array) -> None:
    """Unit normals of points (V, 3) into out (V, 3); total (W, 3) is scratch, place (V,) the row of it."""
    total[:] = np.float32(0)
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = points[i, 0], points[i, 1], points[i, 2]
        ux, uy, uz = points[j, 0] - ax, points[j, 1] - ay, points[j, 2] - az
        vx, vy, vz = points[k, 0] - ax, points[k, 1] - ay, points[k, 2] - az
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        i, j, k = place[i], place[j], place[k]
        total[i, 0] += x
        total[i, 1] += y
        total[i, 2] += z
        total[j, 0] += x
        total[j, 1] += y
        total[j, 2] += z
        total[k, 0] += x
        total[k, 1] += y
        total[k, 2] += z
    for w in range(total.shape[0]):
        x, y, z = total[w, 0], total[w, 1], total[w, 2]
        length = np.sqrt(x * x + y * y + z * z)
        if length > 0:
            n = np.float32(1) / length
            total[w, 0], total[w, 1], total[w, 2] = n * x, n * y, n * z
        else:
            total[w, 0], total[w, 1], total[w, 2] = np.float32(0), np.float32(1), np.float32(0)
    for v in range(out.shape[0]):
        w = place[v]
        out[v, 0], out[v, 1], out[v, 2] = total[w, 0], total[w, 1], total[w, 2]
