"""The compiled loops of the likelihood: the covariance, and the gradient through it, each in one pass.

Matrices are square and symmetric, and only the entries [j, i] with i >= j are touched: seen by LAPACK in Fortran's
order that is the lower triangle. Points come transposed, (Q, N), so that the inner loops run over neighbours in memory.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled
from understudy.maths.exp_kernels import exp

SUMS = FAST | {"reassoc"}
"""Sums may be taken in another order, without which they cannot be vectorised."""

NEGLIGIBLE = -80.0
"""Exponents below this count as this: exp(-80) is 2e-35, far below rounding beside the noise on the diagonal, and
products of two such numbers are not yet denormal, which would be slow."""


@compiled(nogil=True, fastmath=SUMS)
def covariance(points: Array, variance: float, length: float, noise: float, rbf: Array, matrix: Array) -> None:
    """rbf (N, N) gets variance * exp(-d^2 / (2 length^2)), matrix (N, N) the same with noise on the diagonal."""
    dimensions, count = points.shape
    factor = -0.5 / (length * length)
    for j in range(count):
        row, copy = rbf[j, j:], matrix[j, j:]  # slices that begin at 0 are vectorised, ranges that begin at j are not
        for i in range(row.size):
            row[i] = 0.0
        for q in range(dimensions):
            line, here = points[q, j:], points[q, j]
            for i in range(row.size):
                difference = line[i] - here
                row[i] += difference * difference
        for i in range(row.size):
            value = variance * exp(max(factor * row[i], NEGLIGIBLE))
            row[i] = value
            copy[i] = value
        copy[0] += noise


@compiled(nogil=True, fastmath=SUMS)
def gradient(weight: Array, rbf: Array, points: Array, length: float, out: Array) -> tuple[float, float, float]:
    """The gradient of a function F(K) through the covariance, for weight (N, N) = dF/dK.

    out (Q, N) gets dF/dx; returned are dF/d log variance, dF/d log length and dF/d noise. weight is overwritten.

        dF/dx_j = 2 sum_i w_ij k_ij (x_i - x_j) / l^2,   dF/d log l = sum_ij w_ij k_ij |x_i - x_j|^2 / l^2
    """
    dimensions, count = points.shape
    inverse = 1.0 / (length * length)
    by_variance, by_length, by_noise = 0.0, 0.0, 0.0
    out[:, :] = 0.0
    for j in range(count):
        row, factor = weight[j, j + 1 :], rbf[j, j + 1 :]
        by_noise += weight[j, j]
        by_variance += weight[j, j] * rbf[j, j]
        total = 0.0
        for i in range(row.size):
            row[i] *= factor[i]
            total += row[i]
        by_variance += 2.0 * total
        for q in range(dimensions):
            line, result, here = points[q, j + 1 :], out[q, j + 1 :], points[q, j]
            pull, spread = 0.0, 0.0
            for i in range(row.size):
                difference = line[i] - here
                product = row[i] * difference
                pull += product
                spread += product * difference
                result[i] -= product
            out[q, j] += pull
            by_length += spread
    for q in range(dimensions):
        for i in range(count):
            out[q, i] *= 2.0 * inverse
    return by_variance, 2.0 * inverse * by_length, by_noise


@compiled(nogil=True, fastmath=SUMS)
def log_diagonal(matrix: Array) -> float:
    """The sum of the logarithms of a diagonal."""
    total = 0.0
    for j in range(matrix.shape[0]):
        total += np.log(matrix[j, j])
    return total
