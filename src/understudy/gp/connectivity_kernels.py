"""The compiled loops of the connectivity prior, between its matrix products."""

from __future__ import annotations

import math

from understudy.checks import Array
from understudy.gp.likelihood_kernels import SUMS
from understudy.maths.accelerate import compiled


@compiled(nogil=True, fastmath=SUMS)
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


@compiled(nogil=True)
def logarithms(diffusion: Array, lowest: float) -> float:
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


@compiled(nogil=True)
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


@compiled(nogil=True, fastmath=SUMS)
def gradient(
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
