"""Gaze: where a character looks, applied over the rest of its performance.

Eyes hold a point (`Fixation`), jump to the next (`Saccade`), and hold again. While they hold they stay on the point of
the world, whatever the head does: each frame starts from where the head really is. To a point far to the side the eyes
go first, and the head follows part of the way (`head.HeadFollow`). A clip that is played as it is keeps its own eyes;
the change to them and back is a saccade as well.

**Fixations.** A character with a point to look at stays there, with small shifts beside the point. Without one its eyes
wander over what lies ahead, point by point of the world; when its head turns, they let go and take a point further
along the turn. At zero liveliness it looks straight ahead, and its eyes go with its head.

**Saccades** follow the main sequence. A jump of A degrees lasts D = 21 ms + 2.2 ms/deg A [Carpenter 1988] along the
minimum-jerk profile

    s(x) = 10 x^3 - 15 x^4 + 6 x^5,    x = t / D

whose peak speed 15/8 A / D (290 deg/s for 5 degrees, 440 for 10, 580 for 20) lies on the main sequence of people
[Boghen 1974]. Vergence is slower. What remains of a jump is added to the goal, wherever the goal goes meanwhile, so the
eyes stay on a point while the head turns (the vestibulo-ocular reflex), and a jump can begin in the middle of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import degrees, hypot, radians
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.maths import jit
from understudy.perform.commands import CAMERA, FORWARD
from understudy.perform.layers import layer
from understudy.perform.layers.eye_drives import Angles, EyelidDrive, JointDrive, lids_of, write_all
from understudy.perform.layers.eyes import Eyes, Frame, Point, to_point
from understudy.perform.layers.head import HeadFollow, HeadTurn, head_turn
from understudy.perform.layers.layer import LayerContext

KERNELS = "understudy.perform.layers.layer_kernels"
# Length of a fixation (median in seconds, deviation of the logarithm). People make three a second when they look at a
# picture, and one when they think or listen; a character that always does the former looks hunted.
FIXATION_SECONDS = (0.9, 0.55)
MIN_FIXATION_SECONDS = 0.2  # between two saccades
# Mean size of the shifts, across, and up or down (people look across more than up): beside a point, ahead, wandering.
POINT_SHIFT_RAD = (radians(0.7), radians(0.45))
AHEAD_SHIFT_RAD = (radians(1.4), radians(0.8))
WANDER_SHIFT_RAD = (radians(5.5), radians(2.6))
MAX_SHIFT_RAD = (radians(15), radians(8))
MAX_DRAG_RAD = radians(20)  # angle from straight ahead at which wandering eyes let go of a point as the head turns
LEAD_SECONDS, MAX_LEAD_RAD = 0.15, 0.25  # how far the next point lies ahead of a turning head
AHEAD_DISTANCE_EYE_GAPS = 14.0  # of points ahead, in eye separations: a metre for a person, two for the dragon
MAX_PURSUIT_RAD_PER_S = radians(60)  # a point that moves faster is followed by saccades
MIN_SACCADE_RAD = radians(0.7)  # a point that moves by less in a frame is followed smoothly
SACCADE_BASE_SECONDS, SACCADE_SECONDS_PER_DEGREE = 0.021, 0.0022
VERGENCE_SECONDS = 0.18  # people take 0.2 to 0.4 alone, and less together with a saccade
MIN_SWITCH_SECONDS = 0.16  # from a clip's eyes to the layer's own and back
CAMERA_DISTANCE_EYE_GAPS = 20.0  # of the default camera from the resting face, in eye separations
LID_FOLLOW_RATIO = 0.4  # closure of the lids when the eyes look down as far as they can
ZERO_ANGLES = Angles(0.0, 0.0)


class Fixation(NamedTuple):
    """A point of the world that is looked at, and `shift` radians beside it."""

    mode: str = ""  # "point", "ahead", "wander" or "still"
    point: Point = (0.0, 0.0, 0.0)
    shift: tuple[float, float] = (0.0, 0.0)
    since: float = 0.0  # seconds
    until: float = 0.0  # seconds
    draws: int = 0  # random draws so far
    moved: bool = False  # whether it differs from the frame before, so that a saccade begins


class Saccade(NamedTuple):
    """A jump: the distance to go (`offset`) when it began, and when; vergence takes `verging` seconds."""

    offset: Angles = ZERO_ANGLES
    since: float = 0.0
    seconds: float = 0.0
    verging: float = 0.0

    def remaining(self, time: float) -> Angles | None:
        """The distance to go at a time; None when the eyes have arrived."""
        age = time - self.since
        if age >= self.seconds and age >= self.verging:
            return None
        a = 1.0 - minimum_jerk(age / self.seconds) if age < self.seconds else 0.0
        b = 1.0 - minimum_jerk(age / self.verging) if age < self.verging else 0.0
        yaw, pitch, verge, skew = self.offset
        return Angles(a * yaw, a * pitch, b * verge, b * skew)


class GazeState(NamedTuple):
    """The eyes' angles, and what they hold or jump to."""

    seed: int
    started: bool = False
    played: bool = False
    fixation: Fixation = Fixation()
    jump: Saccade = Saccade()
    eyes: Angles = Angles(0.0, 0.0)
    head: HeadFollow = HeadFollow()
    ahead: Point = (0.0, 0.0, 1.0)  # where the face points


@dataclass(frozen=True, eq=False)
class Gaze:
    """A layer that turns the eyes, and the head a little. `points` are the names that may be looked at."""

    eyes: Eyes
    points: Mapping[str, Point] = field(default_factory=dict)
    turner: HeadTurn | None = None
    lids: tuple[EyelidDrive, ...] = ()  # lowered here when the eyes look down; none where the rig does that itself

    @classmethod
    def from_rig(
        cls, rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None, head: bool = True
    ) -> Gaze | None:
        """The gaze of a rig's character; None where it has no eyes.

        Without a `camera` among the points, it is placed in front of the resting face. `head` False keeps the head out.
        """
        eyes = Eyes.from_rig(rig)
        if eyes is None:
            return None
        frame = eyes.head.evaluate_row(rig.rest)
        x, y, z = eyes.centre(frame)
        a, b, c = (CAMERA_DISTANCE_EYE_GAPS * eyes.separation * part for part in eyes.direction(frame, 0.0, 0.0))
        turner = head_turn(rig, eyes.head.joint) if head else None
        lids = lids_of(rig) if isinstance(eyes.drive, JointDrive) else ()
        return cls(eyes, {CAMERA: (x + a, y + b, z + c)}, turner, lids).with_points(points or {})

    def with_points(self, points: Mapping[str, Sequence[float]]) -> Gaze:
        """The same gaze with more names to look at, or other places for those that it knows."""
        checked = {name: to_point(checks.array(at, f"point {name!r}", (3,))) for name, at in points.items()}
        return replace(self, points={**self.points, **checked})

    @property
    def excluded_columns(self) -> tuple[str, ...]:
        """The columns that this layer drives and training leaves out."""
        return self.eyes.drive.names

    def init(self, seed: int) -> GazeState:
        """The state before the first frame."""
        return GazeState(layer.derive_seed(seed, "gaze"))

    def step(self, state: GazeState, row: Array, moment: LayerContext) -> tuple[GazeState, Array]:
        """The next state, and the row (C,) with its eyes turned."""
        row = row.copy()
        eyes, played = self.eyes, moment.played
        frame = eyes.head.evaluate_row(row)
        ahead = eyes.direction(frame, 0.0, 0.0)
        fixation = self._fixation(state, frame, ahead, moment)
        head = state.head
        if self.turner is not None:
            point = fixation.point if fixation.mode == "point" and not played else None
            head = state.head.step_follow(eyes, frame, ahead, point, moment.dt)
            if head.turn != (0.0, 0.0):
                self.turner.add(row, *head.turn)
                frame = eyes.head.evaluate_row(row)
        goal = eyes.drive.read(row) if played else self._goal(frame, fixation)
        going, actual, turns = _advance_saccade(state, fixation, goal, moment)
        if turns:
            eyes.drive.write(row, actual)
        self._lower_lids(row, actual, moment)
        return GazeState(state.seed, True, played, fixation, going, actual, head, ahead), row

    def step_all(self, states: Sequence[GazeState], rows: Array, moments: Sequence[LayerContext]) -> list[GazeState]:
        """`step` of many characters; their rows (M, C) are changed in place."""
        if not states:
            return []
        kernels = jit.kernels(KERNELS)
        axes, both_eyes, middle, reach = self.eyes.arrays
        frames = self.eyes.head.evaluate_rows(rows)
        seen = np.empty((len(rows), 4))
        kernels.face_directions(frames, np.array([state.fixation.point for state in states]), axes, middle, seen)
        updates = [
            self._update_fixation(state, row, frame, sight, moment)
            for state, row, frame, sight, moment in zip(states, rows, frames, seen.tolist(), moments)
        ]
        goals = np.empty((len(rows), 4))
        points, shifts = zip(*((fixation.point, fixation.shift) for fixation, _, _ in updates))
        kernels.eye_angles(frames, np.array(points), np.array(shifts), axes, both_eyes, reach, goals)
        after, which, turned = [], [], []
        for m, (state, (fixation, head, ahead), goal, moment) in enumerate(
            zip(states, updates, goals.tolist(), moments)
        ):
            wanted = self.eyes.drive.read(rows[m]) if moment.played else Angles(*goal)
            going, actual, turns = _advance_saccade(state, fixation, wanted, moment)
            if turns:
                which.append(m)
                turned.append(actual)
            after.append(GazeState(state.seed, True, moment.played, fixation, going, actual, head, ahead))
        write_all(self.eyes.drive, rows, which, turned)
        for m, state in enumerate(after if self.lids else ()):
            self._lower_lids(rows[m], state.eyes, moments[m])
        return after

    def _update_fixation(
        self, state: GazeState, row: Array, frame: Array, sight: list[float], moment: LayerContext
    ) -> tuple[Fixation, HeadFollow, Point]:
        """The next fixation and head turn, applied to the row and the frame (12,), and the face's direction."""
        x, y, z, off = sight
        ahead, fixation, head = (x, y, z), state.fixation, state.head
        if Fixations(self.eyes).is_unchanged(fixation, self._look_point(moment.look), off, moment):
            fixation = fixation._replace(moved=False) if fixation.moved else fixation
        else:
            fixation = self._fixation(state, tuple(frame.tolist()), ahead, moment)
        if self.turner is not None:
            point = fixation.point if fixation.mode == "point" and not moment.played else None
            head = head.step_follow(self.eyes, () if point is None else tuple(frame.tolist()), ahead, point, moment.dt)
            if head.turn != (0.0, 0.0):
                self.turner.add(row, *head.turn)
                frame[:] = self.eyes.head.evaluate_row(row)
        return fixation, head, ahead

    def _lower_lids(self, row: Array, eyes: Angles, moment: LayerContext) -> None:
        """Lower the lids with eyes that look down."""
        if not moment.played and eyes.pitch < 0.0:
            for lid in self.lids:
                lid.shut_to(row, LID_FOLLOW_RATIO * -eyes.pitch / self.eyes.reach[1])

    def _goal(self, frame: Frame, fixation: Fixation) -> Angles:
        yaw, pitch, verge, skew = angles = self.eyes.angles(frame, fixation.point)
        if fixation.shift == (0.0, 0.0):
            return angles
        return self.eyes.clamp_to_limits(Angles(yaw + fixation.shift[0], pitch + fixation.shift[1], verge, skew))

    def _fixation(self, state: GazeState, frame: Frame, ahead: Point, moment: LayerContext) -> Fixation:
        choice, point = Fixations(self.eyes), self._look_point(moment.look)
        if point is None:
            pace = 1.0 / moment.dt if state.started and moment.dt > 0.0 else 0.0
            x, y, z = (pace * (now - then) for now, then in zip(ahead, state.ahead))
            return choice.next_free_fixation(state.seed, state.fixation, frame, ahead, (x, y, z), moment)
        return choice.next_point_fixation(state.seed, state.fixation, frame, point, moment)

    def _look_point(self, look: str | Sequence[float] | None) -> Point | None:
        """The point to look at; None where the eyes look ahead or wander."""
        if look is None:
            return None
        if not isinstance(look, str):
            return to_point(look)
        if look != FORWARD and look not in self.points:
            checks.one_of(look, "point to look at", (FORWARD, *self.points))
        return None if look == FORWARD else self.points[look]


def _advance_saccade(
    state: GazeState, fixation: Fixation, goal: Angles, moment: LayerContext
) -> tuple[Saccade, Angles, bool]:
    """The current saccade, the eyes' angles, and whether these differ from the clip that is played."""
    going, played = state.jump, moment.played
    if state.started and (played != state.played or (fixation.moved and not played)):
        # it began at the frame before, when the eyes were still at the old point
        going = start_saccade(
            state.eyes, goal, moment.time - moment.dt, MIN_SWITCH_SECONDS if played != state.played else 0.0
        )
    left = going.remaining(moment.time)
    actual = goal if left is None else Angles(*[g + o for g, o in zip(goal, left)])
    return going, actual, not played or left is not None


class Fixations(NamedTuple):
    """Chooses fixations for a pair of eyes."""

    eyes: Eyes

    def next_point_fixation(
        self, seed: int, before: Fixation, frame: Frame, point: Point, moment: LayerContext
    ) -> Fixation:
        """The next fixation of a character with a point to look at."""
        time, life = moment.time, moment.life
        arrived = before.mode == "point" and not self._exceeds_pursuit(before.point, point, frame, moment.dt)
        if life == 0.0:
            moved = not arrived or before.shift != (0.0, 0.0)
            return Fixation("point", point, (0.0, 0.0), time, time, before.draws, moved)
        if arrived and time < before.until:
            return before._replace(point=point, moved=False)
        # on a new point the eyes arrive first; the small shifts beside it come later
        shift = _draw_shift(seed, before.draws, POINT_SHIFT_RAD, life) if arrived else (0.0, 0.0)
        return _start_fixation(seed, before.draws, "point", point, shift, moment)

    def next_free_fixation(
        self, seed: int, before: Fixation, frame: Frame, ahead: Point, turning: Point, moment: LayerContext
    ) -> Fixation:
        """The next fixation without a point; `ahead` is the face's direction, `turning` its change a second."""
        time, life = moment.time, moment.life
        if life == 0.0:
            point = self._point_along(frame, ahead)
            return Fixation("still", point, (0.0, 0.0), time, time, before.draws, before.mode != "still")
        mode, size = ("wander", WANDER_SHIFT_RAD) if moment.look is None else ("ahead", AHEAD_SHIFT_RAD)
        if before.mode == mode and not self._is_over(before, frame, time):
            return before._replace(moved=False)
        x, y, z = self.eyes.direction(frame, *_draw_shift(seed, before.draws, size, life))
        dx, dy, dz = turning
        lead = min(LEAD_SECONDS, MAX_LEAD_RAD / max(hypot(dx, dy, dz), 1e-9))
        way = (x + lead * dx, y + lead * dy, z + lead * dz)
        return _start_fixation(seed, before.draws, mode, self._point_along(frame, way), (0.0, 0.0), moment)

    def is_unchanged(self, before: Fixation, point: Point | None, off: float, moment: LayerContext) -> bool:
        """Whether the fixation of the frame before goes on unchanged, as it does in most frames.

        `point` is the one to look at, or None; `off` is the angle of the previous point from straight ahead, radians.
        """
        time = moment.time
        if moment.life == 0.0 or time >= before.until:
            return False
        if point is not None:
            return before.mode == "point" and before.point == point
        mode = "wander" if moment.look is None else "ahead"
        return before.mode == mode and (off <= MAX_DRAG_RAD or time - before.since < MIN_FIXATION_SECONDS)

    def _is_over(self, before: Fixation, frame: Frame, time: float) -> bool:
        """Whether wandering eyes leave their point: its time is over, or the head has turned away from it."""
        if time >= before.until:
            return True
        return (
            time - before.since >= MIN_FIXATION_SECONDS
            and hypot(*self.eyes.bearing(frame, before.point)) > MAX_DRAG_RAD
        )

    def _exceeds_pursuit(self, before: Point, now: Point, frame: Frame, dt: float) -> bool:
        """Whether a point has moved further in a frame than eyes follow smoothly."""
        if now == before:
            return False
        a, b = self.eyes.angles(frame, before), self.eyes.angles(frame, now)
        return hypot(a.yaw - b.yaw, a.pitch - b.pitch) > max(MAX_PURSUIT_RAD_PER_S * dt, MIN_SACCADE_RAD)

    def _point_along(self, frame: Frame, way: Point) -> Point:
        """The point of the world at the usual distance in a direction."""
        (x, y, z), far = self.eyes.centre(frame), AHEAD_DISTANCE_EYE_GAPS * self.eyes.separation
        return x + far * way[0], y + far * way[1], z + far * way[2]


def _start_fixation(
    seed: int, draws: int, mode: str, point: Point, shift: tuple[float, float], moment: LayerContext
) -> Fixation:
    """A fixation of random length that begins now."""
    lasts = max(layer.log_normal(seed, draws, *FIXATION_SECONDS) / moment.life, MIN_FIXATION_SECONDS)
    return Fixation(mode, point, shift, moment.time, moment.time + lasts, draws + 3, True)


def _draw_shift(seed: int, draws: int, size: tuple[float, float], life: float) -> tuple[float, float]:
    """A random shift in radians across and up; smaller in a calm character."""
    calm = min(life, 1.0) ** 0.5
    yaw = layer.laplace(seed, draws + 1, size[0] * calm)
    pitch = layer.laplace(seed, draws + 2, size[1] * calm)
    return min(max(yaw, -MAX_SHIFT_RAD[0]), MAX_SHIFT_RAD[0]), min(max(pitch, -MAX_SHIFT_RAD[1]), MAX_SHIFT_RAD[1])


def saccade_seconds(amplitude: float) -> float:
    """Seconds of a saccade of `amplitude` radians."""
    return SACCADE_BASE_SECONDS + SACCADE_SECONDS_PER_DEGREE * degrees(amplitude)


def start_saccade(actual: Angles, goal: Angles, time: float, least: float = 0.0) -> Saccade:
    """A saccade from the actual angles to a goal that begins at `time` and takes at least `least` seconds."""
    offset = Angles(*(a - g for a, g in zip(actual, goal)))
    seconds = max(saccade_seconds(hypot(offset.yaw, offset.pitch)), least)
    return Saccade(offset, time, seconds, max(seconds, VERGENCE_SECONDS))


def minimum_jerk(x: float) -> float:
    """10 x^3 - 15 x^4 + 6 x^5: from 0 to 1 with the least jerk, constant outside."""
    if x <= 0.0:
        return 0.0
    return x * x * x * (10.0 - x * (15.0 - 6.0 * x)) if x < 1.0 else 1.0
