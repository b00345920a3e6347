"""Flight: between take-off and landing the centre of mass moves as a thrown body does.

The times of a flight are in the sheet, and so is where it begins and ends; T seconds from height y0 to y1 leave one
speed of take-off, v = (y1 - y0) / T + g T / 2, and one path. The hips are moved by what the centre of mass is off it.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array

GRAVITY = 9.81  # metres per second squared
# joint: its segment's share of the body's mass [de Leva 1996, mean of both sexes], and where along it the centre lies
SEGMENTS: dict[str, tuple[float, str, float]] = {
    "Hips": (0.1180, "LowerBack", 0.0),
    "LowerBack": (0.1540, "Spine", 0.6),
    "Spine": (0.1580, "Spine1", 0.7),
    "Head": (0.0680, "Head", 0.0),
    "Arm": (0.0263, "ForeArm", 0.57),
    "ForeArm": (0.0150, "Hand", 0.46),
    "Hand": (0.0059, "HandIndex1", 1.0),
    "UpLeg": (0.1447, "Leg", 0.39),
    "Leg": (0.0457, "Foot", 0.44),
    "Foot": (0.0133, "ToeBase", 0.5),
}


def centre_of_mass(world: Array, skeleton: Skeleton) -> Array:
    """(F, 3) of poses world_from_joint (F, J, 4, 4)."""
    total, weight = np.zeros((len(world), 3)), 0.0
    for name, (mass, end, part) in SEGMENTS.items():
        for side in ("",) if name in skeleton else ("Left", "Right"):
            start, stop = (world[:, skeleton.index(side + joint), :3, 3] for joint in (name, end))
            total += mass * (start + part * (stop - start))
            weight += mass
    result: Array = total / weight
    return result


def spans(flying: Array) -> list[tuple[int, int]]:
    """The last frame before and the first frame after each flight, of `flying` (F,) bool."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flying, [False]]).astype(int))).reshape(-1, 2)
    return [(int(a) - 1, int(b)) for a, b in edges if a > 0 and b < len(flying)]


def thrown(places: Array, world: Array, skeleton: Skeleton, flying: Array, rate: float) -> Array:
    """(F, 3) the hips, moved so that the centre of mass of each flight comes nearer to its parabola."""
    centre = centre_of_mass(world, skeleton)
    result = places.copy()
    for start, end in spans(flying):
        t = np.arange(end - start + 1) / rate
        whole = t[-1]
        wanted = centre[start] + (centre[end] - centre[start]) * (t / whole)[:, None]
        wanted[:, 1] += 0.5 * GRAVITY * t * (whole - t)
        result[start + 1 : end] += (wanted - centre[start : end + 1])[1:-1]
    return result
