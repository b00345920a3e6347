"""Eyeballs, their highlights, and the shadow that the upper lid casts on them: most of the dragon's appeal.

An eyeball is rings about its own gaze, painted by `eye_paint`. Highlights are unlit discs that hang on the head, not on
the eyeball: they stay where the light is when the eye turns. The shadow (`lids.shadow`) is a dark transparent strip
that hangs on the upper lid; without it the eyes look stuck on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.cast.dragon.eye_paint import IRIS, PUPIL
from understudy.cast.dragon.measures import EYE, EYE_RADIUS, TOE_IN, eye_frame
from understudy.cast.sculpting.eye_paint import uvs
from understudy.cast.sculpting.glints import glints
from understudy.cast.sculpting.patches import Patch, facing_out, grid, held
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array
from understudy.maths import linear

SIDES = 44
NARROW = 0.16  # by which the pupil is narrower than tall
CORNEA = 0.035  # bulge, of the radius
RINGS = (0.0, 12.0, 22.0, 27.0, 33.0, 39.0, 47.5, 55.0, 65.0, 78.0, 92.0, 108.0)  # degrees
HIGHLIGHTS = ((-15.0, 21.0, 8.5, 1.05), (15.0, -19.0, 3.8, 1.048))  # degrees left, up, radius; height over the eye
SHADOW_HEIGHT = 1.044  # of the eye's radius: above the cornea, under the highlights and the lids


@dataclass(frozen=True, eq=False)
class Eyeball:
    """The left eyeball and, for shapes that resize pupil and iris, each vertex's place on it."""

    patch: Patch
    ring: Array  # (V,) degrees from the gaze axis
    azimuth: Array  # (V,) radians about it, from the outer side over the top
    axes: Array  # (3, 3) rows: outer, up, gaze of the eyeball at rest


def eyeball() -> Eyeball:
    """The left one: a pole in the pupil, then a ring for each further angle of RINGS, open behind."""
    rings = np.array(RINGS[1:])
    azimuth = np.arange(SIDES) * (2 * np.pi / SIDES)
    angle, around = (a.ravel() for a in np.meshgrid(rings, azimuth, indexing="ij"))
    angle, around = np.concatenate([[0.0], angle]), np.concatenate([[0.0], around])
    frame = eye_frame()
    toe = np.radians(-TOE_IN)
    turn = np.array([[np.cos(toe), 0.0, -np.sin(toe)], [0.0, 1.0, 0.0], [np.sin(toe), 0.0, np.cos(toe)]])
    axes = turn @ frame
    vertices = EYE + EYE_RADIUS * on_eye(angle, around) @ axes
    fan = np.stack([np.zeros(SIDES, int), 1 + np.roll(np.arange(SIDES), -1), 1 + np.arange(SIDES)], axis=1)
    triangles = np.concatenate([fan, 1 + grid(len(rings), SIDES, around=True)])
    patch = held("Eyeball.L", facing_out(vertices, triangles, EYE), np.ones(3), "Eye.L")
    patch = replace(patch, uvs=uvs(angle, around)[patch.triangles])
    return Eyeball(patch, angle, around, axes)


def on_eye(ring: Array, azimuth: Array, pupil: float = 1.0, iris: float = 1.0) -> Array:
    """(V, 3) places on a unit eye (outer, up, gaze) of rings (V,) in degrees, with pupil and iris resized.

    Rings between pupil and iris slide along, those outside the iris make room up to 90 degrees.
    """
    stops = [0.0, PUPIL - 1.5, PUPIL + 1.5, IRIS - 4.5, IRIS + 4.0, 90.0, 180.0]
    moved = [0.0, PUPIL * pupil - 1.5, PUPIL * pupil + 1.5, IRIS * iris - 4.5, IRIS * iris + 4.0, 90.0, 180.0]
    angle = np.radians(np.interp(ring, stops, moved))
    narrow = 1 - NARROW * ramp(PUPIL + 8, PUPIL - 3, ring)
    place = np.stack([np.sin(angle) * np.cos(azimuth) * narrow, np.sin(angle) * np.sin(azimuth), np.cos(angle)], axis=1)
    return linear.normalise(place) * (1 + CORNEA * ramp(np.radians(52), 0, angle))[:, None]


def highlights() -> list[Patch]:
    """Two discs for each eye."""
    return glints(EYE, EYE_RADIUS, eye_frame()[2], HIGHLIGHTS)
