"""A GPLVM of thousands of frames: the exact model's interface, over inducing points.

    model = SparseGPLVM(inducing=300).fit(Y, segments, times)

The likelihood is the bound of `sparse_likelihood`, the dynamics prior is whole (it is a band), and the connectivity
prior is over the inducing frames alone, which are spread over all segments: its settings carry over between sizes.
"""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.estimator import Estimator
from understudy.gp import checkpoint as saved
from understudy.gp import training
from understudy.gp.connectivity import Connectivity, Walk
from understudy.gp.dynamics import Dynamics, Path
from understudy.gp.gplvm import at_least_one, checked_data, first_latents, spread, staged
from understudy.gp.objective import FIRST, Objective
from understudy.gp.posterior import latents_of
from understudy.gp.sparse_likelihood import SparseLikelihood
from understudy.gp.threads import one_thread
from understudy.gp.training import Progress
from understudy.maths import lbfgs


class SparseGPLVM(Estimator):
    """Latents of many poses; time grows with N P^2 for P = `inducing`.

    After `fit`: `latents_` (N, Q), `inducing_` (P,) the frames that carry the map, `kernel_`, `objective_`, `mapping_`.
    """

    def __init__(
        self,
        inducing: int = 300,
        dimensions: int = 3,
        dynamics: Dynamics | None = None,
        connectivity: Connectivity | None = Connectivity(),  # noqa: B008  frozen
        iterations: int = 200,
    ) -> None:
        self.inducing = inducing
        self.dimensions = at_least_one(dimensions, "dimensions")
        self.dynamics = dynamics or Dynamics()
        self.connectivity = connectivity
        self.iterations = at_least_one(iterations, "iterations")

    def fit(
        self,
        Y: ArrayLike,
        segments: ArrayLike | None = None,
        times: ArrayLike | None = None,
        progress: Progress | None = None,
        checkpoint: FilePath | None = None,
    ) -> SparseGPLVM:
        """Learn from poses Y (N, D), centred, of segments (N,), at times (N,) in seconds within them."""
        poses, segments, times = checked_data(Y, segments, times)
        scale = spread(poses)
        observations = poses / scale
        path = Path(self.dynamics, segments, times)
        self.inducing_ = checks.freeze(inducing_frames(path.order, self.inducing))
        shape = (len(poses), self.dimensions)
        likelihood = SparseLikelihood(observations, self.inducing_)
        whole = plain = Objective(likelihood, path, None, shape)
        objectives = [plain]
        if self.connectivity is not None and len(self.inducing_) >= 3:
            walk = Walk(self.connectivity, len(self.inducing_))
            whole = Objective(likelihood, path, walk, shape, walked=self.inducing_)
            objectives = [plain, whole]
        mark = saved.fingerprint({"model": "SparseGPLVM", **self.settings()}, poses, segments, times)
        with one_thread():
            first = plain.packed(first_latents(observations, times, self.dimensions), FIRST)
            vector, self.objective_ = training.run(
                lbfgs, staged(objectives, self.iterations), first, mark, progress, checkpoint
            )
            latents, self.kernel_ = whole.unpacked(vector)
            self.latents_ = checks.freeze(np.ascontiguousarray(latents))
            mapping = likelihood.mapping(self.latents_, self.kernel_, scale)
        if mapping is None:
            raise InvalidInput("the covariance of the inducing points is singular: are all frames the same?")
        self.mapping_ = mapping
        return self

    def transform(self, Y: ArrayLike) -> tuple[Array, Array]:
        """Latents (M, Q) of poses Y (M, D) that need not be of the training, and their standard deviations (M, Q)."""
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
