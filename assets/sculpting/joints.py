"""Joints from a table: places in the world, one side written down and the other mirrored, and limits alike.

A joint at rest has the axes of the world, so a turn about +X nods forwards, about +Y looks to the character's left and
about +Z raises its left side. Limits are the lowest and highest degrees about each of these axes, as components of
the rotation vector: for a turn about one axis that is the turn itself, in any order of Euler angles. An axis that a
joint's limits do not name does not turn at all, and a joint that has no limits turns freely.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.character import Skeleton, kinematics
from understudy.checks import Array
from understudy.maths import transform

Place = tuple[float, float, float]
Table = dict[str, tuple[str, Place]]  # joint -> its parent ("" for a root) and its place (3,) in metres, parents first
Limits = dict[str, dict[str, tuple[float, float]]]  # joint -> axis -> lowest and highest degrees
TWINS = (("Left", "Right"), ("LHip", "RHip"), ("LThumb", "RThumb"))  # how a name on the left and its twin begin


def twin(name: str) -> str:
    """The name on the right of a name on the left; any other stays."""
    for left, right in TWINS:
        if name.startswith(left):
            return right + name.removeprefix(left)
    return name


def both_sides(table: Mapping[str, tuple[str, Place]]) -> Table:
    """The table with the right side; each limb of the right comes after the same limb of the left."""
    result: Table = {}
    waiting: Table = {}
    for name, (parent, (x, y, z)) in table.items():
        if twin(name) == name or twin(parent) == parent:  # not deeper within the limb whose twin is waiting
            result |= waiting
            waiting = {}
        result[name] = (parent, (x, y, z))
        if twin(name) != name:
            waiting[twin(name)] = (twin(parent), (-x, y, z))
    return result | waiting


def limits_of_both(limits: Mapping[str, Mapping[str, tuple[float, float]]]) -> Limits:
    """The limits with those of the right: a mirror keeps the sense of x and turns round that of y and z."""
    result: Limits = {}
    for name, axes in limits.items():
        result[name] = dict(axes)
        if twin(name) != name:
            result[twin(name)] = {
                axis: (low, high) if axis == "x" else (-high, -low) for axis, (low, high) in axes.items()
            }
    return result


def skeleton_of(table: Mapping[str, tuple[str, Place]]) -> Skeleton:
    """The skeleton of a table."""
    names = tuple(table)
    parents = [names.index(parent) if parent else -1 for parent, _ in table.values()]
    places = np.array([place for _, place in table.values()])
    above = np.where(np.array(parents)[:, None] < 0, 0.0, places[parents])
    return Skeleton(names, parents, places - above)


def rest_transforms(skeleton: Skeleton) -> Array:
    """(J, 4, 4) world_from_joint at rest: one product for each level of the tree."""
    local = transform.compose(skeleton.translations, skeleton.rotations, skeleton.scales)
    world, parents = local.copy(), skeleton.parents
    for level in kinematics.levels(parents)[1:]:
        world[level] = world[parents[level]] @ local[level]
    return world
