"""The problem of one edit: what may change, the goals, and the constraints [Ciccone 2019, sections 3.2, 3.3].

Tangents are reduced as in section 3.3. With C_s the columns that move the manipulated points and C_j those that move a
constrained one, the set C of columns whose tangents may change starts as C_s; a constraint (1) whose C_j does not meet
C is dropped; (2) one that keeps position and orientation and has C_j within C_s is met by freezing C_j; (3) any other
is a row of the problem, and C grows by C_j. (Case 2 asks for orientation as well because a chain that only keeps the
position of its end may still turn about it.)

Time is sampled adaptively: a constraint starts with few times, and those at which it drifts between them are added
(`sqp`).

What may change are the tangents of keys that a person set (`free_tangents`), or, where keys come from a fitter or lie
on every frame, offsets within a window of time around the moves (`offsets`).

`with_constraint_penalty` raises the cost of tangents that would disturb constraints. Where other tangents suffice, the
solution then needs no correction at any time; where they do not, all may still be used.
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
from understudy.edit.solver.free_columns import RigCache, movable_columns, path_weights, tangent_cost
from understudy.edit.solver.free_tangents import Range, TangentVariables, owners, tangent_variables
from understudy.edit.solver.objective_terms import EvaluatedTerm, evaluate_terms
from understudy.edit.solver.offsets import OffsetVariables, Window, offset_variables, uses_window, window_radius
from understudy.edit.solver.targets import (
    PointTargets,
    TargetResiduals,
    Variables,
    measure_targets,
    point_states,
    point_targets,
)
from understudy.errors import InvalidInput, join_names
from understudy.maths import quaternion

FIRST_CONSTRAINT_SAMPLES = 9  # times of a constraint over a span at first; more are added where it drifts
WINDOW_SAMPLES = 13  # the same within the window of an edit, where keys are close and most of the change is
# Rates at which drift is measured, whatever the frame rate: between keys of a person a handle may turn sharply, and a
# script has the time to look that closely.
DRIFT_SAMPLES_PER_S, DRAG_DRIFT_SAMPLES_PER_S = 240.0, 60.0
MIN_DRIFT_SAMPLES, MAX_DRIFT_SAMPLES = 32, 1000  # of one span of a constraint

# Times on each side of a move at which the path of its point is looked at, in radii of the window: closest at the move.
PATH_RADII = 1.5 * np.linspace(0, 1, 11)[1:] ** 1.5
WEIGHT_SPAN_SECONDS = 0.2  # around the moves, over which the weights of columns are averaged
MIN_STIFFNESS = 0.01  # of a column that a user has set free: its cost must not be zero

CONSTRAINT_PENALTY = 100.0
"""Cost factor of tangents that move a constrained point. A drag that needs them changes them a hundred times less than
without; squared, the factor is far below the weight of a goal, so a goal that needs them is reached all the same."""

Constraint = Pin | Contact | Hold


@dataclass(frozen=True)
class EditProblem:
    """Everything that stays the same while a point is dragged."""

    cache: RigCache
    edit: Edit
    size: float  # metres, of the character
    states: PointStates
    variables: Variables
    moves: PointTargets  # goals are numbers into edit.moves
    kept: tuple[Constraint, ...]  # the constraints that are rows of the problem
    held: PointTargets  # their first samples; goals are numbers into `kept`
    dense: PointTargets  # all times at which their drift is measured
    origin: tuple[Array, Array]  # states of the moved points before the edit: (R, 3), (R, 3, 3)
    points: tuple[Point, ...]  # of the states, by number
    unit: Array  # (n,) one unit of each column of the states
    loose: Array  # (n,) bool, whether a column may change at all: bones keep their lengths
    terms: tuple[EvaluatedTerm, ...] = ()
    paths: PointTargets | None = (
        None  # of the moved points around the moves, where offsets may change; goals as `moves`
    )

    @property
    def window(self) -> Window | None:
        """The window of time of the edit; None where it changes the tangents of a person's keys."""
        return self.variables.window if isinstance(self.variables, OffsetVariables) else None

    @property
    def tangents(self) -> TangentVariables:
        """The variables of an edit between a person's keys."""
        assert isinstance(self.variables, TangentVariables)
        return self.variables

    @property
    def offsets(self) -> OffsetVariables:
        """The variables of an edit within a window."""
        assert isinstance(self.variables, OffsetVariables)
        return self.variables

    @cached_property
    def initial_drift(self) -> TargetResiduals:
        """The constraints before the edit: the point of a contact may still move then."""
        zero = np.zeros(self.variables.count)
        return measure_targets(self.states, self.variables, self.dense, zero, self.size, slopes=False)

    @cached_property
    def frozen_pins(self) -> tuple[tuple[Pin, Array], ...]:
        """The pins that are met by freezing columns, case 2, each with those columns (n,)."""
        pins = [(pin, find_frozen_columns(self, pin)) for pin in self.edit.pins if pin not in self.kept]
        return tuple((pin, columns) for pin, columns in pins if columns.any())

    @cached_property
    def frozen_changeable(self) -> Array:
        """(R, n) `changeable_at_moves` of the frozen columns."""
        return changeable_at_moves(self, np.any([columns for _, columns in self.frozen_pins], axis=0))


def prepare_problem(
    rig: PosedRig,
    curves: Curves,
    edit: Edit,
    ground: RigCache | None = None,
    drift_rate: float = DRIFT_SAMPLES_PER_S,
) -> EditProblem:
    """The problem of an edit of `curves` on `rig`, checked.

    `ground` is the cache of the rig from earlier edits, `drift_rate` the samples a second at which drift is measured.
    """
    ground = ground or RigCache(rig)
    _check_times(curves, edit)
    goals: list[MovePoint | Constraint] = [*edit.moves, *edit.pins, *edit.contacts, *edit.holds]
    term_points = [point for term in edit.terms for point in term.points(rig)]
    points = list(dict.fromkeys([*(goal.point for goal in goals), *term_points]))
    states, size = ground.states(curves.channels, points), ground.size
    number = {point: i for i, point in enumerate(points)}
    kept, free = _reduce_constraints(states, number, edit, [number[point] for point in term_points])
    unit = ground.units(curves.channels)
    loose = movable_columns(rig, curves.channels, unit, curves, edit.stiffness, ground.loose)[states.columns]
    free &= loose
    stiffness = stiffness_of(curves.channels, states.columns, edit.stiffness)
    tangents: Variables
    moments = _moments(edit)
    owner, _ = owners(curves, states.columns)
    if uses_window(curves, np.unique(owner[free]), *moments):
        tangents = _offset_variables(ground, curves, states.columns, free, edit, moments, stiffness)
    else:
        tangents = tangent_variables(
            curves,
            states.columns,
            free,
            _free_ranges(curves, states.columns[free], edit),
            unit=unit[states.columns],
            limits=limits_of(curves.channels, edit.limits),
            stiffness=stiffness * tangent_cost(curves.channels)[states.columns],
            smooth_edges=edit.edges == "smooth",
        )
    moves = _move_targets(tangents, number, edit.moves)
    zero = np.zeros(tangents.count)
    origin = point_states(states, tangents, moves, zero)
    held, dense = (
        _constraint_targets(states, tangents, number, kept, curves.rate, few, drift_rate) for few in (True, False)
    )
    terms = evaluate_terms(rig, states, tangents, number, edit.terms, curves.rate, size)
    return EditProblem(
        ground,
        edit,
        size,
        states,
        tangents,
        with_targets(moves, edit.moves, origin),
        kept,
        held,
        dense,
        origin,
        tuple(points),
        unit[states.columns],
        loose,
        terms,
        _window_paths(states, tangents, moves) if isinstance(tangents, OffsetVariables) else None,
    )


def with_targets(asked: PointTargets, moves: Sequence[MovePoint], origin: tuple[Array, Array]) -> PointTargets:
    """The targets with the goals of moves; `by` counts from the states `origin`, (R, 3) and (R, 3, 3)."""
    place, turn = origin[0].copy(), origin[1].copy()
    for r, move in enumerate(moves):
        if move.to is not None:
            place[r] = move.to
        if move.by is not None:
            place[r] = origin[0][r] + np.array(move.by)
        if move.turn_to is not None:
            turn[r] = quaternion.to_matrix(np.array(move.turn_to))
    return replace(asked, place=place, turn=turn)


def with_constraint_penalty(problem: EditProblem, point: Point) -> EditProblem:
    """The problem with expensive tangents wherever they move a constrained point other than `point` itself."""
    t = problem.tangents
    others = [goal for goal, kept in enumerate(problem.kept) if kept.point != point]
    held = problem.held.point[np.isin(problem.held.goal, others)]
    shared = np.asarray(problem.states.influence_mask[held].any(axis=(0, 1)))
    penalised = np.zeros(t.count, bool)
    used = t.variable[shared[t.column]]
    penalised[used[used >= 0]] = True
    return replace(problem, variables=replace(t, cost=t.cost * np.where(penalised, CONSTRAINT_PENALTY, 1.0)))


def parts_of(goal: MovePoint | Constraint) -> tuple[bool, bool]:
    """Whether a goal is about the position, and whether about the orientation."""
    if isinstance(goal, MovePoint):
        return goal.to is not None or goal.by is not None, goal.turn_to is not None
    return goal.position, goal.orientation


def limits_of(channels: Channels, limits: Sequence[Limit]) -> dict[int, Range]:
    """The range of each limited column, by its number."""
    result = {}
    for limit in limits:
        kinds = ("euler.", "", "weights.", "controls.")
        names = [f"{limit.target}.{kind}{limit.column}" for kind in kinds]
        numbers = [channels.names.index(name) for name in names if name in channels.names]
        if not numbers:
            available = [name for name in channels.names if name.startswith(f"{limit.target}.")]
            if any(name.startswith(f"{limit.target}.rotation.") for name in available):
                raise InvalidInput(
                    f"{limit.target!r} turns by a quaternion, whose columns have no limits; make it Euler angles first"
                )
            raise InvalidInput(
                f"there is no column {limit.column!r} of {limit.target!r} to limit; "
                f"there are {join_names(available or channels.names)}"
            )
        result[numbers[0]] = (float(limit.low), float(limit.high))
    return result


def stiffness_of(channels: Channels, columns: Array, stiffness: Mapping[str, float]) -> Array:
    """(n,) the stiffness by the name of the joint or of the column; the longer name takes precedence."""
    names = [channels.names[c] for c in columns]
    unknown = [key for key in stiffness if not any(n == key or n.startswith(f"{key}.") for n in channels.names)]
    if unknown:
        raise InvalidInput(f"stiffness is given for {join_names(unknown)}, which the animation does not move")
    result = np.ones(len(columns))
    for key in sorted(stiffness, key=len):
        result[[n == key or n.startswith(f"{key}.") for n in names]] = stiffness[key]
    return result


def find_frozen_columns(problem: EditProblem, pin: Pin) -> Array:
    """(n,) the columns that move the points of the moves but are frozen by this pin."""
    number = {point: i for i, point in enumerate(problem.points)}
    moves = [_columns_of(problem.states, number, move) for move in problem.edit.moves]
    none = np.zeros(len(problem.states.columns), bool)
    return _pin_columns(problem.states, number, pin, np.any([none, *moves], axis=0))


def changeable_at_moves(problem: EditProblem, columns: Array) -> Array:
    """(R, n) bool: whether a tangent of the column, free or not, changes its value at the time of each move.

    False for all columns but those of `columns` (n,) bool.
    """
    t, moves = problem.variables, problem.moves
    owner, _ = owners(t.curves, problem.states.columns)
    result = np.zeros((len(moves), len(owner)), bool)
    for number in np.unique(owner[columns]):
        curve = t.curves.curves[number]
        inside = (moves.time > curve.times[0]) & (moves.time < curve.times[-1])
        away = np.abs(moves.time[:, None] - curve.times).min(axis=1) > 1e-6
        segment = np.clip(np.searchsorted(curve.times, moves.time, side="right") - 1, 0, max(len(curve) - 2, 0))
        moving = curve.segments[segment] > 0 if len(curve) > 1 else np.zeros(len(moves), bool)
        result[:, owner == number] = (inside & away & moving)[:, None]
    return result


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


def _reduce_constraints(
    states: PointStates, number: dict[Point, int], edit: Edit, term_points: Sequence[int]
) -> tuple[tuple[Constraint, ...], Array]:
    """The constraints that remain, and the columns (n,) that may change: section 3.3."""
    moved: Sequence[MovePoint | Contact] = edit.moves or (() if edit.terms else edit.contacts)
    constraints: list[Constraint] = [*edit.contacts, *edit.holds, *edit.pins]
    influences = [_columns_of(states, number, goal) for goal in moved]
    c_s = np.any(influences + [states.influence_mask[p, 0] for p in term_points], axis=0)
    frozen = np.any([np.zeros_like(c_s), *(_pin_columns(states, number, pin, c_s) for pin in edit.pins)], axis=0)
    free, c = c_s & ~frozen, [_columns_of(states, number, goal) & ~frozen for goal in constraints]
    met: list[int] = []
    while new := [j for j, c_j in enumerate(c) if j not in met and (c_j & free).any()]:
        free = np.any([free, *(c[j] for j in new)], axis=0)  # the larger set may meet further constraints
        met += new
    return tuple(constraints[j] for j in sorted(met)), free


def _columns_of(states: PointStates, number: dict[Point, int], goal: MovePoint | Constraint) -> Array:
    """(n,) the columns that the goal depends on: C_s, C_j."""
    return states.influence_mask[number[goal.point]][np.array(parts_of(goal))].any(axis=0)


def _pin_columns(states: PointStates, number: dict[Point, int], pin: Pin, c_s: Array) -> Array:
    """(n,) the columns that a pin freezes, case 2; none in the other cases."""
    c_j = _columns_of(states, number, pin)
    whole = pin.start is None and pin.stop is None and pin.position and pin.orientation
    return c_j & (whole and not (c_j & ~c_s).any())


def _moments(edit: Edit) -> Range:
    """The first and the last time at which the edit asks for a change."""
    spans = [(move.time, move.time) for move in edit.moves] + [(term.start, term.stop) for term in edit.terms]
    spans = spans or [(contact.start, contact.stop) for contact in edit.contacts]
    return min(start for start, _ in spans), max(stop for _, stop in spans)


def _offset_variables(
    cache: RigCache, curves: Curves, columns: Array, free: Array, edit: Edit, moments: Range, stiffness: Array
) -> OffsetVariables:
    points = [(move.point, not parts_of(move)[0]) for move in edit.moves]
    points += [(point, False) for term in edit.terms for point in term.points(cache.rig)]
    points = points or [(contact.point, False) for contact in edit.contacts]
    start, stop = moments
    times = np.clip(np.linspace(start - WEIGHT_SPAN_SECONDS, stop + WEIGHT_SPAN_SECONDS, 3), curves.start, curves.end)
    weight = path_weights(cache, curves, points, times, columns) * np.maximum(stiffness, MIN_STIFFNESS) ** 2
    owner, _ = owners(curves, columns)
    moving = free & np.array([len(curves.curves[number]) > 1 for number in owner], bool)
    radius = edit.falloff or window_radius(curves, owner[moving], weight[moving], start, stop)
    unit = cache.units(curves.channels)[columns]
    return offset_variables(curves, columns, moving, Window(start, stop, radius), unit=unit, weight=weight)


def _window_paths(states: PointStates, variables: OffsetVariables, moves: PointTargets) -> PointTargets:
    """The paths of the moved points around each move; where the clip ends nearby, up to its end."""
    curves, away = variables.curves, variables.window.radius * PATH_RADII
    around = np.concatenate([-away[::-1], away])
    times = [np.unique(np.clip(time + around, curves.start, curves.end)) for time in moves.time]
    return _path_targets(states, variables, moves, times)


def _path_targets(
    states: PointStates, variables: OffsetVariables, moves: PointTargets, times: Sequence[Array]
) -> PointTargets:
    """The moved points at times (T,) for each move, at their places before the edit."""
    curves = variables.curves
    rows = [
        (r, time)
        for r in range(len(moves))
        if moves.parts[r, 0]
        for time in times[r]
        if curves.start <= time <= curves.end and np.abs(moves.time - time).min() > 1e-6
    ]
    goal = np.array([r for r, _ in rows], np.int64)
    parts = np.tile([True, False], (len(rows), 1))
    targets = point_targets(variables, moves.point[goal], np.array([time for _, time in rows], float), goal, parts)
    place, turn = point_states(states, variables, targets, np.zeros(variables.count))
    return replace(targets, place=place, turn=turn)


def _free_ranges(curves: Curves, columns: Array, edit: Edit) -> list[Range]:
    """The time ranges whose segments may change."""
    if edit.start is not None or edit.stop is not None:
        low = curves.start if edit.start is None else edit.start
        return [(low, curves.end if edit.stop is None else edit.stop)]
    instants = [(move.time - 1e-9, move.time + 1e-9) for move in edit.moves]
    return [*instants, *((span.start, span.stop) for spans in (edit.contacts, edit.terms) for span in spans)]


def _move_targets(tangents: Variables, number: dict[Point, int], moves: Sequence[MovePoint]) -> PointTargets:
    return point_targets(
        tangents,
        np.array([number[move.point] for move in moves], np.int64),
        np.array([move.time for move in moves], float),
        np.arange(len(moves)),
        np.array([parts_of(move) for move in moves], bool).reshape(-1, 2),
    )


def _constraint_targets(
    states: PointStates,
    tangents: Variables,
    number: dict[Point, int],
    kept: Sequence[Constraint],
    rate: float,
    few: bool,
    drift_rate: float,
) -> PointTargets:
    """The targets of the constraints at their first times (`few`), or at all times of the drift."""
    rows, sharp = [], tangents.sharp_times(1 / drift_rate)
    for g, goal in enumerate(kept):
        spans = tangents.changeable_spans(states.influence_mask[number[goal.point]].any(axis=0))
        if few and isinstance(tangents, OffsetVariables) and not isinstance(goal, Hold):
            times = _window_times(goal, spans, tangents.window)
        else:
            times = _constraint_times(goal, spans, rate, np.zeros(0) if few else sharp, few, drift_rate)
        for time in times:
            rows.append((number[goal.point], time, g, parts_of(goal)))
    point, goals = (np.array([row[i] for row in rows], np.int64) for i in (0, 2))
    parts = np.array([row[3] for row in rows], bool).reshape(-1, 2)
    targets = point_targets(tangents, point, np.array([row[1] for row in rows], float), goals, parts)
    # A contact keeps the position of its start; the other constraints keep that of each time.
    before = targets
    if any(isinstance(goal, Contact) for goal in kept):
        starts = [goal.start if isinstance(goal := kept[g], Contact) else t for t, g in zip(targets.time, goals)]
        before = point_targets(tangents, point, np.array(starts, float), goals, parts)
    place, turn = point_states(states, tangents, before, np.zeros(tangents.count))
    return replace(targets, place=place, turn=turn)


def _window_times(goal: Pin | Contact, spans: list[Range], window: Window) -> Array:
    """The first sample times of a constraint: most within the window, a few where the change fades beyond it."""
    low = -np.inf if goal.start is None else goal.start
    high = np.inf if goal.stop is None else goal.stop
    inner = (window.start - window.radius, window.stop + window.radius)
    times = [np.zeros(0)]
    for a, b in spans:
        a, b = max(a, low), min(b, high)
        for (start, stop), count in ((inner, WINDOW_SAMPLES), ((a, inner[0]), 3), ((inner[1], b), 3)):
            start, stop = max(start, a), min(stop, b)
            if stop > start:
                times.append(
                    np.linspace(start, stop, min(count, max(3, int((stop - start) * DRAG_DRIFT_SAMPLES_PER_S))))
                )
    return np.unique(np.concatenate(times))


def _constraint_times(
    goal: Constraint, spans: list[Range], rate: float, sharp: Array, few: bool, drift_rate: float
) -> Array:
    """The sample times of a constraint inside the spans that can change, and those `sharp` ones that lie in them."""
    if isinstance(goal, Hold):
        return np.array([goal.time for a, b in spans if a < goal.time < b])
    low = -np.inf if goal.start is None else goal.start
    high = np.inf if goal.stop is None else goal.stop
    times = []
    for a, b in spans:
        a, b = max(a, low), min(b, high)
        if b <= a:
            continue
        steps = int(np.clip(np.ceil((b - a) * drift_rate), MIN_DRIFT_SAMPLES, MAX_DRIFT_SAMPLES))
        if few:
            steps = min(FIRST_CONSTRAINT_SAMPLES + 1, max(2, int(np.ceil((b - a) * rate))))
        times += [a + (b - a) * np.arange(steps + 1) / steps, sharp[(sharp > a) & (sharp < b)]]
    return np.unique(np.concatenate([np.zeros(0), *times]))
