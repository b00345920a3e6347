"""log p(Y | X) of a Gaussian process latent variable model, and its gradient [Bailey 2016, eq. 4].

    log p(Y|X) = -(D/2) log|K| - (1/2) tr(K^-1 Y Y^T) - (N D / 2) log 2 pi

Print loses the first log. With A = K^-1 Y the gradient is dL/dK = (A A^T - D K^-1) / 2. One evaluation is one Cholesky
factor, one inverse (`potrf`, `potri`) and two passes over the matrix; the buffers are kept, since fresh pages for the
temporaries cost most of a factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.gp import lapack
from understudy.gp.kernel import Kernel
from understudy.maths import accelerate


@dataclass(frozen=True)
class Slope:
    """A value, and its derivatives by the points (N, Q) and by (log variance, log length, noise)."""

    value: float
    points: Array
    kernel: Array


FAILED = -np.inf
"""The value where K is not positive definite to rounding: an optimiser takes a shorter step."""


class Likelihood:
    """Evaluates the likelihood of observations (N, D) again and again in the same memory: one thread at a time."""

    def __init__(self, observations: Array) -> None:
        count, self.dimensions = observations.shape
        self._observations = np.asfortranarray(observations)
        self._kernels = accelerate.kernels("understudy.gp.likelihood_kernels")
        self._rbf, self._matrix = np.zeros((count, count)), np.zeros((count, count))
        self._constant = -0.5 * count * self.dimensions * np.log(2 * np.pi)

    def __call__(self, points: Array, kernel: Kernel) -> Slope:
        """At points (N, Q)."""
        if self._kernels is None:
            return likelihood_numpy(self._observations, points, kernel)
        from scipy.linalg import blas

        transposed = np.ascontiguousarray(points.T)
        self._kernels.covariance(transposed, kernel.variance, kernel.length, kernel.noise, self._rbf, self._matrix)
        if not lapack.cholesky_in_place(self._matrix):
            return Slope(FAILED, np.zeros_like(points), np.zeros(3))
        half_log_determinant = self._kernels.log_diagonal(self._matrix)
        lapack.inverse_in_place(self._matrix)
        inverse = self._matrix.T  # in Fortran's order: BLAS works in place, on its lower triangle
        a = blas.dsymm(1.0, inverse, self._observations, lower=1)
        value = -self.dimensions * half_log_determinant - 0.5 * np.vdot(a, self._observations) + self._constant
        weight = blas.dsyrk(0.5, a, beta=-0.5 * self.dimensions, c=inverse, lower=1, overwrite_c=1)
        out = np.empty_like(transposed)
        by_kernel = self._kernels.gradient(weight.T, self._rbf, transposed, kernel.length, out)
        return Slope(float(value), np.ascontiguousarray(out.T), np.array(by_kernel))


def likelihood_numpy(observations: Array, points: Array, kernel: Kernel) -> Slope:
    """The same by the formulas, for the tests and where there is no numba."""
    count, dimensions = observations.shape
    matrix = kernel.matrix(points)
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return Slope(FAILED, np.zeros_like(points), np.zeros(3))
    inverse = np.linalg.inv(matrix)
    a = inverse @ observations
    value = -dimensions * np.log(np.diag(factor)).sum() - 0.5 * (a * observations).sum()
    value -= 0.5 * count * dimensions * np.log(2 * np.pi)
    return through_covariance(0.5 * (a @ a.T - dimensions * inverse), points, kernel, float(value))


def through_covariance(weight: Array, points: Array, kernel: Kernel, value: float) -> Slope:
    """The slope of a function of K, given weight (N, N) = dF/dK, symmetric."""
    product = weight * kernel.between(points, points)
    pull = product @ points - product.sum(axis=1)[:, None] * points
    spread = -2.0 * (points * pull).sum()  # sum_ij m_ij |x_i - x_j|^2
    by_kernel = np.array([product.sum(), spread / kernel.length**2, np.trace(weight)])
    return Slope(value, 2.0 / kernel.length**2 * pull, by_kernel)
