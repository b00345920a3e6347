"""The eye's picture: pupil, iris with its fibres, dark limbus and the white, as a disc seen along the gaze.

A point of the eye is (ring, azimuth): degrees from the gaze axis, and radians about it from the outer side over the
top. In the picture the ring's distance from the middle grows faster inside the iris, which has most of the detail.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from understudy.cast.dragon.measures import ramp
from understudy.cast.dragon.patches import PALETTE, mix
from understudy.character import Image
from understudy.checks import Array

SIZE, FINER = 512, 3  # texels a side; each is the mean of FINER x FINER samples
IRIS, PUPIL = 43.5, 24.5  # degrees from the gaze axis
OUTERMOST = 108.0
_RINGS, _RADII = (0.0, 50.0, OUTERMOST), (0.0, 0.36, 0.495)  # ring -> distance from the picture's middle


def uvs(ring: Array, azimuth: Array) -> Array:
    """(V, 2) places in the picture, v downwards."""
    radius = np.interp(ring, _RINGS, _RADII)
    return np.stack([0.5 + radius * np.cos(azimuth), 0.5 - radius * np.sin(azimuth)], axis=-1)


def picture(name: str = "dragon_eye", paint: Callable[[Array, Array], Array] | None = None) -> Image:
    """An eye as PNG; JPEG would fray the crisp edges of pupil and iris. `paint` is `colours`, or another's."""
    from PIL import Image as pillow

    fine = SIZE * FINER
    across = (np.arange(fine) + 0.5) / fine - 0.5
    x, y = np.meshgrid(across, -across)
    ring, azimuth = np.interp(np.hypot(x, y), _RADII, _RINGS), np.arctan2(y, x)
    painted = (paint or colours)(ring.ravel(), azimuth.ravel()).reshape(SIZE, FINER, SIZE, FINER, 3).mean(axis=(1, 3))
    data = io.BytesIO()
    pillow.fromarray(np.round(255 * np.clip(painted, 0, 1)).astype(np.uint8)).save(data, "PNG", optimize=True)
    return Image(name, "image/png", data.getvalue())


def fibres(azimuth: Array, across: Array) -> Array:
    """(M,) -1 .. 1: radial streaks of three widths that sway a little between pupil (across = 0) and limbus (1)."""
    rng = np.random.default_rng(5)
    turn = azimuth / (2 * np.pi) % 1.0
    total = np.zeros_like(azimuth)
    for count, share, sway in ((37, 0.45, 0.02), (83, 0.35, 0.012), (171, 0.20, 0.006)):
        knots = rng.uniform(-1, 1, count)
        place = (turn + sway * np.sin(5 * across + 9 * azimuth)) * count % count
        low = np.floor(place).astype(int) % count
        t = ramp(0.0, 1.0, place - np.floor(place))
        total += share * (knots[low] * (1 - t) + knots[(low + 1) % count] * t)
    return total


def colours(ring: Array, azimuth: Array) -> Array:
    """(M, 3): the iris is dark above and light below, as if lit through; the white is warmer towards the corners."""
    up = np.sin(azimuth) * np.sin(np.radians(ring)) / np.sin(np.radians(IRIS))
    across = np.clip((ring - PUPIL) / (IRIS - PUPIL), 0, 1)
    iris = mix(PALETTE["iris_dark"], PALETTE["iris"], np.clip(0.50 - 0.75 * up, 0, 1))
    iris = mix(iris, PALETTE["iris_light"], 0.75 * ramp(0.15, 0.95, -up) * ramp(0.0, 0.55, across))
    iris = mix(iris, PALETTE["iris_light"], 0.25 * np.exp(-(((across - 0.28) / 0.16) ** 2)) * ramp(0.5, -0.2, up))
    iris = iris * (1 + 0.24 * fibres(azimuth, across) * ramp(0.0, 0.2, across) * ramp(1.0, 0.8, across))[:, None]
    iris = mix(iris, PALETTE["iris_dark"], 0.55 * ramp(0.14, 0.0, across))
    iris = mix(iris, PALETTE["limbus"], ramp(0.66, 0.93, across) ** 2)
    white = mix(PALETTE["sclera"], PALETTE["sclera_edge"], 0.40 * ramp(46, 84, ring))
    white = mix(white, PALETTE["limbus"], 0.35 * ramp(IRIS + 3.0, IRIS, ring))
    c = mix(PALETTE["pupil"], np.clip(iris, 0, 1), ramp(PUPIL - 0.5, PUPIL + 0.9, ring))
    return mix(c, white, ramp(IRIS - 0.5, IRIS + 0.7, ring))
