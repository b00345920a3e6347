"""Gaze: where a character looks, laid over what the rest of it does.

Eyes hold a point (`fixation`), jump to the next (`saccade`), and hold again. While they hold they stay on the point of
the world, whatever the head does: each frame starts from where the head really is. To a point far to the side the eyes
go first, and the head follows a part of the way (`head_share`).

A clip that is played as it is keeps its own eyes; the way there and back is a jump as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.live.commands import CAMERA, FORWARD
from understudy.live.layers import chance
from understudy.live.layers.eye_drives import Angles, JointDrive, write_all
from understudy.live.layers.eyes import Eyes, Point
from understudy.live.layers.fixation import Fixation, Fixations
from understudy.live.layers.head_frame import Frame
from understudy.live.layers.head_share import HeadShare
from understudy.live.layers.head_turn import HeadTurn, head_turn
from understudy.live.layers.layer import Moment, one_by_one
from understudy.live.layers.lids import Lid, lids_of
from understudy.live.layers.saccade import Jump, jump
from understudy.maths import accelerate
from understudy.rig import PosedRig

KERNELS = "understudy.live.layers.gaze_kernels"
CAMERA_DISTANCE = 20.0  # distances between the eyes, from the resting face
SWITCH = 0.16  # seconds at least, from a clip's eyes to the layer's own and back
LID_FOLLOWS = 0.4  # of a blink, when the eyes look down as far as they can


class GazeState(NamedTuple):
    """Where the eyes are, and what they will do next."""

    seed: int
    started: bool = False
    played: bool = False
    fixation: Fixation = Fixation()
    jump: Jump = Jump()
    eyes: Angles = Angles(0.0, 0.0)
    head: HeadShare = HeadShare()
    ahead: Point = (0.0, 0.0, 1.0)  # where the face points


@dataclass(frozen=True, eq=False)
class Gaze:
    """A layer that turns the eyes, and the head a little. `points` are the names that may be looked at."""

    eyes: Eyes
    points: Mapping[str, Point] = field(default_factory=dict)
    turner: HeadTurn | None = None
    lids: tuple[Lid, ...] = ()  # that have to be lowered when the eyes look down; others follow by themselves

    @classmethod
    def of(cls, rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None, head: bool = True) -> Gaze | None:
        """The gaze of a rig's character; None where it has no eyes.

        Without a `camera` among the points, it stands in front of the resting face. `head` False leaves the head alone.
        """
        eyes = Eyes.of(rig)
        if eyes is None:
            return None
        frame = eyes.head.of(rig.rest)
        x, y, z = eyes.centre(frame)
        a, b, c = (CAMERA_DISTANCE * eyes.separation * part for part in eyes.direction(frame, 0.0, 0.0))
        turner = head_turn(rig, eyes.head.joint) if head else None
        lids = lids_of(rig) if isinstance(eyes.drive, JointDrive) else ()
        return cls(eyes, {CAMERA: (x + a, y + b, z + c)}, turner, lids).with_points(points or {})

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
        eyes, played = self.eyes, moment.played
        frame = eyes.head.of(row)
        ahead = eyes.direction(frame, 0.0, 0.0)
        fixation = self._fixation(state, frame, ahead, moment)
        head = state.head
        if self.turner is not None:
            point = fixation.point if fixation.mode == "point" and not played else None
            head = state.head.next(eyes, frame, ahead, point, moment.dt)
            if head.turn != (0.0, 0.0):
                self.turner.add(row, *head.turn)
                frame = eyes.head.of(row)
        goal = eyes.drive.read(row) if played else self._goal(frame, fixation)
        going, actual, turns = _jumping(state, fixation, goal, moment)
        if turns:
            eyes.drive.write(row, actual)
        self._lower(row, actual, moment)
        return GazeState(state.seed, True, played, fixation, going, actual, head, ahead), row

    def step_all(self, states: Sequence[GazeState], rows: Array, moments: Sequence[Moment]) -> list[GazeState]:
        """`step` of many, over their rows (M, C) in place."""
        kernels = accelerate.kernels(KERNELS)
        if kernels is None or not states:
            return one_by_one(self, states, rows, moments)
        axes, both_eyes, middle, reach = self.eyes.arrays
        frames = self.eyes.head.of_all(rows)
        seen = np.empty((len(rows), 4))
        kernels.sights(frames, np.array([state.fixation.point for state in states]), axes, middle, seen)
        held = [
            self._held(state, row, frame, sight, moment)
            for state, row, frame, sight, moment in zip(states, rows, frames, seen.tolist(), moments)
        ]
        goals = np.empty((len(rows), 4))
        points, shifts = zip(*((fixation.point, fixation.shift) for fixation, _, _ in held))
        kernels.angles(frames, np.array(points), np.array(shifts), axes, both_eyes, reach, goals)
        after, which, turned = [], [], []
        for m, (state, (fixation, head, ahead), goal, moment) in enumerate(zip(states, held, goals.tolist(), moments)):
            wanted = self.eyes.drive.read(rows[m]) if moment.played else Angles(*goal)
            going, actual, turns = _jumping(state, fixation, wanted, moment)
            if turns:
                which.append(m)
                turned.append(actual)
            after.append(GazeState(state.seed, True, moment.played, fixation, going, actual, head, ahead))
        write_all(self.eyes.drive, rows, which, turned)
        for m, state in enumerate(after if self.lids else ()):
            self._lower(rows[m], state.eyes, moments[m])
        return after

    def _held(
        self, state: GazeState, row: Array, frame: Array, sight: list[float], moment: Moment
    ) -> tuple[Fixation, HeadShare, Point]:
        """The fixation, the head's share, laid over the row and the frame (12,), and where the face pointed before."""
        x, y, z, off = sight
        ahead, fixation, head = (x, y, z), state.fixation, state.head
        if Fixations(self.eyes).stays(fixation, self._told(moment.look), off, moment):
            fixation = fixation._replace(moved=False) if fixation.moved else fixation
        else:
            fixation = self._fixation(state, tuple(frame.tolist()), ahead, moment)
        if self.turner is not None:
            point = fixation.point if fixation.mode == "point" and not moment.played else None
            head = head.next(self.eyes, () if point is None else tuple(frame.tolist()), ahead, point, moment.dt)
            if head.turn != (0.0, 0.0):
                self.turner.add(row, *head.turn)
                frame[:] = self.eyes.head.of(row)
        return fixation, head, ahead

    def _lower(self, row: Array, eyes: Angles, moment: Moment) -> None:
        """Lids go with eyes that look down."""
        if not moment.played and eyes.pitch < 0.0:
            for lid in self.lids:
                lid.shut_to(row, LID_FOLLOWS * -eyes.pitch / self.eyes.reach[1])

    def _goal(self, frame: Frame, fixation: Fixation) -> Angles:
        yaw, pitch, verge, skew = angles = self.eyes.angles(frame, fixation.point)
        if fixation.shift == (0.0, 0.0):
            return angles
        return self.eyes.held(Angles(yaw + fixation.shift[0], pitch + fixation.shift[1], verge, skew))

    def _fixation(self, state: GazeState, frame: Frame, ahead: Point, moment: Moment) -> Fixation:
        choice, point = Fixations(self.eyes), self._told(moment.look)
        if point is None:
            pace = 1.0 / moment.dt if state.started and moment.dt > 0.0 else 0.0
            x, y, z = (pace * (now - then) for now, then in zip(ahead, state.ahead))
            return choice.free(state.seed, state.fixation, frame, ahead, (x, y, z), moment)
        return choice.told(state.seed, state.fixation, frame, point, moment)

    def _told(self, look: str | Sequence[float] | None) -> Point | None:
        """The point that was told; None where the eyes are free, ahead or wherever they wander."""
        if look is None:
            return None
        if not isinstance(look, str):
            return _place(look)
        if look != FORWARD and look not in self.points:
            checks.one_of(look, "point to look at", (FORWARD, *self.points))
        return None if look == FORWARD else self.points[look]


def _jumping(state: GazeState, fixation: Fixation, goal: Angles, moment: Moment) -> tuple[Jump, Angles, bool]:
    """The jump that the eyes are in, where they are, and whether that is anywhere else than in the clip that plays."""
    going, played = state.jump, moment.played
    if state.started and (played != state.played or (fixation.moved and not played)):
        # it began after the frame before, where the eyes still were at the old point
        going = jump(state.eyes, goal, moment.time - moment.dt, SWITCH if played != state.played else 0.0)
    left = going.left(moment.time)
    actual = goal if left is None else Angles(*[g + o for g, o in zip(goal, left)])
    return going, actual, not played or left is not None


def _place(at: Sequence[float] | Array) -> Point:
    x, y, z = at
    return float(x), float(y), float(z)
