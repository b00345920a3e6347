"""The look of a picture: background, lights, shadows, grid. Both renderers draw from the same numbers.

A key light from the upper left front of the camera, a cool soft fill from the right, a warm rim from behind, and sky
and ground as a hemisphere. All light colours are linear; background, shadow and grid colours are sRGB, since they are
mixed in the finished picture, after the tone curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.maths.colour import from_hex
from understudy.render.scene import srgb

GROUND_EXTENT = 9.0  # half-width of the ground, in sizes of the figure; its grid has faded before


@dataclass(frozen=True)
class Look:
    """Colours (3,) and strengths of one background. `inner` and `outer` are the backdrop's middle and corners."""

    inner: Array
    outer: Array
    key: Array
    fill: Array
    rim: Array
    back: Array  # a faint cool rim at the other side
    sky: Array
    bounce: Array
    shadow: Array  # the colour that shadows on the ground tend to
    shadow_strength: float
    contact_strength: float
    grid: Array
    grid_strength: float
    vignette: float
    exposure: float = 0.82


LOOKS = {
    "warm": Look(
        inner=from_hex("#F3E7D8"),
        outer=from_hex("#BFAFA6"),
        key=2.6 * srgb([1.0, 0.93, 0.84]),
        fill=0.55 * srgb([0.78, 0.86, 1.0]),
        rim=1.65 * srgb([1.0, 0.86, 0.72]),
        back=0.5 * srgb([0.6, 0.8, 1.0]),
        sky=0.75 * srgb([0.80, 0.88, 1.0]),
        bounce=0.55 * srgb([0.72, 0.52, 0.46]),
        shadow=np.array([0.26, 0.16, 0.16]),
        shadow_strength=0.38,
        contact_strength=0.6,
        grid=np.array([0.42, 0.30, 0.27]),
        grid_strength=0.14,
        vignette=0.06,
    ),
    "studio": Look(
        inner=from_hex("#2D323A"),
        outer=from_hex("#16181C"),
        key=2.5 * srgb([1.0, 0.95, 0.88]),
        fill=0.5 * srgb([0.70, 0.82, 1.0]),
        rim=2.2 * srgb([1.0, 0.84, 0.66]),
        back=0.8 * srgb([0.55, 0.78, 1.0]),
        sky=0.6 * srgb([0.78, 0.87, 1.0]),
        bounce=0.3 * srgb([0.50, 0.50, 0.56]),
        shadow=np.array([0.035, 0.04, 0.05]),
        shadow_strength=0.62,
        contact_strength=0.8,
        grid=np.array([0.55, 0.58, 0.64]),
        grid_strength=0.16,
        vignette=0.12,
    ),
}


def look_of(background: str) -> Look:
    """The look by name; an error lists what exists."""
    return LOOKS[checks.one_of(background, "background", LOOKS)]


@dataclass(frozen=True)
class Lights:
    """Unit directions (3,) towards the lights, for a camera at a given azimuth."""

    key: Array
    fill: Array
    rim: Array
    back: Array


def lights_for(azimuth: float) -> Lights:
    """Lights that follow a camera at `azimuth` (radians), the key always from its upper left.

    Near the front they travel 60 % of the way, so that a figure seen from the side shows more of the light's own side;
    the rest they make up towards the back, where a - 0.4 sin a is a whole turn again, without a jump.
    """
    followed = azimuth - 0.4 * sin(azimuth)

    def towards(turn: float, height: float) -> Array:
        a, e = followed + radians(turn), radians(height)
        return np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])

    return Lights(
        key=towards(-35.0, 38.0), fill=towards(50.0, 10.0), rim=towards(150.0, 35.0), back=towards(-150.0, 15.0)
    )
