"""Gaze: where a character looks, laid over what the rest of it does.

Eyes hold a point, jump to the next by saccades, and hold again. While they hold they stay on the point of the world,
whatever the head does. Told where to look, they stay there but for small shifts; told nothing, they wander over what
lies ahead and go with the head when it turns. To a point far to the side the eyes go first, and the head follows a part
of the way.

A clip that is played as it is keeps its own eyes; the way there and back is a jump as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, hypot, radians
from typing import NamedTuple

from understudy import checks
from understudy.checks import Array
from understudy.live import chance
from understudy.live.eye_drives import Angles, JointDrive
from understudy.live.eyes import Eyes, Point
from understudy.live.head_frame import Frame
from understudy.live.head_turn import HeadTurn, head_turn
from understudy.live.layer import Moment
from understudy.live.lids import Lid, lids_of
from understudy.live.saccade import Jump, jump
from understudy.maths.spring import HALF_REACHED
from understudy.rig import PosedRig

CAMERA, FORWARD = "camera", "forward"

# Seconds that a fixation lasts (median, deviation of the logarithm). People who look at a picture make three a second,
# who think or listen one; a character that does the former all the time looks hunted.
HELD = (0.9, 0.55)
SHORTEST = 0.15  # seconds between two jumps
# Mean size of the shifts, radians: across, and up or down (people look across more than up).
ON_POINT = (radians(0.7), radians(0.45))
AHEAD = (radians(1.4), radians(0.8))
WANDERING = (radians(5.5), radians(2.6))
FURTHEST = (radians(15), radians(8))
DRAGGED = radians(17)  # the eyes let go of a point that a turning head carries further than this from the middle
LEAD = 0.15  # seconds that the next point lies ahead of a turning head
DISTANCE = 14.0  # of what lies ahead, in distances between the eyes: a metre for a person, two for the dragon
CAMERA_DISTANCE = 20.0
PURSUIT = radians(60)  # a second; a point that moves faster is followed by jumps
NOTICED = radians(0.7)  # and a point that steps by less is simply followed
SWITCH = 0.16  # seconds at least, from a clip's eyes to the layer's own and back
HEAD_FREE = radians(9)  # what the eyes do alone
HEAD_SHARE = 0.5  # of what lies beyond
HEAD_MOST = (radians(22), radians(12))
HEAD_HALF_LIFE = 0.16  # seconds
USUAL_HALF_LIFE = 0.8  # seconds over which a head's direction is averaged: longer than a shake, shorter than a stroll
ARRIVED = 1e-4  # radians
LID_FOLLOWS = 0.4  # of a blink, when the eyes look down as far as they can
SETTLED = radians(1e-3)


class GazeState(NamedTuple):
    """Where the eyes are, and what they will do next."""

    seed: int
    draws: int = 0
    started: bool = False
    played: bool = False
    mode: str = ""  # "point", "ahead", "wander" or "still"
    point: Point = (0.0, 0.0, 0.0)  # that is looked at, in the world
    shift: tuple[float, float] = (0.0, 0.0)  # radians beside it
    fixed: float = 0.0  # since when
    until: float = 0.0  # and until when
    jump: Jump = Jump()
    eyes: Angles = Angles(0.0, 0.0)
    head: tuple[float, float] = (0.0, 0.0)  # radians that the head is turned further
    head_speed: tuple[float, float] = (0.0, 0.0)
    ahead: Point = (0.0, 0.0, 1.0)  # where the face points
    usual: Point = (0.0, 0.0, 1.0)  # and has pointed of late


class Fixation(NamedTuple):
    """A point to look at, from now until later."""

    mode: str
    point: Point
    shift: tuple[float, float]
    fixed: float
    until: float
    draws: int
    moved: bool  # whether it is another than the one before


@dataclass(frozen=True, eq=False)
class Gaze:
    """A layer that turns the eyes, and the head a little. `points` are the names that may be looked at."""

    eyes: Eyes
    points: Mapping[str, Point] = field(default_factory=dict)
    turner: HeadTurn | None = None
    lids: tuple[Lid, ...] = ()  # that have to be lowered when the eyes look down; others follow by themselves

    @classmethod
    def of(cls, rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None, head: bool = True) -> Gaze | None:
        """The gaze of a rig's character; None where it has no eyes. Without a `camera` among the points, it stands in
        front of the resting face. `head` False leaves the head alone."""
        eyes = Eyes.of(rig)
        if eyes is None:
            return None
        frame = eyes.head.of(rig.rest)
        ahead = _along(eyes.centre(frame), eyes.direction(frame, 0.0, 0.0), CAMERA_DISTANCE * eyes.separation)
        turner = head_turn(rig, eyes.head.joint) if head else None
        lids = lids_of(rig) if isinstance(eyes.drive, JointDrive) else ()
        return cls(eyes, {CAMERA: ahead}, turner, lids).with_points(points or {})

    def with_points(self, points: Mapping[str, Sequence[float]]) -> Gaze:
        """The same gaze with more names to look at, or other places for those that it knows."""
        checked = {name: _place(checks.array(at, f"point {name!r}", (3,))) for name, at in points.items()}
        return replace(self, points={**self.points, **checked})

    @property
    def apart(self) -> tuple[str, ...]:
        """What this layer owns, and learning leaves out."""
        return self.eyes.drive.names

    def init(self, seed: int) -> GazeState:
        """The state before the first frame."""
        return GazeState(chance.stream(seed, "gaze"))

    def step(self, state: GazeState, row: Array, moment: Moment) -> tuple[GazeState, Array]:
        """The next state, and the row (C,) with its eyes turned."""
        row = row.copy()
        time, eyes = moment.time, self.eyes
        frame = eyes.head.of(row)
        ahead = eyes.direction(frame, 0.0, 0.0)
        fixation = self._fixation(state, frame, ahead, moment)
        usual = _followed(state.usual, ahead, moment.dt) if state.started else ahead
        head, head_speed = self._head(state, frame, usual, fixation, moment)
        if self.turner is not None and head != (0.0, 0.0):
            self.turner.add(row, *head)
            frame = eyes.head.of(row)
        if moment.played:
            goal = eyes.drive.read(row)
        else:
            goal = self._goal(frame, fixation)
        going = state.jump
        if state.started and (moment.played != state.played or (fixation.moved and not moment.played)):
            least = SWITCH if moment.played != state.played else 0.0
            going = jump(state.eyes, goal, time - moment.dt, least)
        left = going.left(time)
        actual = goal if left is None else Angles(*[g + o for g, o in zip(goal, left)])
        if not moment.played or left is not None:
            eyes.drive.write(row, actual)
        if self.lids and not moment.played and actual.pitch < 0.0:
            for lid in self.lids:
                lid.shut_to(row, LID_FOLLOWS * -actual.pitch / eyes.reach[1])
        after = GazeState(
            state.seed,
            fixation.draws,
            True,
            moment.played,
            fixation.mode,
            fixation.point,
            fixation.shift,
            fixation.fixed,
            fixation.until,
            going,
            actual,
            head,
            head_speed,
            ahead,
            usual,
        )
        return after, row

    def _goal(self, frame: Frame, fixation: Fixation) -> Angles:
        yaw, pitch, verge, skew = self.eyes.angles(frame, fixation.point)
        if fixation.shift == (0.0, 0.0):
            return Angles(yaw, pitch, verge, skew)
        return self.eyes.held(Angles(yaw + fixation.shift[0], pitch + fixation.shift[1], verge, skew))

    def _fixation(self, state: GazeState, frame: Frame, ahead: Point, moment: Moment) -> Fixation:
        """What is looked at now: the point of the frame before, or another."""
        time, life = moment.time, moment.life
        told = self._told(moment.look)
        if told is None and life == 0.0:
            point = self._ahead_of(frame, ahead)
            return Fixation("still", point, (0.0, 0.0), time, time, state.draws, state.mode != "still")
        if told is not None:
            if life == 0.0:
                moved = (
                    state.mode != "point" or state.shift != (0.0, 0.0) or self._jumped(state, frame, told, moment.dt)
                )
                return Fixation("point", told, (0.0, 0.0), time, time, state.draws, moved)
            shifted = state.mode != "point" or self._jumped(state, frame, told, moment.dt)
            if not shifted and time < state.until:
                return Fixation("point", told, state.shift, state.fixed, state.until, state.draws, False)
            # at a new point the eyes arrive on it; the small shifts come later
            shift = (0.0, 0.0) if shifted else self._shift(state, ON_POINT, life)
            return self._from_now(state, "point", told, shift, time, life)
        mode, size = ("ahead", AHEAD) if moment.look == FORWARD else ("wander", WANDERING)
        if state.mode == mode and not self._let_go(state, frame, time):
            return Fixation(mode, state.point, (0.0, 0.0), state.fixed, state.until, state.draws, False)
        speed = 0.0 if moment.dt <= 0.0 or not state.started else LEAD / moment.dt
        x, y, z = self.eyes.direction(frame, *self._shift(state, size, life))
        turned = (ahead[0] - state.ahead[0], ahead[1] - state.ahead[1], ahead[2] - state.ahead[2])
        way = _along((x, y, z), turned, speed)
        return self._from_now(state, mode, self._ahead_of(frame, way), (0.0, 0.0), time, life)

    def _from_now(
        self, state: GazeState, mode: str, point: Point, shift: tuple[float, float], time: float, life: float
    ) -> Fixation:
        lasts = max(chance.log_normal(state.seed, state.draws, *HELD) / life, SHORTEST)
        return Fixation(mode, point, shift, time, time + lasts, state.draws + 3, True)

    def _shift(self, state: GazeState, size: tuple[float, float], life: float) -> tuple[float, float]:
        """Radians across and up, mostly small; smaller in a calm character."""
        calm = min(life, 1.0) ** 0.5
        yaw = chance.two_sided(state.seed, state.draws + 1, size[0] * calm)
        pitch = chance.two_sided(state.seed, state.draws + 2, size[1] * calm)
        return min(max(yaw, -FURTHEST[0]), FURTHEST[0]), min(max(pitch, -FURTHEST[1]), FURTHEST[1])

    def _let_go(self, state: GazeState, frame: Frame, time: float) -> bool:
        """Whether eyes that wander leave their point: its time is over, or the head has turned away from it."""
        if time >= state.until:
            return True
        if time - state.fixed < SHORTEST:
            return False
        yaw, pitch, _, _ = self.eyes.angles(frame, state.point)
        return hypot(yaw, pitch) > DRAGGED

    def _jumped(self, state: GazeState, frame: Frame, point: Point, dt: float) -> bool:
        """Whether a point has moved further than eyes follow smoothly."""
        if point == state.point:
            return False
        a, b = self.eyes.angles(frame, state.point), self.eyes.angles(frame, point)
        return hypot(a.yaw - b.yaw, a.pitch - b.pitch) > max(PURSUIT * dt, NOTICED)

    def _told(self, look: str | Sequence[float] | None) -> Point | None:
        if look is None or (isinstance(look, str) and look == FORWARD):
            return None
        if isinstance(look, str):
            if look not in self.points:
                checks.one_of(look, "point to look at", (FORWARD, *self.points))
            return self.points[look]
        return _place(look)

    def _ahead_of(self, frame: Frame, way: Point) -> Point:
        return _along(self.eyes.centre(frame), way, DISTANCE * self.eyes.separation)

    def _head(
        self, state: GazeState, frame: Frame, usual: Point, fixation: Fixation, moment: Moment
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """How far the head is turned further, and how fast: a spring, so that it sets off after the eyes.

        It goes by where the face has pointed of late: a head that is shaken should not be held back by a gaze.
        """
        if self.turner is None:
            return (0.0, 0.0), (0.0, 0.0)
        goal = (0.0, 0.0)
        if fixation.mode == "point" and not moment.played:
            (a, b), (c, d) = (
                self.eyes.bearing(frame, fixation.point),
                self.eyes.bearing(frame, _along(self.eyes.centre(frame), usual, 1.0)),
            )
            yaw, pitch = a - c, b - d
            off = hypot(yaw, pitch)
            if off > HEAD_FREE:
                share = HEAD_SHARE * (off - HEAD_FREE) / off
                goal = (
                    min(max(share * yaw, -HEAD_MOST[0]), HEAD_MOST[0]),
                    min(max(share * pitch, -HEAD_MOST[1]), HEAD_MOST[1]),
                )
        if not state.started:
            return goal, (0.0, 0.0)
        if state.head == goal and state.head_speed == (0.0, 0.0):
            return state.head, state.head_speed
        y = HALF_REACHED / HEAD_HALF_LIFE
        decay, dt = exp(-y * moment.dt), moment.dt
        value, speed = [], []
        for x, v, g in zip(state.head, state.head_speed, goal):
            k = v + y * (x - g)
            value.append(g + decay * (x - g + k * dt))
            speed.append(decay * (v - y * k * dt))
        if max(abs(value[0] - goal[0]), abs(value[1] - goal[1])) < SETTLED and hypot(*speed) < SETTLED:
            return goal, (0.0, 0.0)
        return (value[0], value[1]), (speed[0], speed[1])


def _followed(usual: Point, ahead: Point, dt: float) -> Point:
    """A direction that follows another slowly, and arrives."""
    x, y, z = ahead[0] - usual[0], ahead[1] - usual[1], ahead[2] - usual[2]
    if abs(x) + abs(y) + abs(z) < ARRIVED:
        return ahead
    return _along(usual, (x, y, z), 1.0 - 0.5 ** (dt / USUAL_HALF_LIFE))


def _place(at: Sequence[float] | Array) -> Point:
    x, y, z = at
    return float(x), float(y), float(z)


def _along(start: Point, way: Point, distance: float) -> Point:
    return start[0] + way[0] * distance, start[1] + way[1] * distance, start[2] + way[2] * distance
