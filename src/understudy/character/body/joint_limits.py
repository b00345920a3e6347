"""Joint limits: which joints of a body may turn or move, how far, and the list of its degrees of freedom.

A turn is the rotation vector v of R = base exp([v]). Where a joint has limits, base is its rest rotation and each
component of v lies between two angles; an axis that the limits leave out does not turn. A joint without limits turns
freely, and its base is the pose that a search starts from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Skeleton
from understudy.character.body.markers import Markers
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import vector

Limits = Mapping[str, Mapping[str, tuple[float, float]]]  # joint -> axis -> lowest and highest degrees
MIN_TURN_QUATERNION_DISTANCE = 1e-7  # 1 - |q.q'|: a turn of 0.05 degrees
MIN_MOVE_M = 1e-6
TRANSLATION, ROTATION = 0, 1  # kinds of degrees of freedom


@dataclass(frozen=True, eq=False)
class FreeJoints:
    """The joints that may change in a pose."""

    turning: Array  # (J,) bool
    moving: Array  # (J,) bool


@dataclass(frozen=True, eq=False)
class DegreesOfFreedom:
    """The D degrees of freedom, parents first; those above one another form chains.

    `chain[d, t]` is the freedom at depth t of the chain that ends in d, `depth[d]` = t for d itself: a freedom moves
    all below it, and nothing else.
    """

    joint: Array  # (D,)
    kind: Array  # (D,) TRANSLATION or ROTATION
    axis: Array  # (D,) 0, 1, 2
    depth: Array  # (D,)
    chain: Array  # (D, deepest + 1)
    low: Array  # (D,) radians; -inf where there is none
    high: Array  # (D,)
    limited: Array  # (J,) bool


def find_free_joints(poses: PoseSequence, more: FreeJoints | None = None) -> FreeJoints:
    """The joints that leave their rest in the given poses: those that an animator of this body works with."""
    rest = poses.skeleton
    turned = 1 - np.abs(vector.dot(poses.rotations, rest.rotations)).min(axis=0) > MIN_TURN_QUATERNION_DISTANCE
    moved = np.abs(poses.translations - rest.translations).max(axis=(0, 2)) > MIN_MOVE_M
    if more is not None:
        turned, moved = turned | more.turning, moved | more.moving
    return FreeJoints(checks.freeze(turned), checks.freeze(moved))


def free_joints_below(markers: Markers, skeleton: Skeleton) -> FreeJoints:
    """The root of the markers moves; it turns, and every joint below it that carries markers or has some below."""
    carries = np.zeros(len(skeleton), bool)
    carries[markers.joints] = True
    below = np.zeros(len(skeleton), bool)
    for j in range(len(skeleton) - 1, -1, -1):
        if carries[j] and skeleton.parents[j] >= 0:
            carries[skeleton.parents[j]] = True
    for j, parent in enumerate(skeleton.parents):
        below[j] = j == markers.root or (parent >= 0 and bool(below[parent]))
    moving = np.zeros(len(skeleton), bool)
    moving[markers.root] = True
    return FreeJoints(checks.freeze(carries & below), checks.freeze(moving))


def degrees_of_freedom(skeleton: Skeleton, freedom: FreeJoints, limits: Limits | None) -> DegreesOfFreedom:
    """The degrees of freedom within limits."""
    low, high, limited = limit_boxes(skeleton, limits)
    rows: list[tuple[int, int, int]] = []
    chains: list[list[int]] = []
    last: list[list[int]] = []  # by joint, the chain of the freedoms down to it
    for j, parent in enumerate(skeleton.parents):
        chain = list(last[parent]) if parent >= 0 else []
        for kind, free in ((TRANSLATION, freedom.moving[j]), (ROTATION, freedom.turning[j])):
            for axis in range(3):
                if free and (kind == TRANSLATION or high[j, axis] > low[j, axis]):
                    chain.append(len(rows))
                    rows.append((j, kind, axis))
                    chains.append(list(chain))
        last.append(chain)
    table = np.array(rows, np.int64).reshape(-1, 3)
    depth = np.array([len(chain) - 1 for chain in chains], np.int64)
    wide = np.full((len(rows), int(depth.max(initial=0)) + 1), -1, np.int64)
    for d, chain in enumerate(chains):
        wide[d, : len(chain)] = chain
    turns = table[:, 1] == ROTATION
    lows = np.where(turns, low[table[:, 0], table[:, 2]], -np.inf)
    highs = np.where(turns, high[table[:, 0], table[:, 2]], np.inf)
    return DegreesOfFreedom(
        table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy(), depth, wide, lows, highs, limited
    )


def limit_boxes(skeleton: Skeleton, limits: Limits | None) -> tuple[Array, Array, Array]:
    """Lowest and highest radians (J, 3), and which joints (J,) have limits; those of unknown joints are left out."""
    limits = {} if limits is None else {name: axes for name, axes in limits.items() if name in skeleton}
    low, high = np.full((len(skeleton), 3), -np.inf), np.full((len(skeleton), 3), np.inf)
    limited = np.zeros(len(skeleton), bool)
    for name, axes in limits.items():
        j = skeleton.index(name)
        limited[j], low[j], high[j] = True, 0.0, 0.0
        for axis, (lowest, highest) in axes.items():
            checks.one_of(axis, f"axis of the limits of {name!r}", "xyz")
            if not lowest <= highest:
                raise InvalidInput(f"the limits of {name}.{axis} should be low, then high, but are {lowest}, {highest}")
            low[j, "xyz".index(axis)], high[j, "xyz".index(axis)] = np.radians(lowest), np.radians(highest)
    return low, high, limited
