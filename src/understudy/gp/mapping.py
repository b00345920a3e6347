"""From a point of the latent space to a pose, and how sure the model is of it [Bailey 2016, eq. 8].

    mean(x) = k(x)^T weights,   sigma^2(x) = k(x, x) - k(x)^T precision k(x)

with k(x)_p the covariance of x and the p-th of the points. In the exact model the points are the training frames,
weights = K^-1 Y and precision = K^-1 (print loses the inverse); in the sparse one they are the inducing points, and
the two matrices are what remains of the frames. Both cost time linear in P for a mean.
"""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.kernel import Kernel
from understudy.maths import accelerate

KERNELS = "understudy.gp.mapping_kernels"


@dataclass(frozen=True, eq=False)
class Mapping:
    """The learnt map of one pose space.

    points (P, Q); kernel, in units of the normalised data; weights (P, D), in the data's own units, so that
    `mean = k @ weights`; precision (P, P), normalised; scale, the standard deviation of the data by which it was
    normalised: sigma in the data's units is `scale * sqrt(variance)`.
    """

    points: Array
    kernel: Kernel
    weights: Array
    precision: Array
    scale: float
    _moments: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        points = checks.array(self.points, "points", ("P", "Q"))
        weights = checks.array(self.weights, "weights", (len(points), "D"))
        precision = checks.array(self.precision, "precision", (len(points), len(points)))
        # weights, and weights times each coordinate of their points, side by side (P, D (1 + Q)): one product gives
        # mean and Jacobian.
        moments = np.concatenate([weights, *(points[:, q : q + 1] * weights for q in range(points.shape[1]))], axis=1)
        for name, value in (("points", points), ("weights", weights), ("precision", precision)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "scale", checks.positive(self.scale, "scale"))
        object.__setattr__(self, "_moments", checks.freeze(moments))

    @property
    def dimensions(self) -> int:
        """Q, of the latent space."""
        return int(self.points.shape[1])

    @property
    def outputs(self) -> int:
        """D, of the poses."""
        return int(self.weights.shape[1])

    def mean(self, x: Array) -> Array:
        """(M, D) the likeliest poses at x (M, Q). That of one point does not depend on the others."""
        kernels = accelerate.kernels(KERNELS)
        if kernels is None:
            return np.asarray(self.kernel.between(x, self.points) @ self.weights)
        x = checks.array(x, "x", ("M", self.dimensions), finite=False)
        out = np.empty((len(x), self.outputs))
        kernels.means(x, self._transposed[0], self.kernel.variance, self.kernel.length, self._transposed[1], out)
        return out

    @cached_property
    def _transposed(self) -> tuple[Array, Array]:
        """As the kernels read them: points (Q, P), and weights (D', P) with rows of zeros up to a multiple of four."""
        weights = np.pad(self.weights.T, ((0, -self.outputs % 4), (0, 0)))
        return checks.freeze(np.ascontiguousarray(self.points.T)), checks.freeze(np.ascontiguousarray(weights))

    def mean_and_jacobian(self, x: Array) -> tuple[Array, Array]:
        """(M, D) and (M, D, Q) at x (M, Q).  d mean / dx_q = sum_p k_p (p_q - x_q) w_p / l^2."""
        both = (self.kernel.between(x, self.points) @ self._moments).reshape(len(x), 1 + self.dimensions, self.outputs)
        mean = both[:, 0]
        jacobian = (both[:, 1:] - x[:, :, None] * mean[:, None, :]) / self.kernel.length**2
        return mean, np.swapaxes(jacobian, 1, 2)

    def variance(self, x: Array) -> Array:
        """(M,) sigma^2 at x (M, Q), in normalised units: from the noise, among the training data, to noise + variance.

        The difference in eq. 8 cancels among the data, to zero or below: it is clamped at the noise.
        """
        k = self.kernel.between(x, self.points)
        return self._variance(k, k @ self.precision)

    def _variance(self, k: Array, solved: Array) -> Array:
        explained = np.einsum("mp,mp->m", k, solved)
        return np.maximum(self.kernel.variance + self.kernel.noise - explained, self.kernel.noise)

    def log_density(self, x: Array) -> Array:
        """(M,) log p(x|M) = -(D/2) log sigma^2(x): the log density of the likeliest pose, but for a constant.

        Bailey's eqs. 11 and 12 use p(x|M) without defining it; this is it here.
        """
        return -0.5 * self.outputs * np.log(self.variance(x))

    def log_density_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """(M,) and (M, Q) at x (M, Q).  d sigma^2 / dx_q = -2 sum_p k_p (p_q - x_q) (P k)_p / l^2; 0 where clamped."""
        k = self.kernel.between(x, self.points)
        solved = k @ self.precision
        variance = self._variance(k, solved)
        solved *= k
        pull = (solved @ self.points - solved.sum(axis=1)[:, None] * x) / self.kernel.length**2
        pull[variance <= self.kernel.noise] = 0.0
        return -0.5 * self.outputs * np.log(variance), self.outputs * pull / variance[:, None]

    def find(self, Y: Array, starts: Array) -> tuple[Array, Array]:
        """The latent points whose mean is nearest to poses Y (M, D) [Bailey 2016, eq. 15].

        starts (M, S, Q) are tried for each pose. Returns (M, Q) and the squared distance (M,) that remains, in the
        data's units. See `search`.
        """
        from understudy.gp.search import nearest_points

        return nearest_points(self, Y, starts)

    def arrays(self) -> dict[str, Array]:
        """Everything as arrays, for files."""
        kernel = np.array([self.kernel.variance, self.kernel.length, self.kernel.noise, self.scale])
        return {"points": self.points, "weights": self.weights, "precision": self.precision, "kernel": kernel}

    @classmethod
    def from_arrays(cls, arrays: Dictionary[str, Any]) -> Mapping:
        """The mapping that `arrays` describes, refused if it is not one."""
        missing = [name for name in ("points", "weights", "precision", "kernel") if name not in arrays]
        if missing:
            raise InvalidInput(
                f"a mapping should have {missing[0]!r}, but has {', '.join(map(repr, arrays)) or 'nothing'}"
            )
        variance, length, noise, scale = checks.array(arrays["kernel"], "kernel", (4,))
        kernel = Kernel(float(variance), float(length), float(noise))
        return cls(arrays["points"], kernel, arrays["weights"], arrays["precision"], float(scale))
