"""The compiled inner loops of sculpting: solids as signed distances, sculptures made of them, texels of an atlas.

Each solid is written once, in arithmetic that NumPy does on arrays and numba on single numbers (`register_jitable`),
so the uncompiled functions are the oracle of the compiled loops that use them. Negative is inside.

Blends are the polynomial smooth minimum [Quilez, "smooth minimum"]: where a and b differ by less than k,
smin = min(a, b) - k h^2 / 4, h = 1 - |a - b| / k.

A sculpture (`clay.Clay`) is a list of solids, one row each, blended in order. A row is (shape, way, blend k, mirrored,
eighteen numbers); see `clay` for what they are.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import prange
from numba.extending import register_jitable

from understudy.checks import Array
from understudy.maths.jit import compile_kernel


@register_jitable
def smin(a: Any, b: Any, k: float) -> Any:
    h = np.maximum(k - np.abs(a - b), 0.0) / k
    return np.minimum(a, b) - h * h * k * 0.25


@register_jitable
def smax(a: Any, b: Any, k: float) -> Any:
    return -smin(-a, -b, k)


@register_jitable
def ramp(low: float, high: float, x: Any) -> Any:
    u = np.minimum(np.maximum((x - low) / (high - low), 0.0), 1.0)
    return u * u * (3.0 - 2.0 * u)


@register_jitable
def ellipsoid(x: Any, y: Any, z: Any, a: float, b: float, c: float) -> Any:
    """About the origin, half-axes a, b, c: k0 (k0 - 1) / k1, exact to first order at the surface [Quilez]."""
    k0 = np.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2 + 1e-8)  # the small terms keep the centre finite
    k1 = np.sqrt((x / (a * a)) ** 2 + (y / (b * b)) ** 2 + (z / (c * c)) ** 2 + 1e-8 / (a * a))
    return k0 * (k0 - 1.0) / k1


@register_jitable
def sphere(x: Any, y: Any, z: Any, cx: float, cy: float, cz: float, r: float) -> Any:
    return np.sqrt((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2) - r


@register_jitable
def capsule(
    x: Any, y: Any, z: Any, ax: float, ay: float, az: float, bx: float, by: float, bz: float, ra: float, rb: float
) -> Any:
    """A round bar from a to b whose radius runs from ra to rb."""
    px, py, pz = x - ax, y - ay, z - az
    dx, dy, dz = bx - ax, by - ay, bz - az
    t = (px * dx + py * dy + pz * dz) / (dx * dx + dy * dy + dz * dz)
    t = np.minimum(np.maximum(t, 0.0), 1.0)
    return np.sqrt((px - t * dx) ** 2 + (py - t * dy) ** 2 + (pz - t * dz) ** 2) - (ra + (rb - ra) * t)


@register_jitable
def turned(x: Any, y: Any, z: Any, m: tuple[float, ...]) -> Any:
    return (
        m[0] * x + m[1] * y + m[2] * z,
        m[3] * x + m[4] * y + m[5] * z,
        m[6] * x + m[7] * y + m[8] * z,
    )


ELLIPSOID, BAR, RING, HALF_SPACE = range(4)
ADD, CARVE, CUT, JOIN = range(4)
FAR = 1e3  # a distance that stands for nothing yet


@register_jitable
def solid_at(r: Array, x: float, y: float, z: float) -> float:
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
def clay_at(rows: Array, x: float, y: float, z: float) -> float:
    """The distance to all. Solids that join the one before by a hard minimum count as one where they melt."""
    d, group, k = FAR, FAR, 1.0
    for i in range(rows.shape[0]):
        r = rows[i]
        q = solid_at(r, x, y, z)
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
def clay_at_points(rows: Array, points: Array) -> Array:
    """(M,) of the whole at points (M, 3)."""
    out = np.empty(len(points))
    for i in prange(len(points)):
        out[i] = clay_at(rows, points[i, 0], points[i, 1], points[i, 2])
    return out


@numba.njit(parallel=True, fastmath={"contract"})
def solids_at_points(rows: Array, points: Array) -> Array:
    """(M, N) of every solid at points (M, 3)."""
    out = np.empty((len(points), len(rows)))
    for i in prange(len(points)):
        for n in range(len(rows)):
            out[i, n] = solid_at(rows[n], points[i, 0], points[i, 1], points[i, 2])
    return out


@compile_kernel()
def cover_texels(uvs: Array, size: int, triangle: Array, weights: Array) -> None:
    """Fill triangle (size, size), -1 where none, and weights (size, size, 3) barycentric, from corners (T, 3, 2).

    Texel (row, column) has its centre at ((column + .5) / size, (row + .5) / size).
    """
    triangle[:] = -1
    for t in range(len(uvs)):
        ax, ay = uvs[t, 0, 0] * size - 0.5, uvs[t, 0, 1] * size - 0.5
        bx, by = uvs[t, 1, 0] * size - 0.5, uvs[t, 1, 1] * size - 0.5
        cx, cy = uvs[t, 2, 0] * size - 0.5, uvs[t, 2, 1] * size - 0.5
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        left, right = max(int(np.ceil(min(ax, bx, cx))), 0), min(int(np.floor(max(ax, bx, cx))), size - 1)
        low, high = max(int(np.ceil(min(ay, by, cy))), 0), min(int(np.floor(max(ay, by, cy))), size - 1)
        for row in range(low, high + 1):
            for column in range(left, right + 1):
                b = ((column - ax) * (cy - ay) - (row - ay) * (cx - ax)) / area
                c = ((bx - ax) * (row - ay) - (by - ay) * (column - ax)) / area
                if b >= 0.0 and c >= 0.0 and b + c <= 1.0:
                    triangle[row, column] = t
                    weights[row, column, 0] = 1.0 - b - c
                    weights[row, column, 1] = b
                    weights[row, column, 2] = c
