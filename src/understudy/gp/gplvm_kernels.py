"""Compiled loops of the likelihoods, the connectivity prior and the mapping.

**Likelihood**: the covariance, and the gradient through it, each in one pass. Matrices are square and symmetric, and
only the entries [j, i] with i >= j are touched: seen by LAPACK in Fortran's order that is the lower triangle. Points
come transposed, (Q, N), so that the inner loops run over neighbours in memory.

**Connectivity prior**: the loops between its matrix products.

**Sparse likelihood**: the covariance of frames and inducing points, and its gradient.

**Mapping**: the mean, each pose by itself and in the same order, so that one and many agree to the last bit. BLAS sums
in another order for one pose than for many; and its idle threads, which spin for a while, take the cores from the
compiled code that a live frame runs next.
"""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.maths.scalar_kernels import scalar_exp

SUM_FASTMATH_FLAGS = FASTMATH_FLAGS | {"reassoc"}
"""Sums may be taken in another order, without which they cannot be vectorised."""

MIN_EXPONENT = -80.0
"""Exponents below this count as this: exp(-80) is 2e-35, far below rounding beside the noise on the diagonal, and
products of two such numbers are not yet denormal, which would be slow."""

SUMS_PER_PASS = 4  # k is read a quarter as often


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
def rbf_covariance(points: Array, variance: float, length: float, noise: float, rbf: Array, matrix: Array) -> None:
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
            value = variance * scalar_exp(max(factor * row[i], MIN_EXPONENT))
            row[i] = value
            copy[i] = value
        copy[0] += noise


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
def likelihood_gradient(
    weight: Array, rbf: Array, points: Array, length: float, out: Array
) -> tuple[float, float, float]:
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


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
def log_diagonal(matrix: Array) -> float:
    """The sum of the logarithms of a diagonal."""
    total = 0.0
    for j in range(matrix.shape[0]):
        total += np.log(matrix[j, j])
    return total


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
def affinities(points: Array, power: float, nearest: float, weights: Array, steps: Array, root: Array) -> None:
    """weights (N, N) = |x_i - x_j|^-p, root (N,) = 1 / sqrt(row sums), steps (N, N) = root_i w_ij root_j.

    points come transposed, (Q, N); squared distances count as at least `nearest`.
    """
    dimensions, count = points.shape
    half = -0.5 * power
    fourth = power == 4.0
    for j in range(count):
        row = weights[j]
        for i in range(count):
            row[i] = 0.0
        for q in range(dimensions):
            line, here = points[q], points[q, j]
            for i in range(count):
                difference = line[i] - here
                row[i] += difference * difference
        if fourth:
            for i in range(count):
                square = max(row[i], nearest)
                row[i] = 1.0 / (square * square)
        else:
            for i in range(count):
                row[i] = max(row[i], nearest) ** half
        row[j] = 0.0
        total = 0.0
        for i in range(count):
            total += row[i]
        root[j] = 1.0 / math.sqrt(total)
    for j in range(count):
        for i in range(count):
            steps[j, i] = weights[j, i] * root[j] * root[i]


@compile_kernel(nogil=True)
def sum_log_diffusion(diffusion: Array, lowest: float) -> float:
    """The sum of ln K over the matrix (N, N), which becomes 1 / K; entries below `lowest` count as it, with slope 0."""
    total = 0.0
    floor = math.log(lowest)
    for j in range(diffusion.shape[0]):
        for i in range(j):
            value = diffusion[j, i]
            if value > lowest:
                total += 2.0 * math.log(value)
                diffusion[j, i] = 1.0 / value
            else:
                total += 2.0 * floor
                diffusion[j, i] = 0.0
            diffusion[i, j] = diffusion[j, i]
        value = diffusion[j, j]
        total += math.log(value)
        diffusion[j, j] = 1.0 / value
    return total


@compile_kernel(nogil=True)
def divided_differences(product: Array, values: Array, grown: Array, beta: float, series: float) -> None:
    """product_ij *= (e_i - e_j) / (v_i - v_j) with e = exp(beta v) = `grown`; the limit where they are close."""
    count = values.size
    for j in range(count):
        for i in range(count):
            gap = values[j] - values[i]
            x = beta * gap
            if abs(x) > series:
                product[j, i] *= (grown[j] - grown[i]) / gap
            else:
                product[j, i] *= beta * grown[i] * (1.0 + x * (0.5 + x / 6.0))


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
def connectivity_gradient(
    slope: Array, steps: Array, weights: Array, root: Array, points: Array, power: float, nearest: float, out: Array
) -> None:
    """out (Q, N) = dF/dx for slope (N, N) = dF/dA of the normalised affinities A = `steps`; slope is overwritten.

    dF/dw_ij = root_i root_j G_ij - (s_i + s_j) / 2 with s_i = root_i^2 sum_j G_ij A_ij, and dw/dd^2 = -(p/2) w / d^2,
    or nothing where d^2 counts as `nearest`.
    """
    highest = 0.999999 * nearest ** (-0.5 * power)
    dimensions, count = points.shape
    share = root.copy()
    for j in range(count):
        total = 0.0
        for i in range(count):
            total += slope[j, i] * steps[j, i]
        share[j] = total * root[j] * root[j]
    exponent = 2.0 / power
    fourth = power == 4.0
    for j in range(count):
        row = slope[j]
        for i in range(count):
            weight = weights[j, i] if weights[j, i] < highest else 0.0
            row[i] = (root[j] * root[i] * row[i] - 0.5 * (share[j] + share[i])) * weight
        if fourth:
            for i in range(count):
                row[i] *= math.sqrt(weights[j, i])
        else:
            for i in range(count):
                row[i] *= weights[j, i] ** exponent
        row[j] = 0.0
        for q in range(dimensions):
            line, here = points[q], points[q, j]
            pull = 0.0
            for i in range(count):
                pull += row[i] * (line[i] - here)
            out[q, j] = 2.0 * power * pull


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
def inducing_covariance(points: Array, inducing: Array, variance: float, length: float, out: Array) -> None:
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
            row[p] = variance * scalar_exp(max(factor * row[p], MIN_EXPONENT))


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
def sparse_gradient(
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


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS)
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


@compile_kernel(nogil=True)
def latent_means(x: Array, places: Array, variance: float, length: float, weights: Array, out: Array) -> None:
    """out (M, D) = weights k(x), at x (M, Q).

    Points come transposed, (Q, P); weights transposed and padded to a multiple of `SUMS_PER_PASS`, (D', P).
    """
    k, sums = np.empty((1, places.shape[1])), np.empty(len(weights))
    for m in range(len(x)):
        inducing_covariance(x[m : m + 1], places, variance, length, k)
        for d in range(0, len(weights), SUMS_PER_PASS):
            four_sums(k[0], weights[d : d + SUMS_PER_PASS], sums[d : d + SUMS_PER_PASS])
        out[m] = sums[: out.shape[1]]
