"""The lighting model in NumPy: what `shaders.py` does for each pixel, for arrays of pixels.

With normal n, view v, albedo a, ambient visibility o, key light K from direction k, fill F from f, hemisphere H(n)
from the bounce below to the sky above:

    diffuse  = (1 - metallic) a (K wrap(n.k) + F max(n.f, 0) o + H(n) o)
    specular = K ggx(n, v, k) fresnel + surroundings(reflection) fresnel_v
    rim      = R (1 - n.v)^3 smoothstep(n.r)
    colour   = to_srgb(filmic(exposure (diffuse + specular + rim + emissive)))

The figure's shadow on itself is left out here: the fallback draws none.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.colour import to_srgb
from understudy.render.look import Lights, Look


def smoothstep(low: float, high: float, x: Array) -> Array:
    """0 below `low`, 1 above `high`, smooth between; `low` may be the larger one."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def filmic(x: Array) -> Array:
    """Narkowicz' fit of the ACES tone curve."""
    return np.clip((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)


def shade(
    look: Look,
    lights: Lights,
    normals: Array,
    views: Array,
    albedo: Array,
    open_sky: Array,
    roughness: Array,
    metallic: Array,
    softness: Array,
    emissive: Array,
    height: Array,
) -> Array:
    """sRGB colours (N, 3) of N points: unit normals, unit views and albedo (N, 3).

    Height above ground in figure sizes (N,).
    """
    n, v, a = normals, views, albedo
    r, m = np.maximum(roughness, 0.12)[:, None], metallic[:, None]
    nk, wrap = n @ lights.key, 0.25 * softness
    key = np.clip((nk + wrap) / (1.0 + wrap) ** 2, 0.0, 1.0)[:, None]
    terminator = 0.14 * softness * smoothstep(-0.35, 0.15, nk) * smoothstep(0.55, 0.1, nk)
    glow = terminator[:, None] * np.array([1.0, 0.32, 0.18])
    h = np.minimum(np.maximum(height, 0.0) / 0.09, 1e9)
    near_ground = 1.0 / (1.0 + h + h * h)
    o = (open_sky * (1.0 - 0.45 * near_ground * (0.5 - 0.5 * n[:, 1])))[:, None]
    up = (0.5 * n[:, 1] + 0.5)[:, None]
    hemisphere = (look.bounce + (look.sky - look.bounce) * up) * o
    fill = np.maximum(n @ lights.fill, 0.0)[:, None] * o
    diffuse = (1.0 - m) * a * (look.key * (key + glow) + look.fill * fill + hemisphere)

    f0 = 0.04 + (a - 0.04) * m
    nv = np.maximum(np.einsum("ni,ni->n", n, v), 0.0)[:, None]
    specular = look.key * _gloss(n, v, lights.key, r, f0) * o
    reflected = 2.0 * nv * n - v
    around = look.bounce + (look.sky - look.bounce) * smoothstep(-0.5, 0.7, reflected[:, 1])[:, None]
    away = (1.0 - nv) ** 5
    fresnel = f0 * (1.0 - away) + np.maximum(1.0 - r, 0.04) * away
    specular = specular + around * fresnel * o * (1.0 - 0.5 * r)

    edge = (1.0 - nv) ** 3 * o * o
    rim = look.rim * edge * smoothstep(-0.1, 0.7, n @ lights.rim)[:, None] * (0.55 * a + 0.45)
    rim = rim + look.back * edge * smoothstep(0.0, 0.8, n @ lights.back)[:, None] * (0.6 * a + 0.4)
    return to_srgb(filmic((diffuse + specular + rim + emissive) * look.exposure))


def _gloss(n: Array, v: Array, light: Array, r: Array, f0: Array) -> Array:
    """GGX times n.l with Schlick's masking and Fresnel, (N, 3)."""
    h = v + light
    h = h / np.maximum(np.linalg.norm(h, axis=1, keepdims=True), 1e-9)
    nh = np.maximum(np.einsum("ni,ni->n", n, h), 0.0)[:, None]
    vh = np.maximum(np.einsum("ni,ni->n", v, h), 0.0)[:, None]
    nl = np.maximum(n @ light, 0.0)[:, None]
    nv = np.maximum(np.einsum("ni,ni->n", n, v), 0.05)[:, None]
    a2, k = r**4, (r + 1.0) ** 2 / 8.0
    spread = a2 / (np.pi * (nh * nh * (a2 - 1.0) + 1.0) ** 2)
    masking = 0.25 * nl / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k))
    return spread * masking * (f0 + (1.0 - f0) * (1.0 - vh) ** 5)
