"""The actor's colours as functions of the place (M, 3), sRGB: skin, jumper, trousers and shoes."""

from __future__ import annotations

import numpy as np

from understudy.cast.actor.sculpture import PLACES
from understudy.cast.sculpting.paint import waves
from understudy.cast.sculpting.patches import mix
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array
from understudy.maths.colour import from_hex

PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "skin": "#C98266",
        "shade": "#A75D45",
        "blush": "#D9644F",
        "top": "#1F807E",
        "top_dark": "#155C63",
        "legs": "#3A3550",
        "legs_light": "#4A4468",
        "shoe": "#C9543A",
        "sole": "#F2E6D2",
        "lace": "#F2E6D2",
        "hair": "#4E2A3A",
        "hair_light": "#84424F",
        "mouth": "#7A352E",
    }.items()
}
HEM = 1.085  # metres: where the jumper ends
SLEEVE = float(PLACES["LeftHand"][0]) - 0.012


def body(points: Array) -> Array:
    """All but the hair."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    c = mix(PALETTE["top"], PALETTE["top_dark"], 0.25 * ramp(-0.5, 0.8, waves(points, 12.0, 2)))
    c = mix(c, PALETTE["top_dark"], 0.8 * ramp(0.013, 0.010, np.abs(y - HEM - 0.012)) * (x < 0.3))
    trousers = mix(PALETTE["legs"], PALETTE["legs_light"], 0.5 * ramp(-0.4, 0.8, waves(points, 10.0, 3)))
    c = mix(c, trousers, ramp(HEM + 0.001, HEM - 0.001, y) * (x < 0.75))
    c = mix(c, PALETTE["top_dark"], 0.8 * ramp(0.024, 0.020, np.abs(x - (SLEEVE - 0.023))) * (y > 1.3))
    c = mix(c, PALETTE["skin"], ramp(SLEEVE - 0.001, SLEEVE + 0.001, x) * (y > 1.2))
    c = _collar(x, y, z, c)
    c = _shoes(x, y, z, c)
    return _face(x, y, z, c)


def _collar(x: Array, y: Array, z: Array, c: Array) -> Array:
    away, edge = np.hypot(x, z + 0.004), 1.572 - 0.14 * (z + 0.004)
    c = mix(
        c, PALETTE["top_dark"], 0.8 * ramp(0.028, 0.024, np.abs(y - edge + 0.006)) * (away < 0.105) * (y < edge + 0.026)
    )
    neck = np.maximum(ramp(-0.001, 0.002, y - edge - 0.024) * (away < 0.085), ramp(1.630, 1.634, y) * (x < 0.3))
    return mix(c, PALETTE["skin"], neck)


def _shoes(x: Array, y: Array, z: Array, c: Array) -> Array:
    ankle, shin = PLACES["LeftFoot"], PLACES["LeftLeg"] - PLACES["LeftFoot"]
    up = (np.stack([x, y, z], axis=1) - ankle) @ (shin / np.linalg.norm(shin))
    low = y < 0.3
    c = mix(c, PALETTE["shoe"], ramp(0.060, 0.057, up) * low)
    toe = z - PLACES["LeftToeBase"][2] - 0.055 - 0.54 * np.maximum(y - 0.05, 0.0)
    c = mix(c, PALETTE["sole"], ramp(0.0, 0.004, toe) * (y < 0.20) * low)
    c = mix(c, PALETTE["sole"], ramp(0.031, 0.028, y) * low)
    along = (z - PLACES["LeftFoot"][2] - 0.075) / 0.020  # laces over the instep
    lace = ramp(0.34, 0.22, np.abs(along - np.round(along))) * (np.abs(along) < 1.6) * (y > 0.085)
    lace = lace * ramp(0.040, 0.034, np.abs(x - PLACES["LeftFoot"][0] - 0.008))
    return mix(c, PALETTE["lace"], 0.9 * lace * ramp(0.052, 0.048, up) * low)


def _face(x: Array, y: Array, z: Array, c: Array) -> Array:
    blush = np.exp(-(((x - 0.105) / 0.038) ** 2) - ((y - 1.755) / 0.028) ** 2) * (z > 0.08)
    nose = np.exp(-((x / 0.03) ** 2) - ((y - 1.783) / 0.025) ** 2) * (z > 0.18)
    c = mix(c, PALETTE["blush"], 0.60 * blush + 0.35 * nose)
    ear = np.hypot((y - 1.797) / 0.030, (z + 0.004) / 0.020)
    c = mix(c, PALETTE["shade"], 0.45 * ramp(1.0, 0.4, ear) * (x > 0.187) * (y > 1.7) * (x < 0.3))
    return mix(c, PALETTE["hair"], _hairline(x, y, z))


def _hairline(x: Array, y: Array, z: Array) -> Array:
    """(M,) where the scalp is painted as hair, so that no skin shows between locks."""
    above = y - np.interp(z, [-0.2, -0.08, 0.0, 0.06, 0.12, 0.2], [1.735, 1.745, 1.84, 1.885, 1.945, 1.98])
    return ramp(0.0, 0.012, above) * (x < 0.3) * (y > 1.70)


def hair(points: Array) -> Array:
    """Plum, lighter on the crown, with strands."""
    c = mix(PALETTE["hair"], PALETTE["hair_light"], 0.5 * ramp(1.88, 2.06, points[:, 1]))
    return c * (1 + 0.10 * waves(points * [1.0, 0.4, 0.6], 120.0, 8))[:, None]


def woven(points: Array) -> Array:
    """(M, 3) slope of knitted wool on the jumper: fine ribs along sleeves and trunk; nothing elsewhere."""
    x, y, _ = points.T
    jumper = ramp(HEM, HEM + 0.02, y) * ramp(1.56, 1.54, y) * ramp(SLEEVE, SLEEVE - 0.02, np.abs(x))
    sleeve = ramp(0.24, 0.34, np.abs(x))
    ribs = np.zeros_like(points)
    ribs[:, 0] = 0.07 * np.cos(520.0 * x) * (1 - sleeve)
    ribs[:, 1] = 0.07 * np.cos(520.0 * y) * sleeve
    return ribs * jumper[:, None]
