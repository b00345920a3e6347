"""The dragon's joints, in metres.

All have the axes of the world at rest, except the lids: their +X is the axis through the corners of the eye, and a
positive turn about it closes an upper lid, on both sides. `Corner` joints carry the corners of the mouth softly; they
hang on the head, so whoever opens the jaw should turn them by half of its angle about the hinge.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon.measures import JOINTS, SIDED, eye_frame, metres
from understudy.character import Skeleton
from understudy.checks import Array
from understudy.maths import quaternion


def lid_axes(side: str) -> Array:
    """(3, 3) world_from_lid at rest; columns: the corner axis towards the character's left, up, gaze."""
    corner, up, gaze = eye_frame()
    if side == "R":
        flip = np.array([-1.0, 1.0, 1.0])
        corner, up, gaze = -corner * flip, up * flip, gaze * flip
    return np.stack([corner, up, gaze], axis=1)


def places() -> dict[str, tuple[str, Array]]:
    """Joint -> parent and world place (3,) in metres, parents first."""
    result: dict[str, tuple[str, Array]] = {}
    for name, (parent, place) in JOINTS.items():
        if name not in SIDED:
            result[name] = (parent, metres(place))
            continue
        for side, sign in (("L", 1.0), ("R", -1.0)):
            above = f"{parent}.{side}" if parent in SIDED else parent
            result[f"{name}.{side}"] = (above, metres(np.array(place) * [sign, 1.0, 1.0]))
    return result


def skeleton() -> Skeleton:
    """The joints with their rest."""
    joints = places()
    names = tuple(joints)
    parents = [names.index(parent) if parent else -1 for parent, _ in joints.values()]
    world = np.array([place for _, place in joints.values()])
    offsets = world - np.where(np.array(parents)[:, None] < 0, 0.0, world[parents])
    rotations = quaternion.identity((len(names),))
    for number, name in enumerate(names):
        if name.startswith("Lid"):
            rotations[number] = quaternion.from_matrix(lid_axes(name[-1]))
    return Skeleton(names, parents, offsets, rotations)
