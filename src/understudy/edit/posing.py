"""Posing: pin and drag any point of the whole character, without IK chains [Ciccone 2019, section 3.5].

    result = pose_character(rig, curves, MovePoint("hand.R", 1.0, by=(0, 0.2, 0)), Pin("foot.L"), time=1.0)
    curves = key_pose(curves, 1.0, result)

Points go to their goals, pinned points stay, columns stay within their limits, and the rest of the pose changes as
little as possible, each joint by its stiffness (`pose_solver`). A goal out of reach is approached, and the result names
the obstacles. The cost counts from the start of the drag, so the result does not depend on the path of the pointer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.character import Channels, Curve, Curves
from understudy.character.key_insertion import key_at
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Limit, MovePoint, Pin, Point, sort_goals
from understudy.edit.keys import finite_time, insert_key, mark_posed, replace_curves
from understudy.edit.outcome import Obstacle
from understudy.edit.points.states import PointStates, states_of
from understudy.edit.pose_solver import PoseProblem, PoseSettings, find_pose_obstacles, pose_variables, search_pose
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
    """A solved pose. Distances in metres, angles in radians."""

    channels: Channels
    start: Array  # (C,) the columns before
    values: Array  # (C,) the columns after
    reached: bool
    distance: float
    angle: float
    start_distance: float
    start_angle: float
    drift: float  # of the pins
    drift_angle: float
    iterations: int
    obstacles: tuple[Obstacle, ...] = ()


def pose_character(
    rig: PosedRig,
    at: Curves | ArrayLike,
    *goals: MovePoint | Pin | Limit,
    time: float | None = None,
    stiffness: Mapping[str, float] | None = None,
    insert: bool = False,
    settings: PoseSettings | None = None,
) -> PoseResult:
    """Find the pose in which points are where they should be, and which changes the least.

    Args:
        rig: Rig of the character.
        at: The pose to begin with: an animation, of which `time` says the moment, or a row (C,) of the rig.
        goals: `MovePoint` for what moves, `Pin` for what stays, `Limit` for columns; their times do not matter here.
        time: Time in the animation, in seconds; needed where `at` is an animation.
        stiffness: Factors by joint (`"Spine"`) or column (`"Spine.euler.x"`) on the cost of changing it; 0 is free.
        insert: Whether channels without a key at `time` may change as well. Without it, only channels with a key there
            change, so that `key_pose` can write the pose into them.
        settings: Weights and limits of the solver.

    Returns:
        The columns `values` (C,) of `channels`, whether the goals are `reached`, the remaining `distance` in metres
        and `angle` in radians, and the `obstacles`.

    Raises:
        InvalidInput: If there is no move, if a point is moved and pinned, if no channel has a key at `time`, or if
            the character has no such point.

    Example:
        >>> lamp = us.load("lamp")
        >>> rig = us.rig_of(lamp.character())
        >>> pose = us.pose_character(rig, rig.rest, us.MovePoint("Head", 0, by=(0, -0.05, 0)), us.Pin("Base"))
        >>> pose.reached, pose.values.shape == rig.rest.shape
        (True, True)

    Notes:
        [Ciccone 2019, section 3.5]. `understudy.edit.posing.key_pose` writes the pose into the animation.
    """
    given = sort_goals(rig.character, goals)
    for kind in ("contacts", "holds"):
        if given[kind]:
            raise InvalidInput("a pose has moves, pins and limits; contacts and holds belong to an edit of curves")
    moves, pins, limits = given["moves"], given["pins"], given["limits"]
    return begin_pose(
        rig, at, moves, time=time, pins=pins, limits=limits, stiffness=stiffness, insert=insert, settings=settings
    ).update(moves)


def begin_pose(
    rig: PosedRig,
    at: Curves | ArrayLike,
    moves: Sequence[MovePoint],
    *,
    time: float | None = None,
    pins: Sequence[Pin] = (),
    limits: Sequence[Limit] = (),
    stiffness: Mapping[str, float] | None = None,
    insert: bool = False,
    settings: PoseSettings | None = None,
) -> PoseDragSolver:
    """`pose_character` prepared for a drag, with many goals of the same points: see `PoseDragSolver.update`."""
    curves = at if isinstance(at, Curves) else None
    channels, start = _starting_pose(rig, at, time)
    keyed = np.ones(channels.width, bool)
    if curves is not None and time is not None and not insert:
        keyed = _columns_with_keys(curves, time)
    task, origin = _pose_problem(rig, channels, start, curves, moves, pins, limits, stiffness or {}, keyed)
    return PoseDragSolver(channels, start, task, origin, tuple(moves), tuple(pins), settings or PoseSettings())


@dataclass(frozen=True)
class PoseDragSolver:
    """A drag of a pose. It has no state: the result of an update depends on its goals alone."""

    channels: Channels
    start: Array  # (C,)
    task: PoseProblem
    origin: tuple[Array, Array]  # (R, 3), (R, 3, 3): position and orientation of the moved points at the start
    moves: tuple[MovePoint, ...]
    pins: tuple[Pin, ...]
    settings: PoseSettings

    def update(self, moves: Sequence[MovePoint]) -> PoseResult:
        """Solve for new goals of the points that the drag began with."""
        if [(m.point, parts_of(m)) for m in moves] != [(m.point, parts_of(m)) for m in self.moves]:
            raise InvalidInput("a drag should keep the points that it began with; begin another drag for other points")
        task = replace(self.task, moves=with_targets(self.task.moves, moves, self.origin))
        search = search_pose(task, self.settings)
        values = self.start.copy()
        values[task.states.columns] = task.variables.values(search.x)
        size = task.size
        return PoseResult(
            self.channels,
            self.start,
            checks.freeze(values),
            search.reached,
            search.moves.distance * size,
            search.moves.angle,
            search.start.distance * size,
            search.start.angle,
            search.pins.distance * size,
            search.pins.angle,
            search.iterations,
            () if search.reached else find_pose_obstacles(task, search, self.channels, moves, self.pins),
        )


def key_pose(curves: Curves, time: float, posed: PoseResult, insert: bool = False) -> Curves:
    """Write a pose into the keys at a time (seconds); handles keep their shape, those of quaternions turn along.

    Only channels that the pose changed are written. A changed channel without a key there is refused unless `insert`
    is set; `pose_character` without `insert` changes no such channel.
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
    columns = posed.channels.slice(curve.channel.target, curve.channel.kind)
    k = key_at(curve, time)
    assert columns is not None and k is not None
    values, before, after = np.array(curve.values), np.array(curve.before), np.array(curve.after)
    if curve.channel.kind == "rotation":
        turn = quaternion.multiply(posed.values[columns], quaternion.inverse(posed.start[columns]))
        values[k] = quaternion.multiply(turn, values[k])
        for handles in (before, after):
            handles[k, :, 1] = quaternion.multiply(turn, handles[k, :, 1])
    else:
        values[k] = np.where(posed.values[columns] == posed.start[columns], values[k], posed.values[columns])
    return mark_posed(replace(curve, values=values, before=before, after=after), k)


def _starting_pose(rig: PosedRig, at: Curves | ArrayLike, time: float | None) -> tuple[Channels, Array]:
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
    values, unit = start[columns], column_units(rig, channels, size)
    variables = pose_variables(
        channels,
        columns,
        values,
        (movable_columns(rig, channels, unit, curves, stiffness) & keyed)[columns]
        & states.influence_mask.any(axis=(0, 1)),
        unit=unit[columns],
        ranges=control_ranges(rig, channels),
        limits=limits_of(channels, limits),
        stiffness=stiffness_of(channels, columns, stiffness)
        * (tangent_cost(channels) * column_mass(rig, channels, size))[columns],
    )
    moved, origin = _pose_targets(states, values, number, moves)
    pinned, _ = _pose_targets(states, values, number, pins)
    return PoseProblem(states, variables, with_targets(moved, moves, origin), pinned, size), origin


def _columns_with_keys(curves: Curves, time: float) -> Array:
    """(C,) bool: the columns of channels that have a key at a time; refused where no channel has one."""
    keyed = [key_at(curve, time) is not None for curve in curves.curves]
    if not any(keyed):
        raise InvalidInput(f"no channel has a key at {time:g} s; ask for keys to be inserted, or pose at a key")
    return np.repeat(keyed, [len(curve.channel) for curve in curves.curves])


def _pose_targets(
    states: PointStates, start: Array, number: Mapping[Point, int], goals: Sequence[MovePoint | Pin]
) -> tuple[PointTargets, tuple[Array, Array]]:
    """Targets that keep every point where it is at the start, and these states: (R, 3), (R, 3, 3)."""
    point = np.array([number[goal.point] for goal in goals], np.int64)
    parts = np.array([parts_of(goal) for goal in goals], bool).reshape(-1, 2)
    sample = np.zeros(len(point), np.int64)
    place, turn, _ = states.evaluate(start[None], sample, point, slopes=False)
    first_row = np.where(parts, np.cumsum(parts.reshape(-1)).reshape(parts.shape) * 3 - 3, -1)
    grid = SampleGrid(np.zeros(1), np.full((1, len(start)), -1, np.int64), start[None])
    targets = PointTargets(
        point, np.zeros(len(point)), np.arange(len(point)), parts, place, turn, grid, sample, first_row
    )
    return targets, (place, turn)
