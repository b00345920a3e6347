"""The picture of an eye: a disc seen along the gaze, and the streaks of an iris.

A point of the eye is (ring, azimuth): degrees from the gaze axis, and radians about it from the outer side over the
top. In the picture the ring's distance from the middle grows faster inside the iris, which has most of the detail.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from understudy.cast.sculpting.ramps import ramp
from understudy.character import Image
from understudy.checks import Array

Paint = Callable[[Array, Array], Array]  # rings (M,) and azimuths (M,) -> colours (M, 3), sRGB
SIZE, FINER = 512, 3  # texels a side; each is the mean of FINER x FINER samples
OUTERMOST = 108.0
_RINGS, _RADII = (0.0, 50.0, OUTERMOST), (0.0, 0.36, 0.495)  # ring -> distance from the picture's middle


def uvs(ring: Array, azimuth: Array) -> Array:
    """(V, 2) places in the picture, v downwards."""
    radius = np.interp(ring, _RINGS, _RADII)
    return np.stack([0.5 + radius * np.cos(azimuth), 0.5 - radius * np.sin(azimuth)], axis=-1)


def picture(name: str, paint: Paint, size: int = SIZE) -> Image:
    """An eye as PNG; JPEG would fray the crisp edges of pupil and iris."""
    from PIL import Image as pillow

    fine = size * FINER
    across = (np.arange(fine) + 0.5) / fine - 0.5
    x, y = np.meshgrid(across, -across)
    ring, azimuth = np.interp(np.hypot(x, y), _RADII, _RINGS), np.arctan2(y, x)
    painted = paint(ring.ravel(), azimuth.ravel()).reshape(size, FINER, size, FINER, 3).mean(axis=(1, 3))
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
