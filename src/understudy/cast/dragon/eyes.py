"""Eyeballs, their highlights, and the shadow that the upper lid casts on them: most of the dragon's appeal.

An eyeball is rings about its own gaze, painted by `eye_paint`. Highlights are unlit discs that hang on the head, not on
the eyeball: they stay where the light is when the eye turns. The shadow (`lids.shadow`) is a dark transparent strip
that hangs on the upper lid; without it the eyes look stuck on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.cast.dragon import eye_paint
from understudy.cast.dragon.eye_paint import IRIS, PUPIL
from understudy.cast.dragon.measures import EYE, EYE_RADIUS, TOE_IN, eye_frame, ramp
from understudy.cast.dragon.patches import Patch, facing_out, grid, held
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
    patch = replace(patch, uvs=eye_paint.uvs(angle, around)[patch.triangles])
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
    """Two discs for each eye, on the same side of both, since both mirror one window."""
    patches = []
    for number, (left, up, radius, height) in enumerate(HIGHLIGHTS, 1):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            gaze = eye_frame()[2] * [sign, 1.0, 1.0]
            right = linear.normalise(np.array([1.0, 0.0, 0.0]) - gaze * gaze[0])
            a, b = np.radians(left), np.radians(up)
            toward = np.array([np.sin(a) * np.cos(b), np.sin(b), np.cos(a) * np.cos(b)])
            middle = toward @ np.stack([right, np.cross(gaze, right), gaze])
            vertices = np.array(EYE) * [sign, 1.0, 1.0] + EYE_RADIUS * height * _disc(middle, np.radians(radius))
            count = len(vertices) - 1
            around = 1 + np.arange(count)
            fan = np.stack([np.zeros(count, int), around, np.roll(around, -1)], axis=1)
            surface = facing_out(vertices, fan, np.array(EYE) * [sign, 1.0, 1.0])
            patches.append(held(f"Highlight{number}.{side}", surface, np.ones(3), "Head"))
    return patches


def _disc(middle: Array, radius: float, sides: int = 20) -> Array:
    """(1 + sides, 3) a disc on the unit sphere: its middle, then its rim, a little narrower than tall."""
    across = linear.normalise(np.cross(middle, [0.0, 1.0, 0.0]))
    up = np.cross(middle, across)
    angle = np.arange(sides) * (2 * np.pi / sides)
    rim = middle + np.tan(radius) * (0.85 * np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * up)
    return np.concatenate([middle[None], linear.normalise(rim)])
