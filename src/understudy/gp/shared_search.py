"""The latent points of new observations in the shared model, all frames at once [Yamane 2010, eq. 5].

    minimise  (1/2) |mean(x) - y|^2 / s^2(x) + (D/2) log s^2(x) + |x|^2 / 2 + (pull/2) |x - centre|^2

over x for every y: the likelihood of y, the unit Gaussian prior (without it neighbouring frames were a thousand units
apart), and a pull towards the neighbours in time. Each frame has its own L-BFGS [Nocedal & Wright 2006, algorithm
7.4], of a few short vectors that stay in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.gp.covariance import SharedKernel
from understudy.maths import jit

KERNELS = "understudy.gp.shared_kernels"
LBFGS_MEMORY = 8
MAX_ITERATIONS = 80
MAX_LINE_SEARCH_TRIALS = 14  # the last step is 1e-6 of the first
MIN_GAIN_NATS = 1e-4  # the search ends after two iterations in a row that gain less; 1e-3 nats are no evidence yet


@dataclass(frozen=True, eq=False)
class ObservedPoses:
    """The observed space, as the search needs it.

    K = L L^T. The variance is a small difference of large numbers: by L^-1 it keeps the digits that K^-1 would lose.
    """

    latents: Array  # (N, d)
    kernel: SharedKernel
    whitener: Array  # (N, N) L^-1, lower
    weights: Array  # (N, r) K^-1 times the data's columns
    outputs: int  # D


def descend(
    observed: ObservedPoses, y: Array, rest: Array, starts: Array, pull: float = 0.0, centres: Array | None = None
) -> tuple[Array, Array]:
    """Latent points (M, d) of y (M, r), and the values (M,) there, from `starts` (M, d).

    `rest` (M,) is the squared length of the part of y outside the r columns. `centres` (M, d) go with `pull`.
    """
    y, starts = np.ascontiguousarray(y), np.ascontiguousarray(starts)
    centres = np.zeros_like(starts) if centres is None else np.ascontiguousarray(centres)
    kernels = jit.kernels(KERNELS)
    if kernels is None:
        return descend_numpy(observed, y, rest, starts, pull, centres)
    x, values = starts.copy(), np.empty(len(y))
    kernels.descend(
        (np.ascontiguousarray(observed.latents), observed.whitener, observed.weights, observed.kernel.theta),
        float(observed.outputs),
        y,
        np.ascontiguousarray(rest),
        float(pull),
        centres,
        (MAX_ITERATIONS, MAX_LINE_SEARCH_TRIALS, MIN_GAIN_NATS),
        x,
        values,
    )
    return x, values


def value_and_gradient(
    observed: ObservedPoses, y: Array, rest: Array, x: Array, pull: float = 0.0, centres: Array | float = 0.0
) -> tuple[Array, Array]:
    """The function that is minimised, (M,), and its gradient (M, d) at x (M, d).

    With k the covariances with the pairs, s2 = k(x, x) - k^T K^-1 k and q = |mean - y|^2,

        df/dk = W (mean - y) / s2 + (q / s2^2 - D / s2) K^-1 k,     dk_i/dx = -t2 (k_i - t3) (x - x_i)
    """
    kernel, D = observed.kernel, observed.outputs
    k = kernel.cross_covariance(x, observed.latents)
    white = k @ observed.whitener.T
    solved = white @ observed.whitener
    miss = k @ observed.weights - y
    square = (miss**2).sum(axis=1) + rest
    raw = kernel.t1 + kernel.t3 + kernel.noise - (white**2).sum(axis=1)
    variance = np.maximum(raw, kernel.noise)
    away = x - centres
    value = 0.5 * square / variance + 0.5 * D * np.log(variance) + 0.5 * (x**2).sum(axis=1)
    value += 0.5 * pull * (away**2).sum(axis=1)
    through = np.where(raw > kernel.noise, square / variance**2 - D / variance, 0.0)
    by_k = (miss @ observed.weights.T) / variance[:, None] + through[:, None] * solved
    by_k *= k - kernel.t3
    slope = kernel.t2 * (by_k @ observed.latents - by_k.sum(axis=1)[:, None] * x) + x + pull * away
    return value, slope


def descend_numpy(
    observed: ObservedPoses, y: Array, rest: Array, starts: Array, pull: float, centres: Array
) -> tuple[Array, Array]:
    """`descend` in NumPy: all frames take their steps together, each with its own memory; those done drop out."""
    points, values = np.array(starts), np.full(len(y), np.inf)
    active = np.arange(len(y))
    x = points.copy()
    f, g = value_and_gradient(observed, y, rest, x, pull, centres)
    values[:] = f
    memory: list[tuple[Array, Array, Array]] = []
    little = np.zeros(len(y), np.int64)
    for _ in range(MAX_ITERATIONS):
        direction = -_lbfgs_direction(g, memory)
        slope = (g * direction).sum(axis=1)
        bad = slope >= 0
        direction[bad], slope[bad] = -g[bad], -(g[bad] ** 2).sum(axis=1)
        t = np.ones(len(x)) if memory else np.minimum(1.0, 1.0 / np.sqrt(np.maximum(-slope, 1e-300)))
        xn, fn, gn, todo = x.copy(), f.copy(), g.copy(), np.ones(len(x), bool)
        for _trial in range(MAX_LINE_SEARCH_TRIALS):
            i = np.flatnonzero(todo)
            tried = x[i] + t[i, None] * direction[i]
            ft, gt = value_and_gradient(observed, y[active[i]], rest[active[i]], tried, pull, centres[active[i]])
            good = ft <= f[i] + 1e-4 * t[i] * slope[i]
            j = i[good]
            xn[j], fn[j], gn[j], todo[j] = tried[good], ft[good], gt[good], False
            t[i[~good]] *= 0.4
            if not todo.any():
                break
        s, change = xn - x, gn - g
        curvature = (s * change).sum(axis=1)
        inverse = np.where(curvature > 1e-12, 1.0 / np.where(curvature > 1e-12, curvature, 1.0), 0.0)
        memory = [*memory, (s, change, inverse)][-LBFGS_MEMORY:]
        little = np.where(f - fn < MIN_GAIN_NATS, little + 1, 0)
        x, f, g = xn, fn, gn
        points[active], values[active] = x, f
        keep = (little < 2) & ~todo
        if not keep.any():
            break
        if not keep.all():
            active, x, f, g, little = active[keep], x[keep], f[keep], g[keep], little[keep]
            memory = [(a[keep], b[keep], c[keep]) for a, b, c in memory]
    return points, values


def _lbfgs_direction(g: Array, memory: list[tuple[Array, Array, Array]]) -> Array:
    """H g of every frame, H made of its last steps and changes; pairs without curvature are skipped."""
    q, alphas = g.copy(), []
    for s, change, inverse in reversed(memory):
        alpha = inverse * (s * q).sum(axis=1)
        alphas.append(alpha)
        q -= alpha[:, None] * change
    if memory:
        s, change, inverse = memory[-1]
        square = np.maximum((change**2).sum(axis=1), 1e-300)
        q *= np.where(inverse > 0, (s * change).sum(axis=1) / square, 1.0)[:, None]
    for (s, change, inverse), alpha in zip(memory, reversed(alphas)):
        q += (alpha - inverse * (change * q).sum(axis=1))[:, None] * s
    return q
