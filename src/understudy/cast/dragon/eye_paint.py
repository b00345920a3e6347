"""The eye's picture: pupil, iris with its fibres, dark limbus and the white, as a disc seen along the gaze.

`sculpting.eye_paint` tells how it is laid on the eye.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon.palette import PALETTE
from understudy.cast.sculpting.eye_paint import fibres
from understudy.cast.sculpting.patches import mix
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

IRIS, PUPIL = 43.5, 24.5  # degrees from the gaze axis


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
