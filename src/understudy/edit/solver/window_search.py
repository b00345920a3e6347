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
from understudy.edit.solver.offsets import OffsetVariables
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
RIDGE_RATIO = 1e-12  # of the largest diagonal element: rows depend on each other


LINEAR_KINDS = ("translation", "weights")  # of channels in which states are linear


class WindowRows(NamedTuple):
    """All rows of a search at one z."""

    residual: Array  # (M,)
    matrix: Array  # (M, N), empty without slopes
    weight: Array  # (M,)
    bend: Array  # (R, 3, n) second derivatives of the places of the targets by columns, metres; empty without slopes


class WindowSearch:
    """The search of one problem for one set of goals."""

    def __init__(
        self,
        problem: EditProblem,
        moves: PointTargets,
        held: PointTargets,
        hold_weight: float = CONSTRAINT_WEIGHT,
        goal_weight: float = GOAL_WEIGHT,
    ) -> None:
        assert problem.paths is not None
        self.problem, self.variables, self.moves, self.held = problem, problem.offsets, moves, held
        self.paths = _aim_paths(problem, moves, problem.paths)
        self.asked = join_targets(moves, self.paths, held)
        rows = (moves.rows, self.paths.rows, held.rows)
        self.weight = np.repeat([goal_weight, PATH_WEIGHT, hold_weight], rows)
        self.weight[moves.rows : moves.rows + self.paths.rows] *= np.repeat(_sample_shares(problem, self.paths), 3)
        self.bounds = _column_bounds(problem, self.asked.grid)
        counts = np.diff(self.variables.first)
        self._block_sizes = np.repeat(counts, counts).astype(float)
        kinds = [channel.kind for channel in self.variables.curves.channels for _ in range(len(channel))]
        self.turning = np.array([kinds[c] not in LINEAR_KINDS for c in self.variables.columns], float)

    def rows(self, z: Array, slopes: bool = True) -> WindowRows:
        """The rows at variables z."""
        problem, variables, asked = self.problem, self.variables, self.asked
        values = variables.sample(asked.grid, z)
        position, orientation, jacobian = problem.states.evaluate(values, asked.sample, asked.point, slopes)
        gap = gaps(asked, position, orientation, problem.size).reshape(-1, 2, 3)[asked.parts].reshape(-1)
        slope = np.empty((asked.rows if slopes else 0, variables.count))
        if slopes:
            variables.chain_rows(jacobian, asked.grid, asked.sample, asked.first_row, problem.size, slope)
        residual, matrix, weight = [gap], [slope], [self.weight]
        if problem.terms:
            none = TargetResiduals(np.zeros((0, 6)), np.zeros(0), np.zeros((0, variables.count)))
            goals = append_goal_terms(none, problem.terms, problem.states, variables, z, problem.size, slopes)
            soft = linearise(problem.terms, problem.states, variables, z, problem.size, slopes)
            residual += [goals.residual, soft.residual]
            matrix += [goals.matrix, soft.matrix]
            weight += [np.full(len(goals.residual), TERM_WEIGHT / max(len(goals.residual), 1)), soft.weight]
        for bounds in self.bounds:
            own = values if bounds.grid is asked.grid else variables.sample(bounds.grid, z)
            over, slope = bounds.rows(variables, own, slopes)
            residual.append(over)
            matrix.append(slope)
            weight.append(np.full(len(over), CONSTRAINT_WEIGHT))
        return WindowRows(
            np.concatenate(residual),
            np.concatenate(matrix),
            np.concatenate(weight),
            np.cross(jacobian[:, 3:], jacobian[:, :3], axis=1) if slopes else jacobian,
        )

    def run(self, z: Array, iterations: int, patient: bool = True) -> tuple[Array, int]:
        """The variables of the minimum, and the number of steps, each of which measures the rows once.

        Without patience it ends nearer to the minimum than an eye can see.
        """
        now = self.rows(z)
        merit = _merit(z, now)
        trust, steps, outdated, bent = MAX_TURN, 0, False, patient
        while steps < iterations and len(z):
            now = self.rows(z) if outdated else now
            trial = self._bounded_step(now, z, trust, bent)
            expected = _merit(trial, now._replace(residual=now.residual - now.matrix @ (trial - z)))
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
            merit, z, outdated = lower, trial, True
            trust = min(MAX_TURN, TRUST_GROWTH * trust) if kept > GOOD_KEPT_SHARE else trust
        return z, steps

    def _bounded_step(self, now: WindowRows, z: Array, trust: float, bent: bool) -> Array:
        """The step towards the minimum, damped where states are not linear.

        A straight limb under tension resists a turn that the linearised problem believes in: the force f on a target
        bends the merit by -f . d2x of each column (`_stiffness`); `bent` says whether to look at that. Columns that
        would turn by more than `trust` are damped as well, and the others do more.
        """
        variables = self.variables
        stiff = stiffness = damping = np.zeros(len(z))
        for _ in range(MAX_STEP_ROUNDS):
            trial, force = _solve_rows(now, z, damping)
            turned = self._largest_turns(trial - z)
            excess = (turned * self.turning / trust)[variables.column]
            if bent:
                stiff = np.maximum(self._stiffness(now, force), 0.5 * stiffness)
            if excess.max(initial=0.0) <= 1.3 and (stiff <= 1.5 * damping + 0.5).all():
                break
            stiffness = stiff
            damping = np.maximum(np.where(excess > 1.0, (1 + damping) * excess**1.5 - 1, damping), stiff)
        return trial

    def _largest_turns(self, z: Array) -> Array:
        """(n,) the largest offset of each column at any sample, in its units, for variables z."""
        grids = [self.asked.grid, *(term.asked.grid for term in self.problem.terms)]
        offsets = [np.abs(self.variables.offset(grid, z)).max(axis=0, initial=0.0) for grid in grids]
        turns: Array = np.max(offsets, axis=0) / self.problem.unit
        return turns

    def _stiffness(self, now: WindowRows, force: Array) -> Array:
        """(N,) how the forces (M,) on the targets resist a change of each variable by the bend of their paths."""
        asked, variables = self.asked, self.variables
        placed = np.flatnonzero(asked.parts[:, 0])
        pull = force[asked.first_row[placed, 0][:, None] + np.arange(3)] / self.problem.size  # (P, 3)
        bend = np.maximum(-np.einsum("pa,pan->pn", pull, now.bend[placed]), 0.0)  # (P, n)
        assert isinstance(asked.grid, OffsetGrid)
        phi = asked.grid.phi[asked.sample[placed]]
        return (bend[:, variables.column] * phi**2).sum(axis=0) * self._block_sizes


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
) -> tuple[Array, int, PointTargets, TargetResiduals]:
    """The variables that meet the goals of `moves`, from z on, the number of steps, the samples of the constraints with
    those that were added, and the drift of the constraints on the dense grid.

    `rounds` are those of adding samples. With one, for a pointer that waits, half of the samples are looked at, and
    there is no second search.
    """
    if rounds == 1:  # a pointer is waiting
        few = held.thin()
        z, steps = WindowSearch(problem, moves, few).run(z, iterations, patient=False)
        drift = _measure(problem, few, z, slopes=False)
        if drift.largest > TORN_DRIFT:
            z, steps = _hold_first(problem, moves, few).run(z, iterations, patient=False)
            drift = _measure(problem, few, z, slopes=False)
        return z, steps, held, drift if drift.largest <= drift_tolerance else _measure(problem, problem.dense, z, False)
    steps, best, result = 0, np.inf, None
    for start in _starts(problem, moves, z):
        trial, count, samples, off = _search_rounds(problem, moves, start, held, iterations, rounds, drift_tolerance)
        missed = _measure(problem, moves, trial, slopes=False).largest
        steps, failure = steps + count, max(missed / goal_tolerance, off.largest / drift_tolerance)
        if result is None or failure < best:
            result, best = (trial, samples, off), failure
        if best <= 1.0:
            break
    assert result is not None  # there is always one start
    z, held, drift = result
    if drift.largest > drift_tolerance:
        tight = WindowSearch(problem, moves, held, hold_weight=GOAL_WEIGHT)
        tighter, count = tight.run(z, iterations)
        steps += count
        less = _measure(problem, problem.dense, tighter, slopes=False)
        if less.largest < drift.largest and _measure(problem, moves, tighter, slopes=False).largest <= goal_tolerance:
            z, drift = tighter, less
    if drift.largest > TORN_DRIFT:
        z, count = _hold_first(problem, moves, held).run(np.zeros_like(z), iterations)
        steps, drift = steps + count, _measure(problem, problem.dense, z, slopes=False)
    return z, steps, held, drift


def _search_rounds(
    problem: EditProblem,
    moves: PointTargets,
    z: Array,
    held: PointTargets,
    iterations: int,
    rounds: int,
    drift_tolerance: float,
) -> tuple[Array, int, PointTargets, TargetResiduals]:
    """Search, and again with the samples at which constraints drift, until they hold at all times."""
    steps = 0
    for turn in range(rounds):
        z, count = WindowSearch(problem, moves, held).run(z, iterations)
        steps += count
        drift = _measure(problem, problem.dense, z, slopes=False)
        if turn == rounds - 1 or drift.largest <= drift_tolerance:
            break
        more = add_worst_samples(held, problem.dense, drift)
        if more is None:
            break
        held = more
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


def _hold_first(problem: EditProblem, moves: PointTargets, held: PointTargets) -> WindowSearch:
    """The search for goals that no pose reaches while the constraints hold: these hold, and the goals are blocked."""
    return WindowSearch(problem, moves, held, hold_weight=GOAL_WEIGHT, goal_weight=CONSTRAINT_WEIGHT)


def _merit(z: Array, rows: WindowRows) -> float:
    return float(z @ z + rows.weight @ rows.residual**2)


def _solve_rows(now: WindowRows, z: Array, damping: Array) -> tuple[Array, Array]:
    """The minimum of the linearised problem, each variable damped towards z by `damping` (N,), and the forces (M,)."""
    from scipy.linalg.blas import dsyrk
    from scipy.linalg.lapack import dposv

    scale = 1 / (1 + damping)
    root = now.matrix * np.sqrt(scale) if damping.any() else now.matrix
    k = dsyrk(1.0, root.T, trans=1)  # the upper half
    k.flat[:: len(k) + 1] += 1 / now.weight + RIDGE_RATIO * k.diagonal().max(initial=0.0)
    _, force, failed = dposv(k, now.residual + now.matrix @ (scale * z), overwrite_a=True)
    if failed:
        return z, np.zeros_like(force)
    return scale * (damping * z + force @ now.matrix), force


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
