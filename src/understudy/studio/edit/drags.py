"""Gestures: a point is taken hold of, follows the pointer, and is let go.

Each gesture is prepared once and answers any number of goals; `curves` is what it has come to, which are those before
it until the first. Nothing is kept of a goal that is refused.
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
    """Where the pointer is: of its three parts a gesture takes the one that it is about."""

    to: Triple | None = None
    turn: Quaternion | None = None
    factor: float | None = None


@dataclass(frozen=True)
class DragResult:
    """What one goal came to. `blocked` has the edit and the outcome for which offers can be worked out."""

    curves: Curves
    reached: bool = True
    distance: float = 0.0
    angle: float = 0.0
    drift: float = 0.0
    blocks: tuple[Obstacle, ...] = ()
    blocked: tuple[Edit, EditResult] | None = None


class DragProtocol(Protocol):
    """What all kinds have in common."""

    point: Point
    time: float  # of the file's own clock
    before: Curves
    note: str

    def drag(self, goal: DragTarget) -> DragResult:
        """Another goal."""
        ...

    def final_curves(self) -> Curves:
        """The curves to keep when it is let go."""
        ...


class PointDrag:
    """A point is moved or turned at a time between keys: tangents change, keys do not."""

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
        """Move to a place, or turn where it is."""
        if self.turning:
            if goal.turn is None:
                raise InvalidInput("a turn should say `turn`, a quaternion, but does not")
            outcome = self._session.update([MovePoint(self.point, self.time, by=ZERO_VECTOR, turn_to=goal.turn)])
        else:
            if goal.to is None:
                raise InvalidInput("a move should say `to`, a place, but does not")
            outcome = self._session.update(to=goal.to)
        gesture = self._session.gesture
        assert gesture is not None
        return DragResult(
            outcome.curves,
            outcome.reached,
            outcome.distance,
            outcome.angle,
            outcome.drift,
            outcome.blocks,
            None if outcome.reached else (gesture.edit, outcome),
        )

    def final_curves(self) -> Curves:
        """As it was seen last."""
        return self._session.curves


class RetimeDrag:
    """The frames around a moment are spread or gathered [Ciccone 2019, eq. 12], of what moves the point.

    Channels that move anything that is pinned are left alone.
    """

    def __init__(self, rig: PosedRig, curves: Curves, point: Point, time: float, held: Constraints, edges: str) -> None:
        self.point, self.time, self.before = point, time, curves
        self.note = f"retime {point.name}"
        self._edges, self._now = edges, curves
        moved = _movers(rig, curves, [point]) - _movers(rig, curves, [pin.point for pin in held.pins])
        if not moved:
            raise InvalidInput(f"all that moves {point.name} moves something that is pinned; release the pin first")
        self._targets = [curves.curves[i].channel for i in sorted(moved)]
        timing.scale_timing(curves, time, 0.0, self._targets, edges)  # refused now, where it would be later

    def drag(self, goal: DragTarget) -> DragResult:
        """Another factor of the speed."""
        if goal.factor is None:
            raise InvalidInput("timing should say `factor`, how many times as fast, but does not")
        sigma = timing.sigma_of(goal.factor)
        self._now = timing.scale_timing(self.before, self.time, sigma, self._targets, self._edges)
        return DragResult(self._now)

    def final_curves(self) -> Curves:
        """As it was seen last."""
        return self._now


class PoseDrag:
    """A point of the pose at one time is moved or turned, and the pose becomes keys."""

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
        # with keys everywhere at this time the pose can be seen at once; which of them stay is known at the end
        self._ready = insert_key(curves, time) if insert else curves
        self._move = MovePoint(point, time, by=ZERO_VECTOR, turn_to=IDENTITY_QUATERNION if turning else None)
        own = [each for each in pins if each != point]
        self._gesture = begin_pose(
            rig,
            self._ready,
            [self._move],
            time=time,
            pins=[Pin(each) for each in own],
            limits=held.limits,
            stiffness=held.stiffness,
        )
        self._posed: PoseResult | None = None

    def drag(self, goal: DragTarget) -> DragResult:
        """Another place or another turn of the point."""
        if self.turning:
            if goal.turn is None:
                raise InvalidInput("a turn should say `turn`, a quaternion, but does not")
            move = replace(self._move, turn_to=goal.turn)
        else:
            if goal.to is None:
                raise InvalidInput("a move should say `to`, a place, but does not")
            move = replace(self._move, by=None, to=goal.to)
        posed = self._posed = self._gesture.update([move])
        curves = key_pose(self._ready, self.time, posed)
        return DragResult(curves, posed.reached, posed.distance, posed.angle, posed.drift, posed.blocks)

    def final_curves(self) -> Curves:
        """Keys for the channels that the pose has changed, and for no others."""
        return self.before if self._posed is None else key_pose(self.before, self.time, self._posed, self._insert)


def _movers(rig: PosedRig, curves: Curves, points: Sequence[Point]) -> set[int]:
    """The numbers of the curves that move or turn any of the points."""
    if not points:
        return set()
    states = states_of(rig, curves.channels, points)
    columns: Array = states.columns[states.influence_mask.any(axis=(0, 1))]
    return set((np.searchsorted(curves.channels.offsets, columns, side="right") - 1).tolist())
