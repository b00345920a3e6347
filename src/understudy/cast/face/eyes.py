"""Eyeballs, their highlights and their picture.

An eyeball is rings about its own gaze. It is an exact sphere, without a cornea's bulge: shapes are linear, and lids
that cut corners on their way must stay outside it. Highlights are unlit discs that hang on the head, not on the
eyeball: they stay where the light is when the eye turns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.cast.face.measures import EYE, EYE_RADIUS, TOE_IN, eye_frame, ramp
from understudy.cast.face.palette import PALETTE
from understudy.cast.sculpting.eye_paint import fibres, uvs
from understudy.cast.sculpting.frames import turn
from understudy.cast.sculpting.glints import glints
from understudy.cast.sculpting.patches import Patch, facing_out, grid, held, mix
from understudy.checks import Array

SIDES = 40
RINGS = (8.0, 16.5, 22.0, 29.0, 36.0, 42.0, 50.0, 58.0, 66.0, 78.0, 92.0, 108.0)  # degrees from the gaze
IRIS, PUPIL = 36.0, 16.5
HIGHLIGHTS = ((-13.0, 15.0, 6.4, 1.016), (12.0, -15.0, 3.0, 1.016))  # degrees left, up, radius; height over the eye
YAW, UP, DOWN = 30.0, 24.0, 28.0  # degrees that eyeLook shapes turn


def eyeball() -> Patch:
    """The left one: a pole in the pupil, then the rings, open behind."""
    angle, around = _places()
    fan = np.stack([np.zeros(SIDES, int), 1 + np.roll(np.arange(SIDES), -1), 1 + np.arange(SIDES)], axis=1)
    triangles = np.concatenate([fan, 1 + grid(len(RINGS), SIDES, around=True)])
    patch = held("Eyeball.L", facing_out(looking(0.0, 0.0), triangles, EYE), np.ones(3), "Eye.L")
    return replace(patch, uvs=uvs(angle, around)[patch.triangles])


def looking(yaw: float, pitch: float) -> Array:
    """(V, 3) the left eyeball turned outwards and up by degrees."""
    angle, around = _places()
    ring = np.radians(angle)
    unit = np.stack([np.sin(ring) * np.cos(around), np.sin(ring) * np.sin(around), np.cos(ring)], axis=1)
    turned = unit @ (turn(y=yaw - TOE_IN) @ turn(x=-pitch)).T
    return np.asarray(EYE + EYE_RADIUS * turned @ eye_frame())


def _places() -> tuple[Array, Array]:
    """(V,) degrees from the gaze, and radians about it from the outer side over the top."""
    azimuth = np.arange(SIDES) * (2 * np.pi / SIDES)
    angle, around = (a.ravel() for a in np.meshgrid(RINGS, azimuth, indexing="ij"))
    return np.concatenate([[0.0], angle]), np.concatenate([[0.0], around])


def highlights() -> list[Patch]:
    """Two discs for each eye."""
    return glints(EYE, EYE_RADIUS, eye_frame()[2], HIGHLIGHTS)


def colours(ring: Array, azimuth: Array) -> Array:
    """(M, 3): the iris is dark above and glows below, as if lit through; the white is warmer towards the corners."""
    up = np.sin(azimuth) * np.sin(np.radians(ring)) / np.sin(np.radians(IRIS))
    across = np.clip((ring - PUPIL) / (IRIS - PUPIL), 0, 1)
    iris = mix(PALETTE["iris_dark"], PALETTE["iris"], np.clip(0.5 - 0.75 * up, 0, 1))
    iris = mix(iris, PALETTE["iris_light"], 0.70 * ramp(0.15, 1.0, -up) * ramp(0.0, 0.6, across))
    iris = mix(iris, PALETTE["iris_light"], 0.22 * np.exp(-(((across - 0.25) / 0.16) ** 2)) * ramp(0.5, -0.2, up))
    iris = iris * (1 + 0.22 * fibres(azimuth, across) * ramp(0.0, 0.2, across) * ramp(1.0, 0.8, across))[:, None]
    iris = mix(iris, PALETTE["iris_dark"], 0.5 * ramp(0.14, 0.0, across))
    iris = mix(iris, PALETTE["limbus"], ramp(0.72, 0.95, across) ** 2)
    white = mix(PALETTE["sclera"], PALETTE["sclera_edge"], 0.45 * ramp(44, 80, ring))
    white = mix(white, PALETTE["limbus"], 0.30 * ramp(IRIS + 3.0, IRIS, ring))
    c = mix(PALETTE["pupil"], np.clip(iris, 0, 1), ramp(PUPIL - 0.5, PUPIL + 0.9, ring))
    return mix(c, white, ramp(IRIS - 0.5, IRIS + 0.7, ring))
