"""One step of a search: its quadratic program [Ciccone 2019, eq. 10], and how hard the goals pull in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.checks import Array
from understudy.keyframes import qp
from understudy.keyframes.problem import Problem
from understudy.keyframes.requests import Measured

if TYPE_CHECKING:
    from understudy.keyframes.solve import Here, Settings

MORE = 30.0  # times as hard as the program before
VAIN = 0.9  # of what was left: pulling harder that leaves more than this is in vain
LEFT = 0.05  # of the way: what a step may leave without pulling harder
NEAR = 1e-9  # to a bound counts as at it


def _weight(now: Measured, stride: float, iterations: int, settings: Settings) -> float:
    """w_m: the pull w |J| |gap| of the goals is the force at which what is held slips by epsilon, hold * epsilon."""
    gap = min(float(np.linalg.norm(now.residual)), stride)
    slope = float(np.sqrt((now.matrix**2).sum() / max(len(now.matrix), 1)))
    most = settings.move * min(10.0**iterations, 1e4)
    return min(settings.hold * settings.epsilon / max(gap * slope, 1e-12), most)


def aimed_step(
    problem: Problem,
    here: Here,
    stride: float,
    iterations: int,
    settings: Settings,
    damping: float,
    side: Array | None = None,
) -> tuple[float, float, qp.Solution | None, int]:
    """The w_m at last, how much harder than guessed that is, the program's minimum, and how many programs that took.

    Where a good part of the way is left while what is held does not slip, it is the cost of the tangents that keeps the
    point back, and the goals pull harder: a first guess has to be low enough for goals out of reach.
    """
    guess = _weight(here.now, stride, iterations, settings)
    weight = settings.pull * guess
    own = slice(problem.moves.rows)  # drawn paths and the like, which are goals as well, are met on the whole only
    way = _strided(problem, here.now, stride)[own]
    before, solved, square = np.inf, 0, qp.Square(here.kept.matrix, settings.hold)
    while solved < settings.harder:
        solved += 1
        made = program(problem, here, weight, stride, settings, damping)
        solution = qp.approach(made, settings.hold, square, side)
        if solution is None:
            break
        side = solution.side
        step = solution.x - here.v
        left = float(np.linalg.norm(way - here.now.matrix[own] @ step))
        slip = np.abs(here.kept.residual - here.kept.matrix @ step).max(initial=0.0)
        if left <= LEFT * float(np.linalg.norm(way)) or left > VAIN * before or slip > settings.epsilon:
            break
        if solved < settings.harder:
            weight, before = MORE * weight, left
    return weight, weight / guess, solution, solved


def bounds(problem: Problem, v: Array, settings: Settings) -> tuple[Array, Array]:
    """(N,) how low and how high the variables may be after one step from v."""
    t = problem.tangents
    high = np.minimum(t.high, v + settings.trust)
    return np.minimum(np.maximum(t.low, v - settings.trust), high), high


def ends(problem: Problem, v: Array) -> Array:
    """(N,) 1 for variables at their upper bound, -1 for those at their lower one: the next step may find them there."""
    t = problem.tangents
    return (v >= t.high - NEAR).astype(np.int8) - (v <= t.low + NEAR)


def program(
    problem: Problem, here: Here, weight: float, stride: float, settings: Settings, damping: float = 0.0
) -> qp.Program:
    """The quadratic program about v [eq. 10], in terms of the new variables themselves.

    `damping` is what a change from v costs. The first steps of a search have none, so that they find what is cheapest
    for the gesture as a whole; those that follow correct it where they are.
    """
    t, (v, now, kept, soft, _) = problem.tangents, here
    aim, (low, high) = kept.matrix @ v + kept.residual, bounds(problem, v, settings)
    return qp.Program(
        settings.change * t.cost**2 + settings.broken * t.pull_cost + settings.regular + damping,
        settings.broken * t.pull_slope - 2 * damping * v,
        low,
        high,
        np.concatenate([now.matrix, soft.matrix, t.pull]),
        np.concatenate(
            [_strided(problem, now, stride) + now.matrix @ v, soft.residual + soft.matrix @ v, -t.pull_start]
        ),
        np.concatenate([np.full(len(now.residual), weight), soft.weight, np.full(len(t.pull), settings.broken)]),
        kept.matrix,
        aim - settings.epsilon,
        aim + settings.epsilon,
    )


def _strided(problem: Problem, now: Measured, stride: float) -> Array:
    """The way to go of the moves, no more than `stride` of each: further away the states are not what a line says."""
    result = now.residual.copy()
    ways = result[: problem.moves.rows].reshape(-1, 3)
    ways *= np.minimum(1.0, stride / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12))
    return result
