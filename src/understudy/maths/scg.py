"""Scaled conjugate gradients [Moller 1993], a step at a time: the optimiser that Bailey 2016 names.

Conjugate gradients whose step length comes from the curvature along the direction, measured by one more gradient, with
a scale that is raised where the function is not like its parabola (Levenberg's idea) instead of a line search. The
state is explicit: a run that is stopped and continued from its state ends where an uninterrupted one does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.checks import Array
from understudy.maths.lbfgs import Function

CURVATURE_STEP_LENGTH = 1e-4
"""The length over which curvature is measured (sigma in the paper): between rounding, 1e-8, and the function's own."""

MIN_SCALE, MAX_SCALE = 1e-15, 1e100  # bounds of the scale (lambda in the paper)


@dataclass(frozen=True)
class ScgState:
    """Where a run is: x, gradient and direction (n,), the scale, and the curvature along the direction.

    `moved` says whether the last step was taken; `taken` counts steps since the direction was last the gradient's.
    """

    x: Array
    value: float
    gradient: Array
    direction: Array
    scale: float = 1.0
    curvature: float = 0.0
    moved: bool = True
    taken: int = 0
    iteration: int = 0
    stalled: bool = False
    fall: float = np.inf  # decrease of the value in the last step that was taken


def start(function: Function, x: Array) -> ScgState:
    """The state before the first step."""
    value, gradient = function(x)
    return ScgState(x, value, gradient, -gradient)


def step(function: Function, state: ScgState) -> ScgState:
    """One iteration, which takes a step or raises the scale."""
    state = replace(state, iteration=state.iteration + 1)
    d, g = state.direction, state.gradient
    slope, square, curvature = float(d @ g), float(d @ d), state.curvature
    if state.moved:
        if slope >= 0.0:
            d = -g
            slope, square = float(d @ g), float(d @ d)
        if square < 1e-300:
            return replace(state, stalled=True)
        sigma = CURVATURE_STEP_LENGTH / np.sqrt(square)
        curvature = float(d @ (function(state.x + sigma * d)[1] - g)) / sigma
    scale = state.scale
    bend = curvature + scale * square
    if bend <= 0.0:  # no positive curvature along d: raise the scale
        bend, scale = scale * square, scale - curvature / square
    length = -slope / bend
    x = state.x + length * d
    value, gradient = function(x)
    # actual over predicted decrease: 1 is a perfect parabola, below 0 the value rose
    likeness = 2.0 * (value - state.value) / (length * slope) if np.isfinite(value) else -np.inf
    if likeness < 0.25:
        scale = min(4.0 * scale, MAX_SCALE)
    elif likeness > 0.75:
        scale = max(0.5 * scale, MIN_SCALE)
    if likeness < 0.0:
        return replace(state, direction=d, scale=scale, curvature=curvature, moved=False, stalled=scale >= MAX_SCALE)
    taken = state.taken + 1
    if taken == x.size:
        direction, scale, taken = -gradient, 1.0, 0
    else:
        direction = float((g - gradient) @ gradient) / slope * d - gradient
    fall = state.value - value
    return ScgState(x, value, gradient, direction, scale, curvature, True, taken, state.iteration, False, fall)


def minimise(function: Function, x: Array, iterations: int, tolerance: float = 1e-9) -> ScgState:
    """The state once the value falls by less than `tolerance` of itself, or after `iterations`."""
    state = start(function, x)
    while state.iteration < iterations and not has_converged(state, tolerance):
        state = step(function, state)
    return state


def has_converged(state: ScgState, tolerance: float) -> bool:
    """Whether further steps would gain less than `tolerance` of the value."""
    return state.stalled or state.fall <= tolerance * max(1.0, abs(state.value))
