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
        if kernels is None:
            parameters[block] = _refine_sigmoids(curves[block], _starts(curves[block], *table), bounds)
            values[block] = sigmoids(parameters[block], curves.shape[1])
        else:
            parts = (parameters[block], values[block])
            kernels.fit(
                curves[block],
                *table,
                *bounds,
                MAX_LEVENBERG_STEPS,
                CONVERGENCE_COST_RATIO,
                EXACT_COST_RATIO,
                MIN_SIGMOID_ENERGY,
                *parts,
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


def _starts(curves: Array, pairs: Array, table: Array, squares: Array) -> Array:
    """(M, 3) the best sigmoid of the table for each of the curves (M, F)."""
    along = curves @ table.T
    best = np.argmax(along**2 / squares, axis=1)
    b_1 = along[np.arange(len(curves)), best] / squares[best]
    return np.concatenate([b_1[:, None], pairs[best]], axis=1)


def _refine_sigmoids(curves: Array, parameters: Array, bounds: tuple[float, float, float, float]) -> Array:
    """(M, 3) parameters refined by Levenberg-Marquardt, all curves in step: the twin of the kernel."""
    b, frames = parameters.copy(), curves.shape[1]
    damping = np.full(len(b), 1e-3)
    cost = ((curves - sigmoids(b, frames)) ** 2).sum(axis=1)
    enough = EXACT_COST_RATIO * (curves**2).sum(axis=1)
    active = (cost > enough) & (b[:, 0] != 0)
    for _ in range(MAX_LEVENBERG_STEPS):
        rows = np.flatnonzero(active)
        if not rows.size:
            break
        tried = _clamp_parameters(b[rows] + _steps(curves[rows], b[rows], damping[rows]), b[rows], bounds)
        s = sigmoids(np.concatenate([np.ones((len(tried), 1)), tried[:, 1:]], axis=1), frames)
        square = np.einsum("mf,mf->m", s, s)
        level = np.einsum("mf,mf->m", curves[rows], s) / np.maximum(square, MIN_SIGMOID_ENERGY)
        tried[:, 0] = np.where(square > MIN_SIGMOID_ENERGY, level, 0.0)
        lower = ((curves[rows] - tried[:, :1] * s) ** 2).sum(axis=1)
        better = lower < cost[rows]
        settled = better & ((cost[rows] - lower <= CONVERGENCE_COST_RATIO * cost[rows]) | (lower <= enough[rows]))
        b[rows[better]], cost[rows[better]] = tried[better], lower[better]
        damping[rows] = np.where(better, damping[rows] * 0.1, damping[rows] * 10)
        active[rows[settled | (damping[rows] > 1e4)]] = False
    return b


def _steps(curves: Array, b: Array, damping: Array) -> Array:
    """(M, 3) (J'J (1 + damping on its diagonal))^-1 J'(y - g).

    J is for b_1, b_1 b_2 and b_1 b_3, which makes it free of the curve's scale.
    """
    s = sigmoids(np.concatenate([np.ones((len(b), 1)), b[:, 1:]], axis=1), curves.shape[1])
    along = s * (1 - s)
    jacobian = np.stack([s, along * (np.arange(curves.shape[1]) - b[:, 2:]), -along * b[:, 1:2]], axis=2)  # (M, F, 3)
    normal = np.einsum("mfi,mfj->mij", jacobian, jacobian)
    right = np.einsum("mfi,mf->mi", jacobian, curves - b[:, :1] * s)
    diagonal = np.einsum("mii->mi", normal)
    diagonal += damping[:, None] * diagonal + 1e-12 * (diagonal.max(axis=1, keepdims=True) + 1e-300)
    steps = np.linalg.solve(normal, right[..., None])[..., 0]
    steps[:, 1:] /= b[:, :1]
    return steps


def _clamp_parameters(b: Array, before: Array, bounds: tuple[float, float, float, float]) -> Array:
    """The parameters clamped to their limits; b_2 keeps its sign, since the cost is flat about 0."""
    flattest, steepest, first, last = bounds
    sign = np.where(before[:, 1] < 0, -1.0, 1.0)
    b_2 = sign * np.clip(sign * b[:, 1], flattest, steepest)
    return np.stack([b[:, 0], b_2, np.clip(b[:, 2], first, last)], axis=1)
