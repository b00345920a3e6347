"""Compiled twin of `Mapping.mean`: each pose by itself and in the same order, so that one and many agree to the last
bit.

BLAS sums in another order for one pose than for many; and its threads, which spin for a while when they have nothing
left to do, take the cores from the compiled code that a live frame runs next.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.gp.likelihood_kernels import SUMS
from understudy.gp.sparse_kernels import covariance
from understudy.maths.accelerate import compiled

LANES = 4  # sums at a time: k is read a quarter as often


@compiled(nogil=True, fastmath=SUMS)
def four_sums(k: Array, weights: Array, out: Array) -> None:
    """out (4,) = weights (4, P) k (P,)."""
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for p in range(k.size):
        s0 += w0[p] * k[p]
        s1 += w1[p] * k[p]
        s2 += w2[p] * k[p]
        s3 += w3[p] * k[p]
    out[0], out[1], out[2], out[3] = s0, s1, s2, s3


@compiled(nogil=True)
def means(x: Array, places: Array, variance: float, length: float, weights: Array, out: Array) -> None:
    """out (M, D) = weights k(x), at x (M, Q), of points, transposed, (Q, P), and of weights, transposed and filled up
    to a multiple of `LANES`, (D', P)."""
    k, sums = np.empty((1, places.shape[1])), np.empty(len(weights))
    for m in range(len(x)):
        covariance(x[m : m + 1], places, variance, length, k)
        for d in range(0, len(weights), LANES):
            four_sums(k[0], weights[d : d + LANES], sums[d : d + LANES])
        out[m] = sums[: out.shape[1]]
