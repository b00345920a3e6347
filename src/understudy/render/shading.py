"""The lighting model in NumPy: what `shaders_light.py` does for each pixel, for arrays of pixels.

With normal n, view v, albedo a, ambient visibility o, key light K from direction k, fill F from f, hemisphere H(n)
from the bounce below to the sky above, and o' a visibility that is warmer in soft things:

    diffuse  = (1 - metallic) a (K (0.65 + 0.35 o') wrap(n.k) + F max(n.f, 0) o + H(n) o')
    specular = K ggx(n, v, k) fresnel + surroundings(reflection) fresnel_v
    rim      = R (1 - n.v)^3 o^2 smoothstep(n.r)
    coat     = specular of a clear layer over the smooth normal, which dims what is below it
    colour   = to_srgb(filmic(exposure (diffuse + specular + rim + coat + emissive)))

The figure's shadow on itself is left out here: the fallback draws none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths.colour import to_srgb
from understudy.render.finish import Finish
from understudy.render.look import Lights, Look


def smoothstep(low: float, high: float, x: Array) -> Array:
    """0 below `low`, 1 above `high`, smooth between; `low` may be the larger one."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def filmic(x: Array) -> Array:
    """Narkowicz' fit of the ACES tone curve."""
    return np.clip((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)


@dataclass(frozen=True)
class Points:
    """N points of one surface, ready to be lit."""

    normals: Array  # (N, 3) unit, with their bumps
    smooth: Array  # (N, 3) unit, without
    views: Array  # (N, 3) unit, towards the eye
    albedo: Array  # (N, 3) linear
    open_sky: Array  # (N,)
    roughness: Array  # (N,)
    metallic: Array  # (N,)
    height: Array  # (N,) above the ground, in figure sizes


def shade(look: Look, lights: Lights, p: Points, finish: Finish) -> Array:
    """sRGB colours (N, 3) of points."""
    if finish.unlit:
        return to_srgb(p.albedo)
    n, v, a, soft = p.normals, p.views, p.albedo, finish.softness
    r, m = np.maximum(p.roughness, 0.12)[:, None], p.metallic[:, None]
    h = np.minimum(np.maximum(p.height, 0.0) / 0.09, 1e9)
    near_ground = 1.0 / (1.0 + h + h * h)
    o = (p.open_sky * (1.0 - 0.45 * near_ground * (0.5 - 0.5 * n[:, 1])))[:, None]
    open_rgb = _warmed(o, soft)
    nk, wrap = (n @ lights.key)[:, None], 0.25 * soft
    key = np.clip((nk + wrap) / (1.0 + wrap) ** 2, 0.0, 1.0)
    terminator = 0.28 * soft * smoothstep(-0.35, 0.15, nk) * smoothstep(0.55, 0.1, nk)
    glow = terminator * a * np.array([1.0, 0.32, 0.18])
    hemisphere = look.bounce + (look.sky - look.bounce) * (0.5 * n[:, 1:2] + 0.5)
    diffuse = look.key * (0.65 + 0.35 * open_rgb) * (key + glow) + hemisphere * open_rgb
    diffuse = diffuse + look.fill * np.maximum(n @ lights.fill, 0.0)[:, None] * o
    through = look.rim * np.maximum(-(n @ lights.rim), 0.0)[:, None] + look.key * np.maximum(-nk, 0.0)
    c = (1.0 - m) * a * (diffuse + finish.translucency * through * o)

    f0 = 0.04 * finish.specular * (1.0 - m) + a * m
    grazing = finish.specular + (1.0 - finish.specular) * m
    shine, f5 = _gloss(n, v, lights.key, r)
    c = c + look.key * shine * o * (f0 + (grazing - f0) * f5)
    away = (1.0 - np.maximum(_dot(n, v), 0.0)) ** 5
    fresnel = f0 * (1.0 - away) + grazing * np.maximum(1.0 - r, 0.04) * away
    c = c + _surroundings(look, n, v) * o * o * (1.0 - 0.5 * r) * fresnel

    form = _unit(0.3 * n + 0.7 * p.smooth)
    across = 1.0 - np.maximum(_dot(form, v), 0.0)
    edge = across**3 * o * o
    c = c + np.array(finish.sheen) * (0.5 * look.key * key + look.sky) * across**2 * o * o
    white = np.minimum(5.0 * a.max(axis=1, keepdims=True), 1.0)
    c = c + look.rim * edge * smoothstep(-0.1, 0.7, form @ lights.rim)[:, None] * (0.55 * a + 0.45 * white)
    c = c + look.back * edge * smoothstep(0.0, 0.8, form @ lights.back)[:, None] * (0.6 * a + 0.4 * white)
    if finish.clearcoat:
        wet = 0.04 + 0.96 * (1.0 - np.maximum(_dot(p.smooth, v), 0.0)) ** 5
        shine, f5 = _gloss(p.smooth, v, lights.key, np.full_like(r, max(finish.clearcoat_roughness, 0.1)))
        film = look.key * shine * (0.04 + 0.96 * f5) + _surroundings(look, p.smooth, v) * wet * o
        c = c * (1.0 - finish.clearcoat * wet) + finish.clearcoat * film
    return to_srgb(filmic((c + np.array(finish.emissive)) * look.exposure))


def _warmed(x: Array, soft: float) -> Array:
    """x^0.72, x^1.1, x^1.2 (N, 3) of x (N, 1), nearly: in soft things red fades last."""
    bent = np.concatenate([0.45 * x + 0.55 * np.sqrt(x), x * (0.88 + 0.12 * x), x * (0.78 + 0.22 * x)], axis=1)
    return x + soft * (bent - x)


def _surroundings(look: Look, n: Array, v: Array) -> Array:
    """(N, 3) what the mirror image of the eye sees: ground below, sky above."""
    up = 2.0 * _dot(n, v) * n[:, 1:2] - v[:, 1:2]
    return look.bounce + (look.sky - look.bounce) * smoothstep(-0.5, 0.7, up)


def _gloss(n: Array, v: Array, light: Array, r: Array) -> tuple[Array, Array]:
    """GGX times n.l with Schlick's masking, and the fifth power of his Fresnel term, each (N, 1)."""
    h = _unit(v + light)
    nh, f5 = np.maximum(_dot(n, h), 0.0), (1.0 - np.maximum(_dot(v, h), 0.0)) ** 5
    nl, nv = np.maximum(n @ light, 0.0)[:, None], np.maximum(_dot(n, v), 0.05)
    a2, k = r**4, (r + 1.0) ** 2 / 8.0
    spread = a2 / (np.pi * (nh * nh * (a2 - 1.0) + 1.0) ** 2)
    return spread * 0.25 * nl / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k)), f5


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("ni,ni->n", a, b)[:, None]


def _unit(a: Array) -> Array:
    return a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-9)
