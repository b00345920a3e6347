"""Slow oracles of the kernels of `understudy.gp`: by the formulas, in NumPy."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.gp.covariance import Kernel, SharedKernel, squared_distances
from understudy.gp.likelihood import FAILED_LOG_LIKELIHOOD, LikelihoodGradient, gradient_through_covariance
from understudy.gp.priors import MIN_DIFFUSION, MIN_SQUARED_DISTANCE, SERIES_EIGENVALUE_GAP, ConnectivityPrior
from understudy.gp.shared_gplvm import PoseView


def cross_covariance(kernel: Kernel, a: Array, b: Array) -> Array:
    """`Kernel.cross_covariance`."""
    result = squared_distances(a, b)
    result *= -0.5 / kernel.length**2
    np.exp(result, out=result)
    result *= kernel.variance
    return result


def likelihood(observations: Array, points: Array, kernel: Kernel) -> LikelihoodGradient:
    """`Likelihood`."""
    count, dimensions = observations.shape
    matrix = kernel.matrix(points)
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return LikelihoodGradient(FAILED_LOG_LIKELIHOOD, np.zeros_like(points), np.zeros(3))
    inverse = np.linalg.inv(matrix)
    a = inverse @ observations
    value = -dimensions * np.log(np.diag(factor)).sum() - 0.5 * (a * observations).sum()
    value -= 0.5 * count * dimensions * np.log(2 * np.pi)
    return gradient_through_covariance(0.5 * (a @ a.T - dimensions * inverse), points, kernel, float(value))


def log_density(connectivity: ConnectivityPrior, points: Array) -> tuple[float, Array]:
    """`RandomWalk.log_density`."""
    count, p = len(points), connectivity.power
    weight, beta = connectivity.scale_to_frames(count)
    square = np.maximum(squared_distances(points, points), MIN_SQUARED_DISTANCE)
    w = square ** (-0.5 * p)
    np.fill_diagonal(w, 0.0)
    root = 1.0 / np.sqrt(w.sum(axis=1))
    steps = w * np.outer(root, root)
    values, vectors = np.linalg.eigh(steps)
    grown = np.exp(beta * (values - 1.0))
    diffusion = (vectors * grown) @ vectors.T
    clamped = diffusion <= MIN_DIFFUSION
    diffusion[clamped] = MIN_DIFFUSION
    by_diffusion = np.where(clamped, 0.0, 1.0 / diffusion)
    gap = np.subtract.outer(values, values)
    close = np.abs(beta * gap) <= SERIES_EIGENVALUE_GAP
    x = beta * gap
    quotient = np.subtract.outer(grown, grown) / np.where(close, 1.0, gap)
    quotient = np.where(close, beta * grown[None, :] * (1.0 + x * (0.5 + x / 6.0)), quotient)
    slope = vectors @ ((vectors.T @ by_diffusion @ vectors) * quotient) @ vectors.T
    share = (slope * steps).sum(axis=1) * root**2
    by_square = (np.outer(root, root) * slope - 0.5 * np.add.outer(share, share)) * (-0.5 * p * w / square)
    by_square[square <= MIN_SQUARED_DISTANCE] = 0.0
    np.fill_diagonal(by_square, 0.0)
    gradient = 4.0 * (by_square.sum(axis=1)[:, None] * points - by_square @ points)
    return weight * float(np.log(diffusion).sum()), weight * gradient


def evaluate_view(view: PoseView, points: Array, kernel: SharedKernel) -> tuple[float, Array, Array]:
    """`PoseView.evaluate`."""
    matrix = kernel.matrix(points)
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.inf, np.zeros_like(points), np.zeros(4)
    inverse = np.linalg.inv(matrix)
    a = inverse @ view.columns
    constant = 0.5 * view.count * view.outputs * np.log(2 * np.pi)
    value = view.outputs * np.log(np.diag(factor)).sum() + 0.5 * (a * view.columns).sum() + constant
    weight = 0.5 * (view.outputs * inverse - a @ a.T)
    product = weight * (kernel.cross_covariance(points, points) - kernel.t3)
    pull = product @ points - product.sum(axis=1)[:, None] * points
    by_log_t2 = kernel.t2 * (points * pull).sum()  # -(t2/2) sum_ij m_ij |x_i - x_j|^2
    slopes = np.array([product.sum(), by_log_t2, weight.sum(), np.trace(weight)])
    return float(value), 2.0 * kernel.t2 * pull, slopes
