"""BVH (Biovision hierarchy): motion capture as a skeleton and Euler angles.

At rest every joint's axes are those of the world, and a joint's rotation is the product of its rotation channels in
the order in which the file lists them: Zrotation Yrotation Xrotation means R = Rz Ry Rx. The file names no unit and no
up axis, and prints the frame time with few digits: all three are guessed (`guesses`) and noted. End Sites and channel
orders are kept in `Skeleton.extra["bvh"]`, where the writer finds them again.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from understudy import checks, files
from understudy.character import Asset, Channel, Channels, Character, Clip, Skeleton, kinematics
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.formats import guesses
from understudy.formats.bvh_parser import BvhJoint, BvhText, parse
from understudy.formats.bvh_writer import CENTIMETRES, write
from understudy.formats.distinct import distinct
from understudy.maths import euler, quaternion

__all__ = ["parse", "read", "write"]

Y_FROM_Z_UP = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # a quarter turn about X: z becomes y, -y becomes z
NO_FRAME_TIME = 30.0  # frames a second, where the file says 0
INSERTED_POSE = np.radians(15)  # a joint turns less than that in a frame, even in the fastest motion at 60 fps


def read(path: str | Path, scale: float | None = None) -> Asset:
    """The skeleton and the motion of a BVH file; `scale` is metres per unit where the guess is wrong."""
    path = Path(path)
    if scale is not None:
        checks.positive(scale, "scale")
    return to_asset(parse(files.read_text(path), path), path.stem, scale)


def to_asset(text: BvhText, name: str, scale: float | None = None) -> Asset:
    """The parsed text in metres, Y up, rotations as quaternions."""
    notes = list(text.notes)
    names = distinct((joint.name for joint in text.joints), "joint", notes)
    parents = np.array([joint.parent for joint in text.joints])
    offsets = np.array([joint.offset for joint in text.joints])
    rotations = _rotations(text)  # (F, J, 4)
    positions = _positions(text, offsets, notes)  # (F, J, 3)
    if any(kind == "scale" for joint in text.joints for _, kind in joint.channels):
        notes.append("scale channels were left out")

    metres = _scale(text, parents, offsets, scale, notes)
    roots = np.flatnonzero(parents < 0)
    rest_rotations = quaternion.identity((len(names),))
    if _stands_along_z(names, parents, offsets, positions, rotations):
        notes.append("the body stands along Z: it was turned to Y up")
        rest_rotations[roots] = Y_FROM_Z_UP
        offsets[roots] = quaternion.rotate(Y_FROM_Z_UP, offsets[roots])
        positions[:, roots] = quaternion.rotate(Y_FROM_Z_UP, positions[:, roots])
        rotations[:, roots] = quaternion.multiply(Y_FROM_Z_UP, rotations[:, roots])

    extra = {"bvh": _kept(text.joints, names, metres)}
    skeleton = Skeleton(names, parents, offsets * metres, rest_rotations, extra=extra)
    clips = [_clip(text, name, names, positions * metres, rotations, notes)] if text.values.size else []
    return Asset([Character(name, skeleton)], clips, notes=notes)


def _columns(text: BvhText, kind: str) -> dict[int, list[tuple[str, int]]]:
    """For each joint that has channels of a kind, their axes and columns, in the file's order."""
    result: dict[int, list[tuple[str, int]]] = defaultdict(list)
    column = 0
    for number, joint in enumerate(text.joints):
        for axis, found in joint.channels:
            if found == kind:
                result[number].append((axis, column))
            column += 1
    return result


def _rotations(text: BvhText) -> Array:
    """(F, J, 4), one batch for each order that occurs."""
    result = quaternion.identity((len(text.values), len(text.joints)))
    radians = np.radians(text.values)
    by_order: dict[str, list[tuple[int, list[int]]]] = defaultdict(list)
    for joint, pairs in _columns(text, "rotation").items():
        by_order["".join(axis for axis, _ in pairs)].append((joint, [column for _, column in pairs]))
    for order, members in by_order.items():
        joints = [joint for joint, _ in members]
        angles = radians[:, np.array([columns for _, columns in members])]  # (F, n, len(order))
        if order in euler.ORDERS:
            result[:, joints] = euler.from_euler(angles, order)
            continue
        turned = quaternion.identity(angles.shape[:2])
        for i, unit in enumerate(np.eye(3)[["XYZ".index(axis) for axis in order]]):
            turned = quaternion.multiply(turned, quaternion.from_rotation_vector(angles[..., i, None] * unit))
        result[:, joints] = turned
    return result


def _positions(text: BvhText, offsets: Array, notes: list[str]) -> Array:
    """(F, J, 3) parent_from_joint translations in the file's unit.

    Position channels replace the OFFSET. A few writers (MakeHuman) mean them to be added to it: that is assumed where
    the positions of the joints below the roots lie nearer to zero than to their offsets.
    """
    result = np.tile(offsets, (len(text.values), 1, 1))
    moved = _columns(text, "position")
    for joint, pairs in moved.items():
        for axis, column in pairs:
            result[:, joint, "XYZ".index(axis)] = text.values[:, column]
    below = [joint for joint in moved if text.joints[joint].parent >= 0]
    if not below or not len(result):
        return result
    from_zero = np.linalg.norm(result[:, below], axis=-1).sum()
    from_offset = np.linalg.norm(result[:, below] - offsets[below], axis=-1).sum()
    if from_zero < 0.5 * from_offset:
        notes.append("the position channels of joints are small and were added to their offsets")
        for joint, pairs in moved.items():
            axes = ["XYZ".index(axis) for axis, _ in pairs]
            result[:, joint, axes] += offsets[joint, axes]
    return result


def _scale(text: BvhText, parents: Array, offsets: Array, scale: float | None, notes: list[str]) -> float:
    if scale is not None:
        return scale
    if text.tail == CENTIMETRES:
        return 0.01
    ends = {i: np.array(joint.end) for i, joint in enumerate(text.joints) if joint.end is not None}
    height = guesses.body_height(parents, offsets, ends)
    unit = guesses.unit_of_length(height)
    size = f"about {height:.3g} units, {height * unit.metres:.2f} m tall"
    notes.append(f"lengths were taken to be {unit.name}, from the size of the skeleton ({size})")
    return unit.metres


def _stands_along_z(names: tuple[str, ...], parents: Array, offsets: Array, positions: Array, rotations: Array) -> bool:
    rest = _where(parents, offsets[None], quaternion.identity((1, len(parents))))
    if not len(positions):
        return guesses.is_z_up(names, rest[0], rest)
    some = np.unique(np.linspace(0, len(positions) - 1, 16).astype(int))
    return guesses.is_z_up(names, rest[0], _where(parents, positions[some], rotations[some]))


def _where(parents: Array, translations: Array, rotations: Array) -> Array:
    """(F, J, 3) positions in the world of a few frames: loading compiled kinematics would take longer."""
    return kinematics.world_transforms_numpy(parents, translations, rotations)[..., :3, 3]


def _kept(
    joints: tuple[BvhJoint, ...], names: tuple[str, ...], metres: float
) -> dict[str, dict[str, tuple[object, ...]]]:
    """What only BVH knows: the End Sites (metres, in the joint's axes) and the channels of each joint."""
    return {
        "ends": {n: tuple(metres * x for x in j.end) for n, j in zip(names, joints) if j.end is not None},
        "channels": {n: tuple(f"{axis}{kind}" for axis, kind in j.channels) for n, j in zip(names, joints)},
    }


def _clip(
    text: BvhText, name: str, names: tuple[str, ...], positions: Array, rotations: Array, notes: list[str]
) -> Clip:
    moved, turned = _columns(text, "position"), _columns(text, "rotation")
    channels = Channels(
        Channel(target, kind)
        for joint, target in enumerate(names)
        for kind, animated in (("translation", moved), ("rotation", turned))
        if joint in animated
    )
    if not channels:
        raise InvalidInput("there are motion values, but neither positions nor rotations")
    values = np.empty((len(text.values), channels.width))
    values[:, channels.columns_of("translation")] = positions[:, sorted(moved)].reshape(len(values), -1)
    values[:, channels.columns_of("rotation")] = rotations[:, sorted(turned)].reshape(len(values), -1)
    if float(text.frame_time) > 0:
        rate = guesses.frame_rate(text.frame_time)
    else:
        rate = NO_FRAME_TIME
        notes.append(f"the frame time is 0: {rate:g} frames a second were assumed")
    _note_inserted_pose(rotations, notes)
    return Clip(name, channels, values, rate)


def _note_inserted_pose(rotations: Array, notes: list[str]) -> None:
    """CMU files, and others made from them, begin with a T-pose that is no part of the motion."""
    if len(rotations) < 3:
        return
    jump = quaternion.angle_between(rotations[0], rotations[1]).max()
    after = quaternion.angle_between(rotations[1], rotations[2]).max()
    if jump > max(INSERTED_POSE, 5 * after):
        far = f"frame 0 is {np.degrees(jump):.0f} degrees away from frame 1"
        notes.append(f"{far}: an inserted T-pose, as in CMU files; it was kept")
