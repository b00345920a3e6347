"""The dragon as a signed distance field: ellipsoids, capsules and spheres melted together, then carved.

Every field is written once, in the arithmetic of `sculpting.kernels`, so the uncompiled functions are the oracle
of the compiled loops below. All take the left half (x >= 0) in head lengths, unless they say that they mirror. Negative
is inside. Nothing is cached on disk: numba would not notice that a measure in another file has changed.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import prange
from numba.extending import register_jitable

from assets.dragon import measures
from assets.sculpting.kernels import capsule, ellipsoid, ramp, smax, smin, sphere
from understudy.checks import Array

EX, EY, EZ = measures.EYE
(SX, SY, SZ), (UX, UY, UZ), (FX, FY, FZ) = measures.eye_frame().tolist()
ZC = measures.CORNER_Z

LIP_THICKNESS = 0.048
SOCKET = 0.1505  # radius
FIELDS = ("skin", "closed", "without_mouth")


@register_jitable
def lip_sheet(x: Any, z: Any) -> Any:
    """Height of the sheet in which the lips meet; its rise with x is what shows the smile from the front."""
    m = -0.178 + 0.058 * ramp(0.26, 0.0, z) + 0.036 * ramp(0.06, 0.30, x)
    return m - 0.014 * np.exp(-((x / 0.06) ** 2)) * ramp(0.3, 0.5, z)


@register_jitable
def skull(x: Any, y: Any, z: Any) -> Any:
    d = ellipsoid(x, y - 0.10, z + 0.075, 0.385, 0.355, 0.385)  # cranium
    d = smin(d, ellipsoid(x, y - 0.15, z - 0.09, 0.24, 0.19, 0.22), 0.12)  # forehead
    d = smin(d, ellipsoid(x - 0.225, y + 0.105, z - 0.085, 0.135, 0.118, 0.160), 0.14)  # cheek
    n = ellipsoid(x, y + 0.103, z - 0.30, 0.240, 0.115, 0.252)  # muzzle
    n = smin(n, sphere(x, y, z, 0.092, -0.095, 0.455, 0.090), 0.08)  # whisker pad
    n = smin(n, capsule(x, y, z, 0.0, 0.035, 0.22, 0.0, -0.052, 0.465, 0.066, 0.080), 0.10)  # bridge of the nose
    d = smin(d, n, 0.13)
    j = capsule(x, y, z, 0.190, -0.140, 0.03, 0.08, -0.215, 0.37, 0.085, 0.080)  # branch of the jaw
    j = smin(j, ellipsoid(x, y + 0.205, z - 0.270, 0.215, 0.095, 0.250), 0.10)
    j = smin(j, sphere(x, y, z, 0.0, -0.225, 0.435, 0.075), 0.08)  # chin
    return smin(d, j, 0.07)


@register_jitable
def features(d: Any, x: Any, y: Any, z: Any) -> Any:
    d = smin(d, sphere(x, y, z, 0.066, -0.028, 0.512, 0.046), 0.06)  # nostril's bulb
    d = smin(d, sphere(x, y, z, EX, EY, EZ, 0.178), 0.06)  # bulge of the eye
    b = capsule(x, y, z, 0.085, 0.200, 0.318, 0.195, 0.240, 0.278, 0.024, 0.034)  # brow, inner and outer half
    b = np.minimum(b, capsule(x, y, z, 0.195, 0.240, 0.278, 0.325, 0.170, 0.165, 0.034, 0.018))
    d = smin(d, b, 0.075)
    d = smin(d, sphere(x, y, z, 0.185, 0.40, -0.18, 0.07), 0.09)  # collar of the horn
    return smin(d, sphere(x, y, z, 0.350, 0.06, -0.17, 0.055), 0.08)  # base of the fin


@register_jitable
def neck(x: Any, y: Any, z: Any) -> Any:
    k = capsule(x, y, z, 0.0, 0.0, -0.20, 0.0, -0.36, -0.255, 0.225, 0.160)
    k = smin(k, capsule(x, y, z, 0.0, -0.36, -0.255, 0.0, -0.72, -0.22, 0.155, 0.185), 0.10)
    return smin(k, capsule(x, y, z, 0.0, -0.72, -0.22, 0.0, -1.15, -0.08, 0.190, 0.33), 0.15)


@register_jitable
def closed(x: Any, y: Any, z: Any) -> Any:
    """The head and neck before carving: minus this is the depth under the skin."""
    d = features(skull(x, y, z), x, y, z)
    d = smin(d, neck(x, y, z), 0.13)
    return smax(d, -(y + 1.02), 0.03)


@register_jitable
def slit_width(z: Any) -> Any:
    """Half the slit's width: one voxel between the lips, wider at the corner, where the lips run round in a loop."""
    return 0.0065 + 0.0045 * ramp(0.16, 0.085, z)


@register_jitable
def mouth(x: Any, y: Any, z: Any, depth: Any) -> Any:
    """A slit along the lips' sheet and a cavity behind lips of even thickness, both clear of the eye's socket."""
    m = lip_sheet(x, z)
    a = np.abs(y - m)
    behind = np.maximum(ZC - z, 0.0)
    slit = np.sqrt(a * a + behind * behind) - slit_width(z)
    high = 0.052 * ramp(-0.06, 0.12, z) * (1.0 + 0.45 * (y < m))
    cavity = smax(smax(depth + LIP_THICKNESS, a - high - 0.004, 0.03), -0.05 - z, 0.04)
    cavity = smax(cavity, -sphere(x, y, z, EX, EY, EZ, 0.178), 0.02)
    slit = smax(slit, -sphere(x, y, z, EX, EY, EZ, 0.170), 0.02)
    return smin(slit, cavity, 0.022)


@register_jitable
def eye_socket(d: Any, x: Any, y: Any, z: Any) -> Any:
    px, py, pz = x - EX, y - EY, z - EZ
    ball = np.sqrt(px * px + py * py + pz * pz) - SOCKET
    t = px * FX + py * FY + pz * FZ
    s = px * SX + py * SY + pz * SZ
    u = px * UX + py * UY + pz * UZ
    opening = (np.sqrt((s / 0.131) ** 2 + (u / 0.122) ** 2) - 1.0) * 0.12
    opening = np.maximum(opening, 0.02 - t)
    return smax(smax(d, -smin(ball, opening, 0.030), 0.02), -opening, 0.042)  # these widths round the rim, in and out


@register_jitable
def skin(x: Any, y: Any, z: Any) -> Any:
    """The surface that is meshed, both halves."""
    x = np.abs(x)
    depth = closed(x, y, z)
    d = eye_socket(depth, x, y, z)
    d = smax(d, -capsule(x, y, z, 0.062, -0.010, 0.578, 0.094, -0.026, 0.540, 0.013, 0.016), 0.035)  # nostril
    d = smax(d, -capsule(x, y, z, 0.400, -0.035, 0.020, 0.398, -0.125, 0.036, 0.004, 0.004), 0.055)  # smile line
    return smax(d, -mouth(x, y, z, depth), 0.014)


@register_jitable
def without_mouth(x: Any, y: Any, z: Any) -> Any:
    """Both halves without the mouth: what shades the skin; shade made for closed lips smears when they open."""
    x = np.abs(x)
    return smax(closed(x, y, z), -sphere(x, y, z, EX, EY, EZ, 0.12), 0.02)


@numba.njit(parallel=True, fastmath={"contract"})
def skin_on_grid(xs: Array, ys: Array, zs: Array) -> Array:
    """(X, Y, Z) float32 of `skin` on a grid."""
    out = np.empty((len(xs), len(ys), len(zs)), np.float32)
    for i in prange(len(xs)):
        for j in range(len(ys)):
            for k in range(len(zs)):
                out[i, j, k] = skin(xs[i], ys[j], zs[k])
    return out


@numba.njit(parallel=True, fastmath={"contract"})
def at_points(points: Array, field: int) -> Array:
    """(M,) of the field of that number in FIELDS at points (M, 3), both halves."""
    out = np.empty(len(points))
    for i in prange(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        if field == 0:
            out[i] = skin(x, y, z)
        elif field == 1:
            out[i] = closed(abs(x), y, z)
        else:
            out[i] = without_mouth(x, y, z)
    return out


@numba.njit(parallel=True, fastmath={"contract"})
def skin_gradient(points: Array, e: float) -> Array:
    """(M, 3) central differences of `skin` with step e."""
    out = np.empty((len(points), 3))
    for i in prange(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        out[i, 0] = (skin(x + e, y, z) - skin(x - e, y, z)) / (2 * e)
        out[i, 1] = (skin(x, y + e, z) - skin(x, y - e, z)) / (2 * e)
        out[i, 2] = (skin(x, y, z + e) - skin(x, y, z - e)) / (2 * e)
    return out
