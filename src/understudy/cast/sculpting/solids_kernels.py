"""Solids as signed distances, and how they melt together: what every sculpture is made of.

Each is written once, in arithmetic that NumPy does on arrays and numba on single numbers (`register_jitable`), so the
uncompiled functions are the oracle of the compiled loops that use them. Negative is inside.

Blends are the polynomial smooth minimum [Quilez, "smooth minimum"]: where a and b differ by less than k,
smin = min(a, b) - k h^2 / 4, h = 1 - |a - b| / k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable


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
