"""Baselines of the shared GPLVM, each fitted to pairs [Yamane 2010, section 6.4], and leave-one-out errors.

GP: a Gaussian process from source poses to target poses,

    k(y, y') = t1 exp(-t2/2 |y - y'|^2) + t3 + [y is y'] / beta                                   (eq. 1)

as in the shared GPLVM, but on the source's points themselves, without a latent space. The four parameters, shared by
all outputs, maximise the likelihood of the pairs with the priors 1/theta of the paper.

NN: the nearest key poses, blended,

    z(y) = sum_i w_i z_i / sum_i w_i,  w_i = 1 / |y - y_i|,  over the N nearest y_i

PCA: principal components and a linear map between them,

    y = mean_y + U a,  z = mean_z + V b,  b = A a

with the (at most) 30 leading components of either side and A the least-squares map of least norm between them.

Leave one out: the error of a mapping at a pose that the animator made and the mapping has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character.body.poses import squared_pose_distances
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import lbfgs
from understudy.transfer.mapping import MappingResult, PoseMapping
from understudy.transfer.pairs import PosePairs

# t1, t2, t3, 1/beta: lower bounds, where the prior 1/theta would drive a parameter to zero.
MIN_KERNEL_PARAMETERS = np.array([1e-4, 1e-4, 1e-4, 1e-4])
MAX_ITERATIONS = 100  # of L-BFGS
KEY_POSE_TOLERANCE_M = 1e-9  # at a smaller distance a pose is the key pose itself
Learner = Callable[[PosePairs], PoseMapping]


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
    def learn(cls, pairs: PosePairs, iterations: int = MAX_ITERATIONS) -> GaussianProcess:
        """From pairs."""
        Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
        mean_y, mean_z = Y.mean(axis=0), Z.mean(axis=0)
        scale_z = max(float((Z - mean_z).std()), 1e-12)
        # The unit of length is the typical distance of two poses, so that the search starts near its end.
        scale_y = max(float(np.sqrt(2 * ((Y - mean_y) ** 2).sum(axis=1).mean())), 1e-12)
        y, z = (Y - mean_y) / scale_y, (Z - mean_z) / scale_z
        squares, gram = squared_pose_distances(y, y), z @ z.T
        first = np.log([1.0, 2.0, 0.1, 0.01])
        state = lbfgs.minimise(lambda log: _objective(log, squares, gram, z.shape[1]), first, iterations)
        theta = MIN_KERNEL_PARAMETERS + np.exp(state.x)
        inverse = np.linalg.inv(_covariance(theta, squares)[1])
        return cls(y, mean_y, scale_y, mean_z, scale_z, theta, inverse, inverse @ z)

    def map(self, local: Array, continuity: float = 0.0) -> MappingResult:
        """The target's markers for source points (F, P, 3) in the local frame; the latent is the scaled points."""
        flat = np.asarray(local, np.float64).reshape(len(local), -1)
        y = (flat - self.mean_source) / self.scale_source
        t1, t2, t3, noise = self.theta
        k = t1 * np.exp(-0.5 * t2 * squared_pose_distances(y, self.source)) + t3
        points = k @ self.weights * self.scale_target + self.mean_target
        variance = t1 + t3 + noise - np.einsum("fi,ij,fj->f", k, self.inverse, k)
        variance = np.maximum(variance, noise) * self.scale_target**2
        return MappingResult(y, points.reshape(len(flat), -1, 3), variance)


def _covariance(theta: Array, squares: Array) -> tuple[Array, Array]:
    """The radial part (N, N), and all of K."""
    t1, t2, t3, noise = theta
    radial = t1 * np.exp(-0.5 * t2 * squares)
    return radial, radial + t3 + noise * np.eye(len(squares))


def _objective(log: Array, squares: Array, gram: Array, outputs: int) -> tuple[float, Array]:
    """Negative log likelihood with priors 1/theta, theta = MIN_KERNEL_PARAMETERS + exp(log), and its gradient."""
    if np.abs(log).max() > 50:
        return np.inf, np.zeros(4)
    free = np.exp(log)
    theta = MIN_KERNEL_PARAMETERS + free
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


@dataclass(frozen=True, eq=False)
class NearestPoses:
    """Key poses, and the number of them that are blended into a pose."""

    source: Array  # (N, Dy)
    target: Array  # (N, Dz)
    count: int

    @classmethod
    def learn(cls, pairs: PosePairs, count: int = 3) -> NearestPoses:
        """From pairs; all of them where there are fewer than `count`."""
        return cls(pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1), min(count, len(pairs)))

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"NN{self.count}"

    def map(self, local: Array, continuity: float = 0.0) -> MappingResult:
        """The target's markers for source points (F, P, 3) in the local frame; the latent is the distances."""
        flat = np.asarray(local, np.float64).reshape(len(local), -1)
        distances = np.sqrt(squared_pose_distances(flat, self.source))
        near = np.argsort(distances, axis=1, kind="stable")[:, : self.count]
        nearest = np.take_along_axis(distances, near, axis=1)
        weights = 1.0 / np.maximum(nearest, KEY_POSE_TOLERANCE_M)
        weights /= weights.sum(axis=1, keepdims=True)
        chosen = self.target[near]  # (F, count, Dz)
        mean = np.einsum("fk,fkd->fd", weights, chosen)
        variance = np.einsum("fk,fkd->f", weights, (chosen - mean[:, None]) ** 2) / self.target.shape[1]
        return MappingResult(nearest, mean.reshape(len(flat), -1, 3), variance)


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """A linear map between the principal components of the source and those of the target."""

    means: tuple[Array, Array]  # (Dy,), (Dz,)
    axes: tuple[Array, Array]  # (d, Dy), (d, Dz) orthonormal rows
    between: Array  # (d, d) row vectors: b = a @ between
    spread: float  # square metres, of a coordinate of the target about its mean
    name: str = "PCA"

    @classmethod
    def learn(cls, pairs: PosePairs, dimension: int = 30) -> PrincipalComponents:
        """From pairs; as many components as they have where that is fewer than `dimension`."""
        Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
        (mean_y, axes_y), (mean_z, axes_z) = _components(Y, dimension), _components(Z, dimension)
        a, b = (Y - mean_y) @ axes_y.T, (Z - mean_z) @ axes_z.T
        between = np.linalg.lstsq(a, b, rcond=1e-9)[0]
        return cls((mean_y, mean_z), (axes_y, axes_z), between, float(np.var(Z - mean_z)))

    def map(self, local: Array, continuity: float = 0.0) -> MappingResult:
        """The target's markers for source points (F, P, 3) in the local frame."""
        flat = np.asarray(local, np.float64).reshape(len(local), -1)
        a = (flat - self.means[0]) @ self.axes[0].T
        points = a @ self.between @ self.axes[1] + self.means[1]
        return MappingResult(a, points.reshape(len(flat), -1, 3), np.full(len(flat), self.spread))


def _components(data: Array, most: int) -> tuple[Array, Array]:
    """Mean (D,) and the leading axes (d, D) of data (N, D), without those of zero variance."""
    mean = data.mean(axis=0)
    _, size, axes = np.linalg.svd(data - mean, full_matrices=False)
    kept = min(most, max(1, int((size > 1e-9 * max(size[0], 1e-300)).sum())))
    return mean, axes[:kept]


# How each baseline is fitted to pairs. Bone names need the skeletons and no pairs (`starting_pose`).
LEARNERS: dict[str, Learner] = {
    "PCA": PrincipalComponents.learn,
    "NN3": lambda pairs: NearestPoses.learn(pairs, 3),
    "NN10": lambda pairs: NearestPoses.learn(pairs, 10),
    "GP": GaussianProcess.learn,
}


def leave_one_out(pairs: PosePairs, learner: Learner) -> Array:
    """(N,) metres, the mean distance of the markers of each pair from the prediction of a mapping of all others."""
    if len(pairs) < 3:
        raise InvalidInput(f"leaving one out needs at least 3 pose pairs, but there are {len(pairs)}")
    return np.array(
        [
            pair_errors(learner(pairs.leave_out(i)).map(pairs.source[[i]]).points, pairs, [i])[0]
            for i in range(len(pairs))
        ]
    )


def subset_error(pairs: PosePairs, chosen: Sequence[int], learner: Learner) -> float:
    """Metres: the mean error over all pairs of a mapping fitted to the `chosen` ones."""
    mapped = learner(pairs.subset(chosen)).map(pairs.source)
    return float(pair_errors(mapped.points, pairs, range(len(pairs))).mean())


def pair_errors(points: Array, pairs: PosePairs, numbers: Sequence[int]) -> Array:
    """(n,) metres, mean distance of points (n, Q, 3) to the targets of some pairs."""
    return np.asarray(np.linalg.norm(points - pairs.target[list(numbers)], axis=-1).mean(axis=-1))
