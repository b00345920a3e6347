"""Minimising a smooth function by limited-memory BFGS, a step at a time.

    d = -H g,  x' = x + t d

with H made of the last steps s and changes y of the gradient [Nocedal & Wright 2006, algorithm 7.4], and t found by
bracketing until the value has fallen enough and the slope has flattened enough (the weak Wolfe conditions, which make
y.s > 0). The state is explicit: a run that is stopped and continued from its state ends where an uninterrupted one
does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from understudy.checks import Array

Function = Callable[[Array], tuple[float, Array]]

HISTORY_STEPS = 20  # steps that make up H
ARMIJO_SLOPE_RATIO = 1e-4  # least decrease over the one that the slope predicts
WOLFE_SLOPE_RATIO = 0.9  # of the slope; both are usual for quasi-Newton steps, of which most are taken whole
MAX_LINE_SEARCH_TRIALS = 20


@dataclass(frozen=True)
class LbfgsState:
    """Where a run is: x (n,), its value and gradient (n,), the last steps and changes (k, n), k <= HISTORY_STEPS."""

    x: Array
    value: float
    gradient: Array
    steps: Array
    changes: Array
    iteration: int = 0
    stalled: bool = False
    fall: float = np.inf  # decrease of the value in the last step


def start(function: Function, x: Array) -> LbfgsState:
    """The state before the first step."""
    value, gradient = function(x)
    none = np.zeros((0, x.size))
    return LbfgsState(x, value, gradient, none, none)


def step(function: Function, state: LbfgsState) -> LbfgsState:
    """One step; `stalled` where no step lessens the value."""
    direction = -_inverse_hessian_times(state)
    slope = float(direction @ state.gradient)
    if slope >= 0.0:  # rounding has spoilt the history: restart from the gradient
        none = np.zeros((0, state.x.size))
        if not len(state.steps):
            return replace(state, stalled=True, iteration=state.iteration + 1)
        return step(function, replace(state, steps=none, changes=none))
    first = 1.0 if len(state.steps) else min(1.0, 1.0 / float(np.sqrt(-slope)))
    accepted = _search(function, state, direction, slope, first)
    if accepted is None:
        if len(state.steps):
            none = np.zeros((0, state.x.size))
            return step(function, replace(state, steps=none, changes=none))
        return replace(state, stalled=True, iteration=state.iteration + 1)
    x, value, gradient = accepted
    steps, changes = state.steps, state.changes
    s, y = x - state.x, gradient - state.gradient
    if s @ y > 1e-12 * np.sqrt((s @ s) * (y @ y)):
        steps, changes = np.vstack([steps, s])[-HISTORY_STEPS:], np.vstack([changes, y])[-HISTORY_STEPS:]
    return LbfgsState(x, value, gradient, steps, changes, state.iteration + 1, False, state.value - value)


def minimise(function: Function, x: Array, iterations: int, tolerance: float = 1e-9) -> LbfgsState:
    """The state once the value falls by less than `tolerance` of itself, or after `iterations`."""
    state = start(function, x)
    while state.iteration < iterations and not has_converged(state, tolerance):
        state = step(function, state)
    return state


def has_converged(state: LbfgsState, tolerance: float) -> bool:
    """Whether further steps would gain less than `tolerance` of the value."""
    return state.stalled or state.fall <= tolerance * max(1.0, abs(state.value))


def _inverse_hessian_times(state: LbfgsState) -> Array:
    """H g by the two loops."""
    q = state.gradient.copy()
    if not len(state.steps):
        return q
    inverse = 1.0 / np.einsum("kn,kn->k", state.steps, state.changes)
    alphas = np.empty(len(inverse))
    for i in range(len(inverse) - 1, -1, -1):
        alphas[i] = inverse[i] * (state.steps[i] @ q)
        q -= alphas[i] * state.changes[i]
    last = state.changes[-1]
    q /= inverse[-1] * (last @ last)
    for i in range(len(inverse)):
        q += (alphas[i] - inverse[i] * (state.changes[i] @ q)) * state.steps[i]
    return q


def _search(
    function: Function, state: LbfgsState, direction: Array, slope: float, first: float
) -> tuple[Array, float, Array] | None:
    """(x, value, gradient) of a step that meets both conditions, or the best of the trials that lessened the value."""
    t, best = first, None
    low, low_value, low_slope, high = 0.0, state.value, slope, np.inf
    for _ in range(MAX_LINE_SEARCH_TRIALS):
        x = state.x + t * direction
        value, gradient = function(x)
        if not np.isfinite(value) or value > state.value + ARMIJO_SLOPE_RATIO * t * slope:
            high = t
            t = low + _parabola(t - low, low_value, low_slope, value)
            continue
        if best is None or value < best[1]:
            best = (x, value, gradient)
        trial_slope = float(gradient @ direction)
        if trial_slope >= WOLFE_SLOPE_RATIO * slope:
            return x, value, gradient
        low, low_value, low_slope = t, value, trial_slope
        t = 2.5 * t if np.isinf(high) else 0.5 * (low + high)
    return best


def _parabola(width: float, value: float, slope: float, other: float) -> float:
    """The minimum of the parabola through a value and slope at 0 and `other` at width, clamped inside."""
    if not np.isfinite(other):
        return 0.1 * width
    bend = other - value - slope * width
    least = -0.5 * slope * width**2 / bend if bend > 0.0 else 0.5 * width
    return float(np.clip(least, 0.1 * width, 0.6 * width))
