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
    x, values = starts.copy(), np.empty(len(y))
    jit.kernels(KERNELS).descend(
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
