"""The inner loops of `clay`: a list of solids, one row each, melted together in order.

A row is (shape, way, blend k, mirrored, eighteen numbers); see `clay` for what they are.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import prange
from numba.extending import register_jitable

from understudy.cast.sculpting.solids_kernels import capsule, ellipsoid, smax, smin
from understudy.checks import Array

ELLIPSOID, BAR, RING, HALF_SPACE = range(4)
ADD, CARVE, CUT, JOIN = range(4)
FAR = 1e3  # a distance that stands for nothing yet


@register_jitable
def solid(r: Array, x: float, y: float, z: float) -> float:
    """The distance to one solid."""
    if r[3] > 0.5:
        x = abs(x)
    if r[0] == BAR:
        return capsule(x, y, z, r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11])
    px, py, pz = x - r[4], y - r[5], z - r[6]
    qx = r[10] * px + r[11] * py + r[12] * pz
    qy = r[13] * px + r[14] * py + r[15] * pz
    qz = r[16] * px + r[17] * py + r[18] * pz
    if r[0] == ELLIPSOID:
        return ellipsoid(qx, qy, qz, r[7], r[8], r[9])
    if r[0] == RING:
        return np.sqrt((np.sqrt(qx * qx + qz * qz) - r[7]) ** 2 + (qy / r[9]) ** 2) - r[8]
    return qy


@register_jitable
def whole(rows: Array, x: float, y: float, z: float) -> float:
    """The distance to all. Solids that join the one before by a hard minimum count as one where they melt."""
    d, group, k = FAR, FAR, 1.0
    for i in range(rows.shape[0]):
        r = rows[i]
        q = solid(r, x, y, z)
        if r[1] == JOIN:
            group = min(group, q)
            continue
        if group < FAR:
            d = group if d == FAR else smin(d, group, k)
            group = FAR
        if r[1] == ADD:
            group, k = q, r[2]
        elif r[1] == CARVE:
            d = smax(d, -q, r[2])
        else:
            d = smax(d, q, r[2])
    if group < FAR:
        d = group if d == FAR else smin(d, group, k)
    return d


@numba.njit(parallel=True, fastmath={"contract"})
def at_points(rows: Array, points: Array) -> Array:
    """(M,) of the whole at points (M, 3)."""
    out = np.empty(len(points))
    for i in prange(len(points)):
        out[i] = whole(rows, points[i, 0], points[i, 1], points[i, 2])
    return out


@numba.njit(parallel=True, fastmath={"contract"})
def each_at_points(rows: Array, points: Array) -> Array:
    """(M, N) of every solid at points (M, 3)."""
    out = np.empty((len(points), len(rows)))
    for i in prange(len(points)):
        for n in range(len(rows)):
            out[i, n] = solid(rows[n], points[i, 0], points[i, 1], points[i, 2])
    return out
