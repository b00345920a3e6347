"""The penguin's colours as functions of the place (M, 3), sRGB."""

from __future__ import annotations

import numpy as np

from understudy.cast.penguin.sculpture import LEG, SCARF
from understudy.cast.sculpting.paint import waves
from understudy.cast.sculpting.patches import mix
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array
from understudy.maths.colour import from_hex

PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "back": "#20263D",
        "back_light": "#363F62",
        "belly": "#F4E7D3",
        "belly_shade": "#E3CDB4",
        "patch": "#EFA93A",
        "blush": "#E59A86",
        "mouth": "#5A1E2A",
        "tongue": "#C4605C",
        "beak": "#DE8030",
        "beak_shade": "#B85A20",
        "scarf": "#B8452F",
        "scarf_shade": "#8E3226",
        "stripe": "#E8C9A0",
    }.items()
}


def feathers(points: Array) -> Array:
    """The dark of the back and the flippers."""
    y, noise = points[:, 1], waves(points, 14.0, 1)
    return mix(PALETTE["back"], PALETTE["back_light"], 0.30 * ramp(-0.2, 0.8, noise) + 0.25 * ramp(0.3, 0.9, y))


def body(points: Array) -> Array:
    """Dark back, cream belly and a heart of a face: two ellipses a side that meet over the beak."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    c = feathers(points)
    angle = np.degrees(np.arctan2(x, z)) + 1.2 * waves(points, 26.0, 3)
    border = np.interp(y, [0.05, 0.15, 0.35, 0.55, 0.64, 0.68], [58, 62, 62, 50, 34, 20])
    belly = ramp(1.6, -1.6, angle - border) * ramp(0.685, 0.675, y)
    heart = np.minimum(
        np.hypot((x - 0.082) / 0.100, (y - 0.795) / 0.098), np.hypot((x - 0.075) / 0.125, (y - 0.715) / 0.085)
    )
    face = ramp(1.02, 0.98, heart) * ramp(0.03, 0.05, z) * (y > 0.60)
    cream = mix(PALETTE["belly"], PALETTE["belly_shade"], 0.6 * ramp(0.30, 0.08, y))
    c = mix(c, cream, np.maximum(belly, face))
    collar = np.exp(-(((y - 0.595) / 0.040) ** 2)) * ramp(0.10, 0.16, z)
    c = mix(c, PALETTE["patch"], 0.55 * collar * belly)  # the yellow throat, mostly under the scarf
    blush = np.exp(-(((x - 0.135) / 0.038) ** 2) - ((y - 0.715) / 0.030) ** 2) * (z > 0.05)
    c = mix(c, PALETTE["blush"], 0.75 * blush)
    throat = np.hypot(x / 0.048, (y - 0.741) / 0.021)  # behind the beak, seen when it opens
    return mix(c, PALETTE["mouth"], ramp(1.1, 0.9, throat) * (z > 0.1))


def flipper(points: Array) -> Array:
    """Dark outside, paler within and along the rim."""
    inside = ramp(0.01, -0.02, points[:, 0] - 0.245 - 0.50 * (0.52 - points[:, 1]))
    return mix(feathers(points), mix(PALETTE["back_light"], PALETTE["belly"], 0.15), 0.6 * inside)


def leg(points: Array) -> Array:
    """Orange feet, shaded where the toes part."""
    seams = ramp(0.012, 0.0, LEG(points) + 0.35 * LEG.near(points, "LeftToe"))
    c = mix(PALETTE["beak"], PALETTE["beak_shade"], 0.55 * ramp(0.05, 0.11, points[:, 1]))
    return mix(c, PALETTE["beak_shade"], 0.25 * seams)


def scarf(points: Array) -> Array:
    """Brick red with cream stripes round the neck and at the ends."""
    x, y, z = points.T
    round_neck = ramp(0.60, 0.72, np.sin(9 * np.arctan2(x, z) + 1))
    round_neck = round_neck * ramp(0.013, 0.010, SCARF.near(points, "Neck"))
    ends = ramp(0.30, 0.45, np.sin(150 * y)) * (y < 0.47)
    c = mix(PALETTE["scarf"], PALETTE["scarf_shade"], 0.35 * ramp(-0.4, 0.6, waves(points, 20.0, 4)))
    upper = ramp(0.565, 0.575, y)
    return mix(c, PALETTE["stripe"], upper * round_neck + (1 - upper) * ends)


def knitted(points: Array) -> Array:
    """(M, 3) slope of the scarf's ribs."""
    x, z = points[:, 0], points[:, 2]
    around = np.arctan2(x, z)
    along = np.stack([z, np.zeros_like(x), -x], axis=1) / np.maximum(x * x + z * z, 1e-6)[:, None]
    return (0.30 * np.cos(64 * around) * ramp(0.10, 0.16, np.hypot(x, z)))[:, None] * along * 0.2


def downy(points: Array) -> Array:
    """(M, 3) slope of short plumage, strokes that run down."""
    rng = np.random.default_rng(11)
    ways = rng.normal(size=(8, 3)) * [380.0, 80.0, 380.0]
    return 0.0004 * (np.cos(points @ ways.T + rng.uniform(0, 6.3, 8)) @ ways) / 8
