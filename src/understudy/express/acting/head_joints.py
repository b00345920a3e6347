"""Head and eyes of a character as joints: every part of the head turns with it, and eyes aim where joints move them.

A head may be one joint of a skin, a mesh among others (eyes and teeth are its neighbours, not its children), or the
whole character. A turn is a rotation about a pivot in the world at rest, T(x) = p + R (x - p). A joint with the world
matrix W and the parent's P gets the local transform

    P^-1 T W

Joints below it follow. Parts of the head that hang elsewhere get the same T.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.character import Channel, Character
from understudy.character.body.bone_names import eye_joints, facing_axes, human_bones
from understudy.character.rig import DirectRig, rig_of
from understudy.checks import Array
from understudy.maths import quaternion

HEAD_NECK_SHARES = (0.6, 0.4)  # of a rotation, for head and neck
PIVOT_HEIGHT_RATIO = 0.25  # of the head's height above its lowest point: where the skull rests on the spine
MIN_HEAD_SIZE_RATIO = 0.3  # moved face to whole height: a character whose face is smaller has a body below it


class HeadJoints(NamedTuple):
    """What turns a head: joints, each with the pivots of its turns, and the axes of the face."""

    axes: Array  # (3, 3) columns left, up, forward
    worlds: Array  # (J, 4, 4) world_from_joint at rest
    turns: dict[int, list[tuple[float, Array]]]  # joint -> shares of the turn and their pivots (3,), outermost first
    eyes: tuple[tuple[int, Array], ...]  # left and right: joint and centre (3,); empty where shapes or nothing aim them


def find_head_joints(character: Character) -> HeadJoints:
    """The joints that turn the head and the eyes of a character."""
    rig = rig_of(character)
    assert isinstance(rig, DirectRig)
    worlds, axes = rig.joints(rig.rest[None])[0], facing_axes(rig)
    vertices = rig.vertices(rig.rest[None])[0].astype(np.float64)
    bones = human_bones(character)
    owners = _owners(character)
    head, neck = bones.get("Head"), bones.get("Neck")
    if head is None or not len(vertices):
        turns = _whole_head(character, rig, vertices, axes) if len(vertices) else {}
    else:
        if neck is not None and neck not in character.skeleton.ancestors(head):
            neck = None
        shares = HEAD_NECK_SHARES if neck is not None else (1.0, 0.0)
        below = _subtree(character, head)
        mask = below[owners]
        points = vertices[mask] if mask.any() else worlds[head, None, :3, 3]
        pivot = _pivot(worlds[head, :3, 3], points, axes)
        turns = {head: [(shares[0], pivot)]}
        if neck is not None:
            turns[neck] = [(shares[1], worlds[neck, :3, 3])]
        for joint in _loose_parts(character, vertices, points, below):
            inside_neck = neck is not None and bool(_subtree(character, neck)[joint])
            turns[joint] = [*([] if inside_neck or neck is None else turns[neck]), *turns[head]]
    return HeadJoints(axes, worlds, turns, _eyes(character, rig, vertices, owners, axes, worlds))


def joint_channels(found: HeadJoints, character: Character, head: Array, gaze: Array) -> list[tuple[Channel, Array]]:
    """Channels and values for a head (F, 3) and eyes (F, 2, 2): left and right, each to the left and up, radians.

    The head's angles are the turn to the left, the nod down and the roll to the left.
    """
    left, up, forward = found.axes.T
    transforms: dict[int, list[tuple[Array, Array]]] = {}
    if np.any(head):
        for joint, turns in found.turns.items():
            for share, pivot in turns:
                rotation = _compose(share * head, (up, left, -forward))
                transforms.setdefault(joint, []).append((rotation, pivot))
    for number, (joint, centre) in enumerate(found.eyes):
        if np.any(gaze[:, number]):
            rotation = _compose(gaze[:, number] * [1.0, -1.0], (up, left))
            transforms.setdefault(joint, []).append((rotation, centre))
    channels: list[tuple[Channel, Array]] = []
    skeleton = character.skeleton
    for joint, parts in transforms.items():
        world = found.worlds[joint]
        parent = int(skeleton.parents[joint])
        above = np.eye(4) if parent < 0 else found.worlds[parent]
        turn = quaternion.identity((len(head),))
        place = np.tile(world[:3, 3], (len(head), 1))
        for rotation, pivot in reversed(parts):  # the innermost acts first
            turn = quaternion.multiply(rotation, turn)
            place = pivot + quaternion.rotate(rotation, place - pivot)
        inverse = np.linalg.inv(above)
        frame = quaternion.from_matrix(_rotation_of(above))
        local = quaternion.multiply(quaternion.multiply(quaternion.conjugate(frame), turn), frame)
        name = skeleton.names[joint]
        channels.append((Channel(name, "rotation"), quaternion.multiply(local, skeleton.rotations[joint])))
        places = place @ inverse[:3, :3].T + inverse[:3, 3]
        size = max(float(np.abs(world[:3, 3] - above[:3, 3]).max()), 1e-6)
        if np.abs(place - world[:3, 3]).max() > 1e-6 * size:
            channels.append((Channel(name, "translation"), places))
    return channels


def _compose(angles: Array, axes: tuple[Array, ...]) -> Array:
    """(F, 4) rotations by angles (F, n) about the axes, the first outermost."""
    result = quaternion.identity((len(angles),))
    for angle, axis in zip(angles.T, axes):
        result = quaternion.multiply(result, quaternion.from_axis_angle(axis, angle))
    return result


def _rotation_of(matrix: Array) -> Array:
    rotation: Array = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
    return rotation


def _owners(character: Character) -> Array:
    """(V,) the joint that moves each vertex most."""
    owners = [np.zeros(0, np.int64)]
    for part in character.parts:
        strongest = part.skin.influences[np.arange(len(part.skin.weights)), np.argmax(part.skin.weights, axis=1)]
        owners.append(part.skin.joints[strongest])
    return np.concatenate(owners)


def _subtree(character: Character, joint: int) -> Array:
    """(J,) bool: the joint and what hangs on it."""
    below = np.zeros(len(character.skeleton), bool)
    for other, parent in enumerate(character.skeleton.parents.tolist()):
        below[other] = other == joint or (parent >= 0 and below[parent])
    return below


def _pivot(origin: Array, points: Array, axes: Array) -> Array:
    """The joint's own place where it is inside or just below the head; else the base of the skull."""
    local, there = points @ axes, origin @ axes
    low, high = local.min(axis=0), local.max(axis=0)
    size = high - low
    margin = 0.5 * size * [0.0, 1.0, 0.0]
    if np.all(there >= low - margin) and np.all(there <= high):
        return origin
    middle = (low + high) / 2
    middle[1] = low[1] + PIVOT_HEIGHT_RATIO * size[1]
    pivot: Array = axes @ middle
    return pivot


def _loose_parts(character: Character, vertices: Array, head: Array, below: Array) -> list[int]:
    """The topmost joints of rigid parts that lie inside the head and do not hang on it."""
    low, high = head.min(axis=0), head.max(axis=0)
    inside: dict[int, bool] = {}
    start = 0
    for part in character.parts:
        count = len(part.mesh.vertices)
        points = vertices[start : start + count]
        start += count
        if not count:
            continue
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        within = part.skin.is_rigid and bool(np.all(middle > low) and np.all(middle < high))
        for joint in np.unique(part.skin.joints).tolist():
            inside[joint] = inside.get(joint, True) and (within or bool(below[joint]))
    parents = character.skeleton.parents.tolist()
    count = len(parents)
    carries = [inside.get(joint, True) for joint in range(count)]  # only what belongs to the head hangs on it
    loaded = [joint in inside for joint in range(count)]
    for joint in range(count - 1, -1, -1):
        if parents[joint] >= 0:
            carries[parents[joint]] &= carries[joint] and not below[joint]
            loaded[parents[joint]] |= loaded[joint]
    tops = []
    for joint in range(count):
        if carries[joint] and loaded[joint] and not below[joint]:
            parent = parents[joint]
            if parent < 0 or not carries[parent]:
                tops.append(joint)
    return tops


def _whole_head(
    character: Character, rig: DirectRig, vertices: Array, axes: Array
) -> dict[int, list[tuple[float, Array]]]:
    """The roots of a character that is nothing but a head; none where a body hangs on it."""
    local = vertices @ axes
    moved = np.zeros(len(vertices), bool)
    start = 0
    for part in character.parts:
        count = len(part.mesh.vertices)
        if part.mesh.shapes is not None:
            moved[start : start + count] = np.abs(part.mesh.shapes.deltas).max(axis=(0, 2)) > 0
        start += count
    if not moved.any() or np.ptp(local[moved, 1]) < MIN_HEAD_SIZE_RATIO * np.ptp(local[:, 1]):
        return {}
    low, high = local.min(axis=0), local.max(axis=0)
    middle = (low + high) / 2
    middle[1] = low[1] + PIVOT_HEIGHT_RATIO * (high[1] - low[1])
    return {int(root): [(1.0, axes @ middle)] for root in character.skeleton.roots}


def _eyes(
    character: Character, rig: DirectRig, vertices: Array, owners: Array, axes: Array, worlds: Array
) -> tuple[tuple[int, Array], ...]:
    """Left and right eye joints with the centres of their meshes; none where shapes turn the eyeballs."""
    joints = eye_joints(character)
    if joints is None:
        return ()
    eyes = []
    aimed = _aimed_vertices(character)
    for joint in joints:
        mine = _subtree(character, joint)[owners]
        if not mine.any() or aimed[mine].any():
            return ()
        points = vertices[mine]
        low, high, origin = points.min(axis=0), points.max(axis=0), worlds[joint, :3, 3]
        centre = origin if np.all(origin >= low) and np.all(origin <= high) else (low + high) / 2
        eyes.append((joint, centre))
    # some files name the sides as an onlooker sees them
    eyes.sort(key=lambda eye: -float(eye[1] @ axes[:, 0]))
    return tuple(eyes)


def _aimed_vertices(character: Character) -> Array:
    """(V,) bool: the vertices that shapes for looking move."""
    from understudy.express.face_map import find_face_map

    targets = find_face_map(character).targets
    looks = {bind.shape for source, binds in targets.items() if source.startswith("eyeLook") for bind in binds}
    masks = [np.zeros(0, bool)]
    for part in character.parts:
        mask = np.zeros(len(part.mesh.vertices), bool)
        if part.mesh.shapes is not None:
            for p, s in enumerate(part.mesh.shapes.shape_of.tolist()):
                if part.mesh.shapes.names[s] in looks:
                    mask |= np.abs(part.mesh.shapes.deltas[p]).max(axis=1) > 0
        masks.append(mask)
    return np.concatenate(masks)
