"""How far a vertex is from a bone, as seen from inside.

The plain distance |v - q| to the nearest place q of a bone takes the wrong bone wherever two limbs are close: a hand on
the hip, a chin above a shoulder. Two things tell them apart:

    d = |v - q| (1 + A o) / ((1.001 + cos) / 2)

cos is that of the angle between the outward normal at v and v - q: a bone that is before the skin and not behind it is
up to two thousand times as far (so does Blender's bone heat). o is the share of the way that leads outside the
mesh, which stands for the test of visibility of Baran and Popovic, and unlike it has no holes to look through.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.deform.automatic.bones import Bones
from understudy.deform.automatic.solid import Solid
from understudy.deform.automatic.surface import Surface
from understudy.maths import linear

AROUND = 3.0  # A: a way outside counts four times; 2 to 8 give the same weights to three digits on real characters
SAMPLES = 12  # of the way, for o
BEHIND = 1.001  # cos = -1 must not divide by zero
BLOCK = 8192  # points at a time: the samples of a block are some megabytes


def distances(surface: Surface, bones: Bones, solid: Solid, joints: int) -> Array:
    """(N, B) from each point to each of `joints` joints; infinite for joints without bones."""
    result = np.full((len(surface.points), joints), np.inf)
    share = (np.arange(SAMPLES) + 0.5) / SAMPLES
    for first in range(0, len(surface.points), BLOCK):
        rows = slice(first, first + BLOCK)
        points, normals = surface.points[rows], surface.normals[rows]
        for bone, joint in enumerate(bones.joint_of):
            nearest = bones.nearest(bone, points)
            offset = points - nearest
            length = linear.length(offset)
            cosine = linear.dot(offset, normals) / np.maximum(length, linear.TINY)
            way = nearest[:, None] + share[:, None] * offset[:, None]
            outside = 1 - solid.contains(way).mean(axis=1)
            seen = length * (1 + AROUND * outside) / (0.5 * (BEHIND + cosine))
            result[rows, joint] = np.minimum(result[rows, joint], seen)
    return result
