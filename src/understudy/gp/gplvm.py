"""The Gaussian process latent variable model of one label's poses [Bailey 2016, section 4.3].

    model = GPLVM().fit(Y, segments, times)
    model.mapping_.mean(x)

MAP of latents and kernel under a dynamics prior and a connectivity prior. The paper's optimiser is scaled conjugate
gradients on the latents themselves (`method="scg"`). The default is L-BFGS on latents whitened by the dynamics prior,
with the connectivity prior, ten times the cost of the rest, switched on last, and over all frames at the very last: it
reaches what 600 iterations of the other do many times sooner (benchmarks/gplvm.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.estimator import Estimator
from understudy.gp import checkpoint as saved
from understudy.gp import lapack, training
from understudy.gp.connectivity import Connectivity, Walk
from understudy.gp.dynamics import Dynamics, Path
from understudy.gp.kernel import Kernel
from understudy.gp.likelihood import Likelihood
from understudy.gp.mapping import Mapping
from understudy.gp.objective import FIRST, Objective
from understudy.gp.posterior import latents_of
from understudy.gp.threads import one_thread
from understudy.gp.training import Progress, Stage
from understudy.maths import lbfgs, scg

RATE = 24.0  # frames a second, where no times are given
TOLERANCE = 1e-6
"""Of the objective, in one iteration: some hundredths of a nat, which no frame's pose depends on."""
METHODS = ("lbfgs", "scg")
STAGES = {1: (1.0,), 2: (0.5, 0.5), 3: (0.2, 0.76, 0.04)}
"""How iterations are shared by so many stages: without connectivity, with that of some frames, with that of all."""
EVERY, COARSE = 3, 300
"""The connectivity prior does most of its work over every third frame, and over 300 at most: its settings carry over
between sizes, neighbours in time stand for each other, and a third of the frames is a twentieth of the cost. On the
dragon's labels the whole prior ends no lower when it has the same number of iterations, in twice the time."""
FEW = 100  # frames below which the whole prior costs no more than the likelihood does


class GPLVM(Estimator):
    """Latents of poses, exact: time and memory grow with N^3 and N^2. Beyond a thousand frames see `SparseGPLVM`.

    After `fit`: `latents_` (N, Q), `kernel_`, `objective_` (minus the log posterior, lower is better), `mapping_`.
    """

    def __init__(
        self,
        dimensions: int = 3,
        dynamics: Dynamics | None = None,
        connectivity: Connectivity | None = Connectivity(),  # noqa: B008  frozen
        iterations: int = 200,
        method: str = "lbfgs",
    ) -> None:
        self.dimensions = at_least_one(dimensions, "dimensions")
        self.dynamics = dynamics or Dynamics()
        self.connectivity = connectivity
        self.iterations = at_least_one(iterations, "iterations")
        self.method = checks.one_of(method, "method", METHODS)

    def fit(
        self,
        Y: ArrayLike,
        segments: ArrayLike | None = None,
        times: ArrayLike | None = None,
        progress: Progress | None = None,
        checkpoint: FilePath | None = None,
    ) -> GPLVM:
        """Learn from poses Y (N, D), centred, of segments (N,), at times (N,) in seconds within them."""
        poses, segments, times = checked_data(Y, segments, times)
        scale = spread(poses)
        observations = poses / scale
        objectives = self.objectives(observations, segments, times)
        mark = saved.fingerprint({"model": "GPLVM", **self.settings()}, poses, segments, times)
        with one_thread():
            first = objectives[0].packed(first_latents(observations, times, self.dimensions), FIRST)
            optimiser, stages = scg if self.method == "scg" else lbfgs, staged(objectives, self.iterations)
            vector, self.objective_ = training.run(optimiser, stages, first, mark, progress, checkpoint)
            latents, self.kernel_ = objectives[-1].unpacked(vector)
            self.latents_ = checks.freeze(np.ascontiguousarray(latents))
            self.mapping_ = exact_mapping(self.latents_, self.kernel_, poses, scale)
        return self

    def objectives(self, observations: Array, segments: Array, times: Array) -> list[Objective]:
        """What is minimised one after the other, for normalised observations (N, D); the last is eq. 7, whole."""
        path, shape = Path(self.dynamics, segments, times), (len(observations), self.dimensions)
        likelihood, whitened = Likelihood(observations), self.method == "lbfgs"
        plain = Objective(likelihood, path, None, shape, whitened)
        if self.connectivity is None:
            return [plain]
        whole = Objective(likelihood, path, Walk(self.connectivity, shape[0]), shape, whitened)
        if not whitened:
            return [whole]
        if shape[0] < FEW:
            return [plain, whole]
        few = path.order[:: max(EVERY, -(-shape[0] // COARSE))]
        return [plain, Objective(likelihood, path, Walk(self.connectivity, len(few)), shape, whitened, few), whole]

    def transform(self, Y: ArrayLike) -> tuple[Array, Array]:
        """Latents (M, Q) of poses Y (M, D) that need not be of the training, and their standard deviations (M, Q)."""
        return latents_of(self.mapping_, self.latents_, Y)


def at_least_one(value: int, name: str) -> int:
    """A count that may not be zero."""
    if value < 1:
        raise InvalidInput(f"{name} should be at least 1, but is {value}")
    return int(value)


def staged(objectives: Sequence[Objective], iterations: int) -> list[Stage]:
    """Stages that minimise one objective after the other, with so many iterations in all; the last gets the rest."""
    counts = [int(share * iterations) for share in STAGES[len(objectives)]]
    counts[-1] += iterations - sum(counts)
    return [Stage(objective, count, TOLERANCE) for objective, count in zip(objectives, counts)]


def checked_data(Y: ArrayLike, segments: ArrayLike | None, times: ArrayLike | None) -> tuple[Array, Array, Array]:
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
    seconds = checks.array(np.arange(count) / RATE if times is None else times, "times", (count,))
    return poses, labels, seconds


def spread(poses: Array) -> float:
    """The number that normalises poses (N, D): the root of their mean square over all columns."""
    return float(np.sqrt(np.mean(np.square(poses))))


def first_latents(observations: Array, times: Array, dimensions: int) -> Array:
    """(N, Q) the first principal components of the observations (N, D), the first one scaled to 1.

    The paper takes the first columns of its data, which are principal components already. Where there are fewer than Q
    the rest get a little of the time: exact zeros would be a saddle that no gradient leaves.
    """
    centred = observations - observations.mean(axis=0)
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.where(right[np.arange(len(right)), np.abs(right).argmax(axis=1)] < 0, -1.0, 1.0)
    found = (left * (sizes * signs))[:, :dimensions]
    found = found / found[:, 0].std()
    missing = dimensions - found.shape[1]
    if missing:
        phase = (times - times.min()) / max(float(np.ptp(times)), 1e-9)
        waves = np.stack([np.sin((q + 1) * np.pi * phase) for q in range(missing)], axis=1)
        found = np.concatenate([found, 0.05 * waves], axis=1)
    return np.ascontiguousarray(found)


def exact_mapping(latents: Array, kernel: Kernel, poses: Array, scale: float) -> Mapping:
    """The mapping whose points are the training frames: weights = K^-1 Y, precision = K^-1."""
    inverse = kernel.matrix(latents)
    if not lapack.cholesky_in_place(inverse):
        raise InvalidInput("the covariance of the latents is singular: are all frames the same?")
    lapack.inverse_in_place(inverse)
    precision = np.triu(inverse) + np.triu(inverse, 1).T
    return Mapping(latents, kernel, precision @ poses, precision, scale)
