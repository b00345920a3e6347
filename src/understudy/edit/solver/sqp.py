"""Solve an edit: a sequence of quadratic programs in the tangents [Ciccone 2019, eqs. 3 to 11].

Each step linearises the states about the current tangents [eq. 1] and minimises

    w_m |gap - J_s dv|^2 + w_d |D v|^2 + w_b |P v + p|^2      [eqs. 3, 4, 5]

over v = v_now + dv, subject to |gap_j - J_j dv| <= epsilon for every constraint [eqs. 6, 11] and to the bounds of the
handles [eqs. 7 to 9]. v counts from the tangents before the edit, so the result depends on the goal of a drag and not
on the path of the pointer. The gap of the constraints is measured anew at every step, so that drift does not add up. A
step that would make things worse is halved.

The constraints are measured on a dense grid of times at the end; where they drift, those times join the problem and the
steps continue. The reported drift is that of the dense grid.
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
from understudy.edit.solver.motion_change import measure_change, path_obstacles
from understudy.edit.solver.objective_terms import TermRows, append_goal_terms, linearise
from understudy.edit.solver.problem import EditProblem, prepare_problem, with_targets
from understudy.edit.solver.targets import (
    PointTargets,
    TargetResiduals,
    add_worst_samples,
    compare_states,
    measure_targets,
)
from understudy.edit.solver.window_search import WindowSearch, search_window
from understudy.maths.jit import one_blas_thread

# Steps after which a step has failed unless it lowers the merit to this share: goals within reach are met by then.
LATE_ITERATIONS, LATE_STALLED_RATIO = 4, 0.85
MAX_DRIFT_RATIO = 1.8  # times the allowed drift: what may stay where a goal is not reached
RESAMPLE_DRIFT_RATIO = 1.5  # times the drift at the samples: a larger drift between them adds a sample
ZERO_DERIVATIVE = 1e-12  # sizes per unit of a tangent; a smaller derivative is zero
MAX_RESTORE_STEPS = 2  # steps that restore constraints, and rounds of adding times at the end

PULL_GROWTH = 30.0  # factor on the weight of the goals from one program to the next
MIN_PROGRESS_PER_PULL = 0.9  # remaining share of the gap: a larger weight that leaves more than this is not raised
MAX_REMAINING_RATIO = 0.05  # of the gap: a step that leaves less needs no larger weight
BOUND_TOLERANCE = 1e-9  # variables this near to a bound are at it


@dataclass(frozen=True)
class SolverSettings:
    """The weights of eq. 10 and the stopping rules; distances in sizes of the character, rotations in radians.

    The paper's w_m = 100 leaves a hundredth of the distance.
    """

    move: float = 1e6  # largest w_m of the first step, ten times more in each that follows: see `solve_step`
    hold: float = 1e7  # weight of constraints: a slip of epsilon costs a tenth of a tangent turned by a radian
    change: float = 0.5  # w_d: one for a smooth key with even handles, as both of them count
    broken: float = 1.0  # w_b
    epsilon: float = 1e-4  # eq. 11
    tolerance: float = 3e-4  # of the goals
    drift: float = 5e-4  # of the constraints
    iterations: int = 6
    programs: int = 12  # of all iterations: what a pointer can wait for; the next event continues
    trust: float = 1.0  # largest change of a variable in one step
    stride: float = 0.3  # longest distance of a point, or largest rotation, that the first step aims at
    damping: float = 10.0  # cost of a change in later steps, ten times more after one cut short
    undamped: int = 2  # steps at the start of a search without damping, enough to find the cheapest solution
    regular: float = 1e-6  # lambda of section 3.3
    stalled: float = 0.97  # remaining share of the merit: a step that leaves more has failed
    harder: int = 3  # most programs of one step, each with a larger weight of the goals
    pull: float = 1.0  # factor on the first guess of that weight
    failures: int = 2  # in a row after which a search ends: the first makes the next step shorter
    window_iterations: int = 4  # of a search for offsets within a window (`window_search`), each round
    window_tolerance: float = 3e-4  # of the goals of such a search; a stroke that keys cannot follow exactly is met
    window_drift: float = 1e-3  # of the constraints: 2 mm of a person, which keys of a fitter can mostly hold
    window_rounds: int = 1  # of adding times at which constraints drift; with more than one, overshoot is cut too


# For scripts and suggestions, which may take longer than a drag.
SCRIPT_SETTINGS = SolverSettings(iterations=12, programs=48, window_iterations=60, window_rounds=8)


@dataclass(frozen=True)
class SearchResult:
    """The end of a search."""

    v: Array  # (N,)
    iterations: int
    moves: TargetResiduals
    start: TargetResiduals  # of the moves before the edit
    drift: TargetResiduals  # of the constraints on the dense grid
    held: PointTargets  # the samples of the constraints, with those that were added
    asked: PointTargets  # the moves with their goals
    settings: SolverSettings
    kept: TargetResiduals | None  # `held` at v with slopes, where it is known
    pull: float = 1.0  # weight of the goals in the last step over its first guess, if the step was taken whole
    windowed: bool = False  # whether offsets within a window were searched for

    @property
    def tolerance(self) -> float:
        """The distance or angle within which the goals are met."""
        return self.settings.window_tolerance if self.windowed else self.settings.tolerance

    @property
    def drift_tolerance(self) -> float:
        """The distance or angle within which the constraints hold."""
        return self.settings.window_drift if self.windowed else self.settings.drift

    @property
    def reached(self) -> bool:
        """Whether the goals and the constraints are met."""
        return _is_within(self.moves, self.tolerance) and _is_within(self.drift, self.drift_tolerance)


class Iterate(NamedTuple):
    """Variables, and everything measured there."""

    v: Array  # (N,)
    now: TargetResiduals  # the moves, and the objective terms that are goals
    kept: TargetResiduals  # the constraints at their samples
    soft: TermRows
    drift: TargetResiduals | None = None  # the constraints on the dense grid, where measured


def solve(rig: PosedRig, curves: Curves, edit: Edit, settings: SolverSettings | None = None) -> EditResult:
    """Change the tangents so that the goals of the edit are met, or as nearly as possible."""
    problem = prepare_problem(rig, curves, edit)
    found = search(problem, problem.moves, np.zeros(problem.variables.count), settings or SCRIPT_SETTINGS)
    return edit_result(problem, found)


def search(
    problem: EditProblem,
    moves: PointTargets,
    v: Array,
    settings: SolverSettings,
    held: PointTargets | None = None,
    within: WindowSearch | None = None,
) -> SearchResult:
    """Search from variables v for those that meet the goals of `moves`.

    `held` are the samples of the constraints that an earlier search ended with; `within` serves the events of a drag.
    """
    with one_blas_thread():
        if problem.window is not None:
            return _search_window(problem, moves, v, settings, held, within)
        return _run_search(problem, moves, v, settings, held)


def targets_of_moves(problem: EditProblem, moves: Sequence[MovePoint]) -> PointTargets:
    """The moves of a problem with new goals; points, times and kinds are those of the problem's edit."""
    return with_targets(problem.moves, moves, problem.origin)


def edit_result(problem: EditProblem, found: SearchResult) -> EditResult:
    """The result of a search, with the change of the whole motion: only a sane one is reached.

    A search that ended worse than it began gives the animation unchanged.
    """
    found = accept_search(problem, found)
    result = to_result(problem, found)
    change = measure_change(problem, problem.variables.curves, result.curves, found.asked.place)
    thrown = path_obstacles(problem, change) if result.reached else []
    return replace(result, change=change, reached=result.reached and not thrown, obstacles=(*result.obstacles, *thrown))


def accept_search(problem: EditProblem, found: SearchResult) -> SearchResult:
    """The search, scaled back to a part that is no worse than the start where it did not reach its goals."""
    with one_blas_thread():
        return found if found.reached else _scale_back(problem, found)


def to_result(problem: EditProblem, found: SearchResult, explain: bool = True) -> EditResult:
    """The result of a search that went through `accept_search`; with `explain`, what was in the way of its goals."""
    with one_blas_thread():
        return _build_result(problem, found, explain)


def _search_window(
    problem: EditProblem,
    moves: PointTargets,
    z: Array,
    settings: SolverSettings,
    held: PointTargets | None,
    within: WindowSearch | None,
) -> SearchResult:
    """The search for offsets within a window of time."""
    z, steps, samples, drift = search_window(
        problem,
        moves,
        z,
        problem.held if held is None else held,
        iterations=settings.window_iterations,
        rounds=settings.window_rounds,
        goal_tolerance=settings.window_tolerance,
        drift_tolerance=settings.drift,
        search=within,
    )
    now = _goal_residuals(problem, moves, z)
    start = _start_residuals(problem, moves)
    return SearchResult(z, steps, now, start, drift, samples, moves, settings, None, windowed=True)


def _run_search(
    problem: EditProblem, moves: PointTargets, v: Array, settings: SolverSettings, held: PointTargets | None
) -> SearchResult:
    held = problem.held if held is None else held
    start = _start_residuals(problem, moves)
    iterate = evaluate(problem, moves, held, v)
    iterations, failures, programs, pull = 0, 0, 0, 1.0
    stride, damping = settings.stride, 0.0 if settings.undamped else settings.damping
    goals_only = len(iterate.now.matrix) and not len(iterate.soft.weight)
    # no tangent moves the point, as at a key
    fixed = not len(v) or (goals_only and np.abs(iterate.now.matrix).max() <= ZERO_DERIVATIVE)
    best: tuple[Iterate, TargetResiduals] | None = None  # the nearest iterate whose constraints hold at all times
    side = bound_sides(problem, v)
    while True:
        done = _is_within(iterate.now, settings.tolerance) and _is_within(iterate.kept, settings.drift)
        over = iterations >= settings.iterations or programs >= settings.programs or fixed
        if (done and not len(iterate.soft.weight)) or failures == settings.failures or over:
            iterate, drift, held, seen, solved = _restore_constraints(
                problem, moves, held, iterate, settings, MAX_RESTORE_STEPS if over else 1
            )
            programs += solved
            if _is_within(drift, MAX_DRIFT_RATIO * settings.drift) and (
                best is None or iterate.now.far < best[0].now.far
            ):
                best = (iterate, drift)
            # A goal that is not getting nearer may leave a little more drift than one that is reached.
            allowed = settings.drift if done else MAX_DRIFT_RATIO * settings.drift
            if over or _is_within(drift, allowed) or seen:
                break
            failures = 0
        weight, pull, solution, solved = solve_step(problem, iterate, stride, iterations, settings, damping, side)
        iterations, programs = iterations + 1, programs + solved
        if solution is None:
            failures = settings.failures
            continue
        side = solution.side
        before = _merit(problem, iterate, weight, settings)
        trial, after, share = apply_step(problem, moves, held, iterate, solution.x - iterate.v, weight, settings)
        # After a whole step the next may be longer; after one cut short it is shorter and more damped.
        gap = float(np.linalg.norm(iterate.now.residual))
        stride = min(2 * stride, 1.0) if share == 1.0 else max(1.5 * share * min(stride, gap), settings.stride / 64)
        pull = pull if share == 1.0 else 1.0
        if share < 1.0:
            damping = min(10 * max(damping, settings.damping), 1e6)
        elif iterations >= settings.undamped:
            damping = settings.damping
        most = settings.stalled if iterations <= LATE_ITERATIONS else min(settings.stalled, LATE_STALLED_RATIO)
        failures = failures + 1 if not after < most * before else 0
        if after < before:
            held, iterate = _add_drifting_samples(problem, held, trial, settings)
    if not _is_within(drift, MAX_DRIFT_RATIO * settings.drift):
        iterate, drift = best or _back_off(problem, moves, held, iterate, drift, settings)
    kept = iterate.kept if len(iterate.kept.residual) == held.rows else None  # the best iterate may have fewer samples
    return SearchResult(iterate.v, iterations, iterate.now, start, drift, held, moves, settings, kept, pull)


def apply_step(
    problem: EditProblem,
    moves: PointTargets,
    held: PointTargets,
    iterate: Iterate,
    step: Array,
    weight: float,
    settings: SolverSettings,
) -> tuple[Iterate, float, float]:
    """The iterate after a step, its merit and the share of the step taken, the first that lowers the merit."""
    before = _merit(problem, iterate, weight, settings)
    for share in (1.0, 0.5, 0.25, 0.1):
        # most whole steps are taken, so they are measured with slopes; the slopes of others are rarely used
        trial = evaluate(problem, moves, held, iterate.v + share * step, slopes=share == 1.0)
        after = _merit(problem, trial, weight, settings)
        if after < before:
            break
    taken = trial if share == 1.0 or not after < before else evaluate(problem, moves, held, trial.v)
    return taken, after, share


def evaluate(problem: EditProblem, moves: PointTargets, held: PointTargets, v: Array, slopes: bool = True) -> Iterate:
    """The iterate at variables v; without slopes it has what the merit needs."""
    return Iterate(
        v, _goal_residuals(problem, moves, v, slopes), _measure(problem, held, v, slopes), _soft_rows(problem, v)
    )


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


def _add_drifting_samples(
    problem: EditProblem, held: PointTargets, iterate: Iterate, settings: SolverSettings
) -> tuple[PointTargets, Iterate]:
    """The samples of the constraints, with those between them where they drift more than at any sample.

    This is checked after every step and not only at the end, where steps would have to be repeated.
    """
    if not len(held):
        return held, iterate
    drift = _measure(problem, problem.dense, iterate.v, slopes=False)
    iterate = iterate._replace(drift=drift)
    if _is_within(
        drift, max(settings.drift, RESAMPLE_DRIFT_RATIO * float(np.abs(iterate.kept.residual).max(initial=0.0)))
    ):
        return held, iterate
    more = add_worst_samples(held, problem.dense, drift)
    return (held, iterate) if more is None else (more, iterate._replace(kept=_measure(problem, more, iterate.v)))


def _restore_constraints(
    problem: EditProblem,
    moves: PointTargets,
    held: PointTargets,
    iterate: Iterate,
    settings: SolverSettings,
    rounds: int,
) -> tuple[Iterate, TargetResiduals, PointTargets, bool, int]:
    """The nearest variables at which the constraints hold at all times, or as nearly as a few steps get.

    Returns the iterate, its drift, the samples with those that were added, whether none was left to add, and the number
    of programs solved.
    """
    t, programs = problem.variables, 0
    none, ones = np.zeros((0, t.count)), np.ones(t.count)
    while True:
        for _ in range(MAX_RESTORE_STEPS):
            if not t.count or _is_within(iterate.kept, settings.drift):
                break
            aim, (low, high) = (
                iterate.kept.matrix @ iterate.v + iterate.kept.residual,
                step_bounds(problem, iterate.v, settings),
            )
            nearest = qp.Program(ones, -2 * iterate.v, low, high, none, aim[:0], aim[:0], iterate.kept.matrix, aim, aim)
            side = bound_sides(problem, iterate.v)
            solution, programs = qp.minimise_soft(nearest, settings.hold, side=side), programs + 1
            trial = iterate if solution is None else evaluate(problem, moves, held, solution.x)
            if not np.abs(trial.kept.residual).max() < np.abs(iterate.kept.residual).max():
                break
            iterate = trial
        drift = iterate.drift or _measure(problem, problem.dense, iterate.v, slopes=False)
        more = None if _is_within(drift, settings.drift) else add_worst_samples(held, problem.dense, drift)
        if more is None:
            return iterate, drift, held, True, programs
        held, rounds = more, rounds - 1
        iterate = iterate._replace(kept=_measure(problem, held, iterate.v))
        if not rounds:
            return iterate, drift, held, False, programs


def _back_off(
    problem: EditProblem,
    moves: PointTargets,
    held: PointTargets,
    iterate: Iterate,
    drift: TargetResiduals,
    settings: SolverSettings,
) -> tuple[Iterate, TargetResiduals]:
    """A part of the change for which the constraints can hold, else all of it: drift shrinks with the square."""
    for share in (0.6, 0.25):
        less, off, *_ = _restore_constraints(
            problem, moves, held, evaluate(problem, moves, held, share * iterate.v), settings, 1
        )
        if _is_within(off, MAX_DRIFT_RATIO * settings.drift):
            return less, off
    return iterate, drift


def _scale_back(problem: EditProblem, found: SearchResult) -> SearchResult:
    """The search, or the largest part of it that leaves no goal further away, in distance or angle, than it was."""
    settings = found.settings
    initial = problem.initial_drift
    allowed = max(MAX_DRIFT_RATIO * settings.drift, initial.far)
    if problem.window is not None:  # what the keys cannot hold gives way, and the result says by how much
        allowed = np.inf
    for share in (1.0, 0.5, 0.25, 0.1):
        v = share * found.v
        now = found.moves if share == 1.0 else _goal_residuals(problem, found.asked, v)
        nearer = now.distance <= max(found.start.distance, settings.tolerance)
        straighter = now.angle <= max(found.start.angle, settings.tolerance)
        if not (nearer and straighter and now.far <= found.start.far):
            continue
        drift = found.drift if share == 1.0 else _measure(problem, problem.dense, v, slopes=False)
        if _is_within(drift, allowed):
            return found if share == 1.0 else replace(found, v=v, moves=now, drift=drift, kept=None)
    return replace(found, v=np.zeros_like(found.v), moves=found.start, drift=initial, kept=None)


def _build_result(problem: EditProblem, found: SearchResult, explain: bool) -> EditResult:
    reached, size = found.reached, problem.size
    return EditResult(
        problem.variables.apply_to_curves(found.v),
        reached,
        found.moves.distance * size,
        found.moves.angle,
        found.start.distance * size,
        found.start.angle,
        found.drift.distance * size,
        found.drift.angle,
        found.iterations,
        () if reached or not explain else find_obstacles(problem, found),
        problem.states.analytic,
        radius=None if problem.window is None else problem.window.radius,
    )


def _measure(problem: EditProblem, asked: PointTargets, v: Array, slopes: bool = True) -> TargetResiduals:
    return measure_targets(problem.states, problem.variables, asked, v, problem.size, slopes)


def _goal_residuals(problem: EditProblem, moves: PointTargets, v: Array, slopes: bool = True) -> TargetResiduals:
    """The moves, and the objective terms that are goals."""
    now = _measure(problem, moves, v, slopes)
    return append_goal_terms(now, problem.terms, problem.states, problem.variables, v, problem.size, slopes)


def _start_residuals(problem: EditProblem, moves: PointTargets) -> TargetResiduals:
    """`_goal_residuals` before the edit, without slopes."""
    zero, (place, turn) = np.zeros(problem.variables.count), problem.origin
    now = compare_states(moves, place, turn, problem.size, len(zero))
    return append_goal_terms(now, problem.terms, problem.states, problem.variables, zero, problem.size, slopes=False)


def _soft_rows(problem: EditProblem, v: Array) -> TermRows:
    return linearise(problem.terms, problem.states, problem.variables, v, problem.size)


def _is_within(measured: TargetResiduals, tolerance: float) -> bool:
    return measured.distance <= tolerance and measured.angle <= tolerance


def _merit(problem: EditProblem, iterate: Iterate, weight: float, settings: SolverSettings) -> float:
    """What a step must lower: the remaining distance, plus three times the drift beyond its tolerance.

    Soft terms are weighed against the change of the tangents, so where there are any, both count as in the program.
    """
    now, kept, soft = iterate.now, iterate.kept, iterate.soft
    drift = np.abs(kept.residual).max(initial=0.0)
    aim = float(now.residual @ now.residual)
    if len(soft.weight):
        t, v = problem.tangents, iterate.v
        pulled = np.sum((t.pull @ v + t.pull_start) ** 2) + t.pull_cost @ v**2 + t.pull_slope @ v
        change = settings.change * (t.cost**2 @ v**2) + settings.broken * (pulled - t.pull_start @ t.pull_start)
        aim += max(0.0, soft.energy + float(change)) / weight
    return float(np.sqrt(aim) + 3.0 * max(0.0, drift - 1.5 * settings.epsilon))
