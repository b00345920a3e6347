"""Search for offsets within a window that meet the goals of an edit: Gauss-Newton in the rows.

    minimise  |z|^2 + sum_r w_r r_r(z)^2

over the white variables z of `offsets`. The rows r are the gaps of the goals and of the constraints, whose weights make
them as good as equations, the path of each moved point, which should follow phi(t) times the way that was asked for,
the objective terms, and columns beyond their limits. With J = -dr/dz a step is z = J' (J J' + 1 / w)^-1 (r + J z), in
as many equations as rows. A step is trusted only as far as it turns joints a little: columns that would turn further
are damped, more so after a step that did not keep what it promised.

Constraints are measured on a dense grid after the search; the times at which they drift join the rows. What the keys
cannot hold gives way (the weight of constraints is below that of the goals), and the result says by how much. Where
constraints would be torn, the two weights change places: the goals are blocked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.edit.solver.objective_terms import append_goal_terms, linearise
from understudy.edit.solver.offsets import OffsetVariables, kernels
from understudy.edit.solver.problem import EditProblem, limits_of
from understudy.edit.solver.segments import Grid, OffsetGrid
from understudy.edit.solver.targets import (
    PointTargets,
    TargetResiduals,
    add_worst_samples,
    gaps,
    join_targets,
    measure_targets,
)

GOAL_WEIGHT = 1e8  # a gap of 1e-4 sizes costs as much as an offset of energy one
CONSTRAINT_WEIGHT = 1e6  # a slip of a thousandth of the size costs as much: keys that cannot hold a pin give way
TORN_DRIFT = 0.015  # sizes, radians: constraints that slip further are held before the goals
PATH_WEIGHT = 1e4  # of the path over a radius of time: a hundredth of the size off costs one
TERM_WEIGHT = 4e6  # of a stroke and other goals about paths, over all their rows
MAX_OFFSET_RAD = 2.8  # of an angle at any time: below the half turn at which a joint would end a turn further on
LIMIT_MARGIN = 3e-3  # of a unit: limits are aimed at from inside, as their weight lets a little through
LIMIT_SAMPLES_PER_S = 60.0
# Of the merit: a step that promises less ends the search; more than that where a pointer waits.
MIN_GAIN, MIN_WAITING_GAIN = 0.005, 0.04
# Radians that a step may turn a column at most, at first and at least. The share of its promised gain that a step must
# keep, and from which on the next may be longer; the factors of both.
MAX_TURN, MIN_TURN = 0.6, 0.01
MIN_KEPT_SHARE, GOOD_KEPT_SHARE, TRUST_SHRINKAGE, TRUST_GROWTH = 0.1, 0.5, 0.35, 2.0
START_TURNS_RAD = (0.1, 0.2)  # of joints, in the searches that begin elsewhere
MAX_STEP_ROUNDS = 4  # to bound the turns of a step
# Of goals and constraints that a search missed: how the weight grows from round to round, up to that of an equation,
# and the share of the gap that a round may leave. Columns with keys far away cost a million times those of the limb.
WEIGHT_GROWTH, MAX_WEIGHT, MIN_ROUND_PROGRESS = 10.0, 1e11, 0.9
RIDGE_RATIO = 1e-12  # of the largest diagonal element: rows depend on each other


LINEAR_KINDS = ("translation", "weights")  # of channels in which states are linear


class WindowRows(NamedTuple):
    """All rows of a search at one z; the first A of them are those of the targets."""

    residual: Array  # (M,)
    weight: Array  # (M,)
    offset: Array  # (S, n) of the columns at the samples of the targets
    slope: Array  # (A, n) of the targets by the columns at their samples; empty without slopes
    other: Array  # (M - A, N) of the rows that are no targets by the variables; empty without slopes
    jacobian: Array  # (R, 6, n) of places, in sizes, and rotations of the targets; empty without slopes


class WindowSearch:
    """The searches of one problem with one set of samples; `aim` gives them their goals."""

    def __init__(
        self,
        problem: EditProblem,
        held: PointTargets,
        hold_weight: float = CONSTRAINT_WEIGHT,
        goal_weight: float = GOAL_WEIGHT,
    ) -> None:
        assert problem.paths is not None
        self.problem, self.variables, self.held = problem, problem.offsets, held
        self.hold_weight, self.goal_weight = hold_weight, goal_weight
        moves, paths = problem.moves, problem.paths
        self.asked = join_targets(moves, paths, held)
        self.gap = np.zeros(self.asked.rows)  # where the last search ended
        self.bounds = _column_bounds(problem, self.asked.grid)
        self._path_shares = np.repeat(_sample_shares(problem, paths), 3)
        self._row_sample = np.repeat(np.repeat(self.asked.sample[:, None], 2, axis=1)[self.asked.parts], 3)
        self._covariance, self._gram_rows = self._join_rows()
        kinds = [channel.kind for channel in self.variables.curves.channels for _ in range(len(channel))]
        self.turning = np.array([kinds[c] not in LINEAR_KINDS for c in self.variables.columns], float)

    def _join_rows(self) -> tuple[Array, tuple[Array, Array, Array]]:
        """The covariances (n, S, S) of the columns between samples, and which rows each column moves."""
        asked, variables = self.asked, self.variables
        assert isinstance(asked.grid, OffsetGrid)
        samples = len(asked.grid.times)
        covariance = np.zeros((len(variables.columns), samples, samples))
        kernels().fill_covariances(asked.grid.phi, variables.first, variables.moved, covariance)
        target, part = np.nonzero(asked.parts)
        moves = self.problem.states.influence_mask[asked.point[target], part] & variables.changeable_columns  # (G, n)
        column, group = np.nonzero(moves.T)
        first = np.searchsorted(column, np.arange(len(variables.columns) + 1))
        return covariance, (first, asked.first_row[target, part][group], asked.sample[target][group])

    def aim(self, moves: PointTargets) -> None:
        """Set the goals of the moves, and with them the paths of their points."""
        problem, asked = self.problem, self.asked
        assert problem.paths is not None
        paths = _aim_paths(problem, moves, problem.paths)
        place, turn = asked.place.copy(), asked.turn.copy()
        place[: len(moves)], turn[: len(moves)] = moves.place, moves.turn
        place[len(moves) : len(moves) + len(paths)] = paths.place
        self.asked = replace(asked, place=place, turn=turn)

    def reset_weights(self) -> None:
        """Let the goals and constraints count as at the beginning."""
        self.goal_weight, self.hold_weight = GOAL_WEIGHT, CONSTRAINT_WEIGHT

    def raise_weights(self, missed: bool, drifted: bool) -> None:
        """Make the goals, the constraints or both count more, up to the weight of an equation."""
        if missed:
            self.goal_weight = min(WEIGHT_GROWTH * self.goal_weight, MAX_WEIGHT)
        if drifted:
            self.hold_weight = min(WEIGHT_GROWTH * self.hold_weight, self.goal_weight)

    def largest_gaps(self) -> tuple[float, float]:
        """What the last search left of the goals, and of the constraints at their samples."""
        goals, held = self.gap[: self.problem.moves.rows], self.gap[self.asked.rows - self.held.rows :]
        return float(np.abs(goals).max(initial=0.0)), float(np.abs(held).max(initial=0.0))

    def _target_weights(self) -> Array:
        """(A,) the weights of the rows of goals, paths and constraints."""
        paths = PATH_WEIGHT * self._path_shares
        goals, held = np.full(self.problem.moves.rows, self.goal_weight), np.full(self.held.rows, self.hold_weight)
        return np.concatenate([goals, paths, held])

    def rows(self, z: Array, slopes: bool = True) -> WindowRows:
        """The rows at variables z."""
        problem, variables, asked = self.problem, self.variables, self.asked
        offset = variables.offset(asked.grid, z)
        values = asked.grid.fixed + offset
        position, orientation, jacobian = problem.states.evaluate(values, asked.sample, asked.point, slopes)
        gap = gaps(asked, position, orientation, problem.size).reshape(-1, 2, 3)[asked.parts].reshape(-1)
        slope = np.zeros((0, len(variables.columns)))
        if slopes:
            jacobian[:, :3] /= problem.size
            slope = jacobian.reshape(len(asked), 2, 3, slope.shape[1])[asked.parts].reshape(-1, slope.shape[1])
        residual, weight = [gap], [self._target_weights()]
        other = [np.zeros((0, variables.count))]
        if problem.terms:
            none = TargetResiduals(np.zeros((0, 6)), np.zeros(0), np.zeros((0, variables.count)))
            goals = append_goal_terms(none, problem.terms, problem.states, variables, z, problem.size, slopes)
            soft = linearise(problem.terms, problem.states, variables, z, problem.size, slopes)
            residual += [goals.residual, soft.residual]
            other += [goals.matrix, soft.matrix]
            weight += [np.full(len(goals.residual), TERM_WEIGHT / max(len(goals.residual), 1)), soft.weight]
        for bounds in self.bounds:
            values_there = values if bounds.grid is asked.grid else variables.sample(bounds.grid, z)
            over, bound_slope = bounds.rows(variables, values_there, slopes)
            residual.append(over)
            other.append(bound_slope)
            weight.append(np.full(len(over), CONSTRAINT_WEIGHT))
        return WindowRows(
            np.concatenate(residual),
            np.concatenate(weight),
            offset,
            slope,
            np.concatenate(other),
            jacobian,
        )

    def _change_of_rows(self, now: WindowRows, offset: Array, z: Array) -> Array:
        """(M,) J z, for variables z with their offsets (S, n)."""
        targets = np.einsum("rn,rn->r", now.slope, offset[self._row_sample])
        return np.concatenate([targets, now.other @ z]) if len(now.other) else targets

    def run(self, z: Array, iterations: int, patient: bool = True) -> tuple[Array, int]:
        """The variables of the minimum, and the number of steps, each of which measures the rows once.

        Without patience it ends nearer to the minimum than an eye can see.
        """
        now = self.rows(z)
        merit, self.gap = _merit(z, now), now.residual[: self.asked.rows]
        trust, steps, outdated, bent = MAX_TURN, 0, False, patient
        while steps < iterations and len(z):
            now = self.rows(z) if outdated else now
            trial, change = self._bounded_step(now, z, trust, bent)
            left = now.residual - self._change_of_rows(now, change, trial - z)
            expected = _merit(trial, now._replace(residual=left))
            if merit - expected <= (MIN_GAIN if patient else MIN_WAITING_GAIN) * merit:
                break
            steps += 1
            after = self.rows(trial, slopes=False)
            lower = _merit(trial, after)
            kept = (merit - lower) / (merit - expected)  # the share of the promise
            bent = bent or kept < GOOD_KEPT_SHARE
            if kept < MIN_KEPT_SHARE:
                trust, outdated = TRUST_SHRINKAGE * trust, False
                if trust < MIN_TURN:
                    break
                continue
            done = not patient and abs(lower - expected) <= MIN_WAITING_GAIN * lower
            merit, z, outdated, self.gap = lower, trial, True, after.residual[: self.asked.rows]
            if done:  # the next step would correct no more than what this one was wrong by
                break
            trust = min(MAX_TURN, TRUST_GROWTH * trust) if kept > GOOD_KEPT_SHARE else trust
        return z, steps

    def _bounded_step(self, now: WindowRows, z: Array, trust: float, bent: bool) -> tuple[Array, Array]:
        """The step towards the minimum, damped where states are not linear, and its offsets (S, n) from z.

        A straight limb under tension resists a turn that the linearised problem believes in: the force f on a target
        bends the merit by -f . d2x of each column (`_stiffness`); `bent` says whether to look at that. Columns that
        would turn by more than `trust` are damped as well, and the others do more.
        """
        stiff = stiffness = damping = np.zeros(len(self.variables.columns))
        for _ in range(MAX_STEP_ROUNDS):
            trial, force = self.solve_rows(now, z, damping)
            change = self.variables.offset(self.asked.grid, trial) - now.offset
            excess = self._largest_turns(change, trial - z) * self.turning / trust
            if bent:
                stiff = np.maximum(self._stiffness(now, force), 0.5 * stiffness)
            if excess.max(initial=0.0) <= 1.3 and (stiff <= 1.5 * damping + 0.5).all():
                break
            stiffness = stiff
            damping = np.maximum(np.where(excess > 1.0, (1 + damping) * excess**1.5 - 1, damping), stiff)
        return trial, change

    def solve_rows(self, now: WindowRows, z: Array, damping: Array) -> tuple[Array, Array]:
        """The minimum of the linearised problem, columns damped towards z by `damping` (n,), and the forces (M,)."""
        from scipy.linalg.lapack import dposv

        variables, scale = self.variables, 1 / (1 + damping)
        own, count = scale[variables.column], len(now.slope)
        k = np.zeros((len(now.residual), len(now.residual)))
        kernels().add_gram_matrix(now.slope, self._covariance, scale, *self._gram_rows, k)
        for e, row in enumerate(now.other * own if len(now.other) else now.other):
            k[count + e, :count] = self._change_of_rows(now, variables.offset(self.asked.grid, row), row)[:count]
            k[count + e, count:] = now.other @ row
        k.flat[:: len(k) + 1] += 1 / now.weight + RIDGE_RATIO * k.diagonal().max(initial=0.0)
        # The lower half of rows is the upper half of columns, which LAPACK reads.
        right = now.residual + self._change_of_rows(now, scale * now.offset, own * z)
        _, force, failed = dposv(k.T, right, overwrite_a=True)
        if failed:
            return z, np.zeros_like(force)
        pull = force[count:] @ now.other
        assert isinstance(self.asked.grid, OffsetGrid)
        kernels().fill_variables_of_forces(
            self.asked.grid.phi, variables.first, variables.moved, now.slope, self._row_sample, force[:count], pull
        )
        return own * (damping[variables.column] * z + pull), force

    def _largest_turns(self, change: Array, z: Array) -> Array:
        """(n,) the largest offset of each column at any sample, in its units, for variables z with offsets (S, n)."""
        offsets = [change, *(self.variables.offset(term.asked.grid, z) for term in self.problem.terms)]
        turns: Array = np.max([np.abs(each).max(axis=0, initial=0.0) for each in offsets], axis=0) / self.problem.unit
        return turns

    def _stiffness(self, now: WindowRows, force: Array) -> Array:
        """(n,) how the forces (M,) on the targets resist a change of each column at most, by the bend of its paths."""
        asked = self.asked
        placed = np.flatnonzero(asked.parts[:, 0])
        pull = force[asked.first_row[placed, 0][:, None] + np.arange(3)]  # (P, 3)
        second = np.cross(now.jacobian[placed, 3:], now.jacobian[placed, :3], axis=1)  # (P, 3, n)
        bend = np.maximum(-np.einsum("pa,pan->pn", pull, second), 0.0)  # (P, n)
        variance = np.diagonal(self._covariance, axis1=1, axis2=2)[:, asked.sample[placed]]  # (n, P)
        return np.asarray((bend.T * variance).sum(axis=1))


def search_window(
    problem: EditProblem,
    moves: PointTargets,
    z: Array,
    held: PointTargets,
    *,
    iterations: int,
    rounds: int,
    goal_tolerance: float,
    drift_tolerance: float,
    search: WindowSearch | None = None,
) -> tuple[Array, int, PointTargets, TargetResiduals]:
    """The variables that meet the goals of `moves`, from z on, the number of steps, the samples of the constraints with
    those that were added, and the drift of the constraints on the dense grid.

    `rounds` are those of adding samples. With a `search` of samples at hand, for a pointer that waits, there are none.
    """
    if search is not None:  # a pointer is waiting
        search.aim(moves)
        if not z.any():
            search.reset_weights()
        z, steps = search.run(z, iterations, patient=False)
        missed, slip = search.largest_gaps()
        search.raise_weights(missed > goal_tolerance, slip > drift_tolerance)  # for the next event
        return z, steps, held, _measure(problem, problem.dense, z, slopes=False)
    search, steps = WindowSearch(problem, held), 0
    search.aim(moves)
    best, nearest = z, np.inf
    for start in _starts(problem, moves, z):
        trial, count = search.run(start, iterations)
        missed = _measure(problem, moves, trial, slopes=False).largest
        steps += count
        if missed < nearest:
            best, nearest = trial, missed
        if nearest <= goal_tolerance:
            break
    z, failure, lowest = best, np.inf, np.inf
    for _ in range(rounds):
        best, count = search.run(best, iterations)
        off = _measure(problem, problem.dense, best, slopes=False)
        missed = _measure(problem, moves, best, slopes=False).largest
        steps, last = steps + count, failure
        failure = max(missed / goal_tolerance, off.largest / drift_tolerance)
        if failure < lowest:
            z, held, drift, lowest = best, search.held, off, failure
        drifts = off.largest > drift_tolerance
        more = add_worst_samples(search.held, problem.dense, off) if drifts else None
        if failure <= 1.0 or (more is None and failure > MIN_ROUND_PROGRESS * last):
            break
        # Half of the tolerance at the samples leaves the other half for the times between them.
        search.raise_weights(missed > goal_tolerance, search.largest_gaps()[1] > 0.5 * drift_tolerance)
        if more is not None:
            search = WindowSearch(problem, more, search.hold_weight, search.goal_weight)
            search.aim(moves)
    if drift.largest > TORN_DRIFT:
        search = WindowSearch(problem, held, hold_weight=GOAL_WEIGHT, goal_weight=CONSTRAINT_WEIGHT)
        search.aim(moves)
        z, count = search.run(np.zeros_like(z), iterations)
        steps, drift = steps + count, _measure(problem, problem.dense, z, slopes=False)
    return z, steps, held, drift


def _starts(problem: EditProblem, moves: PointTargets, z: Array) -> Iterator[Array]:
    """Where a search may begin: z, the curves as they are, and small bends of all joints at the moves.

    A straight limb has a singular Jacobian: pulled along itself it does not bend.
    """
    yield z
    if not len(moves):  # a stroke is searched for in phases, each from the last
        return
    if z.any():
        yield np.zeros_like(z)
    variables = problem.offsets
    assert isinstance(moves.grid, OffsetGrid)
    rng = np.random.default_rng(0)
    for turn in START_TURNS_RAD:
        bend = np.zeros_like(z)
        for c, column in enumerate(variables.moved):
            own = slice(int(variables.first[c]), int(variables.first[c + 1]))
            peaks = moves.grid.phi[:, own].sum(axis=0)
            amount = turn * problem.unit[column] * rng.normal()
            bend[own] = amount * peaks / max(float(peaks @ peaks), 1e-9)
        yield bend


def _merit(z: Array, rows: WindowRows) -> float:
    return float(z @ z + rows.weight @ rows.residual**2)


def _aim_paths(problem: EditProblem, moves: PointTargets, paths: PointTargets) -> PointTargets:
    """The paths of the moved points, displaced by phi(t) times the way of each move.

    A point with several moves goes from one displacement to the next between them.
    """
    window = problem.window
    assert window is not None
    way = moves.place - problem.origin[0]
    place = paths.place.copy()
    for r in np.unique(paths.goal):
        own, rows = _moves_of_point(moves, int(moves.point[r])), paths.goal == r
        times, ways = moves.time[own], way[own]
        between = np.stack([np.interp(paths.time[rows], times, ways[:, a]) for a in range(3)], axis=1)
        away = np.maximum(np.maximum(times[0] - paths.time[rows], paths.time[rows] - times[-1]), 0.0)
        fade = 0.5 + 0.5 * np.cos(np.pi * np.minimum(away / window.radius, 1.0))
        place[rows] += fade[:, None] * between
    return replace(paths, place=place)


def _sample_shares(problem: EditProblem, paths: PointTargets) -> Array:
    """(P,) the span of time that each sample of a path stands for, in radii of the window."""
    window = problem.window
    assert window is not None
    shares = np.empty(len(paths))
    for r in np.unique(paths.goal):
        rows = np.flatnonzero(paths.goal == r)
        order = rows[np.argsort(paths.time[rows])]
        shares[order] = np.gradient(paths.time[order]) / window.radius if len(order) > 1 else 1.0
    return shares


def _moves_of_point(moves: PointTargets, point: int) -> Array:
    own = np.flatnonzero((moves.point == point) & moves.parts[:, 0])
    return own[np.argsort(moves.time[own], kind="stable")]


class ColumnBounds(NamedTuple):
    """The range of each column at some samples; those beyond it are rows of the search."""

    grid: OffsetGrid
    low: Array  # (S, n)
    high: Array  # (S, n)
    unit: Array  # (n,)

    def rows(self, variables: OffsetVariables, values: Array, slopes: bool) -> tuple[Array, Array]:
        """Residuals (M,) of the values (S, n) beyond their range, in units of their columns, and slopes (M, N)."""
        over = np.clip(values, self.low, self.high) - values
        at, column = np.nonzero(over)
        if not slopes or not len(at):
            return over[at, column] / self.unit[column], np.zeros((0, variables.count))
        moved = variables.column == column[:, None]
        return over[at, column] / self.unit[column], self.grid.phi[at] * moved / self.unit[column, None]


def _column_bounds(problem: EditProblem, grid: Grid) -> list[ColumnBounds]:
    """The limits of an edit, at close samples of what can change, and the bound on turns at the samples of `grid`."""
    variables, unit = problem.offsets, problem.unit
    assert isinstance(grid, OffsetGrid)
    kinds = [channel.kind for channel in variables.curves.channels for _ in range(len(channel))]
    most = np.where([kinds[c] == "euler" for c in variables.columns], MAX_OFFSET_RAD, np.inf)
    bounds = [ColumnBounds(grid, grid.fixed - most, grid.fixed + most, unit)]
    limits = limits_of(variables.curves.channels, problem.edit.limits)
    low, high = np.full(len(unit), -np.inf), np.full(len(unit), np.inf)
    for number, (least, greatest) in limits.items():
        own = variables.columns == number
        low[own] = least + LIMIT_MARGIN * unit[own]
        high[own] = np.maximum(greatest - LIMIT_MARGIN * unit[own], low[own])
    limited = np.isin(variables.columns, list(limits)) & variables.changeable_columns
    if limited.any():
        spans = variables.changeable_spans(limited)
        times = [np.linspace(a, b, max(9, int((b - a) * LIMIT_SAMPLES_PER_S) + 1)) for a, b in spans]
        close = variables.grid(np.unique(np.concatenate(times)))
        shape = close.fixed.shape
        bounds.append(ColumnBounds(close, np.broadcast_to(low, shape), np.broadcast_to(high, shape), unit))
    return bounds


def _measure(problem: EditProblem, asked: PointTargets, z: Array, slopes: bool) -> TargetResiduals:
    return measure_targets(problem.states, problem.variables, asked, z, problem.size, slopes)
