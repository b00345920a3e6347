"""Poses of curves: copied, pasted as keys, mixed from the neighbouring keys, and mirrored.

A pose is mirrored in the world and not bone by bone, so that the axes of the bones do not matter. With R the joints at
rest and W posed, M = W R^-1 is the motion of a joint since the rest pose. Its mirror image, for the partner joint, is S
M S, with S the reflection at the plane between left and right. The character's heading H stays: it is removed first, M
= H (H^-1 M), and put back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.character import Channel, Channels, Curve, Curves, Skeleton, kinematics
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS, key_at
from understudy.character.rig import DirectRig, PosedRig
from understudy.character.rig.rig import ChannelLayout
from understudy.checks import Array
from understudy.edit.keys import insert_key, mark_posed, replace_curves
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion, transform

OPPOSITE_WORDS = {"Left": "Right", "left": "right", "LEFT": "RIGHT", "Right": "Left", "right": "left", "RIGHT": "LEFT"}
SIDE_WORD_PATTERN = re.compile("|".join(OPPOSITE_WORDS))
SIDE_LETTER_PATTERN = re.compile(r"(^|[._\- :])([LlRr])(?=$|[._\- :])|(?<=[a-z0-9])([LR])$|^([LRlr])(?=[A-Z])")
MOVED_JOINT_TOLERANCE = 1e-6  # metres, and matrix entries: a smaller motion counts as none
NUMBER_SUFFIX_PATTERN = re.compile(r"_\d+$")
OPPOSITE_LETTERS = {"L": "R", "R": "L", "l": "r", "r": "l"}


@dataclass(frozen=True, eq=False)
class CopiedPose:
    """The values of channels at one time."""

    values: dict[tuple[str, str], Array]  # (n,) by target and kind
    columns: dict[tuple[str, str], tuple[str, ...]]


def copy_pose(curves: Curves, time: float) -> CopiedPose:
    """The pose of curves at a time."""
    row, offsets = curves.sample([time])[0], curves.channels.offsets
    values, columns = {}, {}
    for i, channel in enumerate(curves.channels):
        values[channel.target, channel.kind] = row[offsets[i] : offsets[i + 1]]
        columns[channel.target, channel.kind] = channel.columns
    return CopiedPose(values, columns)


def paste_pose(curves: Curves, time: float, pose: CopiedPose, numbers: Sequence[int]) -> Curves:
    """The curves with the pose as keys at a time, on the channels that both have."""

    def value(curve: Curve) -> Array | None:
        name = curve.channel.target, curve.channel.kind
        return pose.values.get(name) if pose.columns.get(name) == curve.channel.columns else None

    keyed = _with_keys(curves, time, numbers, value)
    if keyed is None:
        raise InvalidInput("the copied pose has none of these channels; copy it from an animation of this character")
    return keyed


def tween_pose(curves: Curves, time: float, share: float, numbers: Sequence[int]) -> Curves:
    """Keys at a time, interpolated by `share` from the key before to the one after; it may lie outside 0 to 1."""

    def value(curve: Curve) -> Array | None:
        a = int(np.searchsorted(curve.times, time - KEY_TIME_TOLERANCE_SECONDS)) - 1
        b = int(np.searchsorted(curve.times, time + KEY_TIME_TOLERANCE_SECONDS, side="right"))
        if a < 0 or b >= len(curve):
            return None
        one, other = curve.values[a], curve.values[b]
        if curve.channel.kind == "rotation":
            return quaternion.slerp(one, other, np.float64(share))
        mixed: Array = one + share * (other - one)
        return mixed

    keyed = _with_keys(curves, time, numbers, value)
    if keyed is None:
        raise InvalidInput(f"there are no keys on both sides of {time:g} s to make a pose between")
    return keyed


def _with_keys(
    curves: Curves, time: float, numbers: Sequence[int], value: Callable[[Curve], Array | None]
) -> Curves | None:
    """The curves with keys at a time, where `value` gives one; None if it gives none at all."""
    found = {i: own for i in numbers if (own := value(curves.curves[i])) is not None}
    if not found:
        return None
    channels: list[Channel] = [curves.curves[i].channel for i in found]
    keyed = insert_key(curves, time, channels)
    which = np.isin(np.arange(len(curves)), list(found))
    by_channel = {curves.curves[i].channel: own for i, own in found.items()}

    def put(curve: Curve) -> Curve:
        k, new = key_at(curve, time), by_channel[curve.channel]
        assert k is not None  # it was inserted
        values, before, after = np.array(curve.values), np.array(curve.before), np.array(curve.after)
        if curve.channel.kind == "rotation":
            old = quaternion.normalise(values[k])
            new = new if new @ old >= 0 else -new
            turn = quaternion.multiply(new, quaternion.inverse(old))
            for handles in (before, after):  # they rotate with the key
                handles[k, :, 1] = quaternion.multiply(turn, handles[k, :, 1])
        values[k] = new
        return mark_posed(replace(curve, values=values, before=before, after=after), k)

    return replace_curves(keyed, which, put)


def opposite_name(name: str) -> str:
    """The name of the other side (`LeftHand`, `hand.L`, `leg_l`, `LThumb`); the same name if it has no side."""
    if SIDE_WORD_PATTERN.search(name):
        return SIDE_WORD_PATTERN.sub(lambda found: OPPOSITE_WORDS[found[0]], name)

    def swap(found: re.Match[str]) -> str:
        letter = found[2] or found[3] or found[4]
        return (found[1] or "") + OPPOSITE_LETTERS[letter]

    return SIDE_LETTER_PATTERN.sub(swap, name)


def opposite_joints(skeleton: Skeleton) -> Array:
    """(J,) the partner of each joint; the joint itself if it has none."""
    number = {name: i for i, name in enumerate(skeleton.names)}
    # exporters number joints: `b_LeftHand_011` and `b_RightHand_08` are a pair, if each bare name is unique
    bare = Counter(NUMBER_SUFFIX_PATTERN.sub("", name) for name in skeleton.names)
    unnumbered = {
        NUMBER_SUFFIX_PATTERN.sub("", name): i
        for name, i in number.items()
        if bare[NUMBER_SUFFIX_PATTERN.sub("", name)] == 1
    }
    found = [
        number.get(opposite_name(name), unnumbered.get(NUMBER_SUFFIX_PATTERN.sub("", opposite_name(name)), i))
        for name, i in number.items()
    ]
    return np.array([j if found[j] == i else i for i, j in enumerate(found)])


def has_pairs(rig: PosedRig) -> bool:
    """Whether poses of a character can be mirrored."""
    if not isinstance(rig, DirectRig):
        return False
    own = opposite_joints(rig.character.skeleton)
    return bool((own != np.arange(len(own))).any())


def mirror_pose(rig: PosedRig, pose: CopiedPose) -> CopiedPose:
    """The pose with left and right exchanged."""
    if not has_pairs(rig):
        raise InvalidInput("this character's joints have no left and right by name, so its poses cannot be mirrored")
    channels = Channels(Channel(target, kind, columns) for (target, kind), columns in pose.columns.items())
    row = ChannelLayout(rig, channels).rows(np.concatenate(list(pose.values.values()))[None])[0]
    skeleton = rig.character.skeleton
    places, turns = _mirror_locals(rig, row)
    values = dict(pose.values)
    for (target, kind), columns in pose.columns.items():
        own = pose.values[target, kind]
        if kind == "weights":
            by_name = dict(zip(columns, own))
            values[target, kind] = np.array([by_name.get(opposite_name(name), by_name[name]) for name in columns])
        if target not in skeleton.names:
            continue
        joint = skeleton.index(target)
        if kind == "rotation":
            values[target, kind] = turns[joint]
        elif kind == "euler":
            order = "".join(columns)
            values[target, kind] = euler.unroll_euler(np.stack([own, euler.to_euler(turns[joint], order)]), order)[1]
        elif kind == "translation" and np.abs(own - skeleton.translations[joint]).max() > MOVED_JOINT_TOLERANCE:
            values[target, kind] = places[joint]
    return CopiedPose(values, pose.columns)


def _mirror_locals(rig: PosedRig, row: Array) -> tuple[Array, Array]:
    """Translations (J, 3) and rotations (J, 4) of the joints in their parents, in the mirrored pose."""
    skeleton = rig.character.skeleton
    rest, posed = rig.joints(np.stack([rig.rest, row]))
    own = opposite_joints(skeleton)
    reflect = _reflection(rest[:, :3, 3], own)
    since = posed @ np.linalg.inv(rest)
    heading = _heading(since, posed, rest, own)
    world = heading @ reflect @ np.linalg.inv(heading) @ since[own] @ reflect @ rest
    local = kinematics.local_transforms(skeleton.parents, world)
    return local[:, :3, 3], quaternion.from_matrix(transform.polar(local)[0])


def _reflection(places: Array, own: Array) -> Array:
    """S (4, 4) at the plane between left and right, across x or z, where the pairs lie further apart."""
    paired = own != np.arange(len(own))
    apart = np.abs(places[own] - places)[paired].sum(axis=0)
    axis = np.eye(3)[0 if apart[0] >= apart[2] else 2]
    middle = ((places[own] + places) / 2)[paired].mean(axis=0)
    reflect = np.eye(4)
    reflect[:3, :3] -= 2 * np.outer(axis, axis)
    reflect[:3, 3] = 2 * (axis @ middle) * axis
    return reflect


def _heading(since: Array, posed: Array, rest: Array, own: Array) -> Array:
    """H (4, 4): the character's motion over the ground and about the vertical.

    It is that of the first unpaired joint that has moved.
    """
    between = own == np.arange(len(own))
    moved = np.flatnonzero(between & (np.abs(since - np.eye(4)).max(axis=(1, 2)) > MOVED_JOINT_TOLERANCE))
    root = int(moved[0]) if len(moved) else 0
    turn = since[root, :3, :3]
    yaw = np.arctan2(turn[0, 2] - turn[2, 0], turn[0, 0] + turn[2, 2])
    heading = np.eye(4)
    heading[:3, :3] = quaternion.to_matrix(np.array([0.0, np.sin(yaw / 2), 0.0, np.cos(yaw / 2)]))
    gone = posed[root, :3, 3] - heading[:3, :3] @ rest[root, :3, 3]
    heading[:3, 3] = gone * (1.0, 0.0, 1.0)
    return heading
