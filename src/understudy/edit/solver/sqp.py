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
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Edit, MovePoint
from understudy.edit.outcome import EditResult
from understudy.edit.solver import qp
from understudy.edit.solver.diagnosis import find_obstacles
from understudy.edit.solver.objective_terms import TermRows, linearise, with_goals
from understudy.edit.solver.problem import EditProblem, prepare_problem, with_targets
from understudy.edit.solver.step import bound_sides, solve_step, step_bounds
from understudy.edit.solver.targets import PointTargets, TargetResiduals, compare_states, measure_targets, with_worst
from understudy.maths.threads import one_thread

LATE_ITERATIONS, LATE_STALLED_RATIO = (
    4,
    0.85,
)  # steps after which each has to do more: goals within reach are met by then
MAX_DRIFT_RATIO = 1.8  # times the drift that is asked for: what may stay where a goal is not reached
RESAMPLE_DRIFT_RATIO = (
    1.5  # times the drift at the samples: what is more than this between them calls for another sample
)
ZERO_DERIVATIVE = 1e-12  # sizes for a unit of any tangent
MAX_RESTORE_STEPS = 2  # steps at most that bring back what is held, and rounds of adding times at the end


@dataclass(frozen=True)
class SolverSettings:
    """The weights of eq. 10 and when to stop; distances in sizes of the character, turns in radians.

    The paper's w_m = 100 leaves a hundredth of the way.
    """

    move: float = 1e6  # w_m of the first step at most, ten times more in each that follows: see `stepping`
    hold: float = 1e7  # the weight of what is held: a slip of epsilon costs a tenth of a tangent turned by a radian
    change: float = 1.0  # w_d
    broken: float = 1.0  # w_b
    epsilon: float = 1e-4  # eq. 11
    tolerance: float = 3e-4  # of the goals
    drift: float = 5e-4  # of what is held
    iterations: int = 6
    programs: int = 12  # of all iterations: what a pointer can wait for, which goes on with the next event
    trust: float = 1.0  # the most that a variable changes in one step
    stride: float = 0.3  # the longest way of a point, or the largest turn, that the first step aims at
    damping: float = 10.0  # what a change costs in later steps, ten times more after one cut short
    undamped: int = 2  # steps at the start of a search, from which what is cheapest is known well enough
    regular: float = 1e-6  # lambda of section 3.3
    stalled: float = 0.97  # of the merit: a step that leaves more of it than this has failed
    harder: int = 3  # programs at most of one step, each with goals that pull harder
    pull: float = 1.0  # times the weight of the goals that is guessed
    failures: int = 2  # in a row after which a search ends: the first makes the next one shorter


SCRIPT_SETTINGS = SolverSettings(
    iterations=12, programs=48
)  # for scripts and offers, which may take longer than a pointer


def solve(rig: PosedRig, curves: Curves, edit: Edit, settings: SolverSettings | None = None) -> EditResult:
    """The animation with its tangents changed so that the edit's goals are met, or as nearly as can be."""
    problem = prepare_problem(rig, curves, edit)
    found = search(problem, problem.moves, np.zeros(problem.tangents.count), settings or SCRIPT_SETTINGS)
    return edit_result(problem, found)


@dataclass(frozen=True)
class SearchResult:
    """Where a search ended."""

    v: Array  # (N,)
    iterations: int
    moves: TargetResiduals
    start: TargetResiduals  # of the moves before the gesture
    drift: TargetResiduals  # of the constraints on the dense grid
    held: PointTargets  # the samples of the constraints, with those that were added
    asked: PointTargets  # the moves with their goals
    settings: SolverSettings
    kept: TargetResiduals | None  # `held` at v with slopes, where it is known
    pull: float = 1.0  # how much harder than guessed goals pulled in the last step, where that was taken whole

    @property
    def reached(self) -> bool:
        """Whether the goals are met, and what is held is."""
        return _is_within(self.moves, self.settings.tolerance) and _is_within(self.drift, self.settings.drift)


def targets_of_moves(problem: EditProblem, moves: Sequence[MovePoint]) -> PointTargets:
    """The moves of a problem with new goals; points, times and kinds are those of the problem's edit."""
    return with_targets(problem.moves, moves, problem.origin)


def search(
    problem: EditProblem, moves: PointTargets, v: Array, settings: SolverSettings, held: PointTargets | None = None
) -> SearchResult:
    """From variables v, those that meet the goals of `moves`. `held` are samples that an earlier search came to."""
    with one_thread():
        return _run_search(problem, moves, v, settings, held)


def _run_search(
    problem: EditProblem, moves: PointTargets, v: Array, settings: SolverSettings, held: PointTargets | None
) -> SearchResult:
    held = problem.held if held is None else held
    start = _start_residuals(problem, moves)
    here = evaluate(problem, moves, held, v)
    iterations, failures, programs, pull = 0, 0, 0, 1.0
    stride, damping = settings.stride, 0.0 if settings.undamped else settings.damping
    asked = len(here.now.matrix) and not len(here.soft.weight)
    fixed = not len(v) or (
        asked and np.abs(here.now.matrix).max() <= ZERO_DERIVATIVE
    )  # as at a key: no tangent moves the point
    best: tuple[Iterate, TargetResiduals] | None = None  # the nearest that holds what is held at all times
    side = bound_sides(problem, v)
    while True:
        done = _is_within(here.now, settings.tolerance) and _is_within(here.kept, settings.drift)
        over = iterations >= settings.iterations or programs >= settings.programs or fixed
        if (done and not len(here.soft.weight)) or failures == settings.failures or over:
            here, drift, held, seen, solved = _restore_constraints(
                problem, moves, held, here, settings, MAX_RESTORE_STEPS if over else 1
            )
            programs += solved
            if _is_within(drift, MAX_DRIFT_RATIO * settings.drift) and (best is None or here.now.far < best[0].now.far):
                best = (here, drift)
            # A goal that is not getting nearer may leave what is held a little more loose than one that is reached.
            allowed = settings.drift if done else MAX_DRIFT_RATIO * settings.drift
            if over or _is_within(drift, allowed) or seen:
                break
            failures = 0
        weight, pull, solution, solved = solve_step(problem, here, stride, iterations, settings, damping, side)
        iterations, programs = iterations + 1, programs + solved
        if solution is None:
            failures = settings.failures
            continue
        side = solution.side
        before = _merit(problem, here, weight, settings)
        trial, after, share = apply_step(problem, moves, held, here, solution.x - here.v, weight, settings)
        # A whole step earns a longer one; one that was cut short a shorter one, which keeps nearer to where it is.
        gap = float(np.linalg.norm(here.now.residual))
        stride = min(2 * stride, 1.0) if share == 1.0 else max(1.5 * share * min(stride, gap), settings.stride / 64)
        pull = pull if share == 1.0 else 1.0
        if share < 1.0:
            damping = min(10 * max(damping, settings.damping), 1e6)
        elif iterations >= settings.undamped:
            damping = settings.damping
        most = settings.stalled if iterations <= LATE_ITERATIONS else min(settings.stalled, LATE_STALLED_RATIO)
        failures = failures + 1 if not after < most * before else 0
        if after < before:
            held, here = _add_drifting_samples(problem, held, trial, settings)
    if not _is_within(drift, MAX_DRIFT_RATIO * settings.drift):
        here, drift = best or _back_off(problem, moves, held, here, drift, settings)
    kept = here.kept if len(here.kept.residual) == held.rows else None  # the nearest may be of fewer samples
    return SearchResult(here.v, iterations, here.now, start, drift, held, moves, settings, kept, pull)


def _add_drifting_samples(
    problem: EditProblem, held: PointTargets, here: Iterate, settings: SolverSettings
) -> tuple[PointTargets, Iterate]:
    """The samples of what is held, with those between them where it drifts more than at any of them.

    Looked at after every step and not only at the end, where steps would have to be taken anew.
    """
    if not len(held):
        return held, here
    drift = _measure(problem, problem.dense, here.v, slopes=False)
    here = here._replace(drift=drift)
    if _is_within(
        drift, max(settings.drift, RESAMPLE_DRIFT_RATIO * float(np.abs(here.kept.residual).max(initial=0.0)))
    ):
        return held, here
    more = with_worst(held, problem.dense, drift)
    return (held, here) if more is None else (more, here._replace(kept=_measure(problem, more, here.v)))


class Iterate(NamedTuple):
    """Variables, and all that is measured there."""

    v: Array  # (N,)
    now: TargetResiduals  # the moves, and the wishes that are goals
    kept: TargetResiduals  # what is held
    soft: TermRows
    drift: TargetResiduals | None = None  # what is held at all times at which it is looked at, where it was


def apply_step(
    problem: EditProblem,
    moves: PointTargets,
    held: PointTargets,
    here: Iterate,
    step: Array,
    weight: float,
    settings: SolverSettings,
) -> tuple[Iterate, float, float]:
    """Where a step leads, the merit there and the share of the step that was taken, the first that does some good."""
    before = _merit(problem, here, weight, settings)
    for share in (1.0, 0.5, 0.25, 0.1):
        # most whole steps are taken, so they are looked at whole; of others the slopes would mostly be in vain
        trial = evaluate(problem, moves, held, here.v + share * step, slopes=share == 1.0)
        after = _merit(problem, trial, weight, settings)
        if after < before:
            break
    taken = trial if share == 1.0 or not after < before else evaluate(problem, moves, held, trial.v)
    return taken, after, share


def _restore_constraints(
    problem: EditProblem, moves: PointTargets, held: PointTargets, here: Iterate, settings: SolverSettings, rounds: int
) -> tuple[Iterate, TargetResiduals, PointTargets, bool, int]:
    """The nearest variables at which what is held is held again at all times, or as nearly as a few steps get.

    Returns them, the drift there, the samples with those that were added, whether there were none left to add, and how
    many programs that took.
    """
    t, programs = problem.tangents, 0
    none, ones = np.zeros((0, t.count)), np.ones(t.count)
    while True:
        for _ in range(MAX_RESTORE_STEPS):
            if not t.count or _is_within(here.kept, settings.drift):
                break
            aim, (low, high) = here.kept.matrix @ here.v + here.kept.residual, step_bounds(problem, here.v, settings)
            nearest = qp.Program(ones, -2 * here.v, low, high, none, aim[:0], aim[:0], here.kept.matrix, aim, aim)
            side = bound_sides(problem, here.v)
            solution, programs = qp.minimise_soft(nearest, settings.hold, side=side), programs + 1
            trial = here if solution is None else evaluate(problem, moves, held, solution.x)
            if not np.abs(trial.kept.residual).max() < np.abs(here.kept.residual).max():
                break
            here = trial
        drift = here.drift or _measure(problem, problem.dense, here.v, slopes=False)
        more = None if _is_within(drift, settings.drift) else with_worst(held, problem.dense, drift)
        if more is None:
            return here, drift, held, True, programs
        held, rounds = more, rounds - 1
        here = here._replace(kept=_measure(problem, held, here.v))
        if not rounds:
            return here, drift, held, False, programs


def _back_off(
    problem: EditProblem,
    moves: PointTargets,
    held: PointTargets,
    here: Iterate,
    drift: TargetResiduals,
    settings: SolverSettings,
) -> tuple[Iterate, TargetResiduals]:
    """A part of the way on which what is held can be held, or where it is: what is off shrinks with its square."""
    for share in (0.6, 0.25):
        less, off, *_ = _restore_constraints(
            problem, moves, held, evaluate(problem, moves, held, share * here.v), settings, 1
        )
        if _is_within(off, MAX_DRIFT_RATIO * settings.drift):
            return less, off
    return here, drift


def edit_result(problem: EditProblem, found: SearchResult) -> EditResult:
    """What a search came to, for a person; one that ended worse than it began gives the animation as it was."""
    return to_result(problem, accept_search(problem, found))


def accept_search(problem: EditProblem, found: SearchResult) -> SearchResult:
    """What a search came to, or as much of it as is no worse than the start."""
    with one_thread():
        return found if found.reached else _scale_back(problem, found)


def to_result(problem: EditProblem, found: SearchResult) -> EditResult:
    """What a search that is `settled` came to."""
    with one_thread():
        return _build_result(problem, found)


def _build_result(problem: EditProblem, found: SearchResult) -> EditResult:
    reached, size = found.reached, problem.size
    return EditResult(
        problem.tangents.apply_to_curves(found.v),
        reached,
        found.moves.distance * size,
        found.moves.angle,
        found.start.distance * size,
        found.start.angle,
        found.drift.distance * size,
        found.drift.angle,
        found.iterations,
        () if reached else find_obstacles(problem, found),
        problem.states.analytic,
    )


def _scale_back(problem: EditProblem, found: SearchResult) -> SearchResult:
    """What a search came to, or as much of it as leaves no goal further away, nor turned away more, than it was."""
    settings = found.settings
    began = problem.initial_drift
    bearable = max(MAX_DRIFT_RATIO * settings.drift, began.far)
    for share in (1.0, 0.5, 0.25, 0.1):
        v = share * found.v
        now = found.moves if share == 1.0 else _goal_residuals(problem, found.asked, v)
        nearer = now.distance <= max(found.start.distance, settings.tolerance)
        straighter = now.angle <= max(found.start.angle, settings.tolerance)
        if not (nearer and straighter and now.far <= found.start.far):
            continue
        drift = found.drift if share == 1.0 else _measure(problem, problem.dense, v, slopes=False)
        if _is_within(drift, bearable):
            return found if share == 1.0 else replace(found, v=v, moves=now, drift=drift, kept=None)
    return replace(found, v=np.zeros_like(found.v), moves=found.start, drift=began, kept=None)


def _measure(problem: EditProblem, asked: PointTargets, v: Array, slopes: bool = True) -> TargetResiduals:
    return measure_targets(problem.states, problem.tangents, asked, v, problem.size, slopes)


def _goal_residuals(problem: EditProblem, moves: PointTargets, v: Array, slopes: bool = True) -> TargetResiduals:
    """The moves, and the wishes that are goals as well."""
    now = _measure(problem, moves, v, slopes)
    return with_goals(now, problem.terms, problem.states, problem.tangents, v, problem.size, slopes)


def _start_residuals(problem: EditProblem, moves: PointTargets) -> TargetResiduals:
    """The same before the gesture."""
    zero, (place, turn) = np.zeros(problem.tangents.count), problem.origin
    now = compare_states(moves, place, turn, problem.size, len(zero))
    return with_goals(now, problem.terms, problem.states, problem.tangents, zero, problem.size, slopes=False)


def _soft_rows(problem: EditProblem, v: Array) -> TermRows:
    return linearise(problem.terms, problem.states, problem.tangents, v, problem.size)


def _is_within(measured: TargetResiduals, tolerance: float) -> bool:
    return measured.distance <= tolerance and measured.angle <= tolerance


def evaluate(problem: EditProblem, moves: PointTargets, held: PointTargets, v: Array, slopes: bool = True) -> Iterate:
    """All that is measured at variables v; without slopes as much as the merit needs."""
    return Iterate(
        v, _goal_residuals(problem, moves, v, slopes), _measure(problem, held, v, slopes), _soft_rows(problem, v)
    )


def _merit(problem: EditProblem, here: Iterate, weight: float, settings: SolverSettings) -> float:
    """What a step must lower: the way to go, and three times what is held drifts beyond what it may.

    Soft wishes are weighed against the change of the tangents, so where there are any, both count as they do in the
    program.
    """
    now, kept, soft = here.now, here.kept, here.soft
    drift = np.abs(kept.residual).max(initial=0.0)
    aim = float(now.residual @ now.residual)
    if len(soft.weight):
        t, v = problem.tangents, here.v
        pulled = np.sum((t.pull @ v + t.pull_start) ** 2) + t.pull_cost @ v**2 + t.pull_slope @ v
        change = settings.change * (t.cost**2 @ v**2) + settings.broken * (pulled - t.pull_start @ t.pull_start)
        aim += max(0.0, soft.energy + float(change)) / weight
    return float(np.sqrt(aim) + 3.0 * max(0.0, drift - 1.5 * settings.epsilon))
