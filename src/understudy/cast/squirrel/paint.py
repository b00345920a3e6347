"""The squirrel's colours as functions of the place (M, 3), sRGB, and the slope of its fur."""

from __future__ import annotations

import numpy as np

from understudy.cast.sculpting.paint import waves
from understudy.cast.sculpting.patches import mix
from understudy.cast.sculpting.ramps import ramp
from understudy.cast.squirrel import sculpture
from understudy.checks import Array
from understudy.maths.colour import from_hex

PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "fur": "#A9512B",
        "fur_dark": "#7C3620",
        "fur_light": "#C97A45",
        "belly": "#F0DCBB",
        "blush": "#D9745C",
        "ear": "#D98F78",
        "nose": "#4A2028",
        "mouth": "#5A2420",
        "tooth": "#FFF7E8",
        "tail": "#9C4726",
        "tip": "#E9C390",
    }.items()
}
TAIL_TAGS = tuple(f"Tail{number}" for number in range(1, 7))
REST = tuple(tag for tag in sculpture.BODY.tags if tag not in TAIL_TAGS)


def body(points: Array) -> Array:
    """Fox-red, darker on the back, with cream belly, muzzle and rings round the eyes; then the tail."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    frayed = 0.008 * waves(points, 60.0, 5) + 0.006 * waves(points, 130.0, 6)
    c = mix(PALETTE["fur"], PALETTE["fur_light"], 0.45 * ramp(-0.3, 0.7, waves(points, 16.0, 1)))
    c = mix(
        c, PALETTE["fur_dark"], 0.55 * ramp(0.0, -0.12, z) * ramp(0.9, 0.3, y) + 0.35 * ramp(0.80, 0.93, y) * (z < 0.1)
    )
    wide = np.interp(y, [0.2, 0.36, 0.50, 0.6], [0.112, 0.112, 0.090, 0.085])
    belly = np.hypot(x / wide, np.where(y > 0.37, 0, (y - 0.37) / 0.19)) + 5 * frayed
    c = mix(c, PALETTE["belly"], ramp(0.95, 0.86, belly) * ramp(0.01, 0.03, z) * ramp(0.62, 0.58, y))
    c = _face(points, c, frayed)
    c = mix(c, PALETTE["fur_dark"], 0.7 * ramp(0.955, 1.01, y) * (z > -0.1))
    hollow = ramp(0.012, -0.002, sculpture.EAR_INSIDE(points)) * (y > 0.84) * (z > 0)
    c = mix(c, PALETTE["ear"], hollow)
    c = mix(c, PALETTE["fur_dark"], 0.6 * ramp(0.31, 0.36, x) * (y < 0.45) + 0.5 * ramp(0.06, 0.03, y))
    tail = ramp(-0.012, 0.016, sculpture.BODY.near(points, *REST) - sculpture.BODY.near(points, *TAIL_TAGS))
    return mix(c, _tail(points), tail)


def _face(points: Array, c: Array, frayed: Array) -> Array:
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    front = ramp(0.05, 0.075, z) * (y > 0.58)
    muzzle = np.minimum(np.hypot(x / 0.105, (y - 0.665) / 0.066), np.hypot((x - 0.115) / 0.085, (y - 0.685) / 0.055))
    c = mix(c, PALETTE["belly"], ramp(1.03, 0.95, muzzle + 4 * frayed) * front)
    ring = np.hypot((x - 0.092) / 0.072, (y - 0.790) / 0.082)
    c = mix(c, PALETTE["belly"], 0.70 * ramp(1.08, 0.92, ring + 3 * frayed) * front)
    blaze = np.hypot(x / 0.030, (y - 0.835) / 0.055)
    c = mix(c, PALETTE["fur_dark"], 0.45 * ramp(1.1, 0.5, blaze) * front)
    blush = np.exp(-(((x - 0.150) / 0.035) ** 2) - ((y - 0.690) / 0.028) ** 2) * ramp(0.02, 0.05, z)
    return mix(c, PALETTE["blush"], 0.55 * blush)


def _tail(points: Array) -> Array:
    """Dark along the back, pale at the rim and the tip."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    c = mix(PALETTE["tail"], PALETTE["fur_light"], 0.30 * ramp(-0.3, 0.7, waves(points, 30.0, 2)))
    c = mix(c, PALETTE["fur_dark"], 0.55 * ramp(0.085, 0.02, x) * ramp(-0.38, -0.44, z))
    late = y + 0.5 * np.clip(-z - 0.5, 0, 1) + 0.03 * waves(points, 45.0, 7)
    return mix(c, PALETTE["tip"], np.maximum(0.85 * ramp(0.80, 0.97, late), 0.45 * ramp(0.10, 0.19, x)))


def fringe(points: Array) -> Array:
    """The hair on the crown, darker at its tips."""
    c = mix(PALETTE["fur"], PALETTE["fur_dark"], 0.5)
    return mix(c, PALETTE["fur_dark"], ramp(0.90, 0.96, points[:, 1]))


def fur(points: Array) -> Array:
    """(M, 3) slope of short fur: strokes that run down the body and along the tail."""
    rng = np.random.default_rng(7)
    ways = rng.normal(size=(10, 3)) * [420.0, 80.0, 420.0]
    return 0.0006 * (np.cos(points @ ways.T + rng.uniform(0, 6.3, 10)) @ ways) / 10
