"""The head's part of a gaze: it follows the eyes, or looks by itself where a character has no eyes.

**Head follow.** The head goes part of the way with the eyes, and later. A critically damped spring (`maths.springs`,
here for two plain numbers) leads to the goal, so that the head sets off when the eyes have arrived. The goal is
measured from the face's direction averaged over the last second, so that a gaze does not hold back a head that is
shaken.

**Head turn.** The rotation is added to what the performance does with the head. On a rig with controls, those that turn
and nod the head best are found by probing; else the joints of neck and head turn about their own axes.

**Looking without eyes.** A character in which no eyes are found turns its head to the point. With the face's axes left
l, up u, forward f in the world, d the direction from the head to the point,

    yaw = atan2(d.l, d.f)        pitch = atan2(d.u, |(d.l, d.f)|)

and as much of that as a neck does is added to the performance, measured from the averaged direction as above, so that a
head that nods goes on to nod. Two critically damped springs, one after the other, lead there: a head is heavy, and does
not set off at full speed. A clip that is played keeps its own head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import atan2, exp, hypot, radians
from typing import NamedTuple, Protocol

import numpy as np

from understudy import checks
from understudy.character.body.bone_names import facing_axes, human_bones
from understudy.character.rig import DirectRig, LayeredRig, PosedRig
from understudy.checks import Array
from understudy.maths import quaternion
from understudy.maths.springs import HALF_REACHED
from understudy.perform.commands import CAMERA, FORWARD
from understudy.perform.layers.eye_drives import gaze_rotation, probe_controls
from understudy.perform.layers.eyes import Eyes, Frame, HeadFrame, Point, to_point
from understudy.perform.layers.layer import LayerContext

EYES_ONLY_RAD = radians(9)  # angle that the eyes do alone
HEAD_FOLLOW_RATIO = 0.5  # share of the head in what lies beyond
MAX_FOLLOW_RAD = (radians(22), radians(12))  # across, and up or down
FOLLOW_HALF_LIFE_SECONDS = 0.16
FACING_HALF_LIFE_SECONDS = 0.8  # of the face's averaged direction: longer than a shake, shorter than a stroll
DIRECTION_EPSILON_RAD = 1e-4  # below which the averaged direction has arrived
FOLLOW_SETTLED_RAD = radians(1e-3)
MIN_HEAD_TURN_RAD = radians(5)  # reach of a control that turns the head
MIN_AXIS_COSINE = 0.97  # between its axis and the face's: 14 degrees
HEAD_TURN_SHARES = {"Neck": 0.35, "Head": 0.65}
MAX_LOOK_RAD = (radians(60), radians(30))  # across, and up or down: further than that the body would have to turn
LOOK_FADE_RAD = (
    radians(100),
    radians(150),
)  # points between these angles are followed less and less, beyond not at all
LOOK_HALF_LIFE_SECONDS = 0.1  # of either spring: half way after a fifth of a second
LOOK_SETTLED_RAD = radians(1e-3)
CAMERA_DISTANCE_HEIGHTS = 3.0  # of the default camera, in front of the resting face

Pair = tuple[float, float]
"""Radians to the left and up."""
NO_TURN: Pair = (0.0, 0.0)


class HeadFollow(NamedTuple):
    """Rotation added to the head (radians to its left and up), its speed, and the face's averaged direction."""

    turn: Pair = (0.0, 0.0)
    speed: Pair = (0.0, 0.0)
    usual: Point | None = None  # None before the first frame

    def step_follow(self, eyes: Eyes, frame: Frame, ahead: Point, point: Point | None, dt: float) -> HeadFollow:
        """The state after dt seconds, with a point to look at, or none; the first frame starts at the goal."""
        usual = ahead if self.usual is None else smooth_direction(self.usual, ahead, dt)
        goal = (0.0, 0.0) if point is None else _follow_goal(eyes, frame, usual, point)
        if self.usual is None or (self.turn == goal and self.speed == (0.0, 0.0)):
            return HeadFollow(goal, (0.0, 0.0), usual)
        (a, va), (b, vb) = (
            spring_step(x, v, g, dt, FOLLOW_HALF_LIFE_SECONDS) for x, v, g in zip(self.turn, self.speed, goal)
        )
        if max(abs(a - goal[0]), abs(b - goal[1])) < FOLLOW_SETTLED_RAD and hypot(va, vb) < FOLLOW_SETTLED_RAD:
            return HeadFollow(goal, (0.0, 0.0), usual)
        return HeadFollow((a, b), (va, vb), usual)


def _follow_goal(eyes: Eyes, frame: Frame, usual: Point, point: Point) -> Pair:
    """The head's share of the angle from the averaged direction to a point."""
    x, y, z = eyes.centre(frame)
    now = eyes.bearing(frame, point)
    of_usual = eyes.bearing(frame, (x + usual[0], y + usual[1], z + usual[2]))
    yaw, pitch = now[0] - of_usual[0], now[1] - of_usual[1]
    off = hypot(yaw, pitch)
    if off <= EYES_ONLY_RAD:
        return 0.0, 0.0
    share = HEAD_FOLLOW_RATIO * (off - EYES_ONLY_RAD) / off
    return min(max(share * yaw, -MAX_FOLLOW_RAD[0]), MAX_FOLLOW_RAD[0]), min(
        max(share * pitch, -MAX_FOLLOW_RAD[1]), MAX_FOLLOW_RAD[1]
    )


def spring_step(x: float, v: float, goal: float, dt: float, half_life: float) -> Pair:
    """Value and speed after dt: k = v + y (x - g), x = g + e^(-y dt) (x - g + k dt), v = e^(-y dt) (v - y k dt)."""
    y = HALF_REACHED / half_life
    k, decay = v + y * (x - goal), exp(-y * dt)
    return goal + decay * (x - goal + k * dt), decay * (v - y * k * dt)


def smooth_direction(usual: Point, ahead: Point, dt: float) -> Point:
    """The averaged direction `usual` a frame later, on its way to `ahead`."""
    x, y, z = ahead[0] - usual[0], ahead[1] - usual[1], ahead[2] - usual[2]
    if abs(x) + abs(y) + abs(z) < DIRECTION_EPSILON_RAD:
        return ahead
    part = 1.0 - 0.5 ** (dt / FACING_HALF_LIFE_SECONDS)
    return usual[0] + part * x, usual[1] + part * y, usual[2] + part * z


class HeadTurn(Protocol):
    """Adds a rotation to a head."""

    def add(self, row: Array, yaw: float, pitch: float) -> None:
        """Turn the head of a row (C,) by radians to its left and up, in place."""


class HeadControl(NamedTuple):
    """One control: its gain in units a radian, and its range."""

    column: int
    gain: float
    low: float
    high: float


class ControlTurn(NamedTuple):
    """A control for each axis; either may be missing."""

    yaw: HeadControl | None
    pitch: HeadControl | None

    def add(self, row: Array, yaw: float, pitch: float) -> None:
        """Turn the head of a row (C,) by radians to its left and up, in place."""
        for control, angle in ((self.yaw, yaw), (self.pitch, pitch)):
            if control is not None:
                value = float(row[control.column])
                # clamped to the range, unless the performance is outside it already
                low, high = min(control.low, value), max(control.high, value)
                row[control.column] = min(max(value + angle * control.gain, low), high)


class TurningJoint(NamedTuple):
    """A joint, its axes (joint_from_face) and its share of the turn."""

    column: int
    axes: quaternion.Scalars
    share: float


class JointTurn(NamedTuple):
    """Neck and head, or the head alone."""

    joints: tuple[TurningJoint, ...]

    def add(self, row: Array, yaw: float, pitch: float) -> None:
        """Turn the head of a row (C,) by radians to its left and up, in place."""
        for column, axes, share in self.joints:
            local = quaternion.multiply_scalar(
                quaternion.multiply_scalar(axes, gaze_rotation(share * yaw, share * pitch)),
                quaternion.conjugate_scalar(axes),
            )
            row[column : column + 4] = quaternion.multiply_scalar(
                quaternion.to_scalars(row[column : column + 4]), local
            )


def head_turn(rig: PosedRig, head: int) -> HeadTurn | None:
    """The controls or joints that turn the head of a rig, `head` being the joint that carries the eyes; or None."""
    if isinstance(rig, LayeredRig):
        return _control_turn(rig, head)
    bones = human_bones(rig.character)
    worlds = rig.joints(rig.rest[None])[0, :, :3, :3]
    axes = facing_axes(rig)
    joints = []
    for name in HEAD_TURN_SHARES:
        columns = rig.channels.slice(rig.character.skeleton.names[bones[name]], "rotation") if name in bones else None
        if columns is not None:
            world = worlds[bones[name]] / np.linalg.norm(worlds[bones[name]], axis=0)
            joints.append(
                (columns.start, quaternion.to_scalars(quaternion.from_matrix(world.T @ axes)), HEAD_TURN_SHARES[name])
            )
    if not joints:
        return None
    total = sum(share for _, _, share in joints)
    return JointTurn(tuple(TurningJoint(column, turned, share / total) for column, turned, share in joints))


def _control_turn(rig: LayeredRig, head: int) -> ControlTurn | None:
    """The control with the widest reach among those that turn the head about one axis alone."""
    controls = rig.controls
    columns, step, rows = probe_controls(rig)
    worlds = rig.joints(rows)[:, head, :3, :3]
    worlds = worlds / np.linalg.norm(worlds, axis=1, keepdims=True)
    rotations = quaternion.log(quaternion.from_matrix(worlds[1:] @ worlds[0].T))
    vectors = rotations @ facing_axes(rig)  # (n, 3) left, up, forward
    length = np.linalg.norm(vectors, axis=1)
    room = np.minimum(controls.high - controls.rest, controls.rest - controls.low)[columns]
    axis_controls: list[HeadControl | None] = []
    for axis, sign in ((1, 1.0), (0, -1.0)):  # a positive rotation about left looks down
        slope = sign * vectors[:, axis] / step
        straight = (length > 1e-6) & (np.abs(vectors[:, axis]) > MIN_AXIS_COSINE * length)
        reach = np.where(straight, np.abs(slope) * room, 0.0)
        best = int(np.argmax(reach)) if len(reach) else -1
        if best < 0 or reach[best] < MIN_HEAD_TURN_RAD:
            axis_controls.append(None)
            continue
        column = int(columns[best])
        axis_controls.append(
            HeadControl(column, float(1 / slope[best]), float(controls.low[column]), float(controls.high[column]))
        )
    return ControlTurn(axis_controls[0], axis_controls[1]) if any(axis_controls) else None


class HeadTurnState(NamedTuple):
    """Rotation of the head, the value that leads it, the speeds of both, and the face's averaged direction."""

    turn: Pair = NO_TURN
    speed: Pair = NO_TURN
    lead: Pair = NO_TURN
    lead_speed: Pair = NO_TURN
    usual: Point | None = None  # None before the first frame

    def step_towards(self, goal: Pair, dt: float) -> HeadTurnState:
        """After dt seconds."""
        if self.turn == self.lead == goal and self.speed == self.lead_speed == NO_TURN:
            return self
        lead, lead_speed = zip(
            *(spring_step(x, v, g, dt, LOOK_HALF_LIFE_SECONDS) for x, v, g in zip(self.lead, self.lead_speed, goal))
        )
        turn, speed = zip(
            *(spring_step(x, v, g, dt, LOOK_HALF_LIFE_SECONDS) for x, v, g in zip(self.turn, self.speed, lead))
        )
        near = max(abs(a - b) for a, b in zip((*turn, *lead), (*goal, *goal)))
        if near < LOOK_SETTLED_RAD and max(map(abs, (*speed, *lead_speed))) < LOOK_SETTLED_RAD:
            return HeadTurnState(goal, NO_TURN, goal, NO_TURN, self.usual)
        return HeadTurnState(turn, speed, lead, lead_speed, self.usual)


@dataclass(frozen=True, eq=False)
class HeadLook:
    """A layer that turns the head. `points` are the names that may be looked at."""

    head: HeadFrame
    axes: Array  # (3, 3) rows left, up and forward of the face, in the frame of the head
    turner: HeadTurn
    points: Mapping[str, Point] = field(default_factory=dict)

    @classmethod
    def from_rig(cls, rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None) -> HeadLook | None:
        """The head of a rig of joints; None where no joint turns it.

        Without a `camera` among the points, it is placed in front of the resting face.
        """
        joint = human_bones(rig.character).get("Head")
        if joint is None or not isinstance(rig, DirectRig):
            return None
        turner = head_turn(rig, joint)
        if turner is None:
            return None
        worlds = rig.joints(rig.rest[None])[0]
        world, face = worlds[joint, :3, :3] / np.linalg.norm(worlds[joint, :3, :3], axis=0), facing_axes(rig)
        away = CAMERA_DISTANCE_HEIGHTS * float(np.ptp(worlds[:, 1, 3])) * face[:, 2]
        camera = to_point(worlds[joint, :3, 3] + away)
        return cls(HeadFrame(rig, joint), face.T @ world, turner, {CAMERA: camera}).with_points(points or {})

    def with_points(self, points: Mapping[str, Sequence[float]]) -> HeadLook:
        """The same with more names to look at, or other places for those that it knows."""
        checked = {name: to_point(checks.array(at, f"point {name!r}", (3,))) for name, at in points.items()}
        return replace(self, points={**self.points, **checked})

    def init(self, seed: int) -> HeadTurnState:
        """The state before the first frame; nothing is random."""
        return HeadTurnState()

    def step(self, state: HeadTurnState, row: Array, moment: LayerContext) -> tuple[HeadTurnState, Array]:
        """The next state, and the row (C,) with its head turned."""
        point = None if moment.played else self._look_point(moment.look)
        if point is None and state.turn == state.lead == NO_TURN and state.speed == state.lead_speed == NO_TURN:
            return state._replace(usual=None), row
        frame = self.head.evaluate_row(row)
        ahead = self._axis(frame, 2)
        usual = ahead if state.usual is None else smooth_direction(state.usual, ahead, moment.dt)
        goal = NO_TURN if point is None else self._goal(frame, usual, point)
        state = state.step_towards(goal, moment.dt)._replace(usual=usual)
        row = row.copy()
        self.turner.add(row, *state.turn)
        return state, row

    def _goal(self, frame: Frame, usual: Point, point: Point) -> Pair:
        """Radians across and up to a point, from the face's averaged direction."""
        away = (point[0] - frame[3], point[1] - frame[7], point[2] - frame[11])
        (a, b), (c, d) = self._bearing(frame, away), self._bearing(frame, usual)
        yaw, pitch = a - c, b - d
        part = min(max((LOOK_FADE_RAD[1] - hypot(yaw, pitch)) / (LOOK_FADE_RAD[1] - LOOK_FADE_RAD[0]), 0.0), 1.0)
        return part * min(max(yaw, -MAX_LOOK_RAD[0]), MAX_LOOK_RAD[0]), part * min(
            max(pitch, -MAX_LOOK_RAD[1]), MAX_LOOK_RAD[1]
        )

    def _bearing(self, frame: Frame, way: Point) -> Pair:
        left, up, forward = (sum(a * b for a, b in zip(self._axis(frame, i), way)) for i in range(3))
        return atan2(left, forward), atan2(up, hypot(left, forward))

    def _axis(self, frame: Frame, which: int) -> Point:
        """One of the face's axes in the world, of length 1 but for the scale of the head."""
        x, y, z = self.axes[which]
        a = tuple(x * frame[4 * i] + y * frame[4 * i + 1] + z * frame[4 * i + 2] for i in range(3))
        size = hypot(*a) or 1.0
        return a[0] / size, a[1] / size, a[2] / size

    def _look_point(self, look: str | Sequence[float] | None) -> Point | None:
        """The point to look at; None where it looks ahead."""
        if look is None or look == FORWARD:
            return None
        if not isinstance(look, str):
            return to_point(look)
        checks.one_of(look, "point to look at", (FORWARD, *self.points))
        return self.points[look]
