"""What motion-capture files leave unsaid: the unit of length, which way is up, and the exact frame rate.

Each guess comes with the words that a reader puts into its notes, so that a user can see it and overrule it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array

INCH = 0.0254  # metres
CMU_UNIT = INCH / 0.45  # metres: the Carnegie Mellon captures count in inches over 0.45


class Unit(NamedTuple):
    """A unit of length that files are met in."""

    name: str
    metres: float


UNITS = (
    Unit("metres", 1.0),
    Unit("centimetres", 0.01),
    Unit("millimetres", 0.001),
    Unit("inches", INCH),
    Unit("CMU units (5.644 cm)", CMU_UNIT),
    Unit("decimetres", 0.1),
    Unit("feet", 0.3048),
)

BODY = 1.75  # metres, of an adult
USUAL_BODY = (0.9, 2.6)  # metres, from a child to a giant
BODY_OF_PATH = 0.7  # from toes over hips to fingers it is 2.3 to 2.6 m in captured adults


def body_height(parents: Array, offsets: Array, ends: dict[int, Array]) -> float:
    """About the height that a body would have standing, in the unit of its `offsets` (J, 3), whatever its rest pose is:
    a share of the longest path through its bones, `ends` being the tips of joints that have one.
    """
    bones = np.linalg.norm(offsets, axis=1)
    reach = np.zeros(len(parents))  # from a joint down to the farthest tip
    for joint, end in ends.items():
        reach[joint] = np.linalg.norm(end)
    longest = float(reach.max(initial=0.0))
    for joint in range(len(parents) - 1, -1, -1):
        parent = parents[joint]
        if parent >= 0:
            below = reach[joint] + bones[joint]
            longest = max(longest, reach[parent] + below)
            reach[parent] = max(reach[parent], below)
    return BODY_OF_PATH * longest


def unit_of_length(height: float) -> Unit:
    """The unit in which a body of the given height is of human size.

    Centimetres and metres are taken wherever they make any person; only then the unit that comes nearest to an adult.
    A skeleton without extent counts in metres.
    """
    if not height > 0 or not np.isfinite(height):
        return UNITS[0]
    for unit in (UNITS[1], UNITS[0]):
        if USUAL_BODY[0] <= height * unit.metres <= USUAL_BODY[1]:
            return unit
    return min(UNITS, key=lambda unit: abs(np.log(height * unit.metres / BODY)))


HIGH = ("head", "neck", "skull")
LOW = ("foot", "toe", "ankle", "heel")


def is_z_up(names: tuple[str, ...], rest: Array, posed: Array) -> bool:
    """Whether a body stands along Z instead of Y, by its joints' positions at rest (J, 3) and posed (F, J, 3).

    Both must say so: an actor may lie down, and a rest pose may be anything. Without joints named like a head and like
    feet, Y is up.
    """
    high = [i for i, name in enumerate(names) if any(word in name.lower() for word in HIGH)]
    low = [i for i, name in enumerate(names) if any(word in name.lower() for word in LOW)]
    if not high or not low:
        return False
    at_rest = rest[high].mean(axis=0) - rest[low].mean(axis=0)
    moving = np.median(posed[:, high].mean(axis=1) - posed[:, low].mean(axis=1), axis=0)
    # 0.8: within 37 degrees of the axis
    return all(body[2] > 0.8 * np.linalg.norm(body) > 0 for body in (at_rest, moving))


RATES = (24, 25, 30, 48, 50, 60, 72, 75, 90, 100, 120, 125, 144, 150, 180, 200, 240, 250, 300, 480, 500, 600, 960, 1000)
NTSC = tuple(rate * 1000 / 1001 for rate in (24, 30, 48, 60, 120, 240))


def frame_rate(frame_time: str) -> float:
    """Frames a second of a frame time printed with few digits: "0.0083333" is 120, "0.033" is 30, "0.0333667" 29.97.

    A usual rate, an NTSC rate or else a whole rate is taken if its frame time could have been printed so, cut off or
    rounded, within 1.5 % at most (the coarsest print in use, 0.033 for 1/30, is 1 % off).
    """
    time = float(frame_time)
    mantissa, _, exponent = frame_time.lower().partition("e")
    decimals = len(mantissa.partition(".")[2].strip())
    last_digit = 10.0 ** (int(exponent or 0) - decimals)
    rate = 1 / time
    if abs(rate - round(rate)) < 1e-9 * rate:  # 0.008 says 125 exactly, although 1/120 might be printed so
        return float(round(rate))
    for known in (RATES, NTSC, (max(round(rate), 1),)):
        near = [r for r in known if -0.51 * last_digit <= 1 / r - time < last_digit and abs(r / rate - 1) < 0.015]
        if near:
            return float(min(near, key=lambda r: abs(r - rate)))
    return rate
