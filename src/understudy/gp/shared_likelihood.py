"""One of the two pose spaces over the shared latent points: its likelihood and slope [Yamane 2010, section 4.2.1].

    -log P(Y|X) = (D/2) log|K| + (1/2) tr(K^-1 Y Y^T) + (N D / 2) log 2 pi,      dF/dK = (D K^-1 - K^-1 Y Y^T K^-1) / 2

Y enters by Y Y^T only. Poses have hundreds of coordinates and there are some tens of pairs, so Y is turned once into N
columns with the same products: nothing after that depends on D.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.gp import lapack
from understudy.gp.shared_kernel import SharedKernel
from understudy.maths import accelerate

KERNELS = "understudy.gp.likelihood_kernels"


class View:
    """Normalised observations (N, D) of one space; evaluates their likelihood again and again, one thread at a time."""

    def __init__(self, data: Array) -> None:
        self.count, self.outputs = data.shape
        basis, upper = np.linalg.qr(data.T)
        self.basis: Array = basis  # (D, r): data = columns @ basis.T
        self.columns: Array = np.asfortranarray(upper.T)  # (N, r)
        self._rbf, self._matrix = np.zeros((self.count, self.count)), np.zeros((self.count, self.count))
        self._constant = 0.5 * self.count * self.outputs * np.log(2 * np.pi)

    def evaluate(self, points: Array, kernel: SharedKernel) -> tuple[float, Array, Array]:
        """-log P at points (N, d), its slope by the points (N, d), and by log t1, log t2, t3 and noise (4,)."""
        kernels = accelerate.kernels(KERNELS)
        if kernels is None:
            return self.evaluate_numpy(points, kernel)
        from scipy.linalg import blas

        transposed = np.ascontiguousarray(points.T)
        kernels.covariance(transposed, kernel.t1, kernel.length, kernel.noise, self._rbf, self._matrix)
        self._matrix += kernel.t3
        if not lapack.cholesky_in_place(self._matrix):
            return np.inf, np.zeros_like(points), np.zeros(4)
        half_log_determinant = kernels.log_diagonal(self._matrix)
        lapack.inverse_in_place(self._matrix)
        inverse = self._matrix.T  # in Fortran's order: BLAS works in place, on its lower triangle
        a = blas.dsymm(1.0, inverse, self.columns, lower=1)
        value = self.outputs * half_log_determinant + 0.5 * np.vdot(a, self.columns) + self._constant
        weight = blas.dsyrk(-0.5, a, beta=0.5 * self.outputs, c=inverse, lower=1, overwrite_c=1)
        by_constant = 2.0 * np.tril(weight).sum() - np.trace(weight)
        out = np.empty_like(transposed)
        by_variance, by_length, by_noise = kernels.gradient(weight.T, self._rbf, transposed, kernel.length, out)
        return float(value), out.T, np.array([by_variance, -0.5 * by_length, by_constant, by_noise])

    def evaluate_numpy(self, points: Array, kernel: SharedKernel) -> tuple[float, Array, Array]:
        """The same by the formulas, for the tests and where there is no numba."""
        matrix = kernel.matrix(points)
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros_like(points), np.zeros(4)
        inverse = np.linalg.inv(matrix)
        a = inverse @ self.columns
        value = self.outputs * np.log(np.diag(factor)).sum() + 0.5 * (a * self.columns).sum() + self._constant
        weight = 0.5 * (self.outputs * inverse - a @ a.T)
        product = weight * (kernel.between(points, points) - kernel.t3)
        pull = product @ points - product.sum(axis=1)[:, None] * points
        by_log_t2 = kernel.t2 * (points * pull).sum()  # -(t2/2) sum_ij m_ij |x_i - x_j|^2
        slopes = np.array([product.sum(), by_log_t2, weight.sum(), np.trace(weight)])
        return float(value), 2.0 * kernel.t2 * pull, slopes
