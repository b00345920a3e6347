"""Drags: a point is picked up, follows the pointer, and is released.

A drag is prepared once and accepts any number of goals; each `drag` returns the curves for that goal. A goal that is
refused changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit import timing
from understudy.edit.drag import Drag, DragSession
from understudy.edit.goals import Edit, MovePoint, Pin, Point, Quaternion, Triple
from understudy.edit.keys import insert_key
from understudy.edit.outcome import EditResult, MotionChange, Obstacle
from understudy.edit.points.states import states_of
from understudy.edit.posing import PoseResult, begin_pose, key_pose
from understudy.edit.solver.free_columns import RigCache
from understudy.errors import InvalidInput
from understudy.studio.edit.constraints import Constraints

ZERO_VECTOR = (0.0, 0.0, 0.0)
IDENTITY_QUATERNION = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class DragTarget:
    """The goal of a drag; each kind of drag uses one of the three fields."""

    to: Triple | None = None
    turn: Quaternion | None = None
    factor: float | None = None
    falloff: float | None = None  # seconds, of any kind


@dataclass(frozen=True)
class DragResult:
    """The result of one goal. `solved` has the edit and the result of the solver, where it can be solved again.

    `radius` (seconds) is that of the window in which keys may move, and `change` is measured at the release only.
    """

    curves: Curves
    reached: bool = True
    distance: float = 0.0
    angle: float = 0.0
    drift: float = 0.0
    start_distance: float = 0.0  # metres between the point and its goal before the drag
    obstacles: tuple[Obstacle, ...] = ()
    solved: tuple[Edit, EditResult] | None = None
    radius: float | None = None
    change: MotionChange | None = None


@dataclass(frozen=True, eq=False)
class ReleasedDrag:
    """A drag that was kept, for another weight of it, and for another try without one of the feet that it held."""

    drag: DragProtocol
    edit: Edit | None  # None where it cannot be solved again
    after: Curves  # with the whole drag
    kept: Curves  # the clip as it is, with a share of the drag


class DragProtocol(Protocol):
    """The interface of all kinds of drags."""

    point: Point
    time: float  # seconds on the file's clock
    before: Curves
    note: str
    feet: tuple[Pin, ...]  # that stand and are held

    def drag(self, goal: DragTarget) -> DragResult:
        """Solve for another goal."""
        ...

    def release(self, last: DragResult) -> DragResult:
        """The result to commit, after the `last` goal."""
        ...


class PointDrag:
    """Move or rotate a point at a time: between keys of a person the tangents change, else keys within a window."""

    def __init__(
        self,
        ground: RigCache,
        curves: Curves,
        point: Point,
        time: float,
        turning: bool,
        held: Constraints,
        edges: str,
        falloff: float | None = None,
    ) -> None:
        self.point, self.time, self.before = point, time, curves
        self.turning = turning
        self.note = f"{'turn' if turning else 'move'} {point.name}"
        self._held, self._edges = held, edges
        self._session = DragSession(ground.rig, curves, history=0, ground=ground)
        begun = self._begin(falloff)
        self.place, self.turn = begun.places[0], begun.turns[0]

    def _begin(self, falloff: float | None) -> Drag:
        turn_to = IDENTITY_QUATERNION if self.turning else None
        move = MovePoint(self.point, self.time, by=ZERO_VECTOR, turn_to=turn_to)
        edit = self._held.edit(self._session.rig, [move], self.before, self._edges, falloff)
        self.feet = edit.pins[len(self._held.pins) :]
        self._falloff = falloff
        return self._session.begin(edit)

    def drag(self, goal: DragTarget) -> DragResult:
        """Move to a position, or rotate in place."""
        if self.turning and goal.turn is None:
            raise InvalidInput("a turn should have a quaternion `turn`")
        if not self.turning and goal.to is None:
            raise InvalidInput("a move should have a position `to`")
        if goal.falloff != self._falloff:
            self._session.cancel()
            self._begin(goal.falloff)
        if self.turning:
            outcome = self._session.update([MovePoint(self.point, self.time, by=ZERO_VECTOR, turn_to=goal.turn)])
        else:
            outcome = self._session.update(to=goal.to)
        drag = self._session.drag
        assert drag is not None
        return drag_result(outcome, drag.edit)

    def release(self, last: DragResult) -> DragResult:
        """The result of a patient search for the last goal."""
        drag = self._session.drag
        assert drag is not None
        self._session.commit()
        outcome = self._session.last_result
        return last if outcome is None else drag_result(outcome, drag.edit)


def drag_result(outcome: EditResult, edit: Edit) -> DragResult:
    """The result of an edit as that of a drag."""
    return DragResult(
        outcome.curves,
        outcome.reached,
        outcome.distance,
        outcome.angle,
        outcome.drift,
        outcome.start_distance,
        outcome.obstacles,
        (edit, outcome),
        outcome.radius,
        outcome.change,
    )


class SpeedDrag:
    """Change the speed of a point along its own path, where keys come from a fitter or every frame is one."""

    def __init__(self, rig: PosedRig, curves: Curves, point: Point, time: float, held: Constraints, edges: str) -> None:
        self.point, self.time, self.before = point, time, curves
        self.note = f"retime {point.name}"
        self.feet = held.standing_feet(rig, curves, [point], time, time, None)
        self._rig, self._edges, self._held = rig, edges, held

    def drag(self, goal: DragTarget) -> DragResult:
        """Change the speed by another factor."""
        if goal.factor is None:
            raise InvalidInput("timing should have a speed `factor`")
        held, (contacts, holds) = self._held, self._held.near(self.before, [self.time])
        outcome = timing.retime(
            self._rig,
            self.before,
            self.point,
            self.time,
            min(goal.factor, timing.MAX_PATH_SPEED_FACTOR),
            pins=(*held.pins, *self.feet),
            contacts=contacts,
            holds=holds,
            limits=held.limits,
            stiffness=held.stiffness,
            edges=self._edges,
        )
        return DragResult(
            outcome.curves,
            outcome.reached,
            outcome.distance,
            drift=outcome.drift,
            obstacles=outcome.obstacles,
            radius=outcome.radius,
            change=outcome.change,
        )

    def release(self, last: DragResult) -> DragResult:
        """The result of the last goal."""
        return last


class RetimeDrag:
    """Stretch or compress the time around a moment [Ciccone 2019, eq. 12], for the channels that move the point.

    Channels that move a pinned point are left alone.
    """

    feet: tuple[Pin, ...] = ()

    def __init__(self, rig: PosedRig, curves: Curves, point: Point, time: float, held: Constraints, edges: str) -> None:
        self.point, self.time, self.before = point, time, curves
        self.note = f"retime {point.name}"
        self._edges = edges
        moved = _movers(rig, curves, [point]) - _movers(rig, curves, [pin.point for pin in held.pins])
        if not moved:
            raise InvalidInput(
                f"every channel that moves {point.name} also moves a pinned point; release the pin first"
            )
        self._targets = [curves.curves[i].channel for i in sorted(moved)]
        timing.scale_timing(curves, time, 0.0, self._targets, edges)  # raises now rather than at the first goal

    def drag(self, goal: DragTarget) -> DragResult:
        """Change the speed by another factor."""
        if goal.factor is None:
            raise InvalidInput("timing should have a speed `factor`")
        sigma = timing.sigma_of(goal.factor)
        return DragResult(timing.scale_timing(self.before, self.time, sigma, self._targets, self._edges))

    def release(self, last: DragResult) -> DragResult:
        """The result of the last goal."""
        return last


class PoseDrag:
    """Move or rotate a point of the pose at one time; the pose becomes keys."""

    feet: tuple[Pin, ...] = ()

    def __init__(
        self,
        rig: PosedRig,
        curves: Curves,
        point: Point,
        time: float,
        turning: bool,
        pins: Sequence[Point],
        held: Constraints,
        insert: bool,
    ) -> None:
        self.point, self.time, self.before, self.turning = point, time, curves, turning
        self.note = f"pose {point.name}"
        self._insert = insert
        # keys on all channels show the pose at once; `release` keeps those of the channels that changed
        self._ready = insert_key(curves, time) if insert else curves
        self._move = MovePoint(point, time, by=ZERO_VECTOR, turn_to=IDENTITY_QUATERNION if turning else None)
        others = [each for each in pins if each != point]
        self._gesture = begin_pose(
            rig,
            self._ready,
            [self._move],
            time=time,
            pins=[Pin(each) for each in others],
            limits=held.limits,
            stiffness=held.stiffness,
        )
        self._posed: PoseResult | None = None

    def drag(self, goal: DragTarget) -> DragResult:
        """Another position or orientation of the point."""
        if self.turning:
            if goal.turn is None:
                raise InvalidInput("a turn should have a quaternion `turn`")
            move = replace(self._move, turn_to=goal.turn)
        else:
            if goal.to is None:
                raise InvalidInput("a move should have a position `to`")
            move = replace(self._move, by=None, to=goal.to)
        posed = self._posed = self._gesture.update([move])
        curves = key_pose(self._ready, self.time, posed)
        return DragResult(
            curves, posed.reached, posed.distance, posed.angle, posed.drift, posed.start_distance, posed.obstacles
        )

    def release(self, last: DragResult) -> DragResult:
        """The result with keys on the channels that the pose has changed only."""
        posed = self._posed
        curves = self.before if posed is None else key_pose(self.before, self.time, posed, self._insert)
        return replace(last, curves=curves)


def _movers(rig: PosedRig, curves: Curves, points: Sequence[Point]) -> set[int]:
    """The numbers of the curves that move or rotate any of the points."""
    if not points:
        return set()
    states = states_of(rig, curves.channels, points)
    columns: Array = states.columns[states.influence_mask.any(axis=(0, 1))]
    return set((np.searchsorted(curves.channels.offsets, columns, side="right") - 1).tolist())
