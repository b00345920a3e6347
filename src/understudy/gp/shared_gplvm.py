"""Shared GPLVM: two pose spaces that hang on one latent space [Yamane 2010, section 4.2; Ek 2007]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.estimator import Estimator
from understudy.gp.kernel import squared_distances
from understudy.gp.threads import one_thread
from understudy.maths import lbfgs

LEAST_NOISE = 1e-3


class SharedGplvm(Estimator):
    """Learns from pairs y_i (Dy,), z_i (Dz,), and maps new y to z by the latent point that explains y best."""

    def __init__(self, dimension: int | str = 30, iterations: int = 70, seed: int = 0) -> None:
        self.dimension, self.iterations, self.seed = dimension, iterations, seed

    def fit(self, Y: ArrayLike, Z: ArrayLike) -> SharedGplvm:
        """Learn from pairs Y (N, Dy) and Z (N, Dz)."""
        Y = checks.array(Y, "Y", ("N", "Dy"))
        Z = checks.array(Z, "Z", (len(Y), "Dz"))
        n, d = len(Y), 30 if isinstance(self.dimension, str) else self.dimension
        self.means_ = Y.mean(axis=0), Z.mean(axis=0)
        self.scales_ = max(float((Y - self.means_[0]).std()), 1e-12), max(float((Z - self.means_[1]).std()), 1e-12)
        self.data_ = (Y - self.means_[0]) / self.scales_[0], (Z - self.means_[1]) / self.scales_[1]
        grams = [data @ data.T for data in self.data_]
        u, s, _ = np.linalg.svd(np.hstack(self.data_), full_matrices=False)
        X = np.zeros((n, d))
        q = min(d, n - 1)
        X[:, :q] = u[:, :q] * s[:q] / s[0] * np.sqrt(n)

        def objective(v: Array) -> tuple[float, Array]:
            x = v[: n * d].reshape(n, d)
            value, slope, by_kernel = 0.5 * (x * x).sum(), x.copy(), []
            for i in range(2):
                f, g, h = _part(x, v[n * d + 4 * i : n * d + 4 * i + 4], grams[i], self.data_[i].shape[1])
                value, slope = value + f, slope + g
                by_kernel.append(h)
            return value, np.concatenate([slope.ravel(), *by_kernel])

        first = np.log([1, 0.1, 0.1, 0.01])
        with one_thread():
            state = lbfgs.minimise(objective, np.concatenate([X.ravel(), first, first]), self.iterations)
        self.objective_ = state.value
        self.latents_ = state.x[: n * d].reshape(n, d)
        self.kernels_ = state.x[n * d : n * d + 4], state.x[n * d + 4 :]
        self.inverses_ = tuple(np.linalg.inv(_covariance(self.latents_, h)[1]) for h in self.kernels_)
        self.curve_ = None
        return self

    def map(self, Y: ArrayLike, continuity: float = 0.0) -> Array:
        """(M, d) the latent points of new Y (M, Dy)."""
        y = (np.asarray(Y) - self.means_[0]) / self.scales_[0]
        near = squared_distances(y, self.data_[0]).argmin(axis=1)
        return np.array(self.latents_[near])

    def predict(self, latent: Array) -> tuple[Array, Array]:
        """Mean (M, Dz) and variance (M,) of a coordinate at latent points (M, d)."""
        t1, t2, t3, noise = np.exp(self.kernels_[1])
        k = t1 * np.exp(-0.5 * t2 * squared_distances(np.asarray(latent), self.latents_)) + t3
        mean = k @ (self.inverses_[1] @ self.data_[1]) * self.scales_[1] + self.means_[1]
        variance = t1 + t3 + noise + LEAST_NOISE - np.einsum("mi,ij,mj->m", k, self.inverses_[1], k)
        return mean, np.maximum(variance, noise + LEAST_NOISE) * self.scales_[1] ** 2


def _covariance(x: Array, h: Array) -> tuple[Array, Array, Array]:
    t1, t2, t3, noise = np.exp(h)
    squares = squared_distances(x, x)
    rbf = t1 * np.exp(-0.5 * t2 * squares)
    return rbf, rbf + t3 + (noise + LEAST_NOISE) * np.eye(len(x)), squares


def _part(x: Array, h: Array, gram: Array, outputs: int) -> tuple[float, Array, Array]:
    t2, t3, noise = np.exp(h[1:])
    rbf, K, squares = _covariance(x, h)
    try:
        factor = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return np.inf, np.zeros_like(x), np.zeros(4)
    inverse = np.linalg.inv(K)
    G = 0.5 * (outputs * inverse - inverse @ gram @ inverse)
    value = outputs * np.log(np.diag(factor)).sum() + 0.5 * (inverse * gram).sum()
    M = G * rbf
    slope = -2 * t2 * (M.sum(axis=1)[:, None] * x - M @ x)
    return value, slope, np.array([M.sum(), -0.5 * t2 * (M * squares).sum(), t3 * G.sum(), noise * np.trace(G)])
