"""Secondary motion of avatars, as VRM describes it: joints that follow others, and hair and skirts that swing.

**Constraints** [VRMC_node_constraint-1.0] come first. With r the rest rotation of a joint, s and s0 the rotation of its
source now and at rest, and d = s0^-1 s, a joint of weight w is turned to slerp(r, q, w):

    rotation   q = r d
    roll       q = r f^-1 c,    c = r^-1 (s0 d s0^-1) r,    f the single rotation from the axis a to c a
    aim        q = p^-1 g p r,  p the parent's rotation in the world, g the single rotation from p r a to the source

**Springs** [VRMC_springBone-1.0]. Each joint is a pendulum whose end, the tail, is moved by what is left of its last
step, by a pull towards the rest direction and by gravity, and is then put back at its distance from the joint and out
of the colliders:

    x' = x + (1 - drag) (x - x_before) + dt (stiffness a + gravity),    a = rest direction, carried by the parent

The forces are multiplied by dt once, as the specification has it, so results depend on the step: every motion is
simulated at `STEP_RATE` and brought back to its own rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from understudy.character import Channel, Character, Clip, Skeleton, kinematics
from understudy.character.asset import Constraint, Spring, SpringJoint
from understudy.character.body.poses import REST_TOLERANCE, PoseSequence, poses_of
from understudy.character.rig import DirectRig, PosedRig
from understudy.checks import Array
from understudy.maths import quaternion, transform, vector

STEP_RATE = 60.0  # steps a second; avatars are tuned in programs that run at about this rate
SETTLE_SECONDS = 1.0  # the first pose is held for so long before a motion begins, or everything would drop at once
LEAF_METRES = 0.07  # to the tail of a joint without a child, by VRM 0


class _Pendulums(NamedTuple):
    """The joints that swing, S in all; colliders C."""

    joints: Array  # (S,) parents before children
    tails: Array  # (S, 3) in the joint's own space, at rest
    stiffness: Array  # (S, 1) metres a second
    gravity: Array  # (S, 3) metres a second
    drag: Array  # (S, 1) share of the speed that a step loses
    radius: Array  # (S,) metres
    centres: Array  # (S,) joint in whose space the speed counts, -1 the world
    collider_joints: Array  # (C,)
    ends: Array  # (C, 2, 3) ends of the axis in the collider's joint; equal for a ball
    collider_radius: Array  # (C,) metres
    inside: Array  # (C,) whether joints stay inside
    planes: Array  # (C,) whether it is a plane, whose normal is the way from the first end to the second
    touches: Array  # (S, C) which joint heeds which collider


def add_spring_motion(character: Character, clip: Clip) -> Clip:
    """The clip with the motion of the avatar's constraints and spring bones; the same clip where there is none to add.

    Joints that the clip turns itself are left alone.

    Args:
        character: A character, whose `avatar` names its springs and constraints.
        clip: One of its animations.
    """
    if character.avatar is None or not (character.avatar.springs or character.avatar.constraints):
        return clip
    keyed = {channel.target for channel in clip.channels if channel.kind == "rotation"}
    poses = poses_of(character, clip)
    swung = swing_springs(poses, character.avatar.springs, frozenset(keyed), constraints=character.avatar.constraints)
    moved = np.flatnonzero(np.abs(swung.rotations - poses.rotations).max(axis=(0, 2)) > REST_TOLERANCE).tolist()
    if not moved:
        return clip
    channels = [*clip.channels, *(Channel(poses.skeleton.names[joint], "rotation") for joint in moved)]
    values = np.concatenate([clip.values, *(swung.rotations[:, joint] for joint in moved)], axis=1)
    return Clip(clip.name, channels, values, clip.rate, clip.start, clip.labels, clip.about)


def swing_springs(
    poses: PoseSequence,
    springs: tuple[Spring, ...],
    still: frozenset[str] = frozenset(),
    settle: float = SETTLE_SECONDS,
    constraints: Mapping[str, Constraint] | None = None,
) -> PoseSequence:
    """The same motion with swinging joints.

    Args:
        poses: The motion of the body.
        springs: What swings.
        still: Names of joints that keep the rotations they have.
        settle: Seconds for which the first pose is held before the motion begins.
        constraints: Joints that follow others, by name.
    """
    poses = follow_constraints(poses, constraints or {}, still)
    simulation = _Simulation.of(poses.skeleton, springs, still)
    if simulation is None:
        return poses
    rate = STEP_RATE if len(poses) > 1 else poses.rate
    dense = _resample(poses, rate)
    local = transform.compose(dense.translations, dense.rotations, poses.skeleton.scales)
    state = simulation.start(dense.world[0])
    turned = []
    for frame in [0] * round(settle * rate) + list(range(len(dense))):
        state, rotations = simulation.step(state, local[frame], dense.world[frame], 1.0 / rate)
        turned.append(rotations)
    swung = quaternion.unroll(np.array(turned[-len(dense) :]))
    result = np.array(poses.rotations)
    result[:, simulation.pendulums.joints] = _interpolate(swung, np.arange(len(poses)) * rate / poses.rate)
    return PoseSequence(poses.skeleton, poses.translations, result, poses.rate)


def follow_constraints(
    poses: PoseSequence, constraints: Mapping[str, Constraint], still: frozenset[str] = frozenset()
) -> PoseSequence:
    """The same motion with the joints that follow others; those of `still` keep the rotations that they have."""
    skeleton = poses.skeleton
    rotations = np.array(poses.rotations)
    for joint, source, constraint in _in_order(skeleton, constraints):
        if skeleton.names[joint] in still:
            continue
        rest, source_rest = skeleton.rotations[joint], skeleton.rotations[source]
        axis = np.array(constraint.axis)
        if constraint.kind == "aim":
            world = PoseSequence(skeleton, poses.translations, rotations, poses.rate).world
            parent = int(skeleton.parents[joint])
            above = quaternion.identity((len(poses),))
            if parent >= 0:
                axes = vector.normalise(world[:, parent, :3, :3].swapaxes(-1, -2))
                above = quaternion.from_matrix(axes.swapaxes(-1, -2))
            aimed = quaternion.rotate(quaternion.multiply(above, rest), axis)
            towards = vector.normalise(world[:, source, :3, 3] - world[:, joint, :3, 3], otherwise=aimed)
            turn = quaternion.multiply(quaternion.from_two_vectors(aimed, towards), above)
            target = quaternion.multiply(quaternion.multiply(quaternion.inverse(above), turn), rest)
        else:
            change = quaternion.multiply(quaternion.inverse(source_rest), rotations[:, source])
            if constraint.kind == "roll":
                frame = quaternion.multiply(quaternion.inverse(source_rest), rest)  # s0^-1 r
                change = quaternion.multiply(quaternion.multiply(quaternion.inverse(frame), change), frame)
                bend = quaternion.from_two_vectors(
                    np.broadcast_to(axis, (len(poses), 3)), quaternion.rotate(change, axis)
                )
                change = quaternion.multiply(quaternion.inverse(bend), change)
            target = quaternion.multiply(rest, change)
        start = np.broadcast_to(rest, target.shape)
        rotations[:, joint] = quaternion.unroll(quaternion.slerp(start, target, np.array([constraint.weight])))
    return PoseSequence(skeleton, poses.translations, rotations, poses.rate)


def _in_order(skeleton: Skeleton, constraints: Mapping[str, Constraint]) -> Iterator[tuple[int, int, Constraint]]:
    """Joint, source and constraint of each, after those that its source and its parents depend on; loops are cut."""
    place = {name: joint for joint, name in reversed(list(enumerate(skeleton.names)))}
    known = {place[n]: c for n, c in constraints.items() if n in place and c.source in place and n != c.source}
    begun: set[int] = set()

    def visit(joint: int) -> Iterator[tuple[int, int, Constraint]]:
        if joint in begun:
            return
        begun.add(joint)
        for above in skeleton.ancestors(joint)[1:]:
            if above in known:
                yield from visit(above)
        if joint in known:
            source = place[known[joint].source]
            for above in skeleton.ancestors(source):
                yield from visit(above)
            yield joint, source, known[joint]

    for joint in sorted(known):
        yield from visit(joint)


class SpringState(NamedTuple):
    """Tails (S, 3) of all pendulums, now and one step before, in the space of their centres."""

    tails: Array
    before: Array


class _Simulation:
    """The pendulums of a skeleton, to be stepped from pose to pose."""

    def __init__(self, skeleton: Skeleton, pendulums: _Pendulums) -> None:
        self.skeleton, self.pendulums = skeleton, pendulums
        self.rest = transform.compose(skeleton.translations, skeleton.rotations, skeleton.scales)
        number = np.full(len(skeleton), -1)
        number[pendulums.joints] = np.arange(len(pendulums.joints))
        carried = number >= 0  # and all joints below: what they carry has to be placed again in every step
        depth = np.zeros(len(skeleton), int)
        for joint, parent in enumerate(skeleton.parents.tolist()):
            carried[joint] |= parent >= 0 and carried[parent]
            depth[joint] = 0 if parent < 0 else depth[parent] + 1
        self.levels = [
            (level, number[level])
            for d in range(int(depth.max()) + 1)
            if len(level := np.flatnonzero(carried & (depth == d)))
        ]

    @classmethod
    def of(cls, skeleton: Skeleton, springs: tuple[Spring, ...], still: frozenset[str]) -> _Simulation | None:
        """The simulation of springs without the joints of `still`; None where nothing swings."""
        pendulums = _pendulums(skeleton, springs, still)
        return None if pendulums is None else cls(skeleton, pendulums)

    def start(self, world: Array) -> SpringState:
        """The state at rest in a pose (J, 4, 4)."""
        tails = self._to_centres(world, transform.apply(world[self.pendulums.joints], self.pendulums.tails))
        return SpringState(tails, tails)

    def step(self, state: SpringState, local: Array, world: Array, dt: float) -> tuple[SpringState, Array]:
        """Move on by `dt` seconds to a pose (J, 4, 4), local and in the world; (S, 4) rotations of the joints."""
        p, parents = self.pendulums, self.skeleton.parents
        world = np.array(world)
        turned = np.empty((len(p.joints), 4))
        inertia = self._to_world(world, state.tails + (1.0 - p.drag) * (state.tails - state.before))
        balls = transform.apply(world[p.collider_joints][:, None], p.ends)
        reached = np.empty_like(inertia)
        for level, numbers in self.levels:
            above = np.where((parents[level] >= 0)[:, None, None], world[parents[level]], np.eye(4))
            world[level] = above @ local[level]
            of = numbers[numbers >= 0]
            if not len(of):
                continue
            joints, above = level[numbers >= 0], above[numbers >= 0]
            frames = above @ self.rest[joints]  # with the rest rotation
            places = frames[:, :3, 3]
            axes = vector.normalise(p.tails[of])
            lengths = np.linalg.norm(transform.apply(frames, p.tails[of]) - places, axis=1, keepdims=True)
            pull = vector.normalise(np.einsum("sij,sj->si", frames[:, :3, :3], axes))
            aims = inertia[of] + dt * (p.stiffness[of] * pull + p.gravity[of])
            aims = places + lengths * vector.normalise(aims - places, otherwise=pull)
            aims = self._collide(of, aims, places, lengths, balls)
            reached[of] = aims
            inward = vector.normalise(transform.apply(np.linalg.inv(frames), aims), otherwise=axes)
            rotation = quaternion.from_two_vectors(axes, inward)
            turned[of] = quaternion.multiply(self.skeleton.rotations[joints], rotation)
            world[joints] = frames @ transform.compose(np.zeros(3), rotation, np.ones(3))
        return SpringState(self._to_centres(world, reached), state.tails), turned

    def _collide(self, of: Array, tails: Array, places: Array, lengths: Array, balls: Array) -> Array:
        p = self.pendulums
        for c in np.flatnonzero(p.touches[of].any(axis=0)).tolist():
            start, axis = balls[c, 0], balls[c, 1] - balls[c, 0]
            if p.planes[c]:
                normal = vector.normalise(axis)
                depth = p.radius[of] - (tails - start) @ normal
                hit = (depth > 0) & p.touches[of, c]
                moved = tails + depth[:, None] * normal
                moved = places + lengths * vector.normalise(moved - places, otherwise=tails - places)
                tails = np.where(hit[:, None], moved, tails)
                continue
            share = np.clip((tails - start) @ axis / max(axis @ axis, 1e-18), 0.0, 1.0)
            away = tails - start - share[:, None] * axis
            distance = np.linalg.norm(away, axis=1)
            room = p.collider_radius[c] - p.radius[of] - distance
            depth = -room if p.inside[c] else p.collider_radius[c] + p.radius[of] - distance
            hit = (depth > 0) & (distance > 0) & p.touches[of, c]
            out = np.where(hit, depth / np.maximum(distance, 1e-12), 0.0)[:, None] * away
            moved = tails - out if p.inside[c] else tails + out
            moved = places + lengths * vector.normalise(moved - places, otherwise=tails - places)
            tails = np.where(hit[:, None], moved, tails)
        return tails

    def _to_centres(self, world: Array, points: Array) -> Array:
        return transform.apply(np.linalg.inv(self._centres(world)), points)

    def _to_world(self, world: Array, points: Array) -> Array:
        return transform.apply(self._centres(world), points)

    def _centres(self, world: Array) -> Array:
        centres = self.pendulums.centres
        return np.where((centres >= 0)[:, None, None], world[centres], np.eye(4))


@dataclass(frozen=True, eq=False)
class SecondaryMotion:
    """Constraints and springs of an avatar over rows of its rig, frame by frame: a layer of live performances."""

    rig: DirectRig
    constraints: Mapping[str, Constraint]
    simulation: _Simulation | None
    still: frozenset[str]

    @classmethod
    def from_rig(cls, rig: PosedRig, still: frozenset[str] = frozenset()) -> SecondaryMotion | None:
        """The secondary motion of an avatar, without the joints of `still`; None where nothing of it moves."""
        avatar = rig.character.avatar
        if avatar is None or not isinstance(rig, DirectRig):
            return None
        simulation = _Simulation.of(rig.character.skeleton, avatar.springs, still)
        if simulation is None and not avatar.constraints:
            return None
        return cls(rig, avatar.constraints, simulation, still)

    def init(self, seed: int) -> tuple[SpringState, PoseSequence] | None:
        """The state before the first frame: none, as there is no pose yet."""
        return None

    def step(self, state: Any, row: Array, moment: Any) -> tuple[Any, Array]:
        """The state after `moment.dt` seconds, and the row (C,) in which joints follow and swing."""
        skeleton = self.rig.character.skeleton
        count = len(skeleton)
        trs = row[: 10 * count].reshape(1, count, 10)
        poses = follow_constraints(
            PoseSequence(skeleton, trs[..., :3], trs[..., 3:7], STEP_RATE), self.constraints, self.still
        )
        rotations = np.array(poses.rotations[0])
        if self.simulation is not None:
            last, springs = (poses, self.simulation.start(poses.world[0])) if state is None else state
            steps = round(SETTLE_SECONDS * STEP_RATE) if state is None else max(round(moment.dt * STEP_RATE), 1)
            both = PoseSequence(
                skeleton,
                np.concatenate([last.translations, poses.translations]),
                np.concatenate([last.rotations, poses.rotations]),
                STEP_RATE / steps,
            )
            between = _resample(both, STEP_RATE)
            local = transform.compose(between.translations, between.rotations, skeleton.scales)
            dt = 1.0 / STEP_RATE if state is None else moment.dt / steps
            for frame in range(1, steps + 1):
                springs, turned = self.simulation.step(springs, local[frame], between.world[frame], dt)
            rotations[self.simulation.pendulums.joints] = turned
            state = poses, springs
        row = row.copy()
        row[: 10 * count].reshape(count, 10)[:, 3:7] = rotations
        return state, row


def _resample(poses: PoseSequence, rate: float) -> PoseSequence:
    """The motion at another rate, to its last frame or just beyond it."""
    if rate == poses.rate:
        return poses
    at = np.arange(math.ceil((len(poses) - 1) * rate / poses.rate - 1e-9) + 1) * poses.rate / rate
    first = np.minimum(at.astype(int), len(poses) - 2)
    share = np.minimum(at - first, 1.0)[:, None, None]
    translations = (1 - share) * poses.translations[first] + share * poses.translations[first + 1]
    return PoseSequence(poses.skeleton, translations, _interpolate(poses.rotations, at), rate)


def _interpolate(rotations: Array, at: Array) -> Array:
    """Rotations (F, J, 4) at frames and between them (M,)."""
    first = np.minimum(at.astype(int), max(len(rotations) - 2, 0))
    share = np.clip(at - first, 0.0, 1.0)[:, None]
    return quaternion.slerp(rotations[first], rotations[np.minimum(first + 1, len(rotations) - 1)], share)


def _links(skeleton: Skeleton, place: dict[str, int], spring: Spring) -> Iterator[tuple[SpringJoint, int, int | None]]:
    """Settings, joint and tail of each joint of a spring; the tail is a joint, or None beyond a leaf."""
    if not spring.is_tree:
        for link, following in pairwise(spring.joints):
            if link.joint in place and following.joint in place:
                yield link, place[link.joint], place[following.joint]
        return
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        children.setdefault(parent, []).append(joint)
    for link in spring.joints:
        below = [place[link.joint]] if link.joint in place else []
        while below:
            joint = below.pop()
            yield link, joint, children.get(joint, [None])[0]
            below += children.get(joint, [])


def _pendulums(skeleton: Skeleton, springs: tuple[Spring, ...], still: frozenset[str]) -> _Pendulums | None:
    """The springs by joint number; a joint of several springs belongs to the first."""
    place = {name: joint for joint, name in reversed(list(enumerate(skeleton.names)))}
    rest = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    rows: dict[int, tuple[Array, tuple[float, tuple[float, float, float], float, float], int, int]] = {}
    for number, spring in enumerate(springs):
        centre = place.get(spring.centre, -1)
        for link, joint, tail in _links(skeleton, place, spring):
            if joint in rows or skeleton.names[joint] in still:
                continue
            if tail is None:
                offset = LEAF_METRES * vector.normalise(skeleton.translations[joint])
            else:
                offset = transform.apply(np.linalg.inv(rest[joint]), rest[tail, :3, 3])
            if np.linalg.norm(offset) > 1e-9:
                rows[joint] = offset, (link.stiffness, link.gravity, link.drag, link.radius), centre, number
    if not rows:
        return None
    joints = sorted(rows)
    offsets, settings, centres, numbers = zip(*(rows[joint] for joint in joints))
    stiffness, gravity, drag, radius = (np.array(column, float) for column in zip(*settings))
    balls = [(ball, n) for n, spring in enumerate(springs) for ball in spring.colliders if ball.joint in place]
    owners = np.array([n for _, n in balls], int)
    return _Pendulums(
        np.array(joints),
        np.array(offsets),
        stiffness[:, None],
        gravity,
        drag[:, None],
        radius,
        np.array(centres),
        np.array([place[ball.joint] for ball, _ in balls], int),
        np.array([(ball.centre, ball.end) for ball, _ in balls], float).reshape(-1, 2, 3),
        np.array([ball.radius for ball, _ in balls], float),
        np.array([ball.inside for ball, _ in balls], bool),
        np.array([ball.is_plane for ball, _ in balls], bool),
        np.array(numbers)[:, None] == owners[None],
    )
