"""The mapping from a latent space to poses, its variance, and its inverse.

**Mean and variance** at a latent point [Bailey 2016, eq. 8]:

    mean(x) = k(x)^T weights,   sigma^2(x) = k(x, x) - k(x)^T precision k(x)

with k(x)_p the covariance of x and the p-th of the points. In the exact model the points are the training frames,
weights = K^-1 Y and precision = K^-1 (print loses the inverse); in the sparse one they are the inducing points, and
the two matrices summarise the frames. Both cost time linear in P for a mean. Both matrices follow from frames, latents
and kernel, in a tenth of a second for 600 frames: they are computed when first needed, and no file holds them.

**Search** for the latent point of a pose, argmin_x |y - mean(x)|^2 [Bailey 2016, eq. 15]. The function has several
minima, hence several starts a pose. All poses and starts step together, by Gauss-Newton with Levenberg's damping:
(J^T J + mu 1) s = J^T r. A step is accepted if it lessens the distance (mu falls) and tried again with a larger mu if
not. Steps are at most half a length of the kernel: further away the linear model is not valid, and a point that leaves
the data finds mean(x) = 0, which is flat, and never comes back.

**Posterior** of the latents of new poses. The point is that of eq. 15, from the nearest training frames. Around it the
posterior is about Gaussian (Laplace's approximation, with Gauss and Newton's Hessian):

    covariance = ( J^T J / s^2 + 1 / spread^2 )^-1,   s^2 = max( scale^2 sigma^2(x), |y - mean(x)|^2 / D )

with J the Jacobian of the mean, sigma^2 the model's own variance there, and spread^2 the mean square of the latents,
the prior without a pose. Where the residual of the pose is larger than the model's variance, the pose is unlike any of
the training, and s^2 reflects it.
"""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.covariance import Kernel, squared_distances
from understudy.gp.likelihood import SparseLikelihood
from understudy.maths import jit, solvers
from understudy.maths.jit import one_blas_thread

KERNELS = "understudy.gp.gplvm_kernels"
POSES_PER_BLOCK = 1024  # 40 MB of distances to 5,000 frames
POINTS_PER_BLOCK = 4096  # 20 MB for 600 points of training data
MAX_SEARCH_STEPS = 60
MAX_STEP_LENGTHS = 0.5  # of the kernel's length

STARTS_PER_POSE = 4
"""Training frames to search from: nearest poses may lie on two sides of a fold of the latent space, rarely on three."""

SCOUT_STEPS = 4
"""Steps after which only the better half of a pose's starts goes on: minima can be compared by then."""

MIN_STEP_LENGTHS = 1e-6
"""A step shorter than this, in lengths of the kernel, ends the search: a thousandth of a frame's own distance."""


class LatentMapping:
    """The mapping of one pose space.

    points (P, Q); kernel, in units of the normalised data; weights (P, D), in the data's own units, so that
    `mean = k @ weights`; precision (P, P), normalised; scale, the standard deviation of the data by which it was
    normalised: sigma in the data's units is `scale * sqrt(variance)`. `from_frames` computes weights and precision.
    """

    def __init__(self, points: Array, kernel: Kernel, weights: Array, precision: Array, scale: float) -> None:
        self.points, self.kernel = checks.array(points, "points", ("P", "Q")), kernel
        self.scale = checks.positive(scale, "scale")
        weights = checks.array(weights, "weights", (len(self.points), "D"))
        precision = checks.array(precision, "precision", (len(self.points), len(self.points)))
        self._frames: TrainingFrames | None = None
        self._matrices = (weights, precision)  # in the place of the computed ones

    @classmethod
    def from_frames(
        cls, latents: Array, kernel: Kernel, poses: Array, scale: float, inducing: Array | None = None
    ) -> LatentMapping:
        """The mapping of training frames: latents (N, Q), poses (N, D), and in the sparse model `inducing` (P,)."""
        frames = TrainingFrames(latents, poses, inducing)
        mapping = cls.__new__(cls)
        mapping.points = checks.array(latents if inducing is None else latents[inducing], "points", ("P", "Q"))
        mapping.kernel, mapping.scale, mapping._frames = kernel, checks.positive(scale, "scale"), frames
        return mapping

    @cached_property
    def _matrices(self) -> tuple[Array, Array]:
        """Weights and precision. Threads that ask at once compute them twice, and equally."""
        assert self._frames is not None
        with one_blas_thread():  # another number of threads would round differently
            weights, precision = self._frames.solve(self.kernel, self.scale)
        return checks.freeze(weights), checks.freeze(precision)

    @property
    def weights(self) -> Array:
        """(P, D) in the data's own units."""
        return self._matrices[0]

    @property
    def precision(self) -> Array:
        """(P, P) normalised."""
        return self._matrices[1]

    @cached_property
    def _moments(self) -> Array:
        """(P, D (1 + Q)) weights, and weights times each coordinate of their points, for mean and slope at once."""
        points, weights = self.points, self.weights
        every = [weights, *(points[:, q : q + 1] * weights for q in range(points.shape[1]))]
        return checks.freeze(np.concatenate(every, axis=1))

    @property
    def dimensions(self) -> int:
        """Q, of the latent space."""
        return int(self.points.shape[1])

    @property
    def outputs(self) -> int:
        """D, of the poses."""
        return int(self.weights.shape[1])

    def mean(self, x: Array) -> Array:
        """(M, D) the likeliest poses at x (M, Q). The pose of a point does not depend on the others."""
        x = checks.array(x, "x", ("M", self.dimensions), finite=False)
        out = np.empty((len(x), self.outputs))
        points, weights = self._kernel_arrays
        jit.kernels(KERNELS).latent_means(x, points, self.kernel.variance, self.kernel.length, weights, out)
        return out

    @cached_property
    def _kernel_arrays(self) -> tuple[Array, Array]:
        """For the kernels: points (Q, P), and weights (D', P) with rows of zeros up to a multiple of four."""
        weights = np.pad(self.weights.T, ((0, -self.outputs % 4), (0, 0)))
        return checks.freeze(np.ascontiguousarray(self.points.T)), checks.freeze(np.ascontiguousarray(weights))

    def mean_and_jacobian(self, x: Array) -> tuple[Array, Array]:
        """(M, D) and (M, D, Q) at x (M, Q).  d mean / dx_q = sum_p k_p (p_q - x_q) w_p / l^2."""
        both = (self.kernel.cross_covariance(x, self.points) @ self._moments).reshape(
            len(x), 1 + self.dimensions, self.outputs
        )
        mean = both[:, 0]
        jacobian = (both[:, 1:] - x[:, :, None] * mean[:, None, :]) / self.kernel.length**2
        return mean, np.swapaxes(jacobian, 1, 2)

    def variance(self, x: Array) -> Array:
        """(M,) sigma^2 at x (M, Q), in normalised units: from the noise, among the training data, to noise + variance.

        The difference in eq. 8 cancels among the data, to zero or below: it is clamped at the noise.
        """
        k = self.kernel.cross_covariance(x, self.points)
        return self._variance(k, k @ self.precision)

    def _variance(self, k: Array, solved: Array) -> Array:
        explained = np.einsum("mp,mp->m", k, solved)
        return np.maximum(self.kernel.variance + self.kernel.noise - explained, self.kernel.noise)

    def log_density(self, x: Array) -> Array:
        """(M,) log p(x|M) = -(D/2) log sigma^2(x): the log density of the likeliest pose, but for a constant.

        Bailey's eqs. 11 and 12 use p(x|M) without defining it; this is the definition here.
        """
        return -0.5 * self.outputs * np.log(self.variance(x))

    def log_density_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """(M,) and (M, Q) at x (M, Q).  d sigma^2 / dx_q = -2 sum_p k_p (p_q - x_q) (P k)_p / l^2; 0 where clamped."""
        k = self.kernel.cross_covariance(x, self.points)
        solved = k @ self.precision
        variance = self._variance(k, solved)
        solved *= k
        pull = (solved @ self.points - solved.sum(axis=1)[:, None] * x) / self.kernel.length**2
        pull[variance <= self.kernel.noise] = 0.0
        return -0.5 * self.outputs * np.log(variance), self.outputs * pull / variance[:, None]

    def find(self, Y: Array, starts: Array) -> tuple[Array, Array]:
        """The latent points whose mean is nearest to poses Y (M, D) [Bailey 2016, eq. 15].

        starts (M, S, Q) are tried for each pose. Returns (M, Q) and the squared distance (M,) that remains, in the
        data's units.
        """
        return nearest_points(self, Y, starts)

    def arrays(self) -> dict[str, Array]:
        """What a file needs besides the training frames: the kernel, and all matrices where these do not follow."""
        kernel = np.array([self.kernel.variance, self.kernel.length, self.kernel.noise, self.scale])
        if self._frames is None:
            return {"points": self.points, "weights": self.weights, "precision": self.precision, "kernel": kernel}
        inducing = self._frames.inducing
        return {"kernel": kernel} if inducing is None else {"kernel": kernel, "inducing": inducing}

    @classmethod
    def from_arrays(cls, arrays: Dictionary[str, Any], latents: Array, poses: Array) -> LatentMapping:
        """The mapping of arrays made by `arrays`, and of the training frames; `InvalidInput` where one is unfit.

        Files of version 0.1 hold all matrices, which are then used as they are.
        """
        stored = [name for name in ("points", "weights", "precision") if name in arrays]
        needed = ("kernel", "points", "weights", "precision") if stored else ("kernel",)
        missing = [name for name in needed if name not in arrays]
        if missing:
            raise InvalidInput(
                f"a mapping should have {missing[0]!r}, but has {', '.join(map(repr, arrays)) or 'nothing'}"
            )
        variance, length, noise, scale = checks.array(arrays["kernel"], "kernel", (4,))
        kernel = Kernel(float(variance), float(length), float(noise))
        if stored:
            return cls(arrays["points"], kernel, arrays["weights"], arrays["precision"], float(scale))
        inducing = arrays.get("inducing")
        if inducing is not None:
            inducing = checks.array(inducing, "inducing", ("P",), np.int64)
            checks.indices(inducing, "inducing", len(latents))
        return cls.from_frames(latents, kernel, poses, float(scale), inducing)


class TrainingFrames(NamedTuple):
    """The frames that a mapping follows from."""

    latents: Array  # (N, Q)
    poses: Array  # (N, D), in the data's units
    inducing: Array | None  # (P,) the frames that carry the sparse model; None: the exact one

    def solve(self, kernel: Kernel, scale: float) -> tuple[Array, Array]:
        """Weights (P, D) and precision (P, P); `InvalidInput` where the covariance has no inverse."""
        if self.inducing is not None:
            solution = SparseLikelihood(self.poses / scale, self.inducing).solve(self.latents, kernel, scale)
            if solution is None:
                raise InvalidInput("the covariance of the inducing points is singular: are all frames the same?")
            return solution
        inverse = kernel.matrix(self.latents)
        if not solvers.cholesky_in_place(inverse):
            raise InvalidInput("the covariance of the latents is singular: are all frames the same?")
        solvers.inverse_in_place(inverse)
        precision = np.triu(inverse) + np.triu(inverse, 1).T
        return precision @ self.poses, precision


def nearest_points(mapping: LatentMapping, poses: Array, starts: Array) -> tuple[Array, Array]:
    """(M, Q) and the squared distances (M,) for poses (M, D) and starts (M, S, Q)."""
    poses = checks.array(poses, "poses", ("M", mapping.outputs))
    starts = checks.array(starts, "starts", (len(poses), "S", mapping.dimensions))
    count, tried, dimensions = starts.shape
    if tried == 0:
        raise InvalidInput("a search needs at least one start for each pose, but was given none")
    if count == 0:
        return np.zeros((0, dimensions)), np.zeros(0)
    points = starts.reshape(-1, dimensions)
    owner = np.repeat(np.arange(count), tried)
    damping = np.full(len(points), 1e-3)
    with one_blas_thread():
        while True:
            steps = SCOUT_STEPS if tried > 1 else MAX_SEARCH_STEPS
            points, errors, damping = _descend(mapping, poses, points, owner, damping, steps)
            if tried == 1:
                return points, errors
            tried = (tried + 1) // 2  # the better half of each pose's starts goes on
            ranked = np.argsort(errors.reshape(count, -1), axis=1, kind="stable")[:, :tried]
            kept = (ranked + np.arange(count)[:, None] * (len(points) // count)).ravel()
            points, damping, owner = points[kept], damping[kept], np.repeat(np.arange(count), tried)


def _descend(
    mapping: LatentMapping, poses: Array, points: Array, owner: Array, damping: Array, steps: int
) -> tuple[Array, Array, Array]:
    """Points (B, Q), their squared distances (B,) and damping (B,) after at most `steps`, a block at a time."""
    blocks = [slice(i, i + POINTS_PER_BLOCK) for i in range(0, len(points), POINTS_PER_BLOCK)]
    done = [_descend_block(mapping, poses[owner[b]], points[b].copy(), damping[b].copy(), steps) for b in blocks]
    joined = [np.concatenate(part) for part in zip(*done)]
    return joined[0], joined[1], joined[2]


def _descend_block(mapping: LatentMapping, y: Array, x: Array, mu: Array, steps: int) -> tuple[Array, Array, Array]:
    identity = np.eye(x.shape[1])
    longest = MAX_STEP_LENGTHS * mapping.kernel.length
    mean, jacobian = mapping.mean_and_jacobian(x)
    residual = y - mean
    error = np.einsum("md,md->m", residual, residual)
    active = np.arange(len(x))
    for _ in range(steps):
        r, j, e, m = residual[active], jacobian[active], error[active], mu[active]
        normal = np.einsum("mdq,mdp->mqp", j, j)
        size = np.trace(normal, axis1=1, axis2=2) + 1e-300
        right = np.einsum("mdq,md->mq", j, r)[..., None]
        step = np.linalg.solve(normal + (m * size)[:, None, None] * identity, right)[..., 0]
        length = np.sqrt(np.einsum("mq,mq->m", step, step))
        step *= np.minimum(1.0, longest / np.maximum(length, 1e-300))[:, None]
        trial = x[active] + step
        mean, slope = mapping.mean_and_jacobian(trial)
        left = y[active] - mean
        tried = np.einsum("md,md->m", left, left)
        better = tried < e
        chosen = active[better]
        x[chosen], error[chosen] = trial[better], tried[better]
        residual[chosen], jacobian[chosen] = left[better], slope[better]
        mu[active] = np.where(better, np.maximum(m * 0.2, 1e-12), m * 8.0)
        # a tiny step, accepted or not, ends the search
        active = active[(length > MIN_STEP_LENGTHS * mapping.kernel.length) & (mu[active] < 1e8)]
        if not len(active):
            break
    return x, error, mu


def latents_of(mapping: LatentMapping, latents: Array, Y: ArrayLike) -> tuple[Array, Array]:
    """(M, Q) latents of poses Y (M, D) and their standard deviations (M, Q), given the training latents (N, Q)."""
    poses = checks.array(Y, "Y", ("M", mapping.outputs))
    known = mapping.mean(latents)
    starts = np.empty((len(poses), min(STARTS_PER_POSE, len(latents)), mapping.dimensions))
    for first in range(0, len(poses), POSES_PER_BLOCK):
        block = slice(first, first + POSES_PER_BLOCK)
        distance = squared_distances(poses[block], known)
        starts[block] = latents[np.argsort(distance, axis=1, kind="stable")[:, : starts.shape[1]]]
    points, error = mapping.find(poses, starts)
    jacobian = mapping.mean_and_jacobian(points)[1]
    s = np.maximum(mapping.scale**2 * mapping.variance(points), error / mapping.outputs)
    precision = np.einsum("mdq,mdp->mqp", jacobian, jacobian) / s[:, None, None]
    precision += np.eye(mapping.dimensions) / np.mean(np.square(latents))
    deviation = np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))
    return points, deviation
