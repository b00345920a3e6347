"""Limbs: the chains that leave the trunk of a skeleton, which side of the body they are on, and how far they reach.

A trunk joint carries two limbs or more. A limb that is shorter than a tenth of the body (a finger, a toe) does not make
the joint that carries it a trunk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.maths import linear
from understudy.retarget.links import links_of

MAJOR = 0.1  # of the body's size
CENTRAL = 0.03  # of the body's size: a limb nearer to the middle plane than this is on neither side


@dataclass(frozen=True, eq=False)
class Limbs:
    """Where each joint belongs."""

    skeleton: Skeleton
    world: Array  # (J, 4, 4) world_from_joint at rest
    size: float  # metres, the largest extent at rest
    trunk: Array  # (J,) bool
    top: Array  # (J,) the first joint of the limb that a joint is part of; of a trunk joint, itself
    reach: Array  # (J,) metres from a joint to the furthest end that hangs on it, along the bones
    front: Array  # (3,) unit, level

    @property
    def left(self) -> Array:
        """(3,) unit, level."""
        return linear.cross([0.0, 1.0, 0.0], self.front)

    def sides(self, places: Array) -> Array:
        """(M,) 1 left, -1 right, 0 in the middle, of places (M, 3) in the world at rest."""
        middle = self.world[self.trunk] if self.trunk.any() else self.world[:1]
        across = (places - middle[:, :3, 3].mean(axis=0)) @ self.left
        return np.where(np.abs(across) < CENTRAL * self.size, 0, np.sign(across)).astype(np.int64)


def limbs_of(skeleton: Skeleton) -> Limbs:
    """The limbs of a skeleton at rest."""
    links = links_of(skeleton)
    parents, places = skeleton.parents, links.world[:, :3, 3]
    size = float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
    count = len(skeleton)
    reach, majors, trunk = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, bool)
    length = np.zeros(count)
    length[links.joints] = np.linalg.norm(links.bones, axis=1)
    has_child = np.zeros(count, bool)
    has_child[parents[parents >= 0]] = True
    reach[~has_child] = length[~has_child]
    for j in range(count - 1, -1, -1):
        trunk[j] |= majors[j] > 1
        p = parents[j]
        if p >= 0:
            below = float(reach[j] + np.linalg.norm(places[j] - places[p]))
            reach[p] = max(reach[p], below)
            majors[p] += below > MAJOR * size
            trunk[p] |= trunk[j]
    top = np.arange(count)
    for j in range(count):
        if parents[j] >= 0 and not trunk[j] and not trunk[parents[j]]:
            top[j] = top[parents[j]]
    return Limbs(skeleton, links.world, size, trunk, top, reach, links.front())
