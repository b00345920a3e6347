"""log p(Y | X) of a Gaussian process latent variable model, exact and sparse, and its gradient.

**Exact** [Bailey 2016, eq. 4]:

    log p(Y|X) = -(D/2) log|K| - (1/2) tr(K^-1 Y Y^T) - (N D / 2) log 2 pi

Print loses the first log. With A = K^-1 Y the gradient is dL/dK = (A A^T - D K^-1) / 2. One evaluation is one Cholesky
factor, one inverse (`potrf`, `potri`) and two passes over the matrix; the buffers are kept, since fresh pages for the
temporaries cost most of a factor.

**Sparse.** A lower bound that costs N P^2 instead of N^3, for P inducing points [Titsias 2009]. It sees the covariance
through P of its own points z: Q = K_fu K_uu^-1 K_uf,

    F = log N(Y; 0, Q + noise) - (D / (2 noise)) tr(K - Q)

The points are frames of the data, and move with their latents: nothing more is to be optimised, and with all frames
chosen F is the exact likelihood. FITC, the other choice, corrects the diagonal of Q instead of paying for it with the
trace; it then explains frames away as noise of their own, and its noise collapses [Bauer 2016]. The trace pays for
every frame that the inducing points do not cover, so the latents stay where the mapping is known.

With K_uu = L L^T, V = L^-1 K_uf, B = 1 + V V^T / noise and p = B^-1 V Y everything is well conditioned (b = 1 / noise):

    F = -(D/2) (N log 2 pi noise + log|B| + b (N variance - tr V V^T)) - (b/2) (|Y|^2 - b tr p^T V Y)
    dF/dK_uf = L^-T ( (b D (1 - B^-1) - b^3 p p^T) V + b^2 p Y^T )
    dF/dK_uu = L^-T ( D (1 - B^-1) - b^2 p p^T - D (B - 1) ) L^-1 / 2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.gp.covariance import Kernel
from understudy.maths import jit, solvers

FAILED_LOG_LIKELIHOOD = -np.inf
"""The value where K is not positive definite to rounding: an optimiser takes a shorter step."""

JITTER_VARIANCE_RATIO = 1e-7
"""Of the variance, added to the diagonal of K_uu: two equal inducing points differ by rounding, and 1e-16 P would do
for the factor; a thousandth of the noise's floor changes nothing visible."""


@dataclass(frozen=True)
class LikelihoodGradient:
    """A value, and its derivatives by the points (N, Q) and by (log variance, log length, noise)."""

    value: float
    points: Array
    kernel: Array


class Likelihood:
    """The likelihood of observations (N, D). Evaluations share buffers: one thread at a time."""

    def __init__(self, observations: Array) -> None:
        count, self.dimensions = observations.shape
        self._observations = np.asfortranarray(observations)
        self._kernels = jit.kernels("understudy.gp.gplvm_kernels")
        self._rbf, self._matrix = np.zeros((count, count)), np.zeros((count, count))
        self._constant = -0.5 * count * self.dimensions * np.log(2 * np.pi)

    def __call__(self, points: Array, kernel: Kernel) -> LikelihoodGradient:
        """Value and gradient at points (N, Q)."""
        from scipy.linalg import blas

        transposed = np.ascontiguousarray(points.T)
        self._kernels.rbf_covariance(transposed, kernel.variance, kernel.length, kernel.noise, self._rbf, self._matrix)
        if not solvers.cholesky_in_place(self._matrix):
            return LikelihoodGradient(FAILED_LOG_LIKELIHOOD, np.zeros_like(points), np.zeros(3))
        half_log_determinant = self._kernels.log_diagonal(self._matrix)
        solvers.inverse_in_place(self._matrix)
        inverse = self._matrix.T  # in Fortran's order: BLAS works in place, on its lower triangle
        a = blas.dsymm(1.0, inverse, self._observations, lower=1)
        value = -self.dimensions * half_log_determinant - 0.5 * np.vdot(a, self._observations) + self._constant
        weight = blas.dsyrk(0.5, a, beta=-0.5 * self.dimensions, c=inverse, lower=1, overwrite_c=1)
        out = np.empty_like(transposed)
        by_kernel = self._kernels.likelihood_gradient(weight.T, self._rbf, transposed, kernel.length, out)
        return LikelihoodGradient(float(value), np.ascontiguousarray(out.T), np.array(by_kernel))


def gradient_through_covariance(weight: Array, points: Array, kernel: Kernel, value: float) -> LikelihoodGradient:
    """The gradient of a function F of K, given weight (N, N) = dF/dK, symmetric."""
    product = weight * kernel.cross_covariance(points, points)
    pull = product @ points - product.sum(axis=1)[:, None] * points
    spread = -2.0 * (points * pull).sum()  # sum_ij m_ij |x_i - x_j|^2
    by_kernel = np.array([product.sum(), spread / kernel.length**2, np.trace(weight)])
    return LikelihoodGradient(value, 2.0 / kernel.length**2 * pull, by_kernel)


class SparseLikelihood:
    """The bound for observations (N, D). Evaluations share buffers: one thread at a time."""

    def __init__(self, observations: Array, inducing: Array) -> None:
        self.inducing = inducing  # (P,) frames
        self._y = np.asfortranarray(observations)
        self._square = float(np.vdot(observations, observations))
        self._kernels = jit.kernels("understudy.gp.gplvm_kernels")
        self._rbf, self._weight = (np.empty((len(observations), len(inducing))) for _ in range(2))
        self._v = np.empty((len(observations), len(inducing)))

    def __call__(self, points: Array, kernel: Kernel) -> LikelihoodGradient:
        """Value and gradient at points (N, Q)."""
        parts = self._parts(points, kernel)
        if parts is None:
            return LikelihoodGradient(FAILED_LOG_LIKELIHOOD, np.zeros_like(points), np.zeros(3))
        from scipy.linalg import blas

        lower, inverse, bound, p, vy = parts
        (count, width), b = self._y.shape, 1.0 / kernel.noise
        explained = float(np.vdot(p, vy))
        trace = (float(np.trace(bound)) - len(bound)) / b  # of V V^T
        left = count * kernel.variance - trace
        _, log_b = np.linalg.slogdet(bound)
        value = -0.5 * width * (count * np.log(2 * np.pi * kernel.noise) + log_b + b * left)
        value -= 0.5 * b * (self._square - b * explained)
        by_b = -0.5 * width * (len(bound) - np.trace(inverse)) / b - 0.5 * self._square - 0.5 * width * left
        by_b += b * explained - 0.5 * b * (explained - float(np.vdot(p, p))) + 0.5 * count * width / b

        identity, outer = np.eye(len(bound)), p @ p.T
        core = b * width * (identity - inverse) - b**3 * outer
        by_uf = _solve_both_sides(lower, core)
        tall = b**2 * blas.dtrsm(1.0, lower, p, lower=1, trans_a=1)
        weight = blas.dgemm(1.0, by_uf, self._rbf.T, c=self._weight.T, overwrite_c=1)
        weight = blas.dgemm(1.0, tall, self._y, beta=1.0, c=weight, trans_b=1, overwrite_c=1)
        by_uu = _solve_both_sides(lower, 0.5 * (width * (2.0 * identity - inverse - bound) - b**2 * outer))

        chosen = np.ascontiguousarray(points[self.inducing])
        among = gradient_through_covariance(by_uu, chosen, kernel, 0.0)
        by_points, by_inducing, by_variance, by_length = self._gradient(weight.T, points, chosen, kernel)
        by_points[self.inducing] += by_inducing + among.points
        by_variance += among.kernel[0] + JITTER_VARIANCE_RATIO * kernel.variance * np.trace(by_uu)
        by_variance -= 0.5 * width * b * count * kernel.variance
        by_kernel = np.array([by_variance, by_length + among.kernel[1], -(b**2) * by_b])
        return LikelihoodGradient(float(value), by_points, by_kernel)

    def solve(self, points: Array, kernel: Kernel, scale: float) -> tuple[Array, Array] | None:
        """Weights (K_uu + b K_uf K_fu)^-1 b K_uf Y (P, D), in the data's units, and precision (P, P) of the mapping.

        None where the covariance of the inducing points has no inverse.
        """
        parts = self._parts(points, kernel)
        if parts is None:
            return None
        from scipy.linalg import blas

        lower, inverse, _, p, _ = parts
        precision = _solve_both_sides(lower, np.eye(len(inverse)) - inverse)
        weights = blas.dtrsm(scale / kernel.noise, lower, p, lower=1, trans_a=1)
        return weights, precision

    def _parts(self, points: Array, kernel: Kernel) -> tuple[Array, Array, Array, Array, Array] | None:
        """L, B^-1, B (P, P), p and V Y (P, D); K_uf stays in the buffer. None where K_uu has no factor."""
        from scipy.linalg import blas

        chosen = np.ascontiguousarray(points[self.inducing])
        transposed = np.ascontiguousarray(chosen.T)
        self._kernels.inducing_covariance(points, transposed, kernel.variance, kernel.length, self._rbf)
        factor = kernel.cross_covariance(chosen, chosen)
        factor.flat[:: len(factor) + 1] += JITTER_VARIANCE_RATIO * kernel.variance
        if not solvers.cholesky_in_place(factor):
            return None
        lower = factor.T  # Fortran's order; its lower triangle is L
        self._v[...] = self._rbf
        v = blas.dtrsm(1.0, lower, self._v.T, lower=1, overwrite_b=1)  # (P, N)
        bound = np.tril(blas.dsyrk(1.0 / kernel.noise, v, lower=1))
        bound += np.tril(bound, -1).T
        bound.flat[:: len(bound) + 1] += 1.0
        inverse = bound.copy()
        if not solvers.cholesky_in_place(inverse):
            return None
        solvers.inverse_in_place(inverse)
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        vy = blas.dgemm(1.0, v, self._y)
        return lower, inverse, bound, inverse @ vy, vy

    def _gradient(
        self, weight: Array, points: Array, chosen: Array, kernel: Kernel
    ) -> tuple[Array, Array, float, float]:
        """Through K_fu: by points (N, Q), by inducing points (P, Q), by log variance and by log length."""
        by_points, by_inducing = np.empty_like(points), np.empty((points.shape[1], len(chosen)))
        transposed = np.ascontiguousarray(chosen.T)
        by_kernel = self._kernels.sparse_gradient(
            weight, self._rbf, points, transposed, kernel.length, by_points, by_inducing
        )
        return by_points, by_inducing.T, *by_kernel


def _solve_both_sides(lower: Array, core: Array) -> Array:
    """L^-T core L^-1 for a symmetric core (P, P)."""
    from scipy.linalg import blas

    half = blas.dtrsm(1.0, lower, core, lower=1, trans_a=1)
    return np.asarray(blas.dtrsm(1.0, lower, half, side=1, lower=1))
