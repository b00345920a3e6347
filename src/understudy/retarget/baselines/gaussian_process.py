"""A Gaussian process from source poses to target poses [Yamane 2010, section 6.4, "GP"].

    k(y, y') = t1 exp(-t2/2 |y - y'|^2) + t3 + [y is y'] / beta                                   (eq. 1)

as in the shared GPLVM, but on the source's points themselves: no latent space between. The four parameters, shared by
all outputs, maximise the likelihood of the pairs with the priors 1/theta of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths import lbfgs
from understudy.retarget.mapping import Mapped
from understudy.retarget.pairs import Pairs
from understudy.retarget.pose_distance import squared_pose_distances

# t1, t2, t3, 1/beta: where the prior 1/theta would drive a parameter to nothing, it stops here
LEAST = np.array([1e-4, 1e-4, 1e-4, 1e-4])
ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """Pairs, the kernel's parameters, and K^-1 Z."""

    source: Array  # (N, Dy) scaled
    mean_source: Array  # (Dy,)
    scale_source: float
    mean_target: Array  # (Dz,)
    scale_target: float
    theta: Array  # (4,) t1, t2, t3, 1/beta
    inverse: Array  # (N, N)
    weights: Array  # (N, Dz)
    name: str = "GP"

    @classmethod
    def learn(cls, pairs: Pairs, iterations: int = ITERATIONS) -> GaussianProcess:
        """From pairs."""
        Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
        mean_y, mean_z = Y.mean(axis=0), Z.mean(axis=0)
        scale_z = max(float((Z - mean_z).std()), 1e-12)
        # a unit of length is the typical distance of two poses, so that the search begins near where it ends
        scale_y = max(float(np.sqrt(2 * ((Y - mean_y) ** 2).sum(axis=1).mean())), 1e-12)
        y, z = (Y - mean_y) / scale_y, (Z - mean_z) / scale_z
        squares, gram = squared_pose_distances(y, y), z @ z.T
        first = np.log([1.0, 2.0, 0.1, 0.01])
        state = lbfgs.minimise(lambda log: _objective(log, squares, gram, z.shape[1]), first, iterations)
        theta = LEAST + np.exp(state.x)
        inverse = np.linalg.inv(_covariance(theta, squares)[1])
        return cls(y, mean_y, scale_y, mean_z, scale_z, theta, inverse, inverse @ z)

    def map(self, local: Array, continuity: float = 0.0) -> Mapped:
        """The target's markers for source points (F, P, 3) in the local frame; the latent is the scaled points."""
        flat = np.asarray(local, np.float64).reshape(len(local), -1)
        y = (flat - self.mean_source) / self.scale_source
        t1, t2, t3, noise = self.theta
        k = t1 * np.exp(-0.5 * t2 * squared_pose_distances(y, self.source)) + t3
        points = k @ self.weights * self.scale_target + self.mean_target
        variance = t1 + t3 + noise - np.einsum("fi,ij,fj->f", k, self.inverse, k)
        variance = np.maximum(variance, noise) * self.scale_target**2
        return Mapped(y, points.reshape(len(flat), -1, 3), variance)


def _covariance(theta: Array, squares: Array) -> tuple[Array, Array]:
    """The radial part (N, N), and all of K."""
    t1, t2, t3, noise = theta
    radial = t1 * np.exp(-0.5 * t2 * squares)
    return radial, radial + t3 + noise * np.eye(len(squares))


def _objective(log: Array, squares: Array, gram: Array, outputs: int) -> tuple[float, Array]:
    """Negative log likelihood with priors 1/theta, theta = LEAST + exp(log), and its slope by `log`."""
    if np.abs(log).max() > 50:
        return np.inf, np.zeros(4)
    free = np.exp(log)
    theta = LEAST + free
    radial, K = _covariance(theta, squares)
    try:
        factor = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return np.inf, np.zeros(4)
    inverse = np.linalg.inv(K)
    G = 0.5 * (outputs * inverse - inverse @ gram @ inverse)
    value = outputs * np.log(np.diag(factor)).sum() + 0.5 * (inverse * gram).sum() + np.log(theta).sum()
    M = G * radial
    slope = np.array([M.sum() / theta[0], -0.5 * (M * squares).sum(), G.sum(), np.trace(G)])
    return float(value), (slope + 1 / theta) * free
