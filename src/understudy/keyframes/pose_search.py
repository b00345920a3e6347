"""The steps from one pose to another: quadratic programs in the columns [Ciccone 2019, eq. 13, corrected].

Each step linearises the states about the pose at hand and minimises

    w_m |gap - J_s dx|^2 + w_d |D x|^2     subject to  |gap_p - J_p dx| <= epsilon,   u <= c <= v

over x = x_now + dx. (The paper prints the constraint of pins in terms of tangents; for poses J_p(c) dc = 0 is meant. As
with tangents, the gap of the pins is measured anew in every step, so that drift does not add up.) x counts from the
pose at the start of the gesture: where the point is dragged to decides, and not the way there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.keyframes import qp
from understudy.keyframes.pose_variables import PoseVariables
from understudy.keyframes.requests import Measured, Requests, gaps
from understudy.keyframes.states import States

BEND = 0.03
"""What a change costs, for each weight and size of the way that is left. Far from a goal the states bend away from what
their slopes say, by about a limb's length; near it this vanishes, and steps are whole."""

HEAVIEST = 1e8  # the most that w_m grows to: what is left of the way is then below the tolerance by far
SLOW = 0.3  # of the tolerance, or of a thousandth of the way: a step that gains less is the last
CHEAPER = 6  # steps at most that make a pose cheaper which is where it should be
SLIPPED = 0.02  # how far it may leave its goals on the way: the next step brings it back
CORRECTING = 2  # steps for pins alone after each that moves: it can be longer then
SETTLING = 8  # steps for pins alone; they converge quadratically, and two or three are usual
LEAST = 1e-3  # radians; a trust region smaller than this is no longer seen


@dataclass(frozen=True)
class PoseSettings:
    """The weights of eq. 13 and when to stop; distances in sizes of the character, turns in radians."""

    move: float = 1e4  # w_m of the first step, ten times more in each that follows
    change: float = 1.0  # w_d
    epsilon: float = 3e-5  # of pins, within one step
    tolerance: float = 3e-4  # of the goals
    drift: float = 1e-4  # of pins
    iterations: int = 40
    trust: float = 0.6  # the most that a variable changes in one step
    regular: float = 1e-6


@dataclass(frozen=True)
class PoseTask:
    """What is asked of one pose."""

    states: States
    variables: PoseVariables
    moves: Requests
    pins: Requests
    size: float  # metres


@dataclass(frozen=True)
class PoseFound:
    """Where a search ended."""

    x: Array  # (N,)
    iterations: int
    moves: Measured
    pins: Measured
    start: Measured  # of the moves at the start of the gesture
    solution: qp.Solution | None
    reached: bool


def measure(task: PoseTask, x: Array) -> tuple[Measured, Measured]:
    """How far the pose x (N,) is from the goals of moves and of pins, and how it answers."""
    both = (task.moves, task.pins)
    sample, point = (np.concatenate([getattr(asked, name) for asked in both]) for name in ("sample", "point"))
    position, orientation, jacobian = task.states.evaluate(task.variables.values(x)[None], sample, point)
    scale = np.repeat([1 / task.size, 1.0], 3)[:, None]
    answers = task.variables.chained((scale * jacobian).reshape(-1, len(task.states.columns)), x)
    rows = answers.reshape(len(point), 2, 3, task.variables.count)
    return _part(task, 0, position, orientation, rows), _part(task, 1, position, orientation, rows)


def _part(task: PoseTask, number: int, position: Array, orientation: Array, rows: Array) -> Measured:
    """The moves (0) or the pins (1) among all."""
    asked, first = (task.moves, 0) if number == 0 else (task.pins, len(task.moves))
    own = slice(first, first + len(asked))
    gap = gaps(asked, position[own], orientation[own], task.size)
    residual = gap.reshape(-1, 2, 3)[asked.parts].reshape(-1)
    return Measured(gap, residual, rows[own][asked.parts].reshape(asked.rows, task.variables.count))


def search(task: PoseTask, settings: PoseSettings) -> PoseFound:
    """From the start of the gesture, the pose that meets the goals, or the nearest that is found to them."""
    v = task.variables
    zero = np.zeros(v.count)
    x = np.clip(zero, v.low, v.high)  # a column that begins outside of its limits is brought within
    start, kept = measure(task, zero)
    now, kept = (start, kept) if (x == zero).all() else measure(task, x)
    solution, iterations, trust, weight = None, 0, settings.trust, settings.move
    while not _reached(now, kept, settings) and iterations < settings.iterations and trust > LEAST and v.count:
        solution = qp.minimise(_program(v, now, kept, x, weight, trust, settings))
        iterations += 1
        if solution is None:
            trust /= 4
            continue
        before = _merit(now, kept, settings)
        trial = np.clip(solution.x, v.low, v.high)
        trial, new_now, new_kept = _pinned(task, trial, *measure(task, trial), settings, CORRECTING)
        after = _merit(new_now, new_kept, settings)
        if after >= before:
            trust /= 4
            continue
        promised = before - np.linalg.norm(now.residual - now.matrix @ (trial - x))
        trust = min(settings.trust, 2 * trust) if before - after > 0.5 * promised else trust
        slow = before - after < SLOW * max(settings.tolerance, 1e-3 * before)
        x, now, kept = trial, new_now, new_kept
        if slow and weight >= HEAVIEST:
            break
        weight = min(10 * weight, HEAVIEST)
    x, now, kept = _pinned(task, x, now, kept, settings, SETTLING)
    if _reached(now, kept, settings):
        x, now, kept, more = _cheapest(task, x, now, kept, settings)
        iterations += more
    return PoseFound(x, iterations, now, kept, start, solution, _reached(now, kept, settings))


def _cheapest(
    task: PoseTask, x: Array, now: Measured, kept: Measured, settings: PoseSettings
) -> tuple[Array, Measured, Measured, int]:
    """The pose that changes least of those that reach the goals, as far as a few steps get, and their number.

    The way to the goals was looked for where the pose was at each step; what is cheapest is found from the goals.
    """
    v, best, count = task.variables, (x, now, kept), 0
    while count < CHEAPER:
        solution = qp.minimise(_program(v, now, kept, x, HEAVIEST, settings.trust, settings, bend=0.0))
        count += 1
        if solution is None:
            break
        before = _cost(v, x)
        for share in (1.0, 0.5, 0.25):
            trial = np.clip(x + share * (solution.x - x), v.low, v.high)
            x_new, now_new, kept_new = _pinned(task, trial, *measure(task, trial), settings, CORRECTING)
            if max(now_new.distance, now_new.angle) < SLIPPED:
                break
        x, now, kept = x_new, now_new, kept_new
        if _reached(now, kept, settings) and _cost(v, x) < _cost(v, best[0]):
            best = (x, now, kept)
            if _cost(v, x) > 0.98 * before:
                break
    return *best, count


def _cost(v: PoseVariables, x: Array) -> float:
    return float((v.cost * x) @ (v.cost * x))


def _pinned(
    task: PoseTask, x: Array, now: Measured, kept: Measured, settings: PoseSettings, steps: int
) -> tuple[Array, Measured, Measured]:
    """The nearest pose whose pins are where they should be, as far as some steps get: long ones left them a bit off."""
    v = task.variables
    for _ in range(steps):
        if max(kept.distance, kept.angle) <= settings.drift:
            break
        aim = kept.matrix @ x + kept.residual
        nothing = np.zeros((0, v.count))
        rows = (kept.matrix, aim - settings.epsilon, aim + settings.epsilon)
        program = qp.Program(np.ones(v.count), -2 * x, v.low, v.high, nothing, np.zeros(0), np.zeros(0), *rows)
        solution = qp.minimise(program)
        if solution is None:
            break
        x = np.clip(solution.x, v.low, v.high)
        now, kept = measure(task, x)
    return x, now, kept


def _reached(now: Measured, kept: Measured, settings: PoseSettings) -> bool:
    aimed = max(now.distance, now.angle) <= settings.tolerance
    return aimed and max(kept.distance, kept.angle) <= settings.drift


def _merit(now: Measured, kept: Measured, settings: PoseSettings) -> float:
    """What a step must lower: the way to go, and ten times what pins drift beyond what they may."""
    drift = np.abs(kept.residual).max(initial=0.0)
    return float(np.linalg.norm(now.residual) + 10.0 * max(0.0, drift - 1.5 * settings.epsilon))


def _program(
    v: PoseVariables,
    now: Measured,
    kept: Measured,
    x: Array,
    weight: float,
    trust: float,
    settings: PoseSettings,
    bend: float = BEND,
) -> qp.Program:
    high = np.minimum(v.high, x + trust)
    aim = kept.matrix @ x + kept.residual
    cost = settings.change * v.cost**2 + settings.regular
    damping = cost * weight * bend * float(np.linalg.norm(now.residual))
    return qp.Program(
        cost + damping,
        -2 * damping * x,
        np.minimum(np.maximum(v.low, x - trust), high),
        high,
        now.matrix,
        now.residual + now.matrix @ x,
        np.full(len(now.residual), weight),
        kept.matrix,
        aim - settings.epsilon,
        aim + settings.epsilon,
    )
