"""One step of the search: its quadratic program [Ciccone 2019, eq. 10], and the weight of the goals in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.checks import Array
from understudy.edit.solver import qp
from understudy.edit.solver.problem import EditProblem
from understudy.edit.solver.targets import TargetResiduals

if TYPE_CHECKING:
    from understudy.edit.solver.sqp import Iterate, SolverSettings

PULL_GROWTH = 30.0  # factor on the weight of the goals from one program to the next
MIN_PROGRESS_PER_PULL = 0.9  # remaining share of the gap: a larger weight that leaves more than this is not raised
MAX_REMAINING_RATIO = 0.05  # of the gap: a step that leaves less needs no larger weight
BOUND_TOLERANCE = 1e-9  # variables this near to a bound are at it


def solve_step(
    problem: EditProblem,
    iterate: Iterate,
    stride: float,
    iterations: int,
    settings: SolverSettings,
    damping: float,
    side: Array | None = None,
) -> tuple[float, float, qp.QpSolution | None, int]:
    """The final w_m, its ratio to the first guess, the minimum of the program, and the number of programs solved.

    Where a good part of the gap is left while no constraint slips, the cost of the tangents keeps the point back, and
    the weight of the goals is raised: the first guess has to be low enough for goals out of reach.
    """
    guess = _goal_weight(iterate.now, stride, iterations, settings)
    weight = settings.pull * guess
    rows = slice(problem.moves.rows)  # without strokes and other goals about paths, which are only met on the whole
    gap = _clip_to_stride(problem, iterate.now, stride)[rows]
    before, solved, square = np.inf, 0, qp.RowGram(iterate.kept.matrix, settings.hold)
    while solved < settings.harder:
        solved += 1
        program = build_program(problem, iterate, weight, stride, settings, damping)
        solution = qp.minimise_soft(program, settings.hold, square, side)
        if solution is None:
            break
        side = solution.side
        step = solution.x - iterate.v
        left = float(np.linalg.norm(gap - iterate.now.matrix[rows] @ step))
        slip = np.abs(iterate.kept.residual - iterate.kept.matrix @ step).max(initial=0.0)
        if (
            left <= MAX_REMAINING_RATIO * float(np.linalg.norm(gap))
            or left > MIN_PROGRESS_PER_PULL * before
            or slip > settings.epsilon
        ):
            break
        if solved < settings.harder:
            weight, before = PULL_GROWTH * weight, left
    return weight, weight / guess, solution, solved


def build_program(
    problem: EditProblem, iterate: Iterate, weight: float, stride: float, settings: SolverSettings, damping: float = 0.0
) -> qp.Program:
    """The quadratic program about v [eq. 10], in terms of the new variables themselves.

    `damping` is the cost of a change from v. The first steps of a search have none, so that they find the cheapest
    solution for the edit as a whole; later steps correct it locally.
    """
    t, (v, now, kept, soft, _) = problem.tangents, iterate
    aim, (low, high) = kept.matrix @ v + kept.residual, step_bounds(problem, v, settings)
    return qp.Program(
        settings.change * t.cost**2 + settings.broken * t.pull_cost + settings.regular + damping,
        settings.broken * t.pull_slope - 2 * damping * v,
        low,
        high,
        np.concatenate([now.matrix, soft.matrix, t.pull]),
        np.concatenate(
            [_clip_to_stride(problem, now, stride) + now.matrix @ v, soft.residual + soft.matrix @ v, -t.pull_start]
        ),
        np.concatenate([np.full(len(now.residual), weight), soft.weight, np.full(len(t.pull), settings.broken)]),
        kept.matrix,
        aim - settings.epsilon,
        aim + settings.epsilon,
    )


def step_bounds(problem: EditProblem, v: Array, settings: SolverSettings) -> tuple[Array, Array]:
    """(N,) the lower and upper bounds of the variables after one step from v."""
    t = problem.tangents
    high = np.minimum(t.high, v + settings.trust)
    return np.minimum(np.maximum(t.low, v - settings.trust), high), high


def bound_sides(problem: EditProblem, v: Array) -> Array:
    """(N,) 1 for variables at their upper bound, -1 for those at their lower one: a first guess for the next step."""
    t = problem.tangents
    return (v >= t.high - BOUND_TOLERANCE).astype(np.int8) - (v <= t.low + BOUND_TOLERANCE)


def _goal_weight(now: TargetResiduals, stride: float, iterations: int, settings: SolverSettings) -> float:
    """w_m: the pull w |J| |gap| of the goals equals the force at which constraints slip by epsilon, hold * epsilon."""
    gap = min(float(np.linalg.norm(now.residual)), stride)
    slope = float(np.sqrt((now.matrix**2).sum() / max(len(now.matrix), 1)))
    most = settings.move * min(10.0**iterations, 1e4)
    return min(settings.hold * settings.epsilon / max(gap * slope, 1e-12), most)


def _clip_to_stride(problem: EditProblem, now: TargetResiduals, stride: float) -> Array:
    """The gaps of the moves, cut to a length of `stride` each: the linearisation does not hold further away."""
    result = now.residual.copy()
    gaps = result[: problem.moves.rows].reshape(-1, 3)
    gaps *= np.minimum(1.0, stride / np.maximum(np.linalg.norm(gaps, axis=1, keepdims=True), 1e-12))
    return result
