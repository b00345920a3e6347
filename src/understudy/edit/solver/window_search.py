"""Search for offsets within a window that meet the goals of an edit: Gauss-Newton in the rows.

    minimise  |z|^2 + sum_r w_r r_r(z)^2

over the white variables z of `offsets`. The rows r are the gaps of the goals and of the constraints, whose weights make
them as good as equations, the path of each moved point, which should follow phi(t) times the way that was asked for,
the objective terms, and columns beyond their limits. With J = -dr/dz a step is z = J' (J J' + 1 / w)^-1 (r + J z), in
as many equations as rows. Where a whole step makes things worse, as with a limb that is nearly straight, a share of the
way is aimed at, and the step is damped towards the last z: another aim, not only a shorter step.

Constraints are measured on a dense grid after the search; the times at which they drift join the rows. What the keys
cannot hold gives way (the weight of constraints is below that of the goals), and the result says by how much. A point
that would be thrown beyond its goal is asked for its whole path, with a growing weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.edit.solver.objective_terms import append_goal_terms, linearise
from understudy.edit.solver.offsets import OffsetGrid, OffsetVariables
from understudy.edit.solver.problem import EditProblem, limits_of
from understudy.edit.solver.targets import (
    PointTargets,
    TargetResiduals,
    add_worst_samples,
    join_targets,
    measure_targets,
)

GOAL_WEIGHT = 1e8  # a gap of 1e-4 sizes costs as much as an offset of energy one
CONSTRAINT_WEIGHT = 1e6  # a slip of a thousandth of the size costs as much: keys that cannot hold a pin give way
PATH_WEIGHT = 40.0  # of each sample of the path: a tenth of the size off costs 0.4
TERM_WEIGHT = 4e6  # of a stroke and other goals about paths, over all their rows
LIMIT_WEIGHT = 1e6  # per unit of the column beyond its limit
LIMIT_MARGIN = 1e-3  # of a unit: limits are aimed at from inside
LIMIT_SAMPLES_PER_S = 60.0
MAX_OVERSHOOT = 1.6  # furthest move of a point over the way that was asked for
OVERSHOOT_WEIGHTS = (10.0, 100.0, 1000.0)  # on the path, and under the constraints, until the point is not thrown
CONVERGED_GAP = 3e-5  # sizes: goals and constraints nearer than this are met
MIN_GAIN = 0.05  # of the merit in a step: less ends a search whose goals are met
STALLED_GAIN, MAX_STALLED_STEPS = 0.02, 3
MIN_AIM_SHARE = 0.02  # of the way
RIDGE_RATIO = 1e-12  # of the largest diagonal element: rows depend on each other


class WindowRows(NamedTuple):
    """All rows of a search at one z."""

    residual: Array  # (M,)
    matrix: Array  # (M, N), empty without slopes
    weight: Array  # (M,)
    moves: int  # the rows of the moves come first
    hard: Array  # (M,) bool: goals and constraints


class WindowSearch:
    """The search of one problem for one set of goals."""

    def __init__(
        self, problem: EditProblem, moves: PointTargets, held: PointTargets, path_weight: float, hold_weight: float
    ) -> None:
        assert isinstance(problem.tangents, OffsetVariables) and problem.paths is not None
        self.problem, self.variables, self.moves, self.held = problem, problem.tangents, moves, held
        self.paths = _aim_paths(problem, moves)
        self.asked = join_targets(moves, self.paths, held)
        rows = (moves.rows, self.paths.rows, held.rows)
        self.weight = np.repeat([GOAL_WEIGHT, path_weight, hold_weight], rows)
        self.hard = np.repeat([True, False, True], rows)
        self.limits = _limit_samples(problem)

    def rows(self, z: Array, slopes: bool = True) -> WindowRows:
        """The rows at variables z."""
        problem, variables = self.problem, self.variables
        seen = measure_targets(problem.states, variables, self.asked, z, problem.size, slopes)
        residual, matrix, weight, hard = [seen.residual], [seen.matrix], [self.weight], [self.hard]
        if problem.terms:
            none = TargetResiduals(np.zeros((0, 6)), np.zeros(0), np.zeros((0, variables.count)))
            goals = append_goal_terms(none, problem.terms, problem.states, variables, z, problem.size, slopes)
            soft = linearise(problem.terms, problem.states, variables, z, problem.size, slopes)
            residual += [goals.residual, soft.residual]
            matrix += [goals.matrix, soft.matrix]
            weight += [np.full(len(goals.residual), TERM_WEIGHT / max(len(goals.residual), 1)), soft.weight]
            hard.append(np.zeros(len(goals.residual) + len(soft.residual), bool))
        for column, low, high, unit, grid in self.limits:
            value = variables.sample(grid, z)[:, column]
            margin = LIMIT_MARGIN * unit
            over = np.clip(value, low + margin, max(high - margin, low + margin)) - value
            at = np.flatnonzero(over)
            residual.append(over[at] / unit)
            if slopes:
                matrix.append(grid.phi[at] * (variables.column == column) / unit)
            weight.append(np.full(len(at), LIMIT_WEIGHT))
            hard.append(np.zeros(len(at), bool))
        return WindowRows(
            np.concatenate(residual),
            np.concatenate(matrix) if slopes else seen.matrix,
            np.concatenate(weight),
            self.moves.rows,
            np.concatenate(hard),
        )

    def run(self, z: Array, iterations: int) -> tuple[Array, int]:
        """The variables of the minimum, and the number of steps."""
        now = self.rows(z)
        merit = _merit(z, now)
        share, damping, stalled, steps = 1.0, 0.0, 0, 0
        while steps < iterations and len(z):
            steps += 1
            gram, pull = now.matrix @ now.matrix.T, now.matrix @ z
            while True:
                trial = _solve_rows(now, gram, pull, z, share, damping)
                after = self.rows(trial, slopes=False)
                lower = _merit(trial, after)
                met = bool(np.abs(after.residual[after.hard]).max(initial=0.0) < CONVERGED_GAP)
                if lower < merit * (1 - 0.2 * share) or (lower < merit and met) or share < MIN_AIM_SHARE:
                    break
                share, damping = 0.5 * share, max(4 * damping, 0.5)
            if lower >= merit:
                break
            gain, merit, z = (merit - lower) / lower, lower, trial
            share, damping = min(1.0, 2 * share), damping / 4 if damping > 0.1 else 0.0
            stalled = stalled + 1 if gain < STALLED_GAIN else 0
            if (met and gain < MIN_GAIN) or stalled == MAX_STALLED_STEPS:
                break
            now = self.rows(z)
        return z, steps


def search_window(
    problem: EditProblem,
    moves: PointTargets,
    z: Array,
    held: PointTargets,
    *,
    iterations: int,
    rounds: int,
    guard: bool,
    drift_tolerance: float,
) -> tuple[Array, int, PointTargets, TargetResiduals]:
    """The variables that meet the goals of `moves`, from z on, the number of steps, the samples of the constraints with
    those that were added in up to `rounds` rounds, and the drift of the constraints on the dense grid."""
    steps = 0
    for turn in range(rounds):
        z, count = WindowSearch(problem, moves, held, PATH_WEIGHT, CONSTRAINT_WEIGHT).run(z, iterations)
        steps += count
        drift = _measure(problem, problem.dense, z, slopes=False)
        if turn == rounds - 1 or max(drift.distance, drift.angle) <= drift_tolerance:
            break
        more = add_worst_samples(held, problem.dense, drift)
        if more is None:
            break
        held = more
    for strength in OVERSHOOT_WEIGHTS if guard else ():
        if overshoot(problem, moves, z) <= MAX_OVERSHOOT:
            break
        strict = WindowSearch(problem, moves, held, strength * PATH_WEIGHT, CONSTRAINT_WEIGHT / strength)
        z, count = strict.run(np.zeros_like(z), iterations)
        steps += count
        drift = _measure(problem, problem.dense, z, slopes=False)
    return z, steps, held, drift


def overshoot(problem: EditProblem, moves: PointTargets, z: Array) -> float:
    """The furthest move of a point along the window over the way that was asked for, the worst of all moves."""
    asked = np.linalg.norm(moves.place - problem.origin[0], axis=1)
    if problem.paths is None or not len(problem.paths):
        return 0.0
    seen = _measure(problem, problem.paths, z, slopes=False)
    moved = np.linalg.norm(seen.gap[:, :3], axis=1) * problem.size
    return float((moved / np.maximum(asked[problem.paths.goal], 1e-9)).max())


def _merit(z: Array, rows: WindowRows) -> float:
    return float(z @ z + rows.weight @ rows.residual**2)


def _solve_rows(now: WindowRows, gram: Array, pull: Array, z: Array, share: float, damping: float) -> Array:
    """The step for a share of the way of the moves, damped towards z."""
    from scipy.linalg.lapack import dposv

    aim = now.residual.copy()
    aim[: now.moves] *= share
    k = gram / (1 + damping)
    k.flat[:: len(k) + 1] += 1 / now.weight + RIDGE_RATIO * k.diagonal().max(initial=0.0)
    _, force, failed = dposv(k, aim + pull / (1 + damping), overwrite_a=True)
    if failed:
        return z
    trial: Array = (damping * z + force @ now.matrix) / (1 + damping)
    return trial


def _aim_paths(problem: EditProblem, moves: PointTargets) -> PointTargets:
    """The path of each moved point, displaced by phi(t) times the way of its move.

    A point with several moves goes from one displacement to the next between them.
    """
    paths, window = problem.paths, problem.window
    assert paths is not None and window is not None
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


def _moves_of_point(moves: PointTargets, point: int) -> Array:
    own = np.flatnonzero((moves.point == point) & moves.parts[:, 0])
    return own[np.argsort(moves.time[own], kind="stable")]


def _limit_samples(problem: EditProblem) -> Sequence[tuple[int, float, float, float, OffsetGrid]]:
    """The limited columns: number among the columns of the states, lowest and highest value, unit, and samples."""
    variables = problem.tangents
    assert isinstance(variables, OffsetVariables)
    result = []
    for number, (low, high) in limits_of(variables.curves.channels, problem.edit.limits).items():
        column = np.flatnonzero(variables.columns == number)
        if not len(column) or not (variables.column == column[0]).any():
            continue
        own = np.arange(len(variables.columns)) == column[0]
        spans = variables.changeable_spans(own)
        times = [np.linspace(a, b, max(9, int((b - a) * LIMIT_SAMPLES_PER_S) + 1)) for a, b in spans]
        grid = variables.grid(np.unique(np.concatenate(times)))
        result.append((int(column[0]), low, high, float(problem.unit[column[0]]), grid))
    return result


def _measure(problem: EditProblem, asked: PointTargets, z: Array, slopes: bool) -> TargetResiduals:
    return measure_targets(problem.states, problem.tangents, asked, z, problem.size, slopes)
