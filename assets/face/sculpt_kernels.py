"""The face as signed distance fields: head, hair and shirt, each a list of blended pieces.

Every field is written once, in arithmetic that NumPy does on arrays and numba on single numbers; the pieces and their
blends are those of `sculpting.kernels`. Fields of the head take the left half (x >= 0) unless they say that they
mirror. Negative is inside.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import prange
from numba.extending import register_jitable

from assets.face import measures
from assets.sculpting.clay import turn
from assets.sculpting.kernels import capsule, ellipsoid, ramp, smax, smin, sphere, turned
from understudy.checks import Array

EX, EY, EZ = measures.EYE
ER = measures.EYE_RADIUS
(SX, SY, SZ), (UX, UY, UZ), (FX, FY, FZ) = measures.eye_frame().tolist()
CX, MY = measures.CORNER_X, measures.LIP_Y
EAR = tuple(turn(0, -24, -8).T.ravel().tolist())
HELIX = tuple(turn(-10, -24, 80).T.ravel().tolist())
NAPE = tuple(turn(153, 0, 0).T.ravel().tolist())
COLLAR = tuple(turn(9, 0, 0).T.ravel().tolist())
SLIT = 0.006  # half the height of the mouth's slit before it is sealed
FIELDS = ("skin", "closed", "without_mouth", "shirt")


@register_jitable
def lip_line(x: Any) -> Any:
    """Height at which the lips meet: a shallow smile with a dip in the middle."""
    return MY + 0.016 * (x / CX) ** 2 - 0.004 * np.exp(-((x / 0.022) ** 2))


@register_jitable
def upper_lip(x: Any, y: Any, z: Any) -> Any:
    d = capsule(x, y, z, 0.0, -0.234, 0.366, 0.026, -0.229, 0.367, 0.0150, 0.0170)
    d = np.minimum(d, capsule(x, y, z, 0.026, -0.229, 0.367, 0.072, -0.240, 0.342, 0.0170, 0.0140))
    return np.minimum(d, capsule(x, y, z, 0.072, -0.240, 0.342, CX - 0.004, MY + 0.010, 0.295, 0.0140, 0.006))


@register_jitable
def lower_lip(x: Any, y: Any, z: Any) -> Any:
    d = capsule(x, y, z, 0.0, -0.281, 0.355, 0.045, -0.278, 0.345, 0.0220, 0.0205)
    return np.minimum(d, capsule(x, y, z, 0.045, -0.278, 0.345, CX - 0.008, MY + 0.006, 0.297, 0.0205, 0.007))


@register_jitable
def concha(x: Any, y: Any, z: Any) -> Any:
    """The hollow of the ear."""
    qx, qy, qz = turned(x - 0.400, y + 0.048, z + 0.026, EAR)
    return ellipsoid(qx, qy, qz, 0.022, 0.056, 0.036)


@register_jitable
def ear(d: Any, x: Any, y: Any, z: Any) -> Any:
    qx, qy, qz = turned(x - 0.372, y + 0.045, z + 0.045, EAR)
    d = smin(d, ellipsoid(qx, qy, qz, 0.026, 0.098, 0.068), 0.035)
    qx, qy, qz = turned(x - 0.383, y + 0.035, z + 0.052, HELIX)
    d = smin(d, np.sqrt((np.sqrt(qx * qx + qz * qz) - 0.062) ** 2 + qy * qy) - 0.016, 0.02)
    d = smin(d, ellipsoid(x - 0.372, y + 0.125, z + 0.020, 0.022, 0.030, 0.026), 0.03)  # lobe
    d = smax(d, -concha(x, y, z), 0.016)
    # the fold inside the rim, and the little flap before the canal
    d = smin(d, capsule(x, y, z, 0.392, 0.000, -0.055, 0.396, -0.075, -0.050, 0.008, 0.009), 0.014)
    return smin(d, ellipsoid(x - 0.374, y + 0.058, z - 0.012, 0.014, 0.020, 0.012), 0.016)


@register_jitable
def closed(x: Any, y: Any, z: Any) -> Any:
    """Head and neck before carving: minus this is the depth under the skin."""
    d = ellipsoid(x, y - 0.125, z + 0.055, 0.375, 0.370, 0.410)  # cranium
    d = smin(d, ellipsoid(x, y - 0.14, z - 0.10, 0.295, 0.24, 0.245), 0.12)  # forehead
    d = smin(d, ellipsoid(x, y + 0.10, z - 0.07, 0.312, 0.285, 0.280), 0.14)  # mass of the face
    d = smin(d, ellipsoid(x - 0.190, y + 0.150, z - 0.175, 0.118, 0.100, 0.118), 0.12)  # cheek
    d = smin(d, capsule(x, y, z, 0.225, -0.19, -0.01, 0.085, -0.355, 0.19, 0.085, 0.080), 0.10)  # bow of the jaw
    d = smin(d, ellipsoid(x, y + 0.366, z - 0.238, 0.082, 0.066, 0.078), 0.09)  # chin
    d = smin(d, ellipsoid(x, y + 0.245, z - 0.258, 0.135, 0.100, 0.098), 0.09)  # muzzle
    d = smin(d, capsule(x, y, z, 0.085, 0.135, 0.300, 0.25, 0.125, 0.235, 0.030, 0.022), 0.10)  # ridge of the brow
    d = smin(d, sphere(x, y, z, EX, EY, EZ, ER * 1.17), 0.055)  # bulge of the eye, which carries the lids
    d = smin(d, capsule(x, y, z, 0.0, 0.03, 0.300, 0.0, -0.095, 0.388, 0.030, 0.038), 0.07)  # bridge of the nose
    d = smin(d, ellipsoid(x, y + 0.110, z - 0.409, 0.045, 0.040, 0.047), 0.05)  # its tip
    d = smin(d, ellipsoid(x - 0.039, y + 0.127, z - 0.383, 0.027, 0.025, 0.032), 0.032)  # its wing
    d = smin(d, upper_lip(x, y, z), 0.026)
    d = smin(d, lower_lip(x, y, z), 0.026)
    d = ear(d, x, y, z)
    d = smin(d, capsule(x, y, z, 0.0, -0.18, -0.09, 0.0, -0.90, -0.13, 0.128, 0.140), 0.13)  # neck
    return smax(d, -(y + 0.80), 0.02)


@register_jitable
def skin(x: Any, y: Any, z: Any) -> Any:
    """The surface that is meshed, both halves."""
    x = np.abs(x)
    depth = closed(x, y, z)
    px, py, pz = x - EX, y - EY, z - EZ
    from_eye = np.sqrt(px * px + py * py + pz * pz)
    d = smax(depth, -(from_eye - ER * 1.045), 0.016)  # socket
    t = px * FX + py * FY + pz * FZ
    s = px * SX + py * SY + pz * SZ
    u = px * UX + py * UY + pz * UZ
    wide = 0.109 + 0.015 * (s > 0.0)
    high = 0.070 + 0.030 * (u > 0.0)
    opening = np.maximum((np.sqrt((s / wide) ** 2 + (u / high) ** 2) - 1.0) * 0.10, 0.02 - t)
    # a rounder rim above makes the crease; below it would read as bags under the eyes
    k = 0.019 + 0.011 * ramp(-0.05, 0.03, u)
    h = np.maximum(k - np.abs(d + opening), 0.0) / k
    d = np.maximum(d, -opening) + h * h * k * 0.25
    d = smax(d, -capsule(x, y, z, 0.024, -0.168, 0.402, 0.030, -0.135, 0.385, 0.012, 0.012), 0.022)  # nostril
    above = np.abs(y - lip_line(x))
    beyond = np.maximum(x - CX, 0.0)
    slit = np.maximum(np.sqrt(above * above + beyond * beyond) - SLIT, 0.22 - z)
    cavity = smax(ellipsoid(x, y + 0.255, z - 0.185, 0.150, 0.088, 0.160), depth + 0.036, 0.02)
    cavity = smax(cavity, -(from_eye - ER * 1.25), 0.02)
    return smax(d, -smin(slit, cavity, 0.014), 0.010)


@register_jitable
def without_mouth(x: Any, y: Any, z: Any) -> Any:
    """Both halves without the mouth: what shades the skin."""
    x = np.abs(x)
    return smax(closed(x, y, z), -sphere(x, y, z, EX, EY, EZ, 0.85 * ER), 0.02)


@register_jitable
def shirt(x: Any, y: Any, z: Any) -> Any:
    """Shoulders in a jumper with a rolled collar, both halves."""
    x = np.abs(x)
    d = ellipsoid(x, y + 0.93, z + 0.13, 0.40, 0.26, 0.215)
    d = smin(d, ellipsoid(x - 0.36, y + 0.98, z + 0.13, 0.17, 0.18, 0.16), 0.12)
    d = smin(d, capsule(x, y, z, 0.0, -0.55, -0.12, 0.0, -0.80, -0.13, 0.165, 0.21), 0.08)
    d = smin(d, collar(x, y, z), 0.03)
    return smax(d, -(y + 1.06), 0.02)


@register_jitable
def collar(x: Any, y: Any, z: Any) -> Any:
    qx, qy, qz = turned(x, y + 0.585, z + 0.105, COLLAR)
    return np.sqrt((np.sqrt(qx * qx + qz * qz) - 0.148) ** 2 + (qy / 1.25) ** 2) - 0.042


@register_jitable
def scalp(x: Any, y: Any, z: Any) -> Any:
    """The thin shell that locks grow from, open over the face and below the nape."""
    d = ellipsoid(x, y - 0.129, z + 0.063, 0.386, 0.383, 0.426)
    d = smax(d, -ellipsoid(x, y + 0.14, z - 0.40, 0.345, 0.43, 0.37), 0.04)
    _, below, _ = turned(x, y + 0.02, z + 0.10, NAPE)
    return smax(d, below, 0.05)


@numba.njit(fastmath={"contract"})
def hair(x: float, y: float, z: float, locks: Array) -> float:
    """Locks (N, P, 4) of points and radii, each a chain that is blended as one piece."""
    d = scalp(x, y, z)
    for i in range(locks.shape[0]):
        g = 1e3
        for j in range(locks.shape[1] - 1):
            a, b = locks[i, j], locks[i, j + 1]
            g = min(g, capsule(x, y, z, a[0], a[1], a[2], b[0], b[1], b[2], a[3], b[3]))
        d = smin(d, g, 0.030)
    return d


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
        elif field == 2:
            out[i] = without_mouth(x, y, z)
        else:
            out[i] = shirt(x, y, z)
    return out


@numba.njit(parallel=True, fastmath={"contract"})
def hair_at_points(points: Array, locks: Array) -> Array:
    """(M,) of the hair at points (M, 3)."""
    out = np.empty(len(points))
    for i in prange(len(points)):
        out[i] = hair(points[i, 0], points[i, 1], points[i, 2], locks)
    return out
