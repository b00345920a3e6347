"""The problem of one edit: what may change, what is asked for, and what must hold [Ciccone 2019, sections 3.2, 3.3].

Tangents are reduced as in section 3.3. With C_s the columns that move the manipulated points and C_j those that move a
constrained one, the set C of columns whose tangents may change starts as C_s; a constraint (1) whose C_j does not meet
C is dropped; (2) one that keeps position and orientation and has C_j within C_s is kept by leaving C_j alone; (3) any
other is a row of the problem, and C grows by C_j. (Case 2 asks for orientation as well because a chain that only keeps
its end in place may still turn about it.)

Time is sampled anew where it is needed: a constraint starts with few times, and those at which it was found to drift
between them are added (`solve`).

Tangents that move what is held are spared: there is no need to bring back what does not move.

Where others can do it alone, the optimisation then finds a way that needs no correction, at any time; where they
cannot, it still may use all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy.character import Channels, Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, ObjectiveTerm, Pin, Point
from understudy.edit.points.states import PointStates
from understudy.edit.solver.free_columns import RigCache, movable_columns, tangent_cost
from understudy.edit.solver.free_tangents import Range, TangentVariables, owners, tangent_variables
from understudy.edit.solver.objective_terms import EvaluatedTerm, evaluate_terms
from understudy.edit.solver.targets import PointTargets, TargetResiduals, measure_targets, point_states, point_targets
from understudy.errors import InvalidInput, join_names
from understudy.maths import quaternion

FIRST_CONSTRAINT_SAMPLES = 9  # of a constraint over a stretch of time; more come where it drifts
DRIFT_SAMPLES_PER_S = 60.0  # times a second at which drift is looked for, whatever the frame rate: curves are smooth
MIN_DRIFT_SAMPLES, MAX_DRIFT_SAMPLES = 32, 400  # such times of one constraint

Constraint = Pin | Contact | Hold


@dataclass(frozen=True)
class EditProblem:
    """Everything that stays the same while a point is dragged about."""

    edit: Edit
    size: float  # metres, of the character
    states: PointStates
    tangents: TangentVariables
    moves: PointTargets  # goals are numbers into edit.moves
    kept: tuple[Constraint, ...]
    held: PointTargets  # the first samples of the constraints; goals are numbers into `kept`
    dense: PointTargets  # all times at which they are looked at
    origin: tuple[Array, Array]  # states of the moved points before the edit: (R, 3), (R, 3, 3)
    points: tuple[Point, ...]  # that the states are of, by number
    unit: Array  # (n,) what one unit of each column of the states is
    loose: Array  # (n,) bool, whether a column may change at all: bones keep their lengths
    terms: tuple[EvaluatedTerm, ...] = ()

    @cached_property
    def initial_drift(self) -> TargetResiduals:
        """What is held before the edit: a contact may not stand still yet."""
        zero = np.zeros(self.tangents.count)
        return measure_targets(self.states, self.tangents, self.dense, zero, self.size, slopes=False)

    @cached_property
    def frozen_pins(self) -> tuple[tuple[Pin, Array], ...]:
        """The pins that are kept by leaving columns alone, case 2, each with those columns (n,)."""
        pins = [(pin, frozen_columns(self, pin)) for pin in self.edit.pins if pin not in self.kept]
        return tuple((pin, columns) for pin, columns in pins if columns.any())

    @cached_property
    def could_move(self) -> Array:
        """(R, n) `could_move` of the columns that are left alone."""
        return could_move(self, np.any([columns for _, columns in self.frozen_pins], axis=0))


def prepare_problem(rig: PosedRig, curves: Curves, edit: Edit, ground: RigCache | None = None) -> EditProblem:
    """The problem of an edit of `curves` on `rig`, checked. `ground` is what is known of the rig from edits before."""
    ground = ground or RigCache(rig)
    _check_times(curves, edit)
    goals: list[MovePoint | Constraint] = [*edit.moves, *edit.pins, *edit.contacts, *edit.holds]
    looked_at = [point for wish in edit.terms for point in wish.points(rig)]
    points = list(dict.fromkeys([*(goal.point for goal in goals), *looked_at]))
    states, size = ground.states(curves.channels, points), ground.size
    number = {point: i for i, point in enumerate(points)}
    kept, free = _reduce_constraints(states, number, edit, [number[point] for point in looked_at])
    unit = ground.units(curves.channels)
    loose = movable_columns(rig, curves.channels, unit, curves, edit.stiffness, ground.loose)[states.columns]
    free &= loose
    ranges = _free_ranges(curves, states.columns[free], edit)
    made = tangent_variables(
        curves,
        states.columns,
        free,
        ranges,
        unit=unit[states.columns],
        limits=limits_of(curves.channels, edit.limits),
        stiffness=stiffness_of(curves.channels, states.columns, edit.stiffness)
        * tangent_cost(curves.channels)[states.columns],
        smooth_edges=edit.edges == "smooth",
    )
    moves = _move_targets(made, number, edit.moves)
    zero = np.zeros(made.count)
    origin = point_states(states, made, moves, zero)
    held, dense = (_constraint_targets(states, made, number, kept, curves.rate, few) for few in (True, False))
    wishes = evaluate_terms(rig, states, made, number, edit.terms, curves.rate, size)
    return EditProblem(
        edit,
        size,
        states,
        made,
        with_targets(moves, edit.moves, origin),
        kept,
        held,
        dense,
        origin,
        tuple(points),
        unit[states.columns],
        loose,
        wishes,
    )


def with_targets(asked: PointTargets, moves: Sequence[MovePoint], origin: tuple[Array, Array]) -> PointTargets:
    """The requests with the goals of moves: where to, or by how much from where the point was."""
    place, turn = origin[0].copy(), origin[1].copy()
    for r, move in enumerate(moves):
        if move.to is not None:
            place[r] = move.to
        if move.by is not None:
            place[r] = origin[0][r] + np.array(move.by)
        if move.turn_to is not None:
            turn[r] = quaternion.to_matrix(np.array(move.turn_to))
    return replace(asked, place=place, turn=turn)


def _check_times(curves: Curves, edit: Edit) -> None:
    inside = f"the clip {curves.name!r} lasts from {curves.start:.4g} s to {curves.end:.4g} s"
    moments: list[MovePoint | Hold] = [*edit.moves, *edit.holds]
    spans: list[Pin | Contact | ObjectiveTerm | Edit] = [*edit.pins, *edit.contacts, *edit.terms, edit]
    times = [(goal.time, f"the time of {goal.point.name}") for goal in moments]
    for span in spans:
        times += [(t, "a range of the edit") for t in (span.start, span.stop) if t is not None]
    for time, what in times:
        if not curves.start - 1e-9 <= time <= curves.end + 1e-9:
            raise InvalidInput(f"{what} should lie within the clip, but is {time:.4g} s; {inside}")
    for move in edit.moves:
        for pin in edit.pins:
            low = -np.inf if pin.start is None else pin.start
            high = np.inf if pin.stop is None else pin.stop
            if pin.point == move.point and low <= move.time <= high and (move.to or move.by) and pin.position:
                raise InvalidInput(f"{move.point.name} is pinned and moved at {move.time:.4g} s; it can be one of them")


def parts_of(goal: MovePoint | Constraint) -> tuple[bool, bool]:
    """Whether a goal is about the position, and whether about the orientation."""
    if isinstance(goal, MovePoint):
        return goal.to is not None or goal.by is not None, goal.turn_to is not None
    return goal.position, goal.orientation


def _columns_of(states: PointStates, number: dict[Point, int], goal: MovePoint | Constraint) -> Array:
    """(n,) the columns that the goal depends on: C_s, C_j."""
    return states.influence_mask[number[goal.point]][np.array(parts_of(goal))].any(axis=0)


def _reduce_constraints(
    states: PointStates, number: dict[Point, int], edit: Edit, looked_at: Sequence[int]
) -> tuple[tuple[Constraint, ...], Array]:
    """The constraints that remain, and the columns (n,) that may change: section 3.3."""
    moved: Sequence[MovePoint | Contact] = edit.moves or (() if edit.terms else edit.contacts)
    constraints: list[Constraint] = [*edit.contacts, *edit.holds, *edit.pins]
    wanted = [_columns_of(states, number, goal) for goal in moved] + [states.influence_mask[p, 0] for p in looked_at]
    c_s = np.any(wanted, axis=0)
    frozen = np.any([np.zeros_like(c_s), *(_pin_columns(states, number, pin, c_s) for pin in edit.pins)], axis=0)
    free, c = c_s & ~frozen, [_columns_of(states, number, goal) & ~frozen for goal in constraints]
    met: list[int] = []
    while new := [j for j, c_j in enumerate(c) if j not in met and (c_j & free).any()]:
        free = np.any([free, *(c[j] for j in new)], axis=0)  # what was free of the others may now meet them
        met += new
    return tuple(constraints[j] for j in sorted(met)), free


def _pin_columns(states: PointStates, number: dict[Point, int], pin: Pin, c_s: Array) -> Array:
    """(n,) the columns that a pin keeps from changing at all: case 2, none where it is another."""
    c_j = _columns_of(states, number, pin)
    whole = pin.start is None and pin.stop is None and pin.position and pin.orientation
    return c_j & (whole and not (c_j & ~c_s).any())


def frozen_columns(problem: EditProblem, pin: Pin) -> Array:
    """(n,) the columns of a problem that would follow the moves, were they not left alone for this pin."""
    number = {point: i for i, point in enumerate(problem.points)}
    moves = [_columns_of(problem.states, number, move) for move in problem.edit.moves]
    none = np.zeros(len(problem.states.columns), bool)
    return _pin_columns(problem.states, number, pin, np.any([none, *moves], axis=0))


def could_move(problem: EditProblem, concerned: Array) -> Array:
    """(R, n) whether a tangent of the column, free or not, can change its value at the time of each move.

    Only columns `concerned` (n,) are looked at.
    """
    t, moves = problem.tangents, problem.moves
    owner, _ = owners(t.curves, problem.states.columns)
    result = np.zeros((len(moves), len(owner)), bool)
    for number in np.unique(owner[concerned]):
        curve = t.curves.curves[number]
        inside = (moves.time > curve.times[0]) & (moves.time < curve.times[-1])
        away = np.abs(moves.time[:, None] - curve.times).min(axis=1) > 1e-6
        segment = np.clip(np.searchsorted(curve.times, moves.time, side="right") - 1, 0, max(len(curve) - 2, 0))
        moving = curve.segments[segment] > 0 if len(curve) > 1 else np.zeros(len(moves), bool)
        result[:, owner == number] = (inside & away & moving)[:, None]
    return result


def _free_ranges(curves: Curves, columns: Array, edit: Edit) -> list[Range]:
    """The stretches whose segments may change."""
    if edit.start is not None or edit.stop is not None:
        low = curves.start if edit.start is None else edit.start
        return [(low, curves.end if edit.stop is None else edit.stop)]
    instants = [(move.time - 1e-9, move.time + 1e-9) for move in edit.moves]
    return [*instants, *((span.start, span.stop) for spans in (edit.contacts, edit.terms) for span in spans)]


def limits_of(channels: Channels, limits: Sequence[Limit]) -> dict[int, Range]:
    """The range of each limited column, by its number."""
    result = {}
    for limit in limits:
        kinds = ("euler.", "", "weights.", "controls.")
        names = [f"{limit.target}.{kind}{limit.column}" for kind in kinds]
        found = [channels.names.index(name) for name in names if name in channels.names]
        if not found:
            own = [name for name in channels.names if name.startswith(f"{limit.target}.")]
            if any(name.startswith(f"{limit.target}.rotation.") for name in own):
                raise InvalidInput(
                    f"{limit.target!r} turns by a quaternion, whose columns have no limits; make it Euler angles first"
                )
            raise InvalidInput(
                f"there is no column {limit.column!r} of {limit.target!r} to limit; "
                f"there are {join_names(own or channels.names)}"
            )
        result[found[0]] = (float(limit.low), float(limit.high))
    return result


def stiffness_of(channels: Channels, columns: Array, stiffness: Mapping[str, float]) -> Array:
    """(n,) by the name of the joint or of the column itself, which has the last word."""
    names = [channels.names[c] for c in columns]
    unknown = [key for key in stiffness if not any(n == key or n.startswith(f"{key}.") for n in channels.names)]
    if unknown:
        raise InvalidInput(f"stiffness is given for {join_names(unknown)}, which the animation does not move")
    result = np.ones(len(columns))
    for key in sorted(stiffness, key=len):
        result[[n == key or n.startswith(f"{key}.") for n in names]] = stiffness[key]
    return result


def _move_targets(made: TangentVariables, number: dict[Point, int], moves: Sequence[MovePoint]) -> PointTargets:
    return point_targets(
        made,
        np.array([number[move.point] for move in moves], np.int64),
        np.array([move.time for move in moves], float),
        np.arange(len(moves)),
        np.array([parts_of(move) for move in moves], bool).reshape(-1, 2),
    )


def _constraint_targets(
    states: PointStates,
    made: TangentVariables,
    number: dict[Point, int],
    kept: Sequence[Constraint],
    rate: float,
    few: bool,
) -> PointTargets:
    """The constraints at some times, or at all that are looked at, with where they should be."""
    rows = []
    for g, goal in enumerate(kept):
        stretches = made.changeable_spans(states.influence_mask[number[goal.point]].any(axis=0))
        for time in _constraint_times(goal, stretches, rate, few):
            rows.append((number[goal.point], time, g, parts_of(goal)))
    point, goals = (np.array([row[i] for row in rows], np.int64) for i in (0, 2))
    parts = np.array([row[3] for row in rows], bool).reshape(-1, 2)
    asked = point_targets(made, point, np.array([row[1] for row in rows], float), goals, parts)
    # A contact stays where it is at its start; the others are wanted where they were at each time.
    before = asked
    if any(isinstance(goal, Contact) for goal in kept):
        starts = [goal.start if isinstance(goal := kept[g], Contact) else t for t, g in zip(asked.time, goals)]
        before = point_targets(made, point, np.array(starts, float), goals, parts)
    place, turn = point_states(states, made, before, np.zeros(made.count))
    return replace(asked, place=place, turn=turn)


def _constraint_times(goal: Constraint, stretches: list[Range], rate: float, few: bool) -> Array:
    """Times inside the stretches that can change at which a constraint is asked for."""
    if isinstance(goal, Hold):
        return np.array([goal.time for a, b in stretches if a < goal.time < b])
    low = -np.inf if goal.start is None else goal.start
    high = np.inf if goal.stop is None else goal.stop
    times = []
    for a, b in stretches:
        a, b = max(a, low), min(b, high)
        if b <= a:
            continue
        steps = int(np.clip(np.ceil((b - a) * DRIFT_SAMPLES_PER_S), MIN_DRIFT_SAMPLES, MAX_DRIFT_SAMPLES))
        if few:
            steps = min(FIRST_CONSTRAINT_SAMPLES + 1, max(2, int(np.ceil((b - a) * rate))))
        times.append(a + (b - a) * np.arange(steps + 1) / steps)
    return np.unique(np.concatenate([np.zeros(0), *times]))


CONSTRAINT_PENALTY = 100.0
"""How much dearer those tangents are. A drag that needs them changes them a hundred times less than it would; squared,
that is far below what a goal weighs, so that a goal that needs them is reached all the same."""


def with_constraint_penalty(problem: EditProblem, point: Point) -> EditProblem:
    """The same problem with dear tangents wherever they move something that is held, other than `point` itself."""
    t = problem.tangents
    others = [goal for goal, kept in enumerate(problem.kept) if kept.point != point]
    held = problem.held.point[np.isin(problem.held.goal, others)]
    shared = np.asarray(problem.states.influence_mask[held].any(axis=(0, 1)))
    dear = np.zeros(t.count, bool)
    used = t.variable[shared[t.column]]
    dear[used[used >= 0]] = True
    return replace(problem, tangents=replace(t, cost=t.cost * np.where(dear, CONSTRAINT_PENALTY, 1.0)))
