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
from understudy.edit.drag import DragSession
from understudy.edit.goals import Edit, MovePoint, Pin, Point, Quaternion, Triple
from understudy.edit.outcome import EditResult, Obstacle
from understudy.edit.points.states import states_of
from understudy.edit.posing import PoseResult, begin_pose, key_pose
from understudy.edit.selection import insert_key
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


@dataclass(frozen=True)
class DragResult:
    """The result of one goal. `blocked` has the edit and the result for which suggestions can be computed."""

    curves: Curves
    reached: bool = True
    distance: float = 0.0
    angle: float = 0.0
    drift: float = 0.0
    start_distance: float = 0.0  # metres between the point and its goal before the drag
    obstacles: tuple[Obstacle, ...] = ()
    blocked: tuple[Edit, EditResult] | None = None


class DragProtocol(Protocol):
    """The interface of all kinds of drags."""

    point: Point
    time: float  # seconds on the file's clock
    before: Curves
    note: str

    def drag(self, goal: DragTarget) -> DragResult:
        """Solve for another goal."""
        ...

    def final_curves(self) -> Curves:
        """The curves to commit on release."""
        ...


class PointDrag:
    """Move or rotate a point at a time between keys: tangents change, keys do not."""

    def __init__(
        self, ground: RigCache, curves: Curves, point: Point, time: float, turning: bool, held: Constraints, edges: str
    ) -> None:
        self.point, self.time, self.before = point, time, curves
        self.turning = turning
        self.note = f"{'turn' if turning else 'move'} {point.name}"
        move = MovePoint(point, time, by=ZERO_VECTOR, turn_to=IDENTITY_QUATERNION if turning else None)
        self._session = DragSession(ground.rig, curves, history=0, ground=ground)
        begun = self._session.begin(held.edit([move], curves, edges))
        self.place, self.turn = begun.places[0], begun.turns[0]

    def drag(self, goal: DragTarget) -> DragResult:
        """Move to a position, or rotate in place."""
        if self.turning:
            if goal.turn is None:
                raise InvalidInput("a turn should have a quaternion `turn`")
            outcome = self._session.update([MovePoint(self.point, self.time, by=ZERO_VECTOR, turn_to=goal.turn)])
        else:
            if goal.to is None:
                raise InvalidInput("a move should have a position `to`")
            outcome = self._session.update(to=goal.to)
        drag = self._session.drag
        assert drag is not None
        return DragResult(
            outcome.curves,
            outcome.reached,
            outcome.distance,
            outcome.angle,
            outcome.drift,
            outcome.start_distance,
            outcome.obstacles,
            None if outcome.reached else (drag.edit, outcome),
        )

    def final_curves(self) -> Curves:
        """The curves of the last goal."""
        return self._session.curves


class RetimeDrag:
    """Stretch or compress the time around a moment [Ciccone 2019, eq. 12], for the channels that move the point.

    Channels that move a pinned point are left alone.
    """

    def __init__(self, rig: PosedRig, curves: Curves, point: Point, time: float, held: Constraints, edges: str) -> None:
        self.point, self.time, self.before = point, time, curves
        self.note = f"retime {point.name}"
        self._edges, self._now = edges, curves
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
        self._now = timing.scale_timing(self.before, self.time, sigma, self._targets, self._edges)
        return DragResult(self._now)

    def final_curves(self) -> Curves:
        """The curves of the last goal."""
        return self._now


class PoseDrag:
    """Move or rotate a point of the pose at one time; the pose becomes keys."""

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
        # keys on all channels show the pose at once; `final_curves` keeps those of the channels that changed
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

    def final_curves(self) -> Curves:
        """The curves with keys on the channels that the pose has changed only."""
        return self.before if self._posed is None else key_pose(self.before, self.time, self._posed, self._insert)


def _movers(rig: PosedRig, curves: Curves, points: Sequence[Point]) -> set[int]:
    """The numbers of the curves that move or rotate any of the points."""
    if not points:
        return set()
    states = states_of(rig, curves.channels, points)
    columns: Array = states.columns[states.influence_mask.any(axis=(0, 1))]
    return set((np.searchsorted(curves.channels.offsets, columns, side="right") - 1).tolist())
