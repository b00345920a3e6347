"""Poses with left and right exchanged, in the world and not bone by bone, so that any axes of the bones will do.

With R the joints at rest and W posed, M = W R^-1 is what has happened to a joint since. The mirror image of that, for
its partner, is S M S, with S the reflection at the plane between left and right. Where the character goes and faces
stays: its heading H is taken out first, M = H (H^-1 M), and put back.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from understudy.character import Channel, Channels, Skeleton, kinematics
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion
from understudy.rig import DirectRig, PosedRig
from understudy.rig.laying import Laying
from understudy.studio.edit.poses import Pose

OTHER = {"Left": "Right", "left": "right", "LEFT": "RIGHT", "Right": "Left", "right": "left", "RIGHT": "LEFT"}
LONG = re.compile("|".join(OTHER))
SHORT = re.compile(r"(^|[._\- :])([LlRr])(?=$|[._\- :])|(?<=[a-z0-9])([LR])$|^([LRlr])(?=[A-Z])")
STILL = 1e-6  # metres, and parts of one: a joint that has moved less has not moved
NUMBERED = re.compile(r"_\d+$")
SWAPPED = {"L": "R", "R": "L", "l": "r", "r": "l"}


def partner(name: str) -> str:
    """The name of the other side; the same where a name has none: `LeftHand`, `hand.L`, `leg_l`, `LThumb`."""
    if LONG.search(name):
        return LONG.sub(lambda found: OTHER[found[0]], name)

    def swap(found: re.Match[str]) -> str:
        letter = found[2] or found[3] or found[4]
        return (found[1] or "") + SWAPPED[letter]

    return SHORT.sub(swap, name)


def partners(skeleton: Skeleton) -> Array:
    """(J,) the partner of each joint, itself where it has none."""
    number = {name: i for i, name in enumerate(skeleton.names)}
    # exporters number joints: `b_LeftHand_011` and `b_RightHand_08` are a pair, if only one of each is called so
    bare = Counter(NUMBERED.sub("", name) for name in skeleton.names)
    unnumbered = {NUMBERED.sub("", name): i for name, i in number.items() if bare[NUMBERED.sub("", name)] == 1}
    found = [
        number.get(partner(name), unnumbered.get(NUMBERED.sub("", partner(name)), i)) for name, i in number.items()
    ]
    return np.array([j if found[j] == i else i for i, j in enumerate(found)])


def has_pairs(rig: PosedRig) -> bool:
    """Whether poses of a character can be mirrored."""
    if not isinstance(rig, DirectRig):
        return False
    own = partners(rig.character.skeleton)
    return bool((own != np.arange(len(own))).any())


def mirrored(rig: PosedRig, pose: Pose) -> Pose:
    """The pose with left and right exchanged."""
    if not has_pairs(rig):
        raise InvalidInput("this character's joints have no left and right by name, so its poses cannot be mirrored")
    channels = Channels(Channel(target, kind, columns) for (target, kind), columns in pose.columns.items())
    row = Laying(rig, channels).rows(np.concatenate(list(pose.values.values()))[None])[0]
    skeleton = rig.character.skeleton
    places, turns = _mirrored_locals(rig, row)
    values = dict(pose.values)
    for (target, kind), columns in pose.columns.items():
        own = pose.values[target, kind]
        if kind == "weights":
            by_name = dict(zip(columns, own))
            values[target, kind] = np.array([by_name.get(partner(name), by_name[name]) for name in columns])
        if target not in skeleton.names:
            continue
        joint = skeleton.index(target)
        if kind == "rotation":
            values[target, kind] = turns[joint]
        elif kind == "euler":
            order = "".join(columns)
            values[target, kind] = euler.unroll_euler(np.stack([own, euler.to_euler(turns[joint], order)]), order)[1]
        elif kind == "translation" and np.abs(own - skeleton.translations[joint]).max() > STILL:
            values[target, kind] = places[joint]
    return Pose(values, pose.columns)


def _mirrored_locals(rig: PosedRig, row: Array) -> tuple[Array, Array]:
    """Translations (J, 3) and rotations (J, 4) of the joints in their parents, in the mirrored pose."""
    skeleton = rig.character.skeleton
    rest, posed = rig.joints(np.stack([rig.rest, row]))
    own = partners(skeleton)
    reflect = _reflection(rest[:, :3, 3], own)
    since = posed @ np.linalg.inv(rest)
    heading = _heading(since, posed, rest, own)
    world = heading @ reflect @ np.linalg.inv(heading) @ since[own] @ reflect @ rest
    local = kinematics.local_transforms(skeleton.parents, world)
    u, _, vt = np.linalg.svd(local[:, :3, :3])
    return local[:, :3, 3], quaternion.from_matrix(u @ vt)


def _reflection(places: Array, own: Array) -> Array:
    """S (4, 4) at the plane between left and right, across x or z, whichever they lie further apart in."""
    paired = own != np.arange(len(own))
    apart = np.abs(places[own] - places)[paired].sum(axis=0)
    axis = np.eye(3)[0 if apart[0] >= apart[2] else 2]
    middle = ((places[own] + places) / 2)[paired].mean(axis=0)
    reflect = np.eye(4)
    reflect[:3, :3] -= 2 * np.outer(axis, axis)
    reflect[:3, 3] = 2 * (axis @ middle) * axis
    return reflect


def _heading(since: Array, posed: Array, rest: Array, own: Array) -> Array:
    """H (4, 4): how far the character has gone over the ground and turned about the vertical.

    That is told by the first joint between the sides that has moved at all.
    """
    between = own == np.arange(len(own))
    moved = np.flatnonzero(between & (np.abs(since - np.eye(4)).max(axis=(1, 2)) > STILL))
    root = int(moved[0]) if len(moved) else 0
    turn = since[root, :3, :3]
    yaw = np.arctan2(turn[0, 2] - turn[2, 0], turn[0, 0] + turn[2, 2])
    heading = np.eye(4)
    heading[:3, :3] = quaternion.to_matrix(np.array([0.0, np.sin(yaw / 2), 0.0, np.cos(yaw / 2)]))
    gone = posed[root, :3, 3] - heading[:3, :3] @ rest[root, :3, 3]
    heading[:3, 3] = gone * (1.0, 0.0, 1.0)
    return heading
