"""Feet: a layer that keeps feet planted where the clips have them in contact, and out of the floor.

A pose between two clips is a blend of both, and so are its feet: they slide from one stance to the other, though they
slide in neither clip. This layer knows from the training frames near the performance where each foot is in contact,
holds it there or makes it step (`footstep`), and lets the leg follow. What slides in the clips themselves, as in a walk
on the spot, slides on.

A character that goes somewhere (`runtime.locomotion`) has a plan of its feet instead, which is carried out by
the lock of `footstep`; what is left of it when the character does something else fades as after a step.

**Legs.** A foot that is moved keeps its orientation; hip and knee turn (`character.body.limbs`). Knees bend no
further, either way, than in any clip or than they are bent already, and a leg gets no longer than it ever was. A foot
that hangs on no leg (a rig animated with IK) is brought over the end of its leg first, and the leg up to it; a blend
of two clips has the two apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import atan2, cos, dist, exp, pi, sin
from typing import NamedTuple

import numpy as np

from understudy.character import Skeleton
from understudy.character.body.feet import STILL_TURN_RAD, Foot, find_feet, local_turns
from understudy.character.body.limbs import reach_chain, straight_angle
from understudy.character.rig import DirectRig, PosedRig
from understudy.checks import Array
from understudy.maths import quaternion
from understudy.maths.springs import step_scalar
from understudy.perform.gaits import FootPlan, clip_worlds
from understudy.perform.layers import footstep
from understudy.perform.layers.footstep import (
    FOOT_DOWN,
    SETTINGS,
    Fade,
    FootObservation,
    FootState,
    LabelContacts,
    LockState,
    step_lock,
)
from understudy.perform.layers.layer import LayerContext
from understudy.perform.model import PerformanceModel

IDENTITY = np.eye(4)
SAME_ROTATION_EPSILON = 1e-12  # 1 minus the dot product of two equal rotations: a microradian apart
STRAIGHT_KNEE_RAD = 1e-3  # bend of a straight knee, by rounding
ATTACH_SOFTNESS_RATIO = 0.004  # of the height, by which a foot may be further from its leg than in the clips
REACH_SOFTNESS_RATIO = 0.03  # of the leg's length, over which it comes to full extension gently
DROP_SECONDS = 0.1  # time constant in which a body is lowered, and a turned foot returns
MIN_STEP_HEIGHTS_PER_S2 = 20.0  # acceleration that a step needs, where no clip has one
MAX_CUT_RATIO = 0.99  # of the clips' largest change of velocity, for a leg that is cut
# Pairs of s and b of a cut, p + s (y - p) with p = y1 + b (y1 - y2), from the most of the wanted pose to the least.
CUT_CANDIDATES = np.array([(s, b) for s in (0.9, 0.75, 0.6, 0.45, 0.3, 0.15, 0.0) for b in (1.0, 0.85, 0.6, 0.3)])
MAX_SCALE_DIFFERENCE_RATIO = 1e-3  # between the axes of a joint: rotations alone cannot move a leg that is stretched

Vector = tuple[float, ...]
"""x, y and z."""


class FeetState(NamedTuple):
    """The state of each foot, and the last two rows (C,) that were shown.

    `locks` are those of a character that goes somewhere, or goes no longer but has feet that are still turned.
    """

    feet: tuple[FootState, ...]
    before: tuple[Array, ...] = ()
    locks: tuple[LockState, ...] = ()
    going: bool = False
    drop: float = 0.0  # metres by which the body is lowered
    drop_rate: float = 0.0


@dataclass(frozen=True, eq=False)
class VelocityLimit:
    """The joints of a character, and the largest acceleration of any of them in its clips."""

    rig: DirectRig
    joints: Array  # (J,) those of the skin
    max_acceleration: float  # metres a second squared

    @classmethod
    def from_worlds(cls, rig: DirectRig, worlds: list[Array], rate: float) -> VelocityLimit | None:
        """The limit of clips with world_from_joint (F, J, 4, 4); None where nothing moves."""
        joints = np.asarray(rig.character.joints)
        turns = [np.linalg.norm(np.diff(world[..., :3, 3][:, joints], 2, axis=0), axis=-1) for world in worlds]
        most = max((float(turn.max(initial=0.0)) for turn in turns), default=0.0) * rate**2
        return cls(rig, joints, most) if most > 0 else None

    def excess(self, before: Array, rows: Array, rate: float) -> Array:
        """(M,) acceleration over the clips' largest, of rows (M, C) that follow the two rows `before` (2, C)."""
        past, last = self._places(before)
        turn = self._places(rows) - 2 * last + past
        return np.asarray(np.linalg.norm(turn, axis=-1).max(axis=-1) * rate**2 / self.max_acceleration)

    def _places(self, rows: Array) -> Array:
        """(F, J, 3) positions of the joints in rows (F, C)."""
        return np.asarray(self.rig.joints(rows)[..., :3, 3][:, self.joints])


@dataclass(frozen=True, eq=False)
class Feet:
    """The layer; made by `Feet.from_model`."""

    rig: DirectRig
    size: float  # metres, the character's height
    legs: tuple[Leg, ...]
    soles: tuple[SolePoints, ...]
    labels: dict[str, LabelContacts]  # none: feet are moved by a plan alone
    pair_indices: tuple[int, ...]  # the other foot of each foot's pair
    bound: VelocityLimit

    @classmethod
    def from_model(cls, rig: PosedRig, model: PerformanceModel | None) -> Feet | None:
        """The feet of a character as its model's clips use them; None where it has none."""
        if model is None or not isinstance(rig, DirectRig):
            return None
        clips = [
            (label, segment.start, segment.stop) for label, space in model.spaces.items() for segment in space.segments
        ]
        if _has_uneven_scale(
            rig, [model.encoder.decode(model.spaces[label].features[start:stop]) for label, start, stop in clips]
        ):
            return None
        worlds, size = clip_worlds(rig, model)
        feet = find_feet(rig.character, worlds, size) if size > 0 else ()
        bound = VelocityLimit.from_worlds(rig, worlds, model.rate)
        if not feet or bound is None:
            return None
        bound = replace(bound, max_acceleration=max(bound.max_acceleration, MIN_STEP_HEIGHTS_PER_S2 * size))
        every, between = np.concatenate(worlds), _worlds_between(rig, model)
        soles = tuple(_sole(foot, worlds, size, model.rate) for foot in feet)
        legs = tuple(Leg.from_clips(rig.character.skeleton, foot, every, between) for foot in feet)
        labels: dict[str, LabelContacts] = {}
        for label, space in model.spaces.items():
            numbers = [i for i, clip in enumerate(clips) if clip[0] == label]
            known = np.concatenate([_clip_contacts(soles, worlds[i], size, model.rate) for i in numbers])
            labels[label] = LabelContacts.from_clips(space.latents, known, [clips[i][1:] for i in numbers])
        if not any(contact.contact_features[:, : len(soles)].any() for contact in labels.values()):
            labels = {}  # no foot is ever in contact: flippers, or nothing but a gait on the spot
        hips = every[..., :3, 3][:, [leg.joints[0] for leg in legs]].mean(axis=0)
        return cls(rig, size, legs, soles, labels, _foot_pairs(hips), bound)

    @cached_property
    def _soles(self) -> tuple[SolePoints, Array]:
        """The soles of all feet as one, and the index at which those of each begin."""
        owners, points = (np.concatenate([getattr(sole, name) for sole in self.soles]) for name in ("owners", "points"))
        ends = np.cumsum([len(sole.owners) for sole in self.soles])
        return SolePoints(owners, points, 0, 0.0), np.concatenate([[0], ends[:-1]])

    def init(self, seed: int) -> FeetState:
        """The state before the first frame; nothing is random."""
        return FeetState(tuple(FootState() for _ in self.legs))

    def step(self, state: FeetState, row: Array, moment: LayerContext) -> tuple[FeetState, Array]:
        """The next state, and the row (C,) with its feet planted, lifted or free."""
        if moment.feet is not None:
            return self._step_plan(state, row, moment.feet, moment.dt)
        if not moment.places or not self.labels:
            return state, row
        state, row = self._leave_plan(state, row, moment)
        before = state.feet
        row, worlds, rises = self._attach(row)
        every, bounds = self._soles  # all at once: one foot costs as much as four
        places = every.places(worlds)
        lowest = np.minimum.reduceat(places[:, 1], bounds).tolist()
        known = footstep.blend_contacts(self.labels, moment.places).tolist()
        held = moment.blending or not (moment.played or moment.cycles)
        count = len(self.legs)
        feet, moves = list(before), [(0.0, 0.0, 0.0)] * count
        # the foot with the largest error goes first
        for i in sorted(range(count), key=lambda i: -before[i].error if before[i].mode == FOOT_DOWN else 0.0):
            sole = self.soles[i]
            x, _, z = places[bounds[i] + sole.stands_on].tolist()
            stands, slides, height = known[i], known[count + i], known[2 * count + i]
            ground = footstep.ground_height(stands, known[3 * count + i], sole.floor)
            seen = FootObservation(
                (x, z), lowest[i], stands, slides, height, ground, held, moment.blend_seconds, moment.switched
            )
            up = [feet[j].in_the_air(self.soles[j].floor, self.size) for j in range(count)]
            may_lift = not up[self.pair_indices[i]] and sum(up) - up[i] < max(1, count // 2)
            feet[i], moves[i] = footstep.step(feet[i], seen, sole.floor, self.size, may_lift, moment.time, moment.dt)
        changed = row.copy()
        if not held and not state.locks and not any(any(move) for move in moves) and not any(rises):
            # a clip as it is made keeps its legs, which may be longer or bent further than elsewhere
            return state._replace(feet=tuple(feet), before=(*state.before[-1:], changed)), changed
        for i, leg in enumerate(self.legs):
            feet[i] = feet[i]._replace(strain=leg.put(changed, worlds, moves[i], rises[i]))
            if state.locks:
                leg.turn(changed, worlds, state.locks[i].turn)
        if held and len(state.before) == 2:  # a clip as it is made has its own legs
            self._limit_velocity_change(state.before, row, changed, 1 / moment.dt)
        return state._replace(feet=tuple(feet), before=(*state.before[-1:], changed)), changed

    def _step_plan(self, state: FeetState, row: Array, plan: FootPlan, dt: float) -> tuple[FeetState, Array]:
        """The next state, and the row (C,) with its feet where a plan has them."""
        drop, drop_rate = step_scalar(state.drop, state.drop_rate, plan.drop, DROP_SECONDS, dt)
        changed, worlds, rises = self._attach(self._lower(row, drop))
        locks, feet = [], []
        for i, (leg, sole, foot) in enumerate(zip(self.legs, self.soles, state.feet)):
            joint, places = worlds[leg.foot, :3, 3], sole.places(worlds)
            if state.going:
                lock = state.locks[i]
            else:  # from where its last step has it
                away = (foot.shown[0] - foot.place[0], foot.shown[1] - foot.place[1])
                turn = state.locks[i].turn if state.locks else 0.0
                lock = LockState(away, turn=turn, stands=True, halted=plan.halting)
            lock, shift, turn = step_lock(lock, plan, i, joint, places, self.size, dt)
            strain = leg.put(changed, worlds, shift, rises[i])
            leg.turn(changed, worlds, turn)
            x, _, z = places[sole.stands_on].tolist()
            low = float(places[:, 1].min())
            velocity = (lock.rate[0], lock.rate[1])
            feet.append(
                FootState(
                    started=True,
                    offset=(shift[0], shift[2]),
                    drift=velocity,
                    lift=Fade(shift[1]),
                    heights=(low, plan.floor),
                    ground=plan.floor,
                    stood=plan.floor,
                    place=(x, z),
                    shown=(x + shift[0], z + shift[2]),
                    lowest=low,
                    height=low + shift[1],
                    strain=strain,
                )
            )
            locks.append(lock)
        before = (*state.before[-1:], changed)
        return FeetState(tuple(feet), before, tuple(locks), True, drop, drop_rate), changed

    def _leave_plan(self, state: FeetState, row: Array, moment: LayerContext) -> tuple[FeetState, Array]:
        """The state of a character that goes nowhere, and its row (C,), as low as it still is."""
        if state.going:
            since = moment.time - moment.dt
            feet = tuple(
                foot._replace(since=since, lift=foot.lift.to(0.0, since, moment.blend_seconds)) for foot in state.feet
            )
            state = state._replace(feet=feet, going=False)
        if not state.locks:
            return state, row
        drop, drop_rate = step_scalar(state.drop, state.drop_rate, 0.0, DROP_SECONDS, moment.dt)
        locks = []
        for lock in state.locks:
            turn, rate = step_scalar(lock.turn, lock.turn_rate, 0.0, DROP_SECONDS, moment.dt)
            locks.append(lock._replace(turn=turn, turn_rate=rate))
        over = drop == 0.0 and not any(lock.turn for lock in locks)
        state = state._replace(locks=() if over else tuple(locks), drop=drop, drop_rate=drop_rate)
        return state, self._lower(row, drop)

    def _attach(self, row: Array) -> tuple[Array, Array, list[float]]:
        """A row (C,) with its feet over their legs, its world_from_joint (J, 4, 4), and how far legs have to rise."""
        worlds, changed = self.rig.joints(row[None])[0], row.copy()
        rises = [leg.attach(changed, worlds, ATTACH_SOFTNESS_RATIO * self.size) for leg in self.legs]
        return changed, self.rig.joints(changed[None])[0] if any(rises) else worlds, rises

    def _lower(self, row: Array, drop: float) -> Array:
        """A copy of a row (C,), `drop` metres lower."""
        result = row.copy()
        result[10 * self.rig.character.skeleton.roots + 1] -= drop
        return result

    def landings(self, before: FeetState, after: FeetState) -> list[str]:
        """The joints of feet that were in the air and are not any more."""
        names = self.rig.character.skeleton.names
        return [
            names[leg.foot]
            for leg, sole, old, new in zip(self.legs, self.soles, before.feet, after.feet)
            if old.started and old.in_the_air(sole.floor, self.size) and not new.in_the_air(sole.floor, self.size)
        ]

    def _limit_velocity_change(self, before: tuple[Array, ...], pose: Array, row: Array, rate: float) -> None:
        """Keep the velocity of the legs of a row (C,) where it would change more suddenly than in any clip, in place.

        A leg that is bent as in no clip may have two solutions, and would alternate between them from frame to frame.
        Where the `pose` (C,) without this layer is as sudden by itself, nothing is cut: legs would be left behind.
        """
        past_and_last = np.stack(before)
        own, excess_now = self.bound.excess(past_and_last, np.stack([pose, row]), rate)
        if excess_now <= max(1.0, float(own)):
            return
        count = 10 * len(self.rig.character.skeleton)
        past, last, now = (values[:count].reshape(-1, 10)[self._leg_joints] for values in (*before, row))
        last, past = _match_signs(last, now), _match_signs(past, now)
        s, b = CUT_CANDIDATES.T[..., None, None]
        ahead = last + b * (last - past)
        tried = ahead + s * (now - ahead)  # (cuts, n, 10)
        tried[..., 3:7] /= np.linalg.norm(tried[..., 3:7], axis=-1, keepdims=True)
        rows = np.tile(row, (len(tried), 1))
        rows[:, (10 * self._leg_joints[:, None] + np.arange(10)).ravel()] = tried.reshape(len(tried), -1)
        excess = self.bound.excess(past_and_last, rows, rate)
        row[:] = rows[int((excess <= MAX_CUT_RATIO).argmax() if (excess <= MAX_CUT_RATIO).any() else excess.argmin())]

    @cached_property
    def _leg_joints(self) -> Array:
        """The joints of the legs and the feet."""
        return np.unique([joint for leg in self.legs for joint in (*leg.joints, leg.foot)])


def _match_signs(joints: Array, others: Array) -> Array:
    """Joints (n, 10) with the signs of the others' quaternions."""
    signs = np.where((joints[:, 3:7] * others[:, 3:7]).sum(axis=1) < 0, -1.0, 1.0)
    return np.concatenate([joints[:, :3], signs[:, None] * joints[:, 3:7], joints[:, 7:]], axis=1)


def _foot_pairs(hips: Array) -> tuple[int, ...]:
    """For each foot the one whose hip (n, 3) is nearest."""
    apart = np.linalg.norm(hips[:, None] - hips, axis=-1)
    np.fill_diagonal(apart, np.inf)
    return tuple(apart.argmin(axis=1).tolist())


def _has_uneven_scale(rig: DirectRig, rows: list[Array]) -> bool:
    """Whether any joint of rows (F, C) is ever mirrored, or larger along one axis than along another."""
    count = len(rig.character.skeleton)
    every = np.concatenate([values[:, : 10 * count].reshape(-1, 10)[:, 7:] for values in rows])
    return bool(
        ((every.min(axis=1) <= 0) | (every.min(axis=1) < (1 - MAX_SCALE_DIFFERENCE_RATIO) * every.max(axis=1))).any()
    )


@dataclass(frozen=True, eq=False)
class SolePoints:
    """The points of a foot that touch the ground."""

    owners: Array  # (P,) int, joints
    points: Array  # (P, 3) in their frames
    stands_on: int  # the point that stays in place while the foot is in contact
    floor: float  # metres, height of the lowest point in contact

    def places(self, worlds: Array) -> Array:
        """(..., P, 3) in the world, for world_from_joint (..., J, 4, 4)."""
        frames = worlds[..., self.owners, :3, :]
        return np.asarray((frames[..., :3] @ self.points[:, :, None])[..., 0] + frames[..., 3])


def _sole(foot: Foot, worlds: list[Array], size: float, rate: float) -> SolePoints:
    """The floor of a foot, and the point that moves least while the foot is low."""
    sole = SolePoints(foot.owners, foot.points, 0, 0.0)
    places = [sole.places(world) for world in worlds]
    floor = float(np.median([np.quantile(p[..., 1].min(axis=1), 0.1) for p in places]))
    speeds = np.concatenate([_speeds(p) for p in places]) * rate / size
    low = np.concatenate([p[..., 1] for p in places]) < floor + SETTINGS.clip_contact_height_ratio * size
    often = low.mean(axis=0)
    usual = np.where(low, np.minimum(speeds, 1.0), 0.0).sum(axis=0) / np.maximum(low.sum(axis=0), 1)
    usual = np.where(often > 0.5 * often.max(), usual, np.inf)  # not a point that is seldom low
    return SolePoints(foot.owners, foot.points, int(usual.argmin()), floor)


def _speeds(places: Array) -> Array:
    """(F, P) over the ground, metres a frame, of points (F, P, 3)."""
    if len(places) < 2:
        return np.zeros(places.shape[:2])
    return np.asarray(np.linalg.norm(np.gradient(places[..., [0, 2]], axis=0), axis=-1))


def _clip_contacts(soles: tuple[SolePoints, ...], world: Array, size: float, rate: float) -> Array:
    """(F, 4 n) the contact features of a clip: contact, sliding, height of the lowest point, contact times height."""
    stands, slides, heights = [], [], []
    for sole in soles:
        places = sole.places(world)
        heights.append(places[..., 1].min(axis=1))
        uneven = SETTINGS.ground_tolerance_ratio * size
        floor = np.clip(np.quantile(heights[-1], 0.1), sole.floor - uneven, sole.floor + uneven)
        low = floor + SETTINGS.clip_contact_height_ratio * size
        stands.append(footstep.stance_frames(places[:, sole.stands_on], low, size, rate))
        slides.append((heights[-1] < low) & ~stands[-1])
    return np.stack([*stands, *slides, *heights, *(s * h for s, h in zip(stands, heights))], axis=1)


@dataclass(frozen=True, eq=False)
class Leg:
    """The leg of one foot, as the clips use it."""

    foot: int  # joint
    above: int  # the joint that carries the foot
    hip: int  # the joint that carries the leg, -1 where it is a root
    joints: tuple[int, ...]  # n, from the hip down
    attached: bool
    tip: Array  # (3,) mean position of the foot in the frame of the last joint
    slack: float  # metres, greatest distance of a foot that hangs on no leg from the tip in the clips
    longest: float  # metres, greatest distance from hip to tip in the clips
    hinges: Array  # (n, 3) axes about which the joints turn most
    sides: Array  # (n, 2) side of straight to which they bend, 1 or -1; greatest bend to the other side, radians
    middle: tuple[quaternion.Scalars, ...]  # n, their mean rotations
    bends: Array  # (n, 2) radians about the hinges from the mean rotation, least and greatest

    @classmethod
    def from_clips(cls, skeleton: Skeleton, foot_joint: Foot, worlds: Array, between: Array | None = None) -> Leg:
        """The leg of a foot, measured in world_from_joint (F, J, 4, 4) of the clips, and (B, J, 4, 4) between frames.

        A foot that hangs on no leg is further from it between two frames than in any.
        """
        joints, count = foot_joint.leg, len(foot_joint.leg)
        hinges, bends, middle = np.zeros((count, 3)), np.zeros((count, 2)), []
        for i, joint in enumerate(joints):
            local = local_turns(worlds, skeleton, joint)
            mean = quaternion.mean(local)
            vectors = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(mean), local))
            middle.append(quaternion.to_scalars(mean))
            if np.linalg.norm(vectors, axis=1).max() > STILL_TURN_RAD:
                hinges[i] = np.linalg.eigh(vectors.T @ vectors)[1][:, -1]
                angles = [
                    _angle(quaternion.to_scalars(mean), tuple(hinges[i]), quaternion.to_scalars(turn)) for turn in local
                ]
                bends[i] = min(angles), max(angles)
        frames = worlds[:, joints]
        last, foot = worlds[:, joints[-1]], worlds[:, foot_joint.joint, :3, 3]
        inside = np.linalg.solve(last[:, :3, :3], (foot - last[:, :3, 3])[..., None])[..., 0]
        tip = inside.mean(axis=0)
        ends = foot if foot_joint.attached else np.einsum("fij,j->fi", last[:, :3, :3], tip) + last[:, :3, 3]
        longest = float(np.linalg.norm(ends - worlds[:, joints[0], :3, 3], axis=1).max())
        slack = _distance(worlds, joints[-1], foot_joint.joint, tip)
        if between is not None:
            wider = _distance(between, joints[-1], foot_joint.joint, tip)
            slack = max(slack, min(wider, slack + ATTACH_SOFTNESS_RATIO * longest))
        sides = np.tile([1.0, 0.0], (count, 1))
        for i in range(1, count):
            axis = np.einsum("fij,j->fi", frames[:, i, :3, :3], hinges[i])
            axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-12)
            from_straight = -straight_angle(frames[:, 0, :3, 3], frames[:, i, :3, 3], ends, axis)
            side = 1.0 if from_straight.mean() >= 0 else -1.0
            sides[i] = side, max(float((-side * from_straight).max()), 0.0) + STRAIGHT_KNEE_RAD
        return cls(
            foot=foot_joint.joint,
            above=int(skeleton.parents[foot_joint.joint]),
            hip=int(skeleton.parents[joints[0]]),
            joints=joints,
            attached=foot_joint.attached,
            tip=tip,
            slack=0.0 if foot_joint.attached else slack,
            longest=longest,
            hinges=hinges,
            sides=sides,
            middle=tuple(middle),
            bends=bends,
        )

    def put(self, row: Array, worlds: Array, shift: Vector, rise: float = 0.0) -> float:
        """Move the foot of a row (C,) by `shift`, metres in the world, in place; returns the metres it falls short.

        `rise` is what `attach` returned, by which its leg has to come up to it first.

        `worlds` (J, 4, 4) is world_from_joint of the row as it was. Plain numbers are faster here than arrays of three.
        """
        foot: Vector = tuple(worlds[self.foot, :3, 3].tolist())
        tip = foot if self.attached else tuple(self._tip(worlds).tolist())
        wanted = (tip[0] + shift[0], tip[1] + shift[1] + rise, tip[2] + shift[2])
        chain = worlds[self._index]
        goal = self._clamp_to_reach(tuple(chain[0, :3, 3].tolist()), tip, wanted)
        old = [quaternion.to_scalars(row[10 * joint + 3 : 10 * joint + 7]) for joint in self.joints]
        parent = IDENTITY if self.hip < 0 else worlds[self.hip]
        places = np.array((tip, goal))
        rotations, ends = reach_chain(parent, chain, places[0], places[1], self.hinges, self.sides, self._room(old))
        turns = [quaternion.to_scalars(turn) for turn in rotations]
        signs = [sum(a * b for a, b in zip(turn, before)) for turn, before in zip(turns, old)]
        if not any(shift) and not rise and min(map(abs, signs)) > 1.0 - SAME_ROTATION_EPSILON:
            return 0.0
        for i, joint in enumerate(self.joints):  # signs as they were: curves of quaternions are read component-wise
            row[10 * joint + 3 : 10 * joint + 7] = turns[i] if signs[i] >= 0.0 else [-a for a in turns[i]]
        reached: Vector = tuple(ends.tolist())
        if self.attached:
            self._face(row, old, turns)
        else:
            self._move_foot(row, worlds, np.subtract(reached, tip) - (0.0, rise, 0.0))
        return dist(wanted, reached)

    def attach(self, row: Array, worlds: Array, softness: float) -> float:
        """Bring a foot that hangs on no leg over the end of its leg, in place; returns metres the leg has to rise then.

        Clips have it there by IK, and a blend of two clips has not. It comes as near as it ever is in the clips, within
        `softness` metres more. Over the ground the foot goes to the leg: joints blend smoothly, and the knee of a leg
        that follows its foot does not. In height the leg goes to the foot: that is blended from foot to foot, while a
        leg between two poses may be in the floor.
        """
        if self.attached:
            return 0.0
        apart = worlds[self.foot, :3, 3] - self._tip(worlds)
        wide = float(np.sqrt(apart @ apart))
        if wide <= self.slack:
            return 0.0
        allowed = self.slack + softness * (1.0 - exp((self.slack - wide) / softness))
        excess = (1.0 - allowed / wide) * apart
        self._move_foot(row, worlds, np.array([-excess[0], 0.0, -excess[2]]))
        return float(excess[1])

    def _tip(self, worlds: Array) -> Array:
        """(3,) the end of the leg in the world."""
        last = worlds[self.joints[-1]]
        return np.asarray(last[:3, :3] @ self.tip + last[:3, 3])

    def _move_foot(self, row: Array, worlds: Array, moved: Array) -> None:
        """Move the foot's joint of a row (C,) by a vector of the world (3,), in place."""
        if self.above >= 0:  # a rotation and one scale: its inverse is the transpose, but for the scale's square
            frame = worlds[self.above, :3, :3]
            moved = moved @ frame / float(frame[:, 0] @ frame[:, 0])
        row[10 * self.foot : 10 * self.foot + 3] += moved

    def _face(self, row: Array, old: list[quaternion.Scalars], turns: list[quaternion.Scalars]) -> None:
        """Turn the foot of a row (C,) back to its orientation before its leg turned from `old` to `turns`."""
        before, after = old[0], turns[0]
        for i in range(1, len(old)):
            before, after = quaternion.multiply_scalar(before, old[i]), quaternion.multiply_scalar(after, turns[i])
        columns = slice(10 * self.foot + 3, 10 * self.foot + 7)
        foot = quaternion.to_scalars(row[columns])
        turned = quaternion.multiply_scalar(
            quaternion.multiply_scalar(quaternion.conjugate_scalar(after), before), foot
        )
        row[columns] = turned if sum(a * b for a, b in zip(turned, foot)) >= 0.0 else [-a for a in turned]

    def turn(self, row: Array, worlds: Array, angle: float) -> None:
        """Turn the foot of a row (C,) about the vertical through its joint, in place.

        `worlds` (J, 4, 4) is world_from_joint of the row before the foot was put; `put` keeps its orientation.
        """
        if angle == 0.0:
            return
        up = worlds[self.foot, 1, :3] / np.linalg.norm(worlds[self.foot, :3, :3], axis=0)
        columns = slice(10 * self.foot + 3, 10 * self.foot + 7)
        row[columns] = quaternion.multiply(row[columns], np.append(sin(0.5 * angle) * up, cos(0.5 * angle)))

    @cached_property
    def _index(self) -> Array:
        return np.array(self.joints)

    @cached_property
    def _limits(self) -> list[tuple[list[float], float, float]]:
        """Axis and bends of each joint."""
        return [(axis, low, high) for axis, (low, high) in zip(self.hinges.tolist(), self.bends.tolist())]

    def _clamp_to_reach(self, hip: Vector, tip: Vector, goal: Vector) -> Vector:
        """A goal, no further from the hip than the leg is in the clips or now."""
        length, soft = dist(hip, goal), REACH_SOFTNESS_RATIO * self.longest
        begins = max(self.longest - soft, dist(hip, tip))
        if length <= begins:
            return goal
        share = (begins + soft * (1.0 - exp((begins - length) / soft))) / length
        return tuple(h + share * (g - h) for h, g in zip(hip, goal))

    def _room(self, turns: list[quaternion.Scalars]) -> Array:
        """(n, 2) radians that each hinge may still turn, either way."""
        room = [(0.0, 0.0)]
        for i in range(1, len(turns)):
            axis, low, high = self._limits[i]
            angle = _angle(self.middle[i], axis, turns[i])
            room.append((min(low - angle, 0.0), max(high - angle, 0.0)))
        return np.array(room)


def _distance(worlds: Array, joint: int, foot: int, tip: Array) -> float:
    """Metres, the greatest distance of a foot from a tip (3,) in the frame of a joint, in worlds (F, J, 4, 4)."""
    ends = worlds[:, joint, :3, :3] @ tip + worlds[:, joint, :3, 3]
    return float(np.linalg.norm(worlds[:, foot, :3, 3] - ends, axis=1).max(initial=0.0))


def _worlds_between(rig: DirectRig, model: PerformanceModel) -> Array:
    """(B, J, 4, 4) world_from_joint half-way between the frames of the clips, as features are interpolated."""
    halves = [
        0.5 * (features[1:] + features[:-1])
        for space in model.spaces.values()
        for segment in space.segments
        for features in [space.features[segment.start : segment.stop].astype(np.float64)]
    ]
    return np.asarray(rig.joints(model.encoder.decode(np.concatenate(halves))))


def _angle(middle: quaternion.Scalars, axis: tuple[float, ...] | list[float], turn: quaternion.Scalars) -> float:
    """Radians of the twist of a rotation about an axis, from a mean rotation."""
    x, y, z, w = quaternion.multiply_scalar(quaternion.conjugate_scalar(middle), turn)
    angle = 2.0 * atan2(x * axis[0] + y * axis[1] + z * axis[2], w)
    return angle - 2.0 * pi if angle > pi else angle + 2.0 * pi if angle < -pi else angle
