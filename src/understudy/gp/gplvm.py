"""The Gaussian process latent variable model of one label's poses [Bailey 2016, section 4.3].

    model = GPLVM().fit(Y, segments, times)
    model.mapping_.mean(x)

MAP of latents and kernel under a dynamics prior and a connectivity prior. The paper's optimiser is scaled conjugate
gradients on the latents themselves (`method="scg"`). The default is L-BFGS on latents whitened by the dynamics prior,
with the connectivity prior, ten times the cost of the rest, switched on last, and over all frames at the very last: it
reaches what 600 iterations of the other do many times sooner (benchmarks/gplvm.py).

**Objective.** Both minimise minus the log posterior of latents and kernel [Bailey 2016, eq. 7]

    -( log p(Y|X) + psi_D(X, t) + psi_C(X) - (N / 2) (log^2 sigma_rbf^2 + log^2 l_x) )

as a function of one vector: the latents (N Q numbers) and the kernel (3). The kernel's numbers are logarithms, and the
noise has a floor built in, noise = floor + exp(.): without it the noise falls to 1e-30 and the matrix is singular, and
clamping it inside an optimiser makes the gradient wrong.

The last term is ours, a log-normal prior on the kernel's variance and length, which counts as much as one frame for
each frame. Data and latents are scaled to 1, so both belong near 1. Without it, poses that lie in as few dimensions
as the latents are fitted by a plane, which is a kernel of infinite length and variance: the matrix is singular then,
and the density that the particle feels is the same everywhere. Others end in the opposite corner, where no two poses
are alike.

**Sparse model.** For thousands of frames, the same interface over inducing points:

    model = SparseGPLVM(inducing=300).fit(Y, segments, times)

The likelihood is the bound of `likelihood.SparseLikelihood`, the dynamics prior is whole (it is a band), and the
connectivity prior is over the inducing frames alone, which are spread over all segments: its settings carry over
between sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp import training
from understudy.gp.covariance import Kernel
from understudy.gp.likelihood import Likelihood, LikelihoodGradient, SparseLikelihood
from understudy.gp.mapping import LatentMapping, latents_of
from understudy.gp.priors import ConnectivityPrior, DynamicsPrior, RandomWalk, TimeCovariance
from understudy.gp.training import Progress, TrainingStage
from understudy.maths import lbfgs, scg
from understudy.maths.jit import one_blas_thread
from understudy.schema import Estimator

METHODS = ("lbfgs", "scg")
DEFAULT_RATE_FPS = 24.0  # frames a second, where no times are given

NOISE_FLOOR = 1e-4
"""Of the data's variance: an error of 1 % of its spread is invisible, and the matrix is well conditioned."""

INITIAL_KERNEL = Kernel(variance=1.0, length=1.0, noise=0.1)
"""Kernel at the start of a fit, for data and latents that are scaled to 1."""

LINEAR_KERNEL = Kernel(variance=1.0, length=0.5, noise=1e-3)
"""Kernel over principal components (`linear_latents`): short enough to tell frames apart that lie on one another."""

OBJECTIVE_TOLERANCE_RATIO = 1e-6
"""Gain of one iteration over the objective: some hundredths of a nat, which no frame's pose depends on."""

STAGE_ITERATION_SHARES = {1: (1.0,), 2: (0.5, 0.5), 3: (0.2, 0.76, 0.04)}
"""Share of the iterations by number of stages: without connectivity, with that of some frames, with that of all."""

COARSE_FRAME_STRIDE, MAX_COARSE_FRAMES = 3, 300
"""The connectivity prior does most of its work over every third frame, and over 300 at most: its settings carry over
between sizes, neighbours in time stand for each other, and a third of the frames is a twentieth of the cost. On the
dragon's labels the whole prior ends no lower when it has the same number of iterations, in twice the time."""

MIN_COARSE_PRIOR_FRAMES = 100  # below which the whole prior costs no more than the likelihood


class GPLVM(Estimator):
    """Latents of poses, exact: time and memory grow with N^3 and N^2. Beyond a thousand frames see `SparseGPLVM`.

    After `fit`: `latents_` (N, Q), `kernel_`, `objective_` (minus the log posterior, lower is better), `mapping_`.
    """

    def __init__(
        self,
        dimensions: int = 3,
        dynamics: DynamicsPrior | None = None,
        connectivity: ConnectivityPrior | None = ConnectivityPrior(),  # noqa: B008  frozen
        iterations: int = 200,
        method: str = "lbfgs",
    ) -> None:
        self.dimensions = check_count(dimensions, "dimensions")
        self.dynamics = dynamics or DynamicsPrior()
        self.connectivity = connectivity
        self.iterations = check_count(iterations, "iterations")
        self.method = checks.one_of(method, "method", METHODS)

    def fit(
        self,
        Y: ArrayLike,
        segments: ArrayLike | None = None,
        times: ArrayLike | None = None,
        progress: Progress | None = None,
        checkpoint: FilePath | None = None,
    ) -> GPLVM:
        """Fit to poses Y (N, D), centred, of segments (N,), at times (N,) in seconds within them."""
        poses, segments, times = check_training_data(Y, segments, times)
        scale = pose_rms(poses)
        observations = poses / scale
        objectives = self.objectives(observations, segments, times)
        mark = training.fingerprint({"model": "GPLVM", **self.settings()}, poses, segments, times)
        with one_blas_thread():
            first = objectives[0].pack(initial_latents(observations, times, self.dimensions), INITIAL_KERNEL)
            optimiser, stages = scg if self.method == "scg" else lbfgs, make_stages(objectives, self.iterations)
            vector, self.objective_ = training.run_stages(optimiser, stages, first, mark, progress, checkpoint)
            latents, self.kernel_ = objectives[-1].unpack(vector)
            self.latents_ = checks.freeze(np.ascontiguousarray(latents))
            self.mapping_ = LatentMapping.from_frames(self.latents_, self.kernel_, poses, scale)
        return self

    def objectives(self, observations: Array, segments: Array, times: Array) -> list[GplvmObjective]:
        """The objectives of the stages, for normalised observations (N, D); the last is the whole of eq. 7."""
        path, shape = TimeCovariance(self.dynamics, segments, times), (len(observations), self.dimensions)
        likelihood, whitened = Likelihood(observations), self.method == "lbfgs"
        plain = GplvmObjective(likelihood, path, None, shape, whitened)
        if self.connectivity is None:
            return [plain]
        whole = GplvmObjective(likelihood, path, RandomWalk(self.connectivity, shape[0]), shape, whitened)
        if not whitened:
            return [whole]
        if shape[0] < MIN_COARSE_PRIOR_FRAMES:
            return [plain, whole]
        few = path.order[:: max(COARSE_FRAME_STRIDE, -(-shape[0] // MAX_COARSE_FRAMES))]
        return [
            plain,
            GplvmObjective(likelihood, path, RandomWalk(self.connectivity, len(few)), shape, whitened, few),
            whole,
        ]

    def transform(self, Y: ArrayLike) -> tuple[Array, Array]:
        """Latents (M, Q) of poses Y (M, D), also new ones, and their standard deviations (M, Q)."""
        return latents_of(self.mapping_, self.latents_, Y)


class SparseGPLVM(Estimator):
    """Latents of many poses; time grows with N P^2 for P = `inducing`.

    After `fit`: `latents_` (N, Q), `inducing_` (P,) the frames that carry the map, `kernel_`, `objective_`, `mapping_`.
    """

    def __init__(
        self,
        inducing: int = 300,
        dimensions: int = 3,
        dynamics: DynamicsPrior | None = None,
        connectivity: ConnectivityPrior | None = ConnectivityPrior(),  # noqa: B008  frozen
        iterations: int = 200,
    ) -> None:
        self.inducing = inducing
        self.dimensions = check_count(dimensions, "dimensions")
        self.dynamics = dynamics or DynamicsPrior()
        self.connectivity = connectivity
        self.iterations = check_count(iterations, "iterations")

    def fit(
        self,
        Y: ArrayLike,
        segments: ArrayLike | None = None,
        times: ArrayLike | None = None,
        progress: Progress | None = None,
        checkpoint: FilePath | None = None,
    ) -> SparseGPLVM:
        """Fit to poses Y (N, D), centred, of segments (N,), at times (N,) in seconds within them."""
        poses, segments, times = check_training_data(Y, segments, times)
        scale = pose_rms(poses)
        observations = poses / scale
        path = TimeCovariance(self.dynamics, segments, times)
        self.inducing_ = checks.freeze(inducing_frames(path.order, self.inducing))
        shape = (len(poses), self.dimensions)
        likelihood = SparseLikelihood(observations, self.inducing_)
        whole = plain = GplvmObjective(likelihood, path, None, shape)
        objectives = [plain]
        if self.connectivity is not None and len(self.inducing_) >= 3:
            walk = RandomWalk(self.connectivity, len(self.inducing_))
            whole = GplvmObjective(likelihood, path, walk, shape, walk_frames=self.inducing_)
            objectives = [plain, whole]
        mark = training.fingerprint({"model": "SparseGPLVM", **self.settings()}, poses, segments, times)
        with one_blas_thread():
            first = plain.pack(initial_latents(observations, times, self.dimensions), INITIAL_KERNEL)
            vector, self.objective_ = training.run_stages(
                lbfgs, make_stages(objectives, self.iterations), first, mark, progress, checkpoint
            )
            latents, self.kernel_ = whole.unpack(vector)
            self.latents_ = checks.freeze(np.ascontiguousarray(latents))
            self.mapping_ = LatentMapping.from_frames(self.latents_, self.kernel_, poses, scale, self.inducing_)
        return self

    def transform(self, Y: ArrayLike) -> tuple[Array, Array]:
        """Latents (M, Q) of poses Y (M, D), also new ones, and their standard deviations (M, Q)."""
        return latents_of(self.mapping_, self.latents_, Y)


def inducing_frames(order: Array, count: int) -> Array:
    """(P,) evenly spaced frames in order of segment and time, so that every segment has its share; all if P >= N."""
    if count < 1:
        raise InvalidInput(f"a sparse model needs at least one inducing point, but was given {count}")
    total = len(order)
    if count >= total:
        return np.arange(total)
    places = np.floor((np.arange(count) + 0.5) * total / count).astype(np.int64)
    return np.sort(order[places])


@dataclass(frozen=True, eq=False)
class GplvmObjective:
    """Likelihood and priors over (N, Q) latents; `whitened` works on Z with X = L Z, where psi_D is -|Z|^2 / 2."""

    likelihood: Callable[[Array, Kernel], LikelihoodGradient]
    path: TimeCovariance
    walk: RandomWalk | None
    shape: tuple[int, int]
    whitened: bool = True
    walk_frames: Array | None = None  # the frames of psi_C; None is all

    def __call__(self, vector: Array) -> tuple[float, Array]:
        """The value and its gradient at a vector (N Q + 3,)."""
        points, kernel = self.unpack(vector)
        slope = self.likelihood(points, kernel)
        if not np.isfinite(slope.value):
            return np.inf, np.zeros_like(vector)
        value, by_points = slope.value, slope.points
        if self.walk is not None:
            chosen = slice(None) if self.walk_frames is None else self.walk_frames
            walk_value, walk_slope = self.walk.log_density(np.ascontiguousarray(points[chosen]))
            value += walk_value
            by_points = by_points.copy()
            by_points[chosen] += walk_slope
        if self.whitened:
            white = vector[:-3].reshape(self.shape)
            value -= 0.5 * float(np.vdot(white, white)) + self._log_density_constant()
            by_points = self.path.pull_back_gradient(by_points) - white
        else:
            path_value, path_slope = self.path.log_density(points)
            value += path_value
            by_points = by_points + path_slope
        logs = np.log([kernel.variance, kernel.length])
        value -= 0.5 * self.shape[0] * float(logs @ logs)
        by_kernel = slope.kernel * [1.0, 1.0, kernel.noise - NOISE_FLOOR] - self.shape[0] * np.append(logs, 0.0)
        return -value, -np.concatenate([by_points.ravel(), by_kernel])

    def _log_density_constant(self) -> float:
        count, dimensions = self.shape
        return 0.5 * dimensions * (self.path.log_determinant + count * float(np.log(2 * np.pi)))

    def pack(self, points: Array, kernel: Kernel) -> Array:
        """The vector of latents (N, Q) and a kernel."""
        latents = self.path.whiten(points) if self.whitened else points
        return np.concatenate([latents.ravel(), parameters_of(kernel)])

    def unpack(self, vector: Array) -> tuple[Array, Kernel]:
        """The latents (N, Q) and the kernel of a vector."""
        latents = vector[:-3].reshape(self.shape)
        return self.path.unwhiten(latents) if self.whitened else latents, kernel_of(vector[-3:])


def kernel_of(parameters: Array) -> Kernel:
    """The kernel of three free parameters: log variance, log length, log (noise - floor)."""
    # Beyond these bounds a line search has overshot; the value there is bad enough to shorten the step.
    variance, length, noise = np.exp(np.clip(parameters, -30.0, 30.0))
    return Kernel(float(variance), float(length), float(NOISE_FLOOR + noise))


def parameters_of(kernel: Kernel) -> Array:
    """(3,) the free parameters of a kernel."""
    return np.log([kernel.variance, kernel.length, max(kernel.noise - NOISE_FLOOR, 1e-3 * NOISE_FLOOR)])


def check_count(value: int, name: str) -> int:
    """A count that may not be zero."""
    if value < 1:
        raise InvalidInput(f"{name} should be at least 1, but is {value}")
    return int(value)


def check_training_data(
    Y: ArrayLike, segments: ArrayLike | None, times: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """Poses (N, D), segments (N,) and times (N,) in seconds: one segment and 24 frames a second unless given."""
    poses = checks.array(Y, "Y", ("N", "D"))
    count, width = poses.shape
    if count < 3:
        raise InvalidInput(f"a latent space needs at least 3 frames, but Y has {count}")
    if width == 0:
        raise InvalidInput("Y should have at least one column, but has none: nothing moves in these frames")
    if not (poses != poses[0]).any():
        raise InvalidInput("the frames of Y are all the same: there is nothing to learn from poses that never change")
    labels = checks.array(np.zeros(count, int) if segments is None else segments, "segments", (count,), dtype=np.int64)
    seconds = checks.array(np.arange(count) / DEFAULT_RATE_FPS if times is None else times, "times", (count,))
    return poses, labels, seconds


def make_stages(objectives: Sequence[GplvmObjective], iterations: int) -> list[TrainingStage]:
    """Stages that minimise one objective after the other, with `iterations` in all; the last gets the rest."""
    counts = [int(share * iterations) for share in STAGE_ITERATION_SHARES[len(objectives)]]
    counts[-1] += iterations - sum(counts)
    return [TrainingStage(objective, count, OBJECTIVE_TOLERANCE_RATIO) for objective, count in zip(objectives, counts)]


def pose_rms(poses: Array) -> float:
    """Root mean square of poses (N, D) over all columns, by which they are normalised."""
    return float(np.sqrt(np.mean(np.square(poses))))


def initial_latents(observations: Array, times: Array, dimensions: int) -> Array:
    """(N, Q) the first principal components of the observations (N, D), the first one scaled to 1.

    The paper takes the first columns of its data, which are principal components already. Where there are fewer than Q
    the rest get a little of the time: exact zeros would be a saddle that no gradient leaves.
    """
    centred = observations - observations.mean(axis=0)
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.where(right[np.arange(len(right)), np.abs(right).argmax(axis=1)] < 0, -1.0, 1.0)
    latents = (left * (sizes * signs))[:, :dimensions]
    latents = latents / latents[:, 0].std()
    missing = dimensions - latents.shape[1]
    if missing:
        phase = (times - times.min()) / max(float(np.ptp(times)), 1e-9)
        waves = np.stack([np.sin((q + 1) * np.pi * phase) for q in range(missing)], axis=1)
        latents = np.concatenate([latents, 0.05 * waves], axis=1)
    return np.ascontiguousarray(latents)


def linear_latents(poses: Array, times: Array, dimensions: int) -> tuple[Array, LatentMapping]:
    """Latents (N, Q) of poses (N, D) by their principal components alone, and their mapping: at once, and rougher."""
    scale = pose_rms(poses)
    latents = checks.freeze(initial_latents(poses / scale, times, dimensions))
    return latents, LatentMapping.from_frames(latents, LINEAR_KERNEL, poses, scale)
