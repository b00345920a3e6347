"""What a GPLVM minimises: minus the log posterior of latents and kernel [Bailey 2016, eq. 7].

    -( log p(Y|X) + psi_D(X, t) + psi_C(X) - (N / 2) (log^2 sigma_rbf^2 + log^2 l_x) )

as a function of one vector: the latents (N Q numbers) and the kernel (3). The kernel's numbers are logarithms, and the
noise has a floor built in, noise = floor + exp(.): without it the noise falls to 1e-30 and the matrix is singular, and
cutting it off inside an optimiser makes the gradient lie.

The last term is ours, a log-normal prior on the kernel's variance and length, which counts as much as one frame for
each frame. Data and latents are scaled to 1, so both belong near 1. Without it, poses that lie in as few dimensions
as the latents are fitted by a plane, which is a kernel of infinite length and variance: the matrix is singular then,
and the density that the particle feels is the same everywhere. Others end in the opposite corner, where nothing is
alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.gp.connectivity import Walk
from understudy.gp.dynamics import Path
from understudy.gp.kernel import Kernel
from understudy.gp.likelihood import Slope

NOISE_FLOOR = 1e-4
"""Of the data's variance: an error of 1 % of its spread is below what a viewer sees, and the matrix is sound."""

FIRST = Kernel(variance=1.0, length=1.0, noise=0.1)
"""The kernel to begin with, for data and latents that are scaled to 1."""


def kernel_of(parameters: Array) -> Kernel:
    """The kernel that three free numbers stand for: log variance, log length, log (noise - floor)."""
    # Beyond these bounds a line search has overshot; the value there is as bad as is needed to send it back.
    variance, length, noise = np.exp(np.clip(parameters, -30.0, 30.0))
    return Kernel(float(variance), float(length), float(NOISE_FLOOR + noise))


def parameters_of(kernel: Kernel) -> Array:
    """(3,) the free numbers of a kernel."""
    return np.log([kernel.variance, kernel.length, max(kernel.noise - NOISE_FLOOR, 1e-3 * NOISE_FLOOR)])


@dataclass(frozen=True, eq=False)
class Objective:
    """Likelihood and priors over (N, Q) latents; `whitened` works on Z with X = L Z, where psi_D is -|Z|^2 / 2."""

    likelihood: Callable[[Array, Kernel], Slope]
    path: Path
    walk: Walk | None
    shape: tuple[int, int]
    whitened: bool = True
    walked: Array | None = None  # the frames that psi_C is about; None is all

    def __call__(self, vector: Array) -> tuple[float, Array]:
        """The value and its gradient at a vector (N Q + 3,)."""
        points, kernel = self.unpacked(vector)
        slope = self.likelihood(points, kernel)
        if not np.isfinite(slope.value):
            return np.inf, np.zeros_like(vector)
        value, by_points = slope.value, slope.points
        if self.walk is not None:
            chosen = slice(None) if self.walked is None else self.walked
            walk_value, walk_slope = self.walk.log_density(np.ascontiguousarray(points[chosen]))
            value += walk_value
            by_points = by_points.copy()
            by_points[chosen] += walk_slope
        if self.whitened:
            white = vector[:-3].reshape(self.shape)
            value -= 0.5 * float(np.vdot(white, white)) + self._whitened_constant()
            by_points = self.path.pulled_back(by_points) - white
        else:
            path_value, path_slope = self.path.log_density(points)
            value += path_value
            by_points = by_points + path_slope
        logs = np.log([kernel.variance, kernel.length])
        value -= 0.5 * self.shape[0] * float(logs @ logs)
        by_kernel = slope.kernel * [1.0, 1.0, kernel.noise - NOISE_FLOOR] - self.shape[0] * np.append(logs, 0.0)
        return -value, -np.concatenate([by_points.ravel(), by_kernel])

    def _whitened_constant(self) -> float:
        count, dimensions = self.shape
        return 0.5 * dimensions * (self.path.log_determinant + count * float(np.log(2 * np.pi)))

    def packed(self, points: Array, kernel: Kernel) -> Array:
        """The vector of latents (N, Q) and a kernel."""
        latents = self.path.whitened(points) if self.whitened else points
        return np.concatenate([latents.ravel(), parameters_of(kernel)])

    def unpacked(self, vector: Array) -> tuple[Array, Kernel]:
        """The latents (N, Q) and the kernel of a vector."""
        latents = vector[:-3].reshape(self.shape)
        return self.path.coloured(latents) if self.whitened else latents, kernel_of(vector[-3:])
