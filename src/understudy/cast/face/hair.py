"""The hair: locks swept from a parting on the face's left, on a thin shell, and the brows.

A lock is a Bezier curve in (azimuth, elevation, offset) on the skull's ellipsoid, with a radius that runs along.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.face import meshing, sculpt
from understudy.cast.face.measures import ramp
from understudy.cast.face.palette import PALETTE
from understudy.cast.sculpting import tubes
from understudy.cast.sculpting.fields import ambient, unit_gradient
from understudy.cast.sculpting.patches import Patch, bezier, facing_out, held, mix
from understudy.cast.sculpting.smoothing import average, smoothed
from understudy.checks import Array

SKULL, CENTRE = np.array([0.378, 0.375, 0.414]), np.array([0.0, 0.125, -0.055])
Lock = tuple[tuple[tuple[float, float, float], ...], tuple[float, ...]]
LOCKS: tuple[Lock, ...] = (
    # below the fringe
    (((34, 62, 0.00), (12, 58, 0.050), (-6, 44, 0.045), (-14, 25, 0.020)), (0.050, 0.085, 0.085, 0.025)),
    (((34, 68, 0.00), (-20, 64, 0.050), (-44, 42, 0.045), (-54, 14, 0.020)), (0.050, 0.085, 0.085, 0.025)),
    (((34, 58, 0.00), (32, 54, 0.050), (26, 44, 0.045), (20, 31, 0.015)), (0.050, 0.085, 0.080, 0.025)),
    (((34, 60, 0.00), (46, 54, 0.050), (58, 36, 0.045), (62, 12, 0.020)), (0.050, 0.085, 0.085, 0.025)),
    # the fringe: broad diagonal sweeps to the right, one above the other
    (((30, 50, 0.01), (22, 50, 0.125), (-4, 36, 0.115), (-40, 11, 0.032)), (0.045, 0.098, 0.094, 0.005)),
    (((32, 57, 0.01), (18, 64, 0.185), (-26, 50, 0.150), (-62, 8, 0.028)), (0.055, 0.125, 0.120, 0.005)),
    (((33, 65, 0.01), (0, 80, 0.205), (-58, 62, 0.150), (-80, -4, 0.024)), (0.060, 0.140, 0.135, 0.006)),
    (((34, 73, 0.02), (-60, 88, 0.165), (-92, 58, 0.125), (-90, -14, 0.024)), (0.060, 0.145, 0.140, 0.008)),
    # the short side of the parting
    (((37, 52, 0.01), (42, 56, 0.115), (54, 38, 0.095), (46, 10, 0.034)), (0.045, 0.085, 0.080, 0.005)),
    (((38, 60, 0.01), (56, 68, 0.150), (72, 44, 0.110), (72, -4, 0.026)), (0.055, 0.125, 0.118, 0.006)),
    (((50, 76, 0.02), (84, 74, 0.140), (100, 42, 0.105), (90, -14, 0.026)), (0.060, 0.145, 0.135, 0.008)),
    # sides and back
    (((-60, 86, 0.03), (-112, 70, 0.120), (-118, 36, 0.095), (-108, -22, 0.022)), (0.060, 0.140, 0.135, 0.010)),
    (((100, 86, 0.03), (122, 64, 0.115), (126, 26, 0.095), (112, -26, 0.020)), (0.060, 0.140, 0.135, 0.010)),
    (((-140, 86, 0.03), (-142, 60, 0.115), (-144, 20, 0.095), (-138, -40, 0.018)), (0.060, 0.140, 0.135, 0.010)),
    (((160, 86, 0.03), (152, 58, 0.115), (152, 18, 0.095), (142, -42, 0.018)), (0.060, 0.140, 0.135, 0.010)),
    (((180, 82, 0.03), (-176, 54, 0.120), (-176, 12, 0.098), (-170, -50, 0.018)), (0.060, 0.145, 0.140, 0.010)),
    # two small tufts on the crown
    (((170, 70, 0.06), (160, 76, 0.120), (130, 80, 0.150), (70, 82, 0.160)), (0.040, 0.052, 0.038, 0.005)),
    (((-170, 66, 0.06), (-150, 72, 0.115), (-110, 76, 0.140), (-60, 80, 0.150)), (0.040, 0.048, 0.034, 0.005)),
)
PIECES = 30
BROW = ((0.070, 0.128), (0.125, 0.172), (0.200, 0.178), (0.268, 0.112))  # x and y, laid on the skin
BROW_RINGS, BROW_SIDES = 30, 14


def locks() -> Array:
    """(N, PIECES, 4) points and radii along each lock, sunk into the shell."""
    t = np.linspace(0.0, 1.0, PIECES)
    result = np.empty((len(LOCKS), PIECES, 4))
    for number, (knots, radii) in enumerate(LOCKS):
        azimuth, elevation, offset = np.array(knots).T
        a, e = np.radians(azimuth), np.radians(elevation)
        direction = np.stack([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)], axis=1)
        points = bezier(CENTRE + (SKULL + offset[:, None]) * direction, t)
        radius = bezier(np.array(radii)[:, None], t)[:, 0]
        outwards = (points - CENTRE) / np.linalg.norm(points - CENTRE, axis=1, keepdims=True)
        sunk = 0.55 - 0.12 * (number % 3 == 0)
        result[number] = np.concatenate([points - outwards * (sunk * radius)[:, None], radius[:, None]], axis=1)
    return result


def hair() -> Patch:
    """The hair, each lock with its own tone, lighter at its tip, darker in the grooves."""
    strands = locks()
    vertices, triangles = meshing.hair(strands)
    gap, nearest, along = _near(strands, vertices)
    tone = np.random.default_rng(2).uniform(0, 0.45, len(strands))[nearest]
    c = mix(PALETTE["hair"], PALETTE["hair_light"], np.clip(tone + 0.45 * ramp(0.45, 1.0, along), 0, 1))
    c = mix(c, 0.62 * PALETTE["hair"], 0.40 * ramp(0.016, 0.0, gap))
    c = smoothed(c, average(triangles, len(vertices)), 6)
    light = ambient(vertices, sculpt.hair_field(strands), 1.2)
    return held("Hair", facing_out(vertices, triangles), c * light[:, None] ** 0.6, "Head")


def _near(strands: Array, points: Array) -> tuple[Array, Array, Array]:
    """(V,) how much further the second lock is than the nearest one, which one that is, and how far along it."""
    distance = np.empty((len(points), len(strands)))
    along = np.empty((len(points), len(strands)))
    for number, lock in enumerate(strands):
        away = np.linalg.norm(points[:, None] - lock[None, :, :3], axis=2) - lock[:, 3]
        along[:, number] = away.argmin(axis=1) / (PIECES - 1)
        distance[:, number] = away.min(axis=1)
    nearest = distance.argmin(axis=1)
    ordered = np.sort(distance, axis=1)
    return ordered[:, 1] - ordered[:, 0], nearest, along[np.arange(len(points)), nearest]


def brow() -> tuple[Patch, Array]:
    """The left brow, and the middle of each ring (BROW_RINGS, 3), which the skin carries."""
    t = np.linspace(0.0, 1.0, BROW_RINGS)
    middle = sculpt.on_front(bezier(BROW, t))
    middle = middle + 0.004 * unit_gradient(middle, sculpt.field("closed"))
    radius = 0.0235 * np.clip(ramp(-0.10, 0.22, t) * (1 - 0.80 * ramp(0.45, 1.02, t)), 0.12, 1)
    vertices = tubes.tube(middle, radius, 0.52 * radius, BROW_SIDES, (0, 1, 0))
    angle = np.tile(np.arange(BROW_SIDES) * (2 * np.pi / BROW_SIDES), BROW_RINGS)
    streaks = 0.35 * ramp(0.2, 1.0, np.cos(angle)) + 0.1 * np.sin(60 * np.repeat(t, BROW_SIDES) + 2 * np.cos(angle))
    colours = mix(PALETTE["brow"], PALETTE["hair_light"], np.append(np.clip(streaks, 0, 1), [0.0, 0.0]))
    surface = facing_out(vertices, tubes.triangles(BROW_RINGS, BROW_SIDES))
    return held("Brow.L", surface, colours, "Head"), middle
