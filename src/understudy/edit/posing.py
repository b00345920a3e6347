"""Posing: pin and drag any point of the whole character, without IK chains [Ciccone 2019, section 3.5].

    posed = pose(rig, curves, [Move(Point("hand.R"), 1.0, by=(0, 0.2, 0))], time=1.0, pins=[Pin(Point("foot.L"))])
    curves = key_pose(curves, 1.0, posed)

Points go where they are dragged to, pinned ones stay, columns stay within their limits, and the rest of the pose
changes as little as it can, each joint by its stiffness. What cannot be reached is approached, and the answer says what
stands in the way. Nothing depends on the way of the pointer: the cost counts from the start of the gesture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channels, Curve, Curves
from understudy.character.key_insertion import key_at
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Limit, MovePoint, Pin, Point
from understudy.edit.outcome import Obstacle
from understudy.edit.points.states import PointStates, states_of
from understudy.edit.pose_solver import PoseProblem, PoseSettings, find_pose_obstacles, pose_variables, search_pose
from understudy.edit.selection import finite_time, insert_key, replace_curves
from understudy.edit.solver.free_columns import (
    character_size,
    column_mass,
    column_units,
    control_ranges,
    movable_columns,
    tangent_cost,
)
from understudy.edit.solver.problem import limits_of, parts_of, stiffness_of, with_targets
from understudy.edit.solver.segments import SampleGrid
from understudy.edit.solver.targets import PointTargets
from understudy.errors import InvalidInput, join_names
from understudy.maths import quaternion


@dataclass(frozen=True)
class PoseResult:
    """A pose and how it was come by. Distances in metres, angles in radians."""

    channels: Channels
    start: Array  # (C,) the columns before
    values: Array  # (C,) and after
    reached: bool
    distance: float
    angle: float
    start_distance: float
    start_angle: float
    drift: float  # of pins
    drift_angle: float
    iterations: int
    blocks: tuple[Obstacle, ...] = ()


def pose_character(
    rig: PosedRig,
    at: Curves | Any,
    moves: Sequence[MovePoint],
    *,
    time: float | None = None,
    pins: Sequence[Pin] = (),
    limits: Sequence[Limit] = (),
    stiffness: Mapping[str, float] | None = None,
    insert: bool = False,
    settings: PoseSettings | None = None,
) -> PoseResult:
    """The pose of curves at a time, or a row (C,) of the rig, with the points of `moves` where they should be.

    Times of moves and pins do not matter here. Which columns may change: see `freedom`. Of curves, only channels with a
    key at that time change, so that the pose can be written into them; with `insert` all may.
    """
    return begin_pose(
        rig, at, moves, time=time, pins=pins, limits=limits, stiffness=stiffness, insert=insert, settings=settings
    ).update(moves)


def begin_pose(
    rig: PosedRig,
    at: Curves | Any,
    moves: Sequence[MovePoint],
    *,
    time: float | None = None,
    pins: Sequence[Pin] = (),
    limits: Sequence[Limit] = (),
    stiffness: Mapping[str, float] | None = None,
    insert: bool = False,
    settings: PoseSettings | None = None,
) -> PoseDragSolver:
    """The gesture of `pose`, prepared for many goals of the same points: see `PoseGesture.update`."""
    curves = at if isinstance(at, Curves) else None
    channels, start = _starting_pose(rig, at, time)
    keyed = np.ones(channels.width, bool)
    if curves is not None and time is not None and not insert:
        keyed = _columns_with_keys(curves, time)
    task, origin = _pose_problem(rig, channels, start, curves, moves, pins, limits, stiffness or {}, keyed)
    return PoseDragSolver(channels, start, task, origin, tuple(moves), tuple(pins), settings or PoseSettings())


@dataclass(frozen=True)
class PoseDragSolver:
    """A pose being dragged. It has no state: what an update gives depends on its goals alone."""

    channels: Channels
    start: Array  # (C,)
    task: PoseProblem
    origin: tuple[Array, Array]  # (R, 3), (R, 3, 3): the moved points at the start
    moves: tuple[MovePoint, ...]
    pins: tuple[Pin, ...]
    settings: PoseSettings

    def update(self, moves: Sequence[MovePoint]) -> PoseResult:
        """The pose for other goals of the points that the gesture began with."""
        if [(m.point, parts_of(m)) for m in moves] != [(m.point, parts_of(m)) for m in self.moves]:
            raise InvalidInput("a gesture should go on with the points that it began with; begin another for others")
        task = replace(self.task, moves=with_targets(self.task.moves, moves, self.origin))
        found = search_pose(task, self.settings)
        values = self.start.copy()
        values[task.states.columns] = task.variables.values(found.x)
        size = task.size
        return PoseResult(
            self.channels,
            self.start,
            checks.freeze(values),
            found.reached,
            found.moves.distance * size,
            found.moves.angle,
            found.start.distance * size,
            found.start.angle,
            found.pins.distance * size,
            found.pins.angle,
            found.iterations,
            () if found.reached else find_pose_obstacles(task, found, self.channels, moves, self.pins),
        )


def key_pose(curves: Curves, time: float, posed: PoseResult, insert: bool = False) -> Curves:
    """The pose written into the keys at a time; handles keep their shape, those of quaternions turn along.

    Only channels that the pose changed are written. One of them without a key there is refused, unless `insert` asks
    for keys; `pose` without `insert` changes none such.
    """
    time = finite_time(time)
    if posed.channels != curves.channels:
        raise InvalidInput(f"the pose should be one of animation {curves.name!r}, but has other channels")
    offsets = curves.channels.offsets
    moved = np.array([np.any(posed.values[a:b] != posed.start[a:b]) for a, b in pairwise(offsets)])
    bare = [c.channel for c, yes in zip(curves.curves, moved) if yes and key_at(c, time) is None]
    if bare and not insert:
        names = join_names([f"{channel.target} ({channel.kind})" for channel in bare])
        raise InvalidInput(f"there is no key at {time:g} s of {names}; ask for keys to be inserted, or pose at a key")
    if bare:
        curves = insert_key(curves, time, bare)
    return replace_curves(curves, moved, lambda curve: _write_pose(curve, time, posed))


def _write_pose(curve: Curve, time: float, posed: PoseResult) -> Curve:
    own = posed.channels.slice(curve.channel.target, curve.channel.kind)
    k = key_at(curve, time)
    assert own is not None and k is not None
    values, before, after = np.array(curve.values), np.array(curve.before), np.array(curve.after)
    if curve.channel.kind == "rotation":
        turn = quaternion.multiply(posed.values[own], quaternion.inverse(posed.start[own]))
        values[k] = quaternion.multiply(turn, values[k])
        for handles in (before, after):
            handles[k, :, 1] = quaternion.multiply(turn, handles[k, :, 1])
    else:
        values[k] = np.where(posed.values[own] == posed.start[own], values[k], posed.values[own])
    return replace(curve, values=values, before=before, after=after)


def _starting_pose(rig: PosedRig, at: Curves | Any, time: float | None) -> tuple[Channels, Array]:
    """The channels that may be posed, and their columns (C,) at the start."""
    if isinstance(at, Curves):
        if time is None:
            raise InvalidInput("the pose of an animation needs a time")
        time = finite_time(time)
        if not at.start - 1e-9 <= time <= at.end + 1e-9:
            raise InvalidInput(
                f"the pose should be within animation {at.name!r}, {at.start:g} to {at.end:g} s, but is at {time:g} s"
            )
        return at.channels, checks.freeze(at.sample([time])[0])
    return rig.channels, checks.freeze(checks.array(at, "row of the rig", (rig.channels.width,)))


def _pose_problem(
    rig: PosedRig,
    channels: Channels,
    start: Array,
    curves: Curves | None,
    moves: Sequence[MovePoint],
    pins: Sequence[Pin],
    limits: Sequence[Limit],
    stiffness: Mapping[str, float],
    keyed: Array,
) -> tuple[PoseProblem, tuple[Array, Array]]:
    if not moves:
        raise InvalidInput("a pose should have at least one move, but has none")
    for move in moves:
        for pin in pins:
            if pin.point == move.point and any(a and b for a, b in zip(parts_of(move), parts_of(pin))):
                raise InvalidInput(f"{move.point.name} is pinned and moved; it can be one of them")
    points = list(dict.fromkeys([*(move.point for move in moves), *(pin.point for pin in pins)]))
    number = {point: i for i, point in enumerate(points)}
    states, size = states_of(rig, channels, points), character_size(rig)
    columns = states.columns
    own, unit = start[columns], column_units(rig, channels, size)
    variables = pose_variables(
        channels,
        columns,
        own,
        (movable_columns(rig, channels, unit, curves, stiffness) & keyed)[columns]
        & states.influence_mask.any(axis=(0, 1)),
        unit=unit[columns],
        ranges=control_ranges(rig, channels),
        limits=limits_of(channels, limits),
        stiffness=stiffness_of(channels, columns, stiffness)
        * (tangent_cost(channels) * column_mass(rig, channels, size))[columns],
    )
    asked, origin = _pose_targets(states, own, number, moves)
    held, _ = _pose_targets(states, own, number, pins)
    return PoseProblem(states, variables, with_targets(asked, moves, origin), held, size), origin


def _columns_with_keys(curves: Curves, time: float) -> Array:
    """(C,) bool: the columns of channels that have a key at a time; refused where none has."""
    keyed = [key_at(curve, time) is not None for curve in curves.curves]
    if not any(keyed):
        raise InvalidInput(f"no channel has a key at {time:g} s; ask for keys to be inserted, or pose at a key")
    return np.repeat(keyed, [len(curve.channel) for curve in curves.curves])


def _pose_targets(
    states: PointStates, start: Array, number: Mapping[Point, int], goals: Sequence[MovePoint | Pin]
) -> tuple[PointTargets, tuple[Array, Array]]:
    """The goals, each where it is at the start, and these states: (R, 3), (R, 3, 3)."""
    point = np.array([number[goal.point] for goal in goals], np.int64)
    parts = np.array([parts_of(goal) for goal in goals], bool).reshape(-1, 2)
    sample = np.zeros(len(point), np.int64)
    place, turn, _ = states.evaluate(start[None], sample, point, slopes=False)
    first_row = np.where(parts, np.cumsum(parts.reshape(-1)).reshape(parts.shape) * 3 - 3, -1)
    nowhere = SampleGrid(np.zeros(1), np.full((1, len(start)), -1, np.int64), start[None])
    asked = PointTargets(
        point, np.zeros(len(point)), np.arange(len(point)), parts, place, turn, nowhere, sample, first_row
    )
    return asked, (place, turn)
