"""Horns, spikes, teeth and the plinth: rigid parts that are simply stuck into the skin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.cast.dragon import sculpt
from understudy.cast.dragon.palette import PALETTE
from understudy.cast.sculpting.patches import Patch, bezier, facing_out, grid, held, midline, mix, sweep
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array
from understudy.maths import linear

CROWN = ((62, 0.050), (84, 0.075), (106, 0.095), (128, 0.108), (150, 0.112), (171, 0.112), (190, 0.108))
"""Spikes on the head: degrees in the midline plane from forward over the top, and height."""

NAPE = ((-0.17, 0.105), (-0.32, 0.10), (-0.46, 0.092), (-0.59, 0.084), (-0.71, 0.076), (-0.82, 0.07), (-0.92, 0.064))
"""Spikes on the neck: y and height."""

# x, length and radius of the left teeth, from the middle outwards: milk teeth, small and blunt
UPPER_TEETH = (
    (0.028, 0.042, 0.012),
    (0.066, 0.044, 0.0125),
    (0.112, 0.090, 0.0178),
    (0.153, 0.046, 0.013),
    (0.186, 0.042, 0.012),
    (0.214, 0.037, 0.011),
)
LOWER_TEETH = (
    (0.046, 0.046, 0.012),
    (0.086, 0.043, 0.012),
    (0.132, 0.056, 0.015),
    (0.168, 0.044, 0.012),
    (0.198, 0.040, 0.011),
)
ROOT = 0.022  # HL that a tooth stands in the flesh
BEHIND = 0.033  # HL from the outside of the lips to a tooth
FANG = 2  # the third upper one
TOOTH = np.array([0.0, 0.3, 0.55, 0.78, 0.93, 1.0])  # rings along a tooth
TOOTH_SIDES = 8


@dataclass(frozen=True, eq=False)
class Spike:
    """A spike and where it stands, whose hold on the joints it takes from the skin there."""

    patch: Patch
    base: Array  # (3,) on the skin
    outwards: Array  # (3,)
    height: float
    place: str  # crown, nape or neck


def horn() -> Patch:
    """The left horn, ringed, pale towards the tip."""
    sides, t = 14, np.linspace(0.0, 1.0, 22)
    path = bezier([[0.175, 0.37, -0.15], [0.24, 0.52, -0.19], [0.31, 0.52, -0.33], [0.26, 0.63, -0.43]], t)
    radii = 0.066 * (1 - t) ** 0.72 * (1 + 0.07 * np.sin(34 * t) * (1 - t)) + 0.010
    along = np.append(np.repeat(t, sides), 1.0)
    colours = mix(PALETTE["aubergine"], PALETTE["horn_tip"], ramp(0.35, 1.0, along))
    rings = 0.35 * (np.sin(34 * along) < -0.2) * (along < 0.7)
    return held("Horn.L", sweep(path, radii, sides), mix(colours, 0.7 * PALETTE["aubergine"], rings), "Head")


def spikes() -> list[Spike]:
    """Fourteen on the midline, leaning backwards, tallest at the back of the head."""
    result = []
    for number, (degrees, height) in enumerate(CROWN, 1):
        outwards = np.array([0.0, np.sin(np.radians(degrees)), np.cos(np.radians(degrees))])
        base = sculpt.along_ray([0.0, 0.10, -0.075], outwards, 0.1, 0.8)
        place = "crown" if number <= 4 else "nape"
        result.append(_spike(f"Spike{number}", base, outwards, height, place))
    for number, (y, height) in enumerate(NAPE, len(CROWN) + 1):
        base = sculpt.along_ray([0.0, y, 0.0], [0.0, 0.0, -1.0], 0.2, 0.9)
        outwards = sculpt.unit_gradient(base[None], 0.01)[0] * [0.0, 1.0, 1.0]
        result.append(_spike(f"Spike{number}", base, linear.normalise(outwards), height, "neck"))
    return result


def _spike(name: str, base: Array, outwards: Array, height: float, place: str) -> Spike:
    back = np.array([0.0, outwards[2], -outwards[1]])  # along the midline, away from the nose
    sides, t = 12, np.linspace(0.0, 1.0, 8)
    path = bezier(
        [base - 0.03 * outwards, base + 0.55 * height * outwards, base + height * (0.95 * outwards + 0.75 * back)], t
    )
    radii = 0.55 * height * np.sqrt(np.clip(1 - t**1.6, 0, 1)) * 0.9 + 0.004
    half = sweep(path, radii, sides, flat=0.58, half=True)
    along = np.append(np.repeat(t, sides // 2 + 1), 1.0)
    colours = mix(PALETTE["aubergine"], PALETTE["spike_tip"], 0.8 * ramp(0.5, 1.05, along))
    return Spike(midline(name, half, colours, "Head"), base, outwards, height, place)


def teeth() -> list[Patch]:
    """The left ones, rooted in the lips' flesh."""
    result = []
    for number, (x, length, radius) in enumerate(UPPER_TEETH):
        if number == FANG:
            path = _fang(x)
        else:
            path = _straight(_in_lips(x, ROOT, BEHIND), [0.0, -1.0, 0.10], length)
        result.append(_tooth(f"ToothUpper{number + 1}.L", path, radius, "Head"))
    for number, (x, length, radius) in enumerate(LOWER_TEETH):
        path = _straight(_in_lips(x, -ROOT, BEHIND), [0.0, 1.0, 0.05], length)
        result.append(_tooth(f"ToothLower{number + 1}.L", path, radius, "Jaw"))
    return result


def _fang(x: float) -> Array:
    """Out of the upper lip's flesh, then down in front of the lower lip, where it shows when the mouth is closed."""
    root, lip, tip = _in_lips(x, 0.036, 0.036), _in_lips(x, -0.006, 0.008), _in_lips(x, -0.052, -0.006)
    return bezier([root, 2 * lip - 0.5 * (root + tip), tip], TOOTH)


def _straight(root: Array, toward: list[float], length: float) -> Array:
    return root + linear.normalise(np.array(toward)) * (TOOTH[:, None] * length)


def _in_lips(x: float, above: float, depth: float) -> Array:
    """(3,) the frontmost point at that x, `above` the lips' sheet, that lies `depth` under the closed skin."""
    z = np.linspace(0.66, 0.1, 2000)
    points = np.stack([np.full_like(z, x), np.zeros_like(z), z], axis=1)
    points[:, 1] = sculpt.lip_sheet(points) + above
    return np.asarray(points[np.argmax(sculpt.distance(points, "closed") < -depth)])


def _tooth(name: str, path: Array, radius: float, joint: str) -> Patch:
    """Narrow in the flesh, widest where it leaves it, with a rounded tip."""
    radii = radius * (0.80 + 0.20 * ramp(0.0, 0.35, TOOTH)) * np.sqrt(1 - (0.985 * TOOTH) ** 2.4)
    root = ramp(0.60, 0.30, np.append(np.repeat(TOOTH, TOOTH_SIDES), 1.0))
    colours = mix(PALETTE["tooth"], 0.75 * PALETTE["tooth"] + 0.12 * PALETTE["gum"], root)
    return held(name, sweep(path, radii, TOOTH_SIDES), colours, joint)


def plinth() -> Patch:
    """The disc that hides the neck's cut and makes a sculptor's maquette of the whole."""
    profile = np.array([[0.31, -0.99], [0.35, -0.998], [0.365, -1.02], [0.36, -1.045], [0.335, -1.06], [0.0, -1.06]])
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 29)
    across = np.where(np.abs(np.cos(angle)) < 1e-12, 0.0, np.cos(angle))
    ring = np.stack([across, np.zeros_like(angle), np.sin(angle)], axis=1)
    rings = profile[:-1, :1, None] * ring + np.array([0.0, 0.0, -0.115])
    rings[..., 1] = profile[:-1, 1:]
    below, above = np.array([0.0, profile[-1, 1], -0.115]), np.array([0.0, profile[0, 1], -0.115])
    vertices = np.concatenate([rings.reshape(-1, 3), below[None], above[None]])
    count = len(angle)
    last, first = np.arange(count) + count * (len(profile) - 2), np.arange(count)
    fans = [
        np.stack([last[:-1], last[1:], np.full(count - 1, len(vertices) - 2)], axis=1),
        np.stack([first[1:], first[:-1], np.full(count - 1, len(vertices) - 1)], axis=1),
    ]
    triangles = np.concatenate([grid(len(profile) - 1, count), *fans])
    half = facing_out(vertices, triangles, (0.0, -1.02, -0.115))
    return midline("Plinth", half, PALETTE["plinth"], "Root")
