"""Discrete embedding: which sphere of the mesh holds which joint of the template.

Only key joints (root, forks, ends) are searched for. The cost of an embedding is a sum over joints and over the ways
between them, so the best of all of them is found exactly, by dynamic programming from the ends to the root:

    best(j, u) = place(j, u) + sum over key children c of  min over v of  [ best(c, v) + way(j, u, c, v) ]

place  squared distance from where the template's box has the joint; the wrong side; an end that is not at an end;
       a fork that is not deep within the mesh
way    direction against the template's, length against the template's, both relative; a detour of the way

(Baran and Popovic 2007, section 3.3, search with A* because their penalties tie together more than two joints; here the
two sides are told apart by where they are.) Left and right share their costs where the mesh is symmetric, so that they
come out as mirror images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.rigging.medial import Medial
from understudy.deform.rigging.template import Template
from understudy.maths import linear

PLACE = 3.0  # for a joint as far off as the box is large
WRONG_SIDE = 4.0  # for a joint a quarter of the width over the middle
CENTRED = 6.0  # for a middle joint as far off the middle as the box is wide
END = 1.0  # for an end from which one could go on by a tenth of the size
GROUND = 8.0  # for a foot as high as the head
STANDING = 0.05  # of the height: ends below it are feet
DEEP = 0.3  # for a fork in a limb of no width at all; nothing from half the deepest on: that may be the head
DIRECTION = 1.0  # for opposite directions (1 - cos) / 2
LENGTH = 0.35  # for a way that is e times as long or short
DETOUR = 0.6  # for a way twice as long as the straight line
SHORTEST = 0.03  # of the size: ways below count as this long


@dataclass(frozen=True, eq=False)
class Embedding:
    """The sphere of each key joint, and the cost of it all, a joint."""

    sphere_of: dict[int, int]
    cost: float


def boxed(template: Template, points: Array) -> Array:
    """(J, 3) the template's places in the box around points (N, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    place = template.places
    return np.stack(
        [middle[0] + half[0] * place[:, 0], low[1] + 2 * half[1] * place[:, 1], middle[2] + half[2] * place[:, 2]], 1
    )


def embed(template: Template, medial: Medial, points: Array, ways: Ways | None = None) -> Embedding:
    """The cheapest embedding into the spheres of a mesh with vertices `points` (N, 3), of which `ways` are known."""
    wanted = boxed(template, points)
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    ways = ways or Ways.of(medial, size)
    keys = template.keys
    best: dict[int, Array] = {}
    choice: dict[int, Array] = {}
    for joint in keys[::-1]:  # children come after their parents
        best[joint] = _place(template, medial, points, wanted, int(joint), size)
        for child in keys:
            if template.above(child) == joint:
                total = ways.cost(wanted, int(joint), int(child)) + best[child]
                choice[child] = total.argmin(axis=1)
                best[joint] = best[joint] + total.min(axis=1)
    sphere_of: dict[int, int] = {}
    cost = 0.0
    for joint in keys:
        above = template.above(joint)
        if above < 0:
            sphere_of[int(joint)] = int(best[joint].argmin())
            cost += float(best[joint].min())
        else:
            sphere_of[int(joint)] = int(choice[joint][sphere_of[above]])
    return Embedding(sphere_of, cost / len(keys))


def _place(template: Template, medial: Medial, points: Array, wanted: Array, joint: int, size: float) -> Array:
    """(N,) the cost of each sphere for a joint by itself."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = max(high[0] - low[0], 1e-9 * size)
    offset = (medial.centres - wanted[joint]) / size
    cost = PLACE * (offset**2).sum(axis=1)
    across = (medial.centres[:, 0] - 0.5 * (low[0] + high[0])) / width
    side = template.side[joint]
    cost += WRONG_SIDE * np.maximum(-4 * side * across, 0) ** 2 if side else CENTRED * across**2
    if len(template.children[joint]):
        return cost + DEEP * (1 - np.minimum(medial.radii / (0.5 * medial.radii.max()), 1))
    if template.places[joint, 1] < STANDING:
        cost += GROUND * ((medial.centres[:, 1] - low[1]) / max(high[1] - low[1], 1e-9 * size)) ** 2
    # an end: nothing further out within reach
    span = 0.1 * size
    near = medial.ways < span + medial.radii[:, None]
    out = medial.ways[medial.radii.argmax()]  # from the deepest place
    further = np.where(near, out[None] - out[:, None], 0).max(axis=1)
    return cost + END * (further / span) ** 2


@dataclass(frozen=True, eq=False)
class Ways:
    """What the cost of ways needs of a mesh, whatever the template: for all pairs of its spheres."""

    straight: Array  # (N, N) lengths of straight lines, at least SHORTEST
    log: Array  # (N, N) logarithms of the ways' lengths
    detour: Array  # (N, N) their cost
    centres: Array  # (N, 3)
    size: float

    @classmethod
    def of(cls, medial: Medial, size: float) -> Ways:
        """Of a mesh of this size."""
        straight = np.maximum(linear.length(medial.centres[None] - medial.centres[:, None]), SHORTEST * size)
        way = np.maximum(np.where(np.isfinite(medial.ways), medial.ways, 10 * size), straight)
        return cls(straight, np.log(way), DETOUR * (way / straight - 1), medial.centres, size)

    def cost(self, wanted: Array, joint: int, child: int) -> Array:
        """(N, N) that of the way from a joint at u to its key child at v, where the template has them at `wanted`."""
        ideal = wanted[child] - wanted[joint]
        length = float(linear.length(ideal))
        along = self.centres @ linear.normalise(ideal)
        cosine = (along[None] - along[:, None]) / self.straight
        stretch = self.log - np.log(max(length, SHORTEST * self.size))
        weight = min(1.0, length / (0.2 * self.size))  # the direction of a short way says little
        return 0.5 * weight * DIRECTION * (1 - cosine) + LENGTH * stretch * stretch + self.detour
