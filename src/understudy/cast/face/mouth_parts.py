"""Teeth, gums and tongue."""

from __future__ import annotations

import numpy as np

from understudy.cast.face.measures import LIP_Y, ramp
from understudy.cast.face.palette import PALETTE
from understudy.cast.sculpting import tubes
from understudy.cast.sculpting.patches import Patch, bezier, facing_out, grid, held, mix
from understudy.checks import Array
from understudy.maths import linear

# x of the left teeth from the middle outwards, and their half axes; they stand on z = depth - 7.5 x^2
UPPER = (
    (0.0160, (0.0168, 0.0250, 0.011)),
    (0.0455, (0.0152, 0.0238, 0.011)),
    (0.0710, (0.0148, 0.0240, 0.011)),
    (0.0905, (0.0150, 0.0220, 0.012)),
    (0.1050, (0.0140, 0.0190, 0.013)),
)
LOWER = (
    (0.0125, (0.0130, 0.019, 0.010)),
    (0.0370, (0.0130, 0.019, 0.010)),
    (0.0600, (0.0135, 0.019, 0.010)),
    (0.0790, (0.0140, 0.018, 0.010)),
)
ARCH = 7.5
SQUARE = 0.55  # exponent: 1 would be an ellipsoid, 0 a box
TONGUE = np.array([(-0.075, 0.07), (-0.040, 0.15), (-0.030, 0.20), (-0.030, 0.235), (-0.046, 0.262)])
"""y above the lips' line and z of the tongue's Bezier curve at rest."""
TONGUE_OUT = np.array([(-0.060, 0.10), (0.020, 0.24), (0.022, 0.38), (-0.010, 0.44), (-0.100, 0.435)])
RINGS, SIDES = 24, 20


def teeth() -> list[Patch]:
    """Both rows; the lower one hangs on the jaw."""
    return [_row("TeethUpper", True), _row("TeethLower", False)]


def _row(name: str, upper: bool) -> Patch:
    depth, height, sign = (0.303, LIP_Y + 0.004, 1.0) if upper else (0.290, LIP_Y - 0.040, -1.0)
    vertices, triangles, colours, start = [], [], [], 0
    for x, half in UPPER if upper else LOWER:
        for side in (1.0, -1.0):
            along = linear.normalise(np.array([1.0, 0.0, -2 * ARCH * x * side]))
            axes = np.stack([along, [0.0, 1.0, 0.0], np.cross(along, [0.0, 1.0, 0.0])])
            place = np.array([x * side, height + sign * 0.0006 * (x / 0.03) ** 2, depth - ARCH * x * x])
            own, faces = _tooth(np.array(half))
            vertices.append(place + own @ axes)
            triangles.append(facing_out(vertices[-1], faces, place)[1] + start)
            colours.append(
                np.tile(mix(PALETTE["tooth"], PALETTE["tooth_back"], 0.5 * ramp(0.05, 0.11, x)), (len(own), 1))
            )
            start += len(own)
    across = np.linspace(-0.10, 0.10, 31)
    path = np.stack(
        [across, np.full_like(across, height + (0.026 if upper else -0.022)), depth - 0.004 - ARCH * across**2], axis=1
    )
    gum = tubes.tube(path, np.full(31, 0.016), np.full(31, 0.012), 10, (0, 1, 0))
    vertices.append(gum)
    triangles.append(facing_out(gum, tubes.triangles(31, 10))[1] + start)
    colours.append(np.tile(PALETTE["gum"], (len(gum), 1)))
    surface = (np.concatenate(vertices), np.concatenate(triangles))
    return held(name, surface, np.concatenate(colours), "Head" if upper else "Jaw")


def _tooth(half: Array, rings: int = 7, sides: int = 14) -> tuple[Array, Array]:
    """A superellipsoid with half axes (3,), its poles above and below."""
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings + 2)[1:-1]
    u, w = np.meshgrid(latitude, np.arange(sides) * (2 * np.pi / sides), indexing="ij")

    def power(x: Array) -> Array:
        return np.sign(x) * np.abs(x) ** SQUARE

    body = np.stack([power(np.cos(u)) * power(np.cos(w)), power(np.sin(u)), power(np.cos(u)) * power(np.sin(w))], -1)
    vertices = np.concatenate([body.reshape(-1, 3), [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]]) * half
    count = rings * sides
    first, last = np.arange(sides), np.arange(count - sides, count)
    fans = [
        np.stack([np.roll(first, -1), first, np.full(sides, count)], axis=1),
        np.stack([last, np.roll(last, -1), np.full(sides, count + 1)], axis=1),
    ]
    return vertices, np.concatenate([grid(rings, sides, around=True), *fans])


def tongue_places(out: float = 0.0) -> Array:
    """The tongue's vertices, at rest or put out: over the lower teeth and lip, then down."""
    t = np.linspace(0.0, 1.0, RINGS)
    curve = TONGUE + out * (TONGUE_OUT - TONGUE)
    path = bezier(np.stack([np.zeros(5), LIP_Y + curve[:, 0], curve[:, 1]], axis=1), t)
    radius = 0.066 * np.sqrt(np.clip(1 - ((t - 0.5) / 0.502) ** 2, 0, 1)) ** 0.8 + 0.002
    vertices = tubes.tube(path, radius, 0.24 * radius, SIDES, (1, 0, 0))
    above = vertices[:-2, 1] > np.repeat(path, SIDES, axis=0)[:, 1]
    groove = 0.006 * np.exp(-((vertices[:-2, 0] / 0.014) ** 2)) * np.repeat(ramp(1.0, 0.7, t), SIDES)
    vertices[:-2, 1] -= groove * above
    return vertices


def tongue() -> Patch:
    """The tongue, darker towards the throat and in its groove."""
    vertices = tongue_places()
    along = np.append(np.repeat(np.linspace(0.0, 1.0, RINGS), SIDES), [0.0, 1.0])
    groove = np.exp(-((vertices[:, 0] / 0.018) ** 2)) * ramp(1.0, 0.7, along)
    colours = mix(PALETTE["tongue"], 0.74 * PALETTE["tongue"], 0.45 * groove)
    colours = mix(colours, 0.8 * PALETTE["mouth"], ramp(0.45, 0.10, along))
    return held("Tongue", facing_out(vertices, tubes.triangles(RINGS, SIDES)), colours, "Jaw")
