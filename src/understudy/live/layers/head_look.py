"""Looking without eyes: a character in which none are found turns its head to what it is told to look at.

With the face's axes left l, up u, forward f in the world, d the way from the head to the point,

    yaw = atan2(d.l, d.f)        pitch = atan2(d.u, |(d.l, d.f)|)

and as much of that as a neck does is added to what the performance does with the head. It is measured from where the
face has pointed of late, so that a head that nods goes on to nod, and led there by two critically damped springs, one
after the other: a head is heavy, and does not set off at full speed. A clip that is played keeps its own head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import atan2, hypot, radians
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.live.commands import CAMERA, FORWARD
from understudy.live.layers.bones import human_bones
from understudy.live.layers.facing import facing
from understudy.live.layers.head_frame import Frame, HeadFrame
from understudy.live.layers.head_share import Pair, followed, sprung
from understudy.live.layers.head_turn import HeadTurn, head_turn
from understudy.live.layers.layer import Moment
from understudy.rig import DirectRig, PosedRig

Point = tuple[float, float, float]

MOST = (radians(60), radians(30))  # across, and up or down: further than that the body would have to turn
SEEN = (radians(100), radians(150))  # what is further behind is followed less and less, and then not at all
HALF_LIFE = 0.1  # seconds, of either spring: it is half way after a fifth of a second
SETTLED = radians(1e-3)
CAMERA_AWAY = 3.0  # heights in front of the resting face
AHEAD: Pair = (0.0, 0.0)


class Turned(NamedTuple):
    """Radians that the head is turned to its left and up, what leads it, the speeds of both, and the face's way."""

    turn: Pair = AHEAD
    speed: Pair = AHEAD
    lead: Pair = AHEAD
    lead_speed: Pair = AHEAD
    usual: Point | None = None  # None before the first frame

    def towards(self, goal: Pair, dt: float) -> Turned:
        """After dt seconds."""
        if self.turn == self.lead == goal and self.speed == self.lead_speed == AHEAD:
            return self
        lead, lead_speed = zip(*(sprung(x, v, g, dt, HALF_LIFE) for x, v, g in zip(self.lead, self.lead_speed, goal)))
        turn, speed = zip(*(sprung(x, v, g, dt, HALF_LIFE) for x, v, g in zip(self.turn, self.speed, lead)))
        near = max(abs(a - b) for a, b in zip((*turn, *lead), (*goal, *goal)))
        if near < SETTLED and max(map(abs, (*speed, *lead_speed))) < SETTLED:
            return Turned(goal, AHEAD, goal, AHEAD, self.usual)
        return Turned(turn, speed, lead, lead_speed, self.usual)


@dataclass(frozen=True, eq=False)
class HeadLook:
    """A layer that turns the head. `points` are the names that may be looked at."""

    head: HeadFrame
    axes: Array  # (3, 3) rows left, up and forward of the face, in the frame of the head
    turner: HeadTurn
    points: Mapping[str, Point] = field(default_factory=dict)

    @classmethod
    def of(cls, rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None) -> HeadLook | None:
        """The head of a character of joints; None where none is found that turns.

        Without a `camera` among the points, it stands in front of the resting face.
        """
        joint = human_bones(rig.character.skeleton).get("Head")
        if joint is None or not isinstance(rig, DirectRig):
            return None
        turner = head_turn(rig, joint)
        if turner is None:
            return None
        worlds = rig.joints(rig.rest[None])[0]
        world, face = worlds[joint, :3, :3] / np.linalg.norm(worlds[joint, :3, :3], axis=0), facing(rig)
        away = CAMERA_AWAY * float(np.ptp(worlds[:, 1, 3])) * face[:, 2]
        camera = _place(worlds[joint, :3, 3] + away)
        return cls(HeadFrame(rig, joint), face.T @ world, turner, {CAMERA: camera}).with_points(points or {})

    def with_points(self, points: Mapping[str, Sequence[float]]) -> HeadLook:
        """The same with more names to look at, or other places for those that it knows."""
        checked = {name: _place(checks.array(at, f"point {name!r}", (3,))) for name, at in points.items()}
        return replace(self, points={**self.points, **checked})

    def init(self, seed: int) -> Turned:
        """The state before the first frame; nothing happens by chance."""
        return Turned()

    def step(self, state: Turned, row: Array, moment: Moment) -> tuple[Turned, Array]:
        """The next state, and the row (C,) with its head turned."""
        point = None if moment.played else self._told(moment.look)
        if point is None and state.turn == state.lead == AHEAD and state.speed == state.lead_speed == AHEAD:
            return state._replace(usual=None), row
        frame = self.head.of(row)
        ahead = self._axis(frame, 2)
        usual = ahead if state.usual is None else followed(state.usual, ahead, moment.dt)
        goal = AHEAD if point is None else self._goal(frame, usual, point)
        state = state.towards(goal, moment.dt)._replace(usual=usual)
        row = row.copy()
        self.turner.add(row, *state.turn)
        return state, row

    def _goal(self, frame: Frame, usual: Point, point: Point) -> Pair:
        """Radians across and up to a point, from where the face usually points."""
        away = (point[0] - frame[3], point[1] - frame[7], point[2] - frame[11])
        (a, b), (c, d) = self._bearing(frame, away), self._bearing(frame, usual)
        yaw, pitch = a - c, b - d
        part = min(max((SEEN[1] - hypot(yaw, pitch)) / (SEEN[1] - SEEN[0]), 0.0), 1.0)
        return part * min(max(yaw, -MOST[0]), MOST[0]), part * min(max(pitch, -MOST[1]), MOST[1])

    def _bearing(self, frame: Frame, way: Point) -> Pair:
        left, up, forward = (sum(a * b for a, b in zip(self._axis(frame, i), way)) for i in range(3))
        return atan2(left, forward), atan2(up, hypot(left, forward))

    def _axis(self, frame: Frame, which: int) -> Point:
        """One of the face's axes in the world, of length 1 but for the scale of the head."""
        x, y, z = self.axes[which]
        a = tuple(x * frame[4 * i] + y * frame[4 * i + 1] + z * frame[4 * i + 2] for i in range(3))
        size = hypot(*a) or 1.0
        return a[0] / size, a[1] / size, a[2] / size

    def _told(self, look: str | Sequence[float] | None) -> Point | None:
        """The point that was told; None where it looks ahead."""
        if look is None or look == FORWARD:
            return None
        if not isinstance(look, str):
            return _place(look)
        checks.one_of(look, "point to look at", (FORWARD, *self.points))
        return self.points[look]


def _place(at: Sequence[float] | Array) -> Point:
    x, y, z = at
    return float(x), float(y), float(z)
