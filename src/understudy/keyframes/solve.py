"""Solve an edit: a sequence of quadratic programs in the tangents [Ciccone 2019, eqs. 3 to 11].

Each step linearises the states about the tangents at hand [eq. 1] and minimises

    w_m |gap - J_s dv|^2 + w_d |D v|^2 + w_b |P v + p|^2      [eqs. 3, 4, 5]

over v = v_now + dv, subject to |gap_j - J_j dv| <= epsilon for everything that is held [eqs. 6, 11] and to the bounds
of the handles [eqs. 7 to 9]. v counts from the tangents before the gesture, so that the result depends on where the
point is dragged to and not on the way there. The gap of what is held is measured anew at every step, so that drift does
not add up. A step that would make things worse is halved.

What is held is looked at on a dense grid of times at the end; where it drifts, those times join the problem and the
steps go on. The drift that is reported is that of the dense grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Curves
from understudy.checks import Array
from understudy.keyframes import qp
from understudy.keyframes.blocked import blocks_of
from understudy.keyframes.goals import Edit, Move
from understudy.keyframes.outcome import Outcome
from understudy.keyframes.problem import Problem, aimed, prepare
from understudy.keyframes.requests import Measured, Requests, measure
from understudy.keyframes.wishes import Soft, softly, with_goals
from understudy.rig import PosedRig


@dataclass(frozen=True)
class Settings:
    """The weights of eq. 10 and when to stop; distances in sizes of the character, turns in radians.

    The paper's w_m = 100 leaves a hundredth of the way.
    """

    move: float = 1e4  # w_m of the first step, ten times more in each that follows
    change: float = 1.0  # w_d
    broken: float = 1.0  # w_b
    epsilon: float = 1e-4  # eq. 11
    tolerance: float = 3e-4  # of the goals
    drift: float = 5e-4  # of what is held
    iterations: int = 12
    trust: float = 1.0  # the most that a variable changes in one step
    regular: float = 1e-6  # lambda of section 3.3


def solve(rig: PosedRig, curves: Curves, edit: Edit, settings: Settings | None = None) -> Outcome:
    """The animation with its tangents changed so that the edit's goals are met, or as nearly as can be."""
    problem = prepare(rig, curves, edit)
    found = search(problem, problem.moves, np.zeros(problem.tangents.count), settings or Settings())
    return outcome(problem, found)


@dataclass(frozen=True)
class Found:
    """Where a search ended."""

    v: Array  # (N,)
    iterations: int
    moves: Measured
    start: Measured  # of the moves before the gesture
    drift: Measured  # of the constraints on the dense grid
    held: Requests  # the samples of the constraints, with those that were added
    solution: qp.Solution | None  # of the last program
    settings: Settings


def retarget(problem: Problem, moves: Sequence[Move]) -> Requests:
    """The moves of a problem with new goals; points, times and kinds are those of the problem's edit."""
    return aimed(problem.moves, moves, problem.origin)


def search(problem: Problem, moves: Requests, v: Array, settings: Settings, held: Requests | None = None) -> Found:
    """From variables v, those that meet the goals of `moves`. `held` are samples that an earlier search came to."""
    held = problem.held if held is None else held
    start = _aims(problem, moves, np.zeros_like(v), slopes=False)
    now, kept, soft = _aims(problem, moves, v), _measure(problem, held, v), _soft(problem, v)
    solution, iterations, stalled = None, 0, False
    while True:
        done = _within(now, settings.tolerance) and _within(kept, settings.drift) and not len(soft.weight)
        if done or stalled or iterations == settings.iterations or not problem.tangents.count:
            drift = _measure(problem, problem.dense, v, slopes=False)
            more = None if _within(drift, settings.drift) else _more(problem, held, drift)
            if more is None or iterations == settings.iterations:
                break
            held = more
            kept, stalled = _measure(problem, held, v), False
        weight = settings.move * min(10.0**iterations, 1e4)
        solution = qp.minimise(_program(problem, now, kept, soft, v, weight, settings))
        iterations += 1
        if solution is None:
            stalled = True
            continue
        step, before = solution.x - v, _merit(problem, now, kept, soft, v, weight, settings)
        for share in (1.0, 0.5, 0.25, 0.1):
            trial = v + share * step
            new_now, new_kept = _aims(problem, moves, trial), _measure(problem, held, trial)
            new_soft = _soft(problem, trial)
            after = _merit(problem, new_now, new_kept, new_soft, trial, weight, settings)
            if after < before:
                break
        stalled = not after < 0.99 * before
        if after < before:
            v, now, kept, soft = trial, new_now, new_kept, new_soft
    return Found(v, iterations, now, start, drift, held, solution, settings)


def outcome(problem: Problem, found: Found) -> Outcome:
    """What a search came to, for a person; one that ended worse than it began gives the animation as it was."""
    settings, size = found.settings, problem.size
    reached = _within(found.moves, settings.tolerance) and _within(found.drift, settings.drift)
    worse = found.moves.distance + found.moves.angle > found.start.distance + found.start.angle
    began = _measure(problem, problem.dense, np.zeros_like(found.v), slopes=False)
    drifted = not _within(found.drift, max(settings.drift, began.distance + began.angle))
    if worse or drifted:
        found = Found(
            np.zeros_like(found.v),
            found.iterations,
            found.start,
            found.start,
            began,
            found.held,
            found.solution,
            settings,
        )
    return Outcome(
        problem.tangents.applied(found.v),
        reached,
        found.moves.distance * size,
        found.moves.angle,
        found.start.distance * size,
        found.start.angle,
        found.drift.distance * size,
        found.drift.angle,
        found.iterations,
        () if reached else blocks_of(problem, found),
        problem.states.analytic,
    )


def _measure(problem: Problem, asked: Requests, v: Array, slopes: bool = True) -> Measured:
    return measure(problem.states, problem.tangents, asked, v, problem.size, slopes)


def _aims(problem: Problem, moves: Requests, v: Array, slopes: bool = True) -> Measured:
    """The moves, and the wishes that are goals as well."""
    now = _measure(problem, moves, v, slopes)
    return with_goals(now, problem.wishes, problem.states, problem.tangents, v, problem.size, slopes)


def _soft(problem: Problem, v: Array) -> Soft:
    return softly(problem.wishes, problem.states, problem.tangents, v, problem.size)


def _within(measured: Measured, tolerance: float) -> bool:
    return measured.distance <= tolerance and measured.angle <= tolerance


def _merit(
    problem: Problem, now: Measured, kept: Measured, soft: Soft, v: Array, weight: float, settings: Settings
) -> float:
    """What a step must lower: the way to go, and ten times what is held drifts beyond what it may.

    Soft wishes are weighed against the change of the tangents, so where there are any, both count as they do in the
    program.
    """
    drift = np.abs(kept.residual).max(initial=0.0)
    aim = float(now.residual @ now.residual)
    if len(soft.weight):
        t = problem.tangents
        pulled = np.sum((t.pull @ v + t.pull_start) ** 2) + t.pull_cost @ v**2 + t.pull_slope @ v
        change = settings.change * (t.cost**2 @ v**2) + settings.broken * (pulled - t.pull_start @ t.pull_start)
        aim += max(0.0, soft.energy + float(change)) / weight
    return float(np.sqrt(aim) + 10.0 * max(0.0, drift - 1.5 * settings.epsilon))


def _program(
    problem: Problem, now: Measured, kept: Measured, soft: Soft, v: Array, weight: float, settings: Settings
) -> qp.Program:
    """The quadratic program about v [eq. 10], in terms of the new variables themselves."""
    t = problem.tangents
    aim = kept.matrix @ v + kept.residual
    high = np.minimum(t.high, v + settings.trust)
    low = np.minimum(np.maximum(t.low, v - settings.trust), high)
    return qp.Program(
        settings.change * t.cost**2 + settings.broken * t.pull_cost + settings.regular,
        settings.broken * t.pull_slope,
        low,
        high,
        np.concatenate([now.matrix, soft.matrix, t.pull]),
        np.concatenate([now.residual + now.matrix @ v, soft.residual + soft.matrix @ v, -t.pull_start]),
        np.concatenate([np.full(len(now.residual), weight), soft.weight, np.full(len(t.pull), settings.broken)]),
        kept.matrix,
        aim - settings.epsilon,
        aim + settings.epsilon,
    )


def _more(problem: Problem, held: Requests, drift: Measured) -> Requests | None:
    """The held samples and, of each goal, the time between them at which it drifts most; None where all are in."""
    off = np.sqrt((drift.gap**2).sum(axis=1))
    known = set(zip(held.goal.tolist(), held.time.tolist()))
    new = []
    for goal in np.unique(problem.dense.goal):
        own = np.flatnonzero(problem.dense.goal == goal)
        peaks = own[np.argsort(off[own])[::-1]][:3]
        new += [int(r) for r in peaks if (int(goal), float(problem.dense.time[r])) not in known]
    if not new:
        return None
    return held.joined(problem.dense, np.array(new), problem.tangents)
