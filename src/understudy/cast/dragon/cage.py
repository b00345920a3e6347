"""The lattice over the head: 5 x 5 x 4 points that push everything near them, after bones and shapes.

Its box is laid so that even the outermost points have skin within reach: at the value 1 each moves some vertex by a
millimetre at least. Horns, fins and neck stick out of it; there it fades to nothing.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon.controls import COLUMNS, DEPTHS, LEVELS
from understudy.cast.dragon.measures import JOINTS, SCALE
from understudy.character.controls import Controls
from understudy.character.layers import Lattice

JOINT = "Head"
GAIN = 0.06 * SCALE  # metres that the value 1 moves a point
# HL: where the points stand along each axis, first and last; their mean is at the head's own features
ACROSS, UP, AHEAD = (-0.31, 0.31), (-0.25, 0.33), (-0.22, 0.44)


def lattice(controls: Controls) -> Lattice:
    """The lattice and its controls; of a pair, x points outwards on both sides."""
    counts = (2 * len(COLUMNS) - 1, len(LEVELS), len(DEPTHS))
    first, last = np.array([ACROSS, UP, AHEAD]).T
    cell = (last - first) / (np.array(counts) - 1)
    origin = np.array(JOINTS[JOINT][1])
    point, axis, control, gain = [], [], [], []
    for number in controls.of_layer("lattice"):
        name = controls.names[number].removeprefix("lattice.")
        stem, _, side = name.partition(".")
        level, depth, column, way = stem.split("_")
        outwards = -1 if side == "R" else 1
        x = len(COLUMNS) - 1 + outwards * COLUMNS.index(column)
        point.append((x * counts[1] + LEVELS.index(level)) * counts[2] + DEPTHS.index(depth))
        axis.append("xyz".index(way))
        control.append(int(number))
        gain.append(GAIN * (outwards if way == "x" else 1))
    # a point stands one and a half cells inside the box (see `deform.lattice`)
    low, high = (first - 1.5 * cell - origin) * SCALE, (last + 1.5 * cell - origin) * SCALE
    return Lattice(JOINT, low, high, counts, point, axis, control, gain)
