"""One step of a search: its quadratic program [Ciccone 2019, eq. 10], and how hard the goals pull in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.checks import Array
from understudy.edit.solver import qp
from understudy.edit.solver.problem import EditProblem
from understudy.edit.solver.targets import TargetResiduals

if TYPE_CHECKING:
    from understudy.edit.solver.sqp import Iterate, SolverSettings

PULL_GROWTH = 30.0  # times as hard as the program before
MIN_PROGRESS_PER_PULL = 0.9  # of what was left: pulling harder that leaves more than this is in vain
MAX_REMAINING_RATIO = 0.05  # of the way: what a step may leave without pulling harder
BOUND_TOLERANCE = 1e-9  # to a bound counts as at it


def _goal_weight(now: TargetResiduals, stride: float, iterations: int, settings: SolverSettings) -> float:
    """w_m: the pull w |J| |gap| of the goals is the force at which what is held slips by epsilon, hold * epsilon."""
    gap = min(float(np.linalg.norm(now.residual)), stride)
    slope = float(np.sqrt((now.matrix**2).sum() / max(len(now.matrix), 1)))
    most = settings.move * min(10.0**iterations, 1e4)
    return min(settings.hold * settings.epsilon / max(gap * slope, 1e-12), most)


def solve_step(
    problem: EditProblem,
    here: Iterate,
    stride: float,
    iterations: int,
    settings: SolverSettings,
    damping: float,
    side: Array | None = None,
) -> tuple[float, float, qp.QpSolution | None, int]:
    """The w_m at last, how much harder than guessed that is, the program's minimum, and how many programs that took.

    Where a good part of the way is left while what is held does not slip, it is the cost of the tangents that keeps the
    point back, and the goals pull harder: a first guess has to be low enough for goals out of reach.
    """
    guess = _goal_weight(here.now, stride, iterations, settings)
    weight = settings.pull * guess
    own = slice(problem.moves.rows)  # drawn paths and the like, which are goals as well, are met on the whole only
    way = _clip_to_stride(problem, here.now, stride)[own]
    before, solved, square = np.inf, 0, qp.RowGram(here.kept.matrix, settings.hold)
    while solved < settings.harder:
        solved += 1
        made = build_program(problem, here, weight, stride, settings, damping)
        solution = qp.minimise_soft(made, settings.hold, square, side)
        if solution is None:
            break
        side = solution.side
        step = solution.x - here.v
        left = float(np.linalg.norm(way - here.now.matrix[own] @ step))
        slip = np.abs(here.kept.residual - here.kept.matrix @ step).max(initial=0.0)
        if (
            left <= MAX_REMAINING_RATIO * float(np.linalg.norm(way))
            or left > MIN_PROGRESS_PER_PULL * before
            or slip > settings.epsilon
        ):
            break
        if solved < settings.harder:
            weight, before = PULL_GROWTH * weight, left
    return weight, weight / guess, solution, solved


def step_bounds(problem: EditProblem, v: Array, settings: SolverSettings) -> tuple[Array, Array]:
    """(N,) how low and how high the variables may be after one step from v."""
    t = problem.tangents
    high = np.minimum(t.high, v + settings.trust)
    return np.minimum(np.maximum(t.low, v - settings.trust), high), high


def bound_sides(problem: EditProblem, v: Array) -> Array:
    """(N,) 1 for variables at their upper bound, -1 for those at their lower one: the next step may find them there."""
    t = problem.tangents
    return (v >= t.high - BOUND_TOLERANCE).astype(np.int8) - (v <= t.low + BOUND_TOLERANCE)


def build_program(
    problem: EditProblem, here: Iterate, weight: float, stride: float, settings: SolverSettings, damping: float = 0.0
) -> qp.Program:
    """The quadratic program about v [eq. 10], in terms of the new variables themselves.

    `damping` is what a change from v costs. The first steps of a search have none, so that they find what is cheapest
    for the gesture as a whole; those that follow correct it where they are.
    """
    t, (v, now, kept, soft, _) = problem.tangents, here
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


def _clip_to_stride(problem: EditProblem, now: TargetResiduals, stride: float) -> Array:
    """The way to go of the moves, no more than `stride` of each: further away the states are not what a line says."""
    result = now.residual.copy()
    ways = result[: problem.moves.rows].reshape(-1, 3)
    ways *= np.minimum(1.0, stride / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12))
    return result
