"""`shared_gplvm.descend`: one frame after the other, each with its own L-BFGS memory."""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

SUM_FASTMATH_FLAGS = FASTMATH_FLAGS | {"reassoc"}
LBFGS_MEMORY = 8


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
def value_and_gradient(
    model: tuple, outputs: float, y: Array, rest: float, pull: float, centre: Array, x: Array, work: Array, slope: Array
) -> float:
    """`shared_gplvm.value_and_gradient` for one frame; `work` (4, N or r) is scratch."""
    latents, whitener, weights, theta = model
    t1, t2, t3, noise = theta[0], theta[1], theta[2], theta[3]
    count, dimension, columns = latents.shape[0], latents.shape[1], weights.shape[1]
    radial, solved, miss, by_k = work[0], work[1], work[2], work[3]
    prior, away = 0.0, 0.0
    for q in range(dimension):
        prior += x[q] * x[q]
        away += (x[q] - centre[q]) * (x[q] - centre[q])
    for r in range(columns):
        miss[r] = -y[r]
    for i in range(count):
        square = 0.0
        row = latents[i]
        for q in range(dimension):
            square += (x[q] - row[q]) * (x[q] - row[q])
        radial[i] = t1 * math.exp(-0.5 * t2 * square)
        k = radial[i] + t3
        line = weights[i]
        for r in range(columns):
            miss[r] += k * line[r]
    explained = 0.0
    for i in range(count):
        solved[i] = 0.0
        white, row = 0.0, whitener[i]
        for j in range(i + 1):
            white += row[j] * (radial[j] + t3)
        for j in range(i + 1):
            solved[j] += row[j] * white
        explained += white * white
    left = rest
    for r in range(columns):
        left += miss[r] * miss[r]
    raw = t1 + t3 + noise - explained
    variance = max(raw, noise)
    through = left / (variance * variance) - outputs / variance if raw > noise else 0.0
    total = 0.0
    for i in range(count):
        line, along = weights[i], 0.0
        for r in range(columns):
            along += line[r] * miss[r]
        by_k[i] = (along / variance + through * solved[i]) * radial[i]
        total += by_k[i]
    for q in range(dimension):
        slope[q] = x[q] + pull * (x[q] - centre[q]) - t2 * total * x[q]
    for i in range(count):
        factor, row = t2 * by_k[i], latents[i]
        for q in range(dimension):
            slope[q] += factor * row[q]
    return 0.5 * left / variance + 0.5 * outputs * math.log(variance) + 0.5 * prior + 0.5 * pull * away


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
def dot(a: Array, b: Array) -> float:
    """a . b"""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
def lbfgs_direction(
    g: Array, steps: Array, changes: Array, inverses: Array, held: int, alphas: Array, out: Array
) -> None:
    """out = -H g by the two loops; the newest of `held` steps is the last."""
    for q in range(g.shape[0]):
        out[q] = -g[q]
    for m in range(held - 1, -1, -1):
        alphas[m] = inverses[m] * dot(steps[m], out)
        for q in range(g.shape[0]):
            out[q] -= alphas[m] * changes[m, q]
    if held > 0 and inverses[held - 1] > 0.0:
        scale = 1.0 / (inverses[held - 1] * max(dot(changes[held - 1], changes[held - 1]), 1e-300))
        for q in range(g.shape[0]):
            out[q] *= scale
    for m in range(held):
        beta = inverses[m] * dot(changes[m], out)
        for q in range(g.shape[0]):
            out[q] += (alphas[m] - beta) * steps[m, q]


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
def update_lbfgs_memory(
    x: Array, trial: Array, g: Array, fresh: Array, steps: Array, changes: Array, inverses: Array, held: int
) -> int:
    """Keep the last step and the change of the gradient, and drop the oldest; returns how many are held."""
    if held == LBFGS_MEMORY:
        for m in range(LBFGS_MEMORY - 1):
            steps[m], changes[m], inverses[m] = steps[m + 1], changes[m + 1], inverses[m + 1]
        held -= 1
    curvature = 0.0
    for q in range(x.shape[0]):
        steps[held, q] = trial[q] - x[q]
        changes[held, q] = fresh[q] - g[q]
        curvature += steps[held, q] * changes[held, q]
    inverses[held] = 1.0 / curvature if curvature > 1e-12 else 0.0
    return held + 1


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def descend(
    model: tuple,
    outputs: float,
    y: Array,
    rest: Array,
    pull: float,
    centres: Array,
    settings: tuple,
    x: Array,
    values: Array,
) -> None:
    """x (M, d) from its starts to the nearest minima, in place, and the values (M,) there."""
    iterations, trials, tolerance = settings
    dimension = x.shape[1]
    work = np.empty((4, max(model[0].shape[0], model[2].shape[1])))
    g, fresh, trial, direction = np.empty(dimension), np.empty(dimension), np.empty(dimension), np.empty(dimension)
    steps, changes = np.empty((LBFGS_MEMORY, dimension)), np.empty((LBFGS_MEMORY, dimension))
    inverses, alphas = np.empty(LBFGS_MEMORY), np.empty(LBFGS_MEMORY)
    for f in range(y.shape[0]):
        here, held, little = x[f], 0, 0
        value = value_and_gradient(model, outputs, y[f], rest[f], pull, centres[f], here, work, g)
        for _ in range(iterations):
            lbfgs_direction(g, steps, changes, inverses, held, alphas, direction)
            slope = dot(g, direction)
            if slope >= 0.0:
                direction[:] = -g
                slope = -dot(g, g)
            t = 1.0 if held > 0 else min(1.0, 1.0 / math.sqrt(max(-slope, 1e-300)))
            found = np.inf
            for _trial in range(trials):
                trial[:] = here + t * direction
                found = value_and_gradient(model, outputs, y[f], rest[f], pull, centres[f], trial, work, fresh)
                if found <= value + 1e-4 * t * slope:
                    break
                t *= 0.4
            if not found <= value + 1e-4 * t * slope:
                break
            held = update_lbfgs_memory(here, trial, g, fresh, steps, changes, inverses, held)
            little = little + 1 if value - found < tolerance else 0
            here[:], g[:], value = trial, fresh, found
            if little >= 2:
                break
        values[f] = value
