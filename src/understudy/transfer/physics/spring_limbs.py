"""Limbs that the source lacks (a tail, ears): chains of springs that follow the body, and that can be keyed.

A joint that is posed can be on a spring too (a lamp's shade): its pose is then the goal that it trails and settles at.

Goals. Every joint of a chain has a goal, its rotation in the pose. The animator may pose a tail in some pairs; between
them each joint turns to the weighted mean of the pairs' rotations,

    w_i = |y - y_i|^-3

[Shepard 1968]: exactly as posed at a pair, and continuous between. Keys replace the goals: they are rotations of the
limb's joints in any animation; a control `loose` of the limb's first joint (0 to 1) sets how far the springs act: at 0
the limb is exactly as keyed.

Springs. The bone's tip x is drawn to where the goal g would have it, within the moving frame of the bone before,

    x'' = w^2 (g - x) + 2 zeta w (g' - x') + sag * gravity,      |x - joint| = length of the bone

so that the limb trails when the body starts, swings on when it stops, and rests at its goal. Steady motion does not
bend it. The bone swings about its joint; its twist is the goal's. However hard it is shaken, the limb bends by no more
than `most`.

Floor. From the body to the tip, a bone whose tip would be below the floor is turned up about its joint until the tip
lies on it. It keeps its direction over the floor; the more it is lifted, the more it turns to the limb's direction at
rest, so that a lowered tail extends behind the body and does not flip.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from understudy import cast, checks
from understudy.character import Character, Clip, Curves, Skeleton, kinematics
from understudy.character.body.limbs import links_of, mirror_names
from understudy.character.body.poses import PoseSequence, sample_poses, squared_pose_distances
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit, quaternion
from understudy.transfer.pairs import PosePairs

LYING_HEIGHT_LENGTH_RATIO = 0.03  # height of the middle of a limb that lies on the floor, over its length
SIDEWAYS_SHARE = 0.5  # of the lift: how far a lifted bone moves towards the direction at rest
KERNELS = "understudy.transfer.physics.physics_kernels"
MIN_STEPS_PER_S = 240  # w h < 0.3 up to 10 Hz, where this integration is stable (2) and near the true period
MAX_SWING_RAD = np.radians(75.0)  # of one bone from its goal while springs are stepped: keeps them stable
SPRING_LIMB_PATTERN = r"tail|(^|[^a-z]|left|right)ears?(?![a-z])|antenna|feeler|plume|hair|mane|whisker"
MAX_LIMB_LENGTH_RATIO = 0.25  # of the length of all bones: a snake's tail is 0.29 of it
GRAVITY_VECTOR_M_S2 = np.array([0.0, -9.81, 0.0])
KEY_POSE_TOLERANCE_M2 = 1e-12  # squared distance: a nearer pose is the key pose itself


@dataclass(frozen=True)
class SpringLimb:
    """A chain of joints, from the body to the tip, each the parent of the next."""

    joints: tuple[str, ...]
    frequency: float = 4.0  # hertz, at the base
    damping: float = 0.8  # zeta: 0 swings for ever, 1 returns without overshoot
    sag: float = 0.0  # share of gravity that bends it beyond how it was posed
    taper: float = 1.3  # frequency at the tip over that at the base: below 1 the end lashes like a whip
    most: float = 100.0  # degrees that it bends from its goal, all joints together; with more it curls up

    def __post_init__(self) -> None:
        checks.positive(self.frequency, "frequency of a limb")
        checks.positive(self.taper, "taper of a limb")
        checks.positive(self.most, "most of a limb")
        if not self.joints:
            raise InvalidInput("a limb should have at least one joint, but has none")
        if not self.damping >= 0:
            raise InvalidInput(f"damping of a limb should not be negative, but is {self.damping}")


def limbs_by_name(body: Character | Skeleton) -> tuple[SpringLimb, ...]:
    """The tails, ears and the like of a body, by the names of their joints.

    In a body without left and right, a long chain is the body itself: a snake's tail is no limb.
    """
    skeleton = body if isinstance(body, Skeleton) else body.skeleton
    named = [bool(re.search(SPRING_LIMB_PATTERN, name.rpartition(":")[2].lower())) for name in skeleton.names]
    first = [j for j, is_limb in enumerate(named) if is_limb and not _has_named_ancestor(skeleton, j, named)]
    lengths = _lengths(body)
    names = {name.lower() for name in skeleton.names}
    sided = any(other in names for name in names for other in mirror_names(name))
    limbs = []
    for j in first:
        limb = limbs_from_joints(skeleton, (skeleton.names[j],))[0]
        length = lengths[[skeleton.index(joint) for joint in limb.joints]].sum()
        if sided or length < MAX_LIMB_LENGTH_RATIO * lengths.sum():
            limbs.append(limb)
    return tuple(limbs)


def drag_limbs(character: Character) -> tuple[SpringLimb, ...]:
    """Joints of a member of the cast that are posed, and trail behind their poses and settle: the lamp's shade."""
    joints = cast.DRAGGING_JOINTS.get(cast.member_of_cast(character), ())
    return tuple(SpringLimb((joint,), frequency=5.0, damping=0.4, most=30.0) for joint in joints)


def limbs_from_joints(skeleton: Skeleton, joints: Sequence[str]) -> tuple[SpringLimb, ...]:
    """The limbs that begin with given joints, each down to its tip or to where it forks; `_end` joints are no part."""
    limbs = []
    for name in joints:
        last = skeleton.index(name)
        chain = [name]
        while len(below := np.flatnonzero(skeleton.parents == last)) == 1:
            last = int(below[0])
            chain.append(skeleton.names[last])
        if len(chain) > 1 and chain[-1].lower().endswith("_end"):
            chain.pop()
        tail = "tail" in name.lower()  # other limbs, as ears, are stiffer
        limbs.append(SpringLimb(tuple(chain), frequency=4.0 if tail else 7.0, most=100.0 if tail else 40.0))
    return tuple(limbs)


def _has_named_ancestor(skeleton: Skeleton, joint: int, named: list[bool]) -> bool:
    return any(named[j] for j in skeleton.ancestors(joint)[1:])


def _lengths(body: Character | Skeleton) -> Array:
    """(J,) lengths of the bones of the links, metres; 0 for joints without a link."""
    links = links_of(body)
    lengths = np.zeros(len(links.skeleton))
    lengths[links.joints] = np.linalg.norm(links.bones, axis=1)
    return lengths


def start_poses(pairs: PosePairs, local: Array, limbs: Sequence[SpringLimb], rate: float) -> PoseSequence:
    """(F) poses to start a search from: that of the pair in the middle, with limbs as in the nearby pairs."""
    skeleton = pairs.poses.skeleton
    flat = pairs.target.reshape(len(pairs), -1)
    middle = int(((flat - flat.mean(axis=0)) ** 2).sum(axis=1).argmin())
    frames = len(local)
    translations = np.repeat(pairs.poses.translations[middle][None], frames, axis=0)
    rotations = np.repeat(pairs.poses.rotations[middle][None], frames, axis=0)
    joints = [skeleton.index(joint) for limb in limbs for joint in limb.joints]
    if joints:
        turns = pairs.poses.rotations[:, joints]  # (N, n, 4)
        turns = turns * np.where(np.einsum("njk,jk->nj", turns, turns[middle]) < 0, -1.0, 1.0)[..., None]
        held = np.einsum("fn,njk->fjk", pair_nearness(pairs, local), turns)
        rotations[:, joints] = quaternion.normalise(held)
    return PoseSequence(skeleton, translations, rotations, rate)


def pair_nearness(pairs: PosePairs, local: Array) -> Array:
    """(F, N) weights of the pairs for source points (F, P, 3), each row summing to 1."""
    squares = squared_pose_distances(np.asarray(local).reshape(len(local), -1), pairs.source.reshape(len(pairs), -1))
    nearest = np.maximum(squares.min(axis=1, keepdims=True), KEY_POSE_TOLERANCE_M2)
    weights = (nearest / np.maximum(squares, KEY_POSE_TOLERANCE_M2)) ** 1.5
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def apply_limb_keys(
    poses: PoseSequence, limbs: Sequence[SpringLimb], character: Character, animation: Clip | Curves
) -> PoseSequence:
    """The poses with the limbs' joints as in an animation, which is held beyond its end."""
    times = animation.start + np.arange(len(poses)) / poses.rate
    times = np.minimum(times, animation.start + animation.duration)
    keys = sample_poses(character, animation, times, poses.rate)
    targets = {channel.target for channel in animation.channels}
    rotations = np.array(poses.rotations)
    for limb in limbs:
        for joint in limb.joints:
            if joint in targets:
                rotations[:, poses.skeleton.index(joint)] = keys.rotations[:, poses.skeleton.index(joint)]
    return PoseSequence(poses.skeleton, poses.translations, rotations, poses.rate)


def looseness(limb: SpringLimb, animation: Clip | Curves | None, frames: int, rate: float) -> Array:
    """(F,) how far the springs of a limb act: the control `loose` of its first joint, 1 where there is none."""
    if animation is None:
        return np.ones(frames)
    clip = animation.clip() if isinstance(animation, Curves) else animation
    numbers = [i for i, c in enumerate(clip.channels) if c.target == limb.joints[0] and "loose" in c.columns]
    if not numbers:
        return np.ones(frames)
    column = int(clip.channels.offsets[numbers[0]]) + clip.channels[numbers[0]].columns.index("loose")
    return np.asarray(np.clip(clip.sample(clip.start + np.arange(frames) / rate)[:, column], 0.0, 1.0))


def swing(poses: PoseSequence, limbs: Sequence[SpringLimb], loose: Sequence[Array] | None = None) -> PoseSequence:
    """The poses with all limbs swung about their goals, which are the rotations that `poses` has."""
    rotations = np.array(poses.rotations)
    for number, limb in enumerate(limbs):
        chain = _chain(poses.skeleton, limb)
        amount = np.ones(len(poses)) if loose is None else np.asarray(loose[number], np.float64)
        rotations[:, chain] = _swing_chain(
            PoseSequence(poses.skeleton, poses.translations, rotations, poses.rate), limb, chain, amount
        )
    return PoseSequence(poses.skeleton, poses.translations, quaternion.unroll(rotations), poses.rate)


def _chain(skeleton: Skeleton, limb: SpringLimb) -> list[int]:
    chain = [skeleton.index(joint) for joint in limb.joints]
    for above, below in pairwise(chain):
        if skeleton.parents[below] != above:
            raise InvalidInput(
                f"the joints of a limb should follow each other, but {skeleton.names[above]!r} is not the parent of "
                f"{skeleton.names[below]!r}"
            )
    return chain


def _swing_chain(poses: PoseSequence, limb: SpringLimb, chain: list[int], loose: Array) -> Array:
    """(F, n, 4) local rotations of the chain's joints."""
    skeleton = poses.skeleton
    base = int(skeleton.parents[chain[0]])
    world = poses.world[:, base] if base >= 0 else np.broadcast_to(np.eye(4), (len(poses), 4, 4))
    scale = np.linalg.norm(world[:, :3, 0], axis=1)
    turns = quaternion.from_matrix(world[:, :3, :3] / np.maximum(scale[:, None, None], 1e-12))
    starts = np.einsum("fij,fj->fi", world[:, :3, :3], poses.translations[:, chain[0]]) + world[:, :3, 3]
    bones, sizes = _bones(skeleton, chain), _sizes(skeleton, chain)
    offsets = np.zeros((len(chain), 3))
    offsets[1:] = skeleton.translations[chain[1:]] * sizes[:-1, None]
    steps = max(1, int(np.ceil(MIN_STEPS_PER_S / poses.rate)))
    rates = 2 * np.pi * limb.frequency * np.linspace(1.0, limb.taper, len(chain))
    goals = np.ascontiguousarray(poses.rotations[:, chain])
    inputs = (turns, np.ascontiguousarray(starts), goals, bones * sizes[:, None], offsets)
    settings = (
        1 / poses.rate / steps,
        steps,
        limb.damping,
        limb.sag * GRAVITY_VECTOR_M_S2,
        float(np.cos(MAX_SWING_RAD)),
    )
    simulated = np.empty_like(goals)
    jit.kernels(KERNELS).swing(*inputs, rates, *settings, simulated)
    swung = quaternion.slerp(goals, simulated, loose[:, None] * _swing_shares(goals, simulated, limb.most))
    lowest = float(_rest(skeleton)[chain, 1, 3].min())
    lying = lift_over_floor(turns, starts, swung, bones * sizes[:, None], offsets, skeleton.rotations[chain], lowest)
    return quaternion.slerp(swung, lying, loose[:, None])


def _swing_shares(goals: Array, swung: Array, most: float) -> Array:
    """(F, n) the share of each joint's swing a that is kept: m tanh(a / m), m the joint's part of `most` degrees.

    Small swings stay as they are, and however hard it is shaken the limb bends in an even arc.
    """
    angles = 2 * np.arccos(np.minimum(np.abs((goals * swung).sum(axis=-1)), 1.0))
    part = np.radians(most) / goals.shape[1]
    return np.asarray(part * np.tanh(angles / part) / np.maximum(angles, 1e-9))


def _bones(skeleton: Skeleton, chain: list[int]) -> Array:
    """(n, 3) from each joint to its tip, in its own frame and units: the next joint, or as long as the one before."""
    bones = []
    for j in chain:
        below = np.flatnonzero(skeleton.parents == j)
        away = skeleton.translations[below].mean(axis=0) if below.size else np.zeros(3)
        if np.linalg.norm(away) < 1e-9:
            back = quaternion.rotate(quaternion.conjugate(skeleton.rotations[j]), skeleton.translations[j])
            away = back if np.linalg.norm(back) > 1e-9 else np.array([0.0, 0.1, 0.0])
        bones.append(away)
    return np.array(bones)


def _sizes(skeleton: Skeleton, chain: list[int]) -> Array:
    """(n,) metres to a unit of each joint's frame."""
    return np.asarray(np.linalg.norm(_rest(skeleton)[chain, :3, 0], axis=1))


def _rest(skeleton: Skeleton) -> Array:
    """(J, 4, 4) world transforms at rest."""
    return kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)


def lift_over_floor(
    turns: Array, starts: Array, local: Array, bones: Array, offsets: Array, rest: Array, lowest: float
) -> Array:
    """(F, n, 4) local rotations of a chain whose tips stay over the floor.

    `turns` (F, 4) is the world rotation of the chain's parent, `starts` (F, 3) the world position of its first joint;
    `local` (F, n, 4) its rotations; `bones` (n, 3) from joint to tip and `offsets` (n, 3) from the joint before, metres
    in the joints' frames; `rest` (n, 4) its rotations at rest. A chain whose lowest joint at rest, at `lowest` metres,
    is below the floor may be as low as that.
    """
    floor = min(LYING_HEIGHT_LENGTH_RATIO * float(np.linalg.norm(bones, axis=1).sum()), lowest)
    away = quaternion.rotate(turns, _direction(rest, bones)) * (1.0, 0.0, 1.0)
    away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    turn, place, result = turns, starts, np.empty_like(local)
    for i, bone in enumerate(bones):
        if i:
            place = place + quaternion.rotate(turn, offsets[i])
        wanted = quaternion.multiply(turn, local[:, i])
        reach = quaternion.rotate(wanted, bone)
        lifted = _lift_bones(reach, floor - place[:, 1], away)
        turned = quaternion.multiply(quaternion.from_two_vectors(reach, lifted), wanted)
        result[:, i] = quaternion.multiply(quaternion.conjugate(turn), turned)
        turn = turned
    return result


def _lift_bones(reach: Array, least: Array, away: Array) -> Array:
    """Bones (F, 3) of the same length whose y is at least `least` (F,), or as near to it as possible."""
    length = np.linalg.norm(reach, axis=1)
    y = np.clip(np.maximum(reach[:, 1], least), -length, length)
    missing = y - reach[:, 1]
    level = reach * (1.0, 0.0, 1.0) + SIDEWAYS_SHARE * missing[:, None] * away
    level *= (np.sqrt(np.maximum(length**2 - y**2, 0.0)) / np.maximum(np.linalg.norm(level, axis=1), 1e-12))[:, None]
    level[:, 1] = y
    return np.where((missing > 0)[:, None], level, reach)


def _direction(rest: Array, bones: Array) -> Array:
    """(3,) the direction of the chain at rest, in the frame of its parent."""
    turn, total = quaternion.identity(()), np.zeros(3)
    for rotation, bone in zip(rest, bones):
        turn = quaternion.multiply(turn, rotation)
        total = total + quaternion.rotate(turn, bone)
    return total
