"""Sigmoids fitted to curves, thousands at once: how a landmark leaves one position and comes to rest in another.

    g(x) = b_1 / (1 + exp(-b_2 (x - b_3)))                 [Serra 2018, eq. 1]
    min over b of  sum_i (y_i - g(x_i))^2                  [Serra 2018, eq. 2, with y_i where the print repeats x_i]

x is the number of the frame, y the displacement; b_1 is where the curve comes to rest, b_2 how steep it is (per frame),
b_3 the frame of the middle. A negative b_2 is a curve that starts at b_1 and comes to rest at 0.

For given b_2 and b_3, s = g / b_1 is known and so is the best b_1 = y's / s's, which leaves |y|^2 - (y's)^2 / s's.
Levenberg-Marquardt finds the nearest minimum only, so each curve starts from the sigmoid of a table that leaves the
least. Each step ends with that b_1 too, which makes steps few: the valleys of eq. 2 lie along b_1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.express.sigmoid_kernels"
MAX_STEEPNESS_PER_FRAME = 4.0  # |b_2|: 96 % of the rise within two frames; samples cannot tell a steeper one from it
TABLE_MIDDLES, TABLE_STEEPNESSES = 8, 5  # size of the table: neighbours in it share a minimum

# Of the length: how far outside of it the middle may lie; farther out, b_1 and b_3 cannot be told apart.
MAX_MIDDLE_OVERSHOOT_RATIO = 0.5
MAX_LEVENBERG_STEPS = 40  # most curves need 3 to 6
CONVERGENCE_COST_RATIO = 1e-5  # of the cost: a step that reduces it by less is the last
EXACT_COST_RATIO = 1e-14  # of |y|^2: a cost below it is zero
MIN_SIGMOID_ENERGY = 1e-12  # of s's: below it the sigmoid has not begun and its b_1 is undetermined
CURVES_PER_BLOCK = 8192  # curves at a time, so that the products with the table stay below 5 MB


def fit_sigmoids(curves: Any) -> tuple[Array, Array]:
    """(M, 3) b_1, b_2, b_3 of the sigmoid nearest to each of the curves (M, F), and (M, F) its values.

    A curve that is zero throughout has b_1 = 0. A constant other than zero has no middle: it gets the nearest sigmoid
    whose middle lies half a length outside.
    """
    curves = checks.array(curves, "curves", ("M", "F"))
    if curves.shape[1] < 2:
        raise InvalidInput(f"a curve should have at least two frames, but has {curves.shape[1]}")
    parameters = np.empty((len(curves), 3))
    values = np.empty(curves.shape)
    kernels = jit.kernels(KERNELS)
    table, bounds = _table(curves.shape[1]), parameter_limits(curves.shape[1])
    for first in range(0, len(curves), CURVES_PER_BLOCK):
        block = slice(first, first + CURVES_PER_BLOCK)
        kernels.fit(
            curves[block],
            *table,
            *bounds,
            MAX_LEVENBERG_STEPS,
            CONVERGENCE_COST_RATIO,
            EXACT_COST_RATIO,
            MIN_SIGMOID_ENERGY,
            parameters[block],
            values[block],
        )
    return parameters, values


def sigmoids(parameters: Array, frames: int) -> Array:
    """(M, F) the values at frames 0 to F - 1 of sigmoids (M, 3)."""
    b_1, b_2, b_3 = (parameters[:, i, None] for i in range(3))
    # tanh neither overflows nor loses the small end: 1 / (1 + e^-z) = (1 + tanh(z / 2)) / 2
    return b_1 * (0.5 + 0.5 * np.tanh(0.5 * b_2 * (np.arange(frames) - b_3)))


def parameter_limits(frames: int) -> tuple[float, float, float, float]:
    """Lowest and highest |b_2|, lowest and highest b_3 for curves of that length."""
    span = frames - 1
    return (
        min(1.0 / span, MAX_STEEPNESS_PER_FRAME),
        MAX_STEEPNESS_PER_FRAME,
        -MAX_MIDDLE_OVERSHOOT_RATIO * span,
        (1 + MAX_MIDDLE_OVERSHOOT_RATIO) * span,
    )


def _table(frames: int) -> tuple[Array, Array, Array]:
    """(N, 2) b_2 and b_3 of sigmoids to start from, (N, F) their values s for b_1 = 1, and (N,) s's."""
    flattest, steepest, _, _ = parameter_limits(frames)
    steepnesses = np.geomspace(min(2 * flattest, steepest), steepest, TABLE_STEEPNESSES)
    b_2, b_3 = (grid.ravel() for grid in np.meshgrid(steepnesses, np.linspace(0, frames - 1, TABLE_MIDDLES)))
    pairs = np.stack([np.concatenate([b_2, -b_2]), np.concatenate([b_3, b_3])], axis=1)
    table = sigmoids(np.concatenate([np.ones((len(pairs), 1)), pairs], axis=1), frames)
    return pairs, table, np.einsum("nf,nf->n", table, table)
