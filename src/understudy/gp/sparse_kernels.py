"""The compiled loops of the sparse likelihood: the covariance of frames and inducing points, and its gradient."""

from __future__ import annotations

from understudy.checks import Array
from understudy.gp.likelihood_kernels import NEGLIGIBLE, SUMS
from understudy.maths.accelerate import compiled
from understudy.maths.exp_kernels import exp


@compiled(nogil=True, fastmath=SUMS)
def covariance(points: Array, inducing: Array, variance: float, length: float, out: Array) -> None:
    """out (N, P) = variance * exp(-d^2 / (2 length^2)) for points (N, Q) and inducing, transposed, (Q, P)."""
    count, dimensions = points.shape
    factor = -0.5 / (length * length)
    for n in range(count):
        row = out[n]
        for p in range(row.size):
            row[p] = 0.0
        for q in range(dimensions):
            line, here = inducing[q], points[n, q]
            for p in range(row.size):
                difference = line[p] - here
                row[p] += difference * difference
        for p in range(row.size):
            row[p] = variance * exp(max(factor * row[p], NEGLIGIBLE))


@compiled(nogil=True, fastmath=SUMS)
def gradient(
    weight: Array, rbf: Array, points: Array, inducing: Array, length: float, by_points: Array, by_inducing: Array
) -> tuple[float, float]:
    """The gradient of F through the covariance, for weight (N, P) = dF/dK, which is overwritten.

    by_points (N, Q) and by_inducing (Q, P) get dF/dx and dF/dz; returned are dF/d log variance and dF/d log length.
    """
    count, dimensions = points.shape
    inverse = 1.0 / (length * length)
    by_variance, by_length = 0.0, 0.0
    by_inducing[:, :] = 0.0
    for n in range(count):
        row, factor = weight[n], rbf[n]
        total = 0.0
        for p in range(row.size):
            row[p] *= factor[p] * inverse
            total += row[p]
        by_variance += total
        for q in range(dimensions):
            line, result, here = inducing[q], by_inducing[q], points[n, q]
            pull, spread = 0.0, 0.0
            for p in range(row.size):
                difference = line[p] - here
                product = row[p] * difference
                pull += product
                spread += product * difference
                result[p] -= product
            by_points[n, q] = pull
            by_length += spread
    return by_variance * length * length, by_length
