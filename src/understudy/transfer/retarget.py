"""Plain retarget: a motion on another body with the same bones, without pose pairs.

Rest poses differ: a T-pose, an A-pose, legs apart. With the world rotation R of a bone, its rest rotation R0, and the
target's rest pose turned to face as the source's (T), each bone of the target turns as the bone of the source does,

    R' = (R R0^-1) A T R0'

where A is the shortest turn that lays the target's bone at rest along the source's. Then the directions of all limbs
are those of the source, whatever both rest poses were. Feet are only turned about the vertical, because soles are flat
in both rest poses while ankles differ in height. The trunk keeps its posture. Where the numbers of its joints differ,
rotations are interpolated along it.

The hips follow the source's path times the ratio of the leg lengths, so that steps stay in proportion; timing is kept,
so that gravity is scaled by the same ratio (`size_ratio`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Character, kinematics
from understudy.character.body.bone_names import FINGERS, SEGMENTS, read_bone_name
from understudy.character.body.poses import PoseSequence
from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform
from understudy.transfer.bone_map import SIDES, BoneMap, bone_map, line_to_root, sole_points

# The bone that a bone points at, for its direction at rest.
NEXT_BONE = {"UpperArm": "LowerArm", "LowerArm": "Hand", "UpperLeg": "LowerLeg", "LowerLeg": "Foot", "Foot": "Toes"}
MIN_LEVEL_SHARE = 0.3  # of a foot's direction that is level: a steeper foot hangs, and its heading says nothing
MAX_POSTURE_RAD = np.radians(25)  # a trunk that differs by less at rest is a posture, and stays
STILL_FINGER_RAD = np.radians(0.5)  # a finger that turns less in its hand, and is at rest there, was not captured
STANDING_LEG_RATIO = 0.04  # of the leg length: a sole nearer to the lowest that it comes to stands on the floor
LOW_FRAME_PERCENT = 10.0  # of the frames, whose lowest sole tells the height of the floor


def size_ratio(source: BoneMap, target: BoneMap) -> float:
    """Length of the target's legs over that of the source's: of steps, heights, and of gravity at the same timing."""
    if not (source.leg_length > 0 and target.leg_length > 0):
        raise InvalidInput("the size of a body comes from its legs, but one of the two has none: give --size RATIO")
    return target.leg_length / source.leg_length


def retarget(
    motion: PoseSequence, source: Character | BoneMap, target: Character | BoneMap, *, size: float | None = None
) -> PoseSequence:
    """The motion on the target's skeleton, feet on the floor at the height 0.

    Args:
        motion: F poses of the source's skeleton.
        source: The character that moves, or its bone map.
        target: The character that is to move, or its bone map.
        size: Ratio of the sizes; None: that of the leg lengths.

    Returns:
        F poses of the target's skeleton.

    Raises:
        InvalidInput: If one of the bodies lacks arms, legs or hips, or the motion is of another skeleton.

    Example:
        >>> from understudy.character.body.poses import poses_of
        >>> from understudy.transfer.retarget import retarget
        >>> actor = us.load("actor")
        >>> poses = poses_of(actor, "surprise", rate=12)
        >>> same = retarget(poses, actor.character(), actor.character())
        >>> bool(abs(same.world[..., :3, :3] - poses.world[..., :3, :3]).max() < 1e-6)
        True
    """
    source = source if isinstance(source, BoneMap) else bone_map(source).require()
    target = target if isinstance(target, BoneMap) else bone_map(target).require()
    if motion.skeleton.names != source.skeleton.names:
        raise InvalidInput("the motion should be of the source's skeleton, but it has other joints")
    ratio = size_ratio(source, target) if size is None else checks.positive(size, "size")
    turns = _target_turns(motion, source, target)
    places = _target_places(turns, target)
    thighs = _hip_centres(places, target)
    places += (ratio * _hip_centres(motion.world[..., :3, 3], source) - thighs)[:, None]
    world = _world_transforms(turns, places, target)
    world[:, :, 1, 3] -= _floor_height(motion.world, source, world, target)
    return _poses_from_world(world, target, motion.rate)


def _target_turns(motion: PoseSequence, source: BoneMap, target: BoneMap) -> Array:
    """(F, J, 4) the world rotation of each joint of the target from its rest pose."""
    frames, count = len(motion), len(target.skeleton)
    rest_turns = quaternion.from_matrix(transform.unscale(source.rest))
    moved = quaternion.from_matrix(transform.unscale(motion.world))
    deltas = quaternion.multiply(moved, quaternion.conjugate(rest_turns))  # (F, J, 4) of the source
    base = quaternion.from_matrix(source.axes @ target.axes.T)
    pairs = _bone_pairs(source, target, motion)
    turns = np.array(np.broadcast_to(quaternion.identity(), (frames, count, 4)))
    alignment = np.array(np.broadcast_to(base, (count, 4)))
    inside = np.zeros(count, bool)  # below the hips: joints outside keep their place
    for joint in depth_first(target.parents).tolist():
        parent = int(target.parents[joint])
        if parent >= 0 and inside[parent]:
            inside[joint] = True
            alignment[joint], turns[:, joint] = alignment[parent], turns[:, parent]
        if joint in pairs:
            inside[joint] = True
            pair = pairs[joint]
            if pair.swing is not None:
                alignment[joint] = quaternion.multiply(pair.swing, base)
            turned = deltas[:, pair.first]
            if pair.share > 0:
                turned = quaternion.slerp(turned, deltas[:, pair.second], pair.share)
            turns[:, joint] = quaternion.multiply(turned, alignment[joint])
    _share_forearm_twist(turns, target)
    return turns


@dataclass(frozen=True, eq=False)
class _BonePair:
    """The joints of the source between which a joint of the target turns, and the swing that aligns both at rest."""

    first: int
    second: int
    share: float = 0.0
    swing: Array | None = None  # (4,) None: as the parent's


def _bone_pairs(source: BoneMap, target: BoneMap, motion: PoseSequence) -> dict[int, _BonePair]:
    """For each joint of the target that follows the source: what it follows."""
    facing = source.axes @ target.axes.T
    pairs = {}
    none = quaternion.identity()
    for bone, joint in target.bones.items():
        if bone not in source.bones or bone.endswith("Eye") or bone in ("Jaw", "Spine", "Chest", "UpperChest", "Neck"):
            continue
        if bone.endswith(SEGMENTS) and _is_still(motion, source, bone):
            continue
        side = next((s for s in SIDES if bone.startswith(s)), "")
        ahead = _next_bone(bone, side)
        swing = none if bone in ("Hips", "Head") or bone.endswith("Shoulder") else None
        if ahead in source.bones and ahead in target.bones:
            old = facing @ _direction(target, bone, ahead)
            new = _direction(source, bone, ahead)
            if bone.endswith("Foot"):
                swing = _heading_swing(old, new, source.axes[:, 1])
            else:
                swing = quaternion.from_two_vectors(old, new)
        pairs[joint] = _BonePair(source.bones[bone], source.bones[bone], 0.0, swing)
    posture = _posture(source, target, facing)
    hips = source.bones["Hips"]
    for joints, others, start in (
        (target.spine, source.spine, hips),
        (target.neck, source.neck, source.spine[-1] if source.spine else hips),
    ):
        line = [start, *others]
        end = source.bones.get("Head") if joints is target.neck else None
        if not others and end is not None and joints:
            line = [start, end]  # a neck that the source lacks bends half-way to its head
            shares = np.linspace(0, 1, len(joints) + 2)[1:-1]
        else:
            shares = (np.arange(len(joints)) + 1) / max(len(joints), 1) * (len(line) - 1)
        for joint, place in zip(joints, shares):
            low = min(int(place), len(line) - 1)
            high = min(low + 1, len(line) - 1)
            swing = posture if joints is target.spine else none
            pairs[joint] = _BonePair(line[low], line[high], float(place - low), swing)
    return pairs


def _next_bone(bone: str, side: str) -> str:
    """The bone that a bone points at; empty where its direction does not count."""
    part = bone.removeprefix(side)
    if part in NEXT_BONE:
        return side + NEXT_BONE[part]
    for finger in set(FINGERS.values()):
        segment = part.removeprefix(finger)
        if segment != part and segment in SEGMENTS[:-1]:
            return side + finger + SEGMENTS[SEGMENTS.index(segment) + 1]
    return ""


def _is_still(motion: PoseSequence, source: BoneMap, bone: str) -> bool:
    """Whether a finger is as at rest in all frames: most captures have no fingers."""
    joint = source.bones[bone]
    rest = quaternion.angle_between(motion.rotations[:, joint], source.skeleton.rotations[joint])
    return bool(rest.max(initial=0.0) < STILL_FINGER_RAD)


def _direction(body: BoneMap, bone: str, ahead: str) -> Array:
    """(3,) unit, from one bone to another at rest."""
    way = body.places[body.bones[ahead]] - body.places[body.bones[bone]]
    return np.asarray(way / max(float(np.linalg.norm(way)), 1e-12))


def _heading_swing(old: Array, new: Array, up: Array) -> Array:
    """(4,) the turn about the vertical that gives a foot the other's heading; none where one of the two is steep."""
    level = [way - up * (way @ up) for way in (old, new)]
    lengths = [float(np.linalg.norm(way)) for way in level]
    if min(lengths) < MIN_LEVEL_SHARE:
        return (
            quaternion.identity()
            if max(lengths) < MIN_LEVEL_SHARE or lengths[1] > lengths[0]
            else quaternion.from_two_vectors(old, new)
        )
    return quaternion.from_two_vectors(level[0] / lengths[0], level[1] / lengths[1])


def _posture(source: BoneMap, target: BoneMap, facing: Array) -> Array:
    """(4,) the swing of the trunk at rest, where the two differ by more than a posture."""
    old, new = facing @ _trunk_direction(target), _trunk_direction(source)
    swing = quaternion.from_two_vectors(old, new)
    differs = float(np.arccos(np.clip(old @ new, -1.0, 1.0))) > MAX_POSTURE_RAD
    return swing if differs else quaternion.identity()


def _trunk_direction(body: BoneMap) -> Array:
    tops = [body.bones[b] for b in ("LeftUpperArm", "RightUpperArm") if b in body.bones]
    tops = tops or [body.bones[b] for b in ("Neck", "Head") if b in body.bones]
    low = np.mean([body.places[body.bones[s + "UpperLeg"]] for s in SIDES if s + "UpperLeg" in body.bones], axis=0)
    if not tops:
        return np.asarray(body.axes[:, 1])
    way = body.places[tops].mean(axis=0) - low
    return np.asarray(way / max(float(np.linalg.norm(way)), 1e-12))


def _share_forearm_twist(turns: Array, target: BoneMap) -> None:
    """Joints between elbow and hand take their share of the hand's twist about the forearm, in place."""
    for side in SIDES:
        if not {side + "LowerArm", side + "Hand"} <= set(target.bones):
            continue
        arm, hand = target.bones[side + "LowerArm"], target.bones[side + "Hand"]
        bone = target.places[hand] - target.places[arm]
        length = float(np.linalg.norm(bone))
        axis = bone / max(length, 1e-12)
        inner = quaternion.multiply(quaternion.conjugate(turns[:, arm]), turns[:, hand])
        angle = 2 * np.arctan2(inner[:, :3] @ axis, inner[:, 3])
        angle = (angle + np.pi) % (2 * np.pi) - np.pi
        line = target.skeleton.ancestors(hand)
        mapped = set(target.bones.values())
        for joint, name in enumerate(target.skeleton.names):
            above = target.skeleton.ancestors(joint)
            if arm not in above[1:] or mapped.intersection(above[: above.index(arm)]):
                continue
            if joint in line or read_bone_name(name).part == "Twist":
                share = float(
                    np.clip((target.places[joint] - target.places[arm]) @ axis / max(length, 1e-12), 0.0, 1.0)
                )
                twist = quaternion.from_axis_angle(np.broadcast_to(axis, (len(angle), 3)), share * angle)
                turns[:, joint] = quaternion.multiply(turns[:, arm], twist)


def _target_places(turns: Array, target: BoneMap) -> Array:
    """(F, J, 3) joints, where the hips are at the origin; each keeps its rest offset in the frame of its parent."""
    places = np.array(np.broadcast_to(target.places, (*turns.shape[:2], 3)))
    hips = target.bones["Hips"]
    places[:, hips] = 0.0
    inside = np.zeros(turns.shape[1], bool)
    inside[hips] = True
    for joint in depth_first(target.parents).tolist():
        parent = int(target.parents[joint])
        if parent >= 0 and inside[parent]:
            inside[joint] = True
            offset = target.places[joint] - target.places[parent]
            places[:, joint] = places[:, parent] + quaternion.rotate(turns[:, parent], offset)
    return places


def joints_of_body(target: BoneMap) -> Array:
    """(J,) whether a joint is part of the body: the hips, or carried by them."""
    inside = np.zeros(len(target.skeleton), bool)
    inside[target.bones["Hips"]] = True
    for joint in depth_first(target.parents).tolist():
        parent = int(target.parents[joint])
        inside[joint] |= parent >= 0 and inside[parent]
    return inside


def _world_transforms(turns: Array, places: Array, target: BoneMap) -> Array:
    """(F, J, 4, 4) world_from_joint; joints outside the body are at rest."""
    frames = len(turns)
    world = np.array(np.broadcast_to(PoseSequence.rest(target.skeleton).world, (frames, len(target.skeleton), 4, 4)))
    body = joints_of_body(target)
    linear, moved = world[..., :3, :3], world[..., :3, 3]  # views: a mask beside a number would reorder the axes
    linear[:, body] = quaternion.to_matrix(turns[:, body]) @ target.rest[body, :3, :3]
    moved[:, body] = places[:, body]
    return world


def _hip_centres(places: Array, body: BoneMap) -> Array:
    """(F, 3) the middle between the two hip joints."""
    joints = [body.bones[side + "UpperLeg"] for side in SIDES if side + "UpperLeg" in body.bones]
    return np.asarray(places[:, joints or [body.bones["Hips"]]].mean(axis=1))


def _poses_from_world(world: Array, target: BoneMap, rate: float) -> PoseSequence:
    """Poses of the file's own hierarchy; offsets that are those of the rest pose but for rounding are made the same."""
    skeleton = target.skeleton
    local = kinematics.local_transforms(skeleton.parents, world)
    translations, rotations, _ = transform.decompose(local)
    size = float(np.ptp(target.places, axis=0).max(initial=0.0))
    scale = np.linalg.norm(target.rest[:, :3, :3], axis=1).mean(axis=1)  # of a joint's frame to metres
    above = np.where(skeleton.parents >= 0, scale[np.maximum(skeleton.parents, 0)], 1.0)
    rounding = np.abs(translations - skeleton.translations).max(axis=(0, 2)) * above < 1e-5 * size
    translations[:, rounding] = skeleton.translations[rounding]
    return PoseSequence(skeleton, translations, quaternion.unroll(rotations), rate)


def sole_heights(body: BoneMap, world: Array) -> Array:
    """(F, 2) height of the lowest point of the left and of the right foot, for world_from_joint (F, J, 4, 4)."""
    heights = np.full((len(world), 2), np.inf)
    inverse = np.linalg.inv(body.rest)
    for joint, points in sole_points(body).items():
        local = transform.apply(inverse[joint], points)
        lows = (world[:, joint, 1, :3] @ local.T).min(axis=1) + world[:, joint, 1, 3]
        line = line_to_root(body.parents, joint)
        for k, side in enumerate(SIDES):
            if body.bones.get(side + "Foot") in line:
                heights[:, k] = np.minimum(heights[:, k], lows)
    return heights


def _floor_height(moved: Array, source: BoneMap, world: Array, target: BoneMap) -> float:
    """Height of the target's soles while the source stands; 0 where one of the two has no feet."""
    lows = sole_heights(source, moved).min(axis=1)
    soles = sole_heights(target, world).min(axis=1)
    if not (np.isfinite(lows).all() and np.isfinite(soles).all()):
        return 0.0
    floor = float(np.percentile(lows, LOW_FRAME_PERCENT))
    stands = np.abs(lows - floor) < STANDING_LEG_RATIO * source.leg_length
    return float(np.median(soles[stands])) if stands.any() else float(soles.min())
