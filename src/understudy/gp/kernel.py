"""The covariance of poses at two points of a latent space [Bailey 2016, eq. 5].

    k(x, x') = variance * exp(-|x - x'|^2 / (2 length^2)) + noise * [x is x']

`variance` is sigma_rbf^2, `length` l_x and `noise` sigma_white^2 of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.maths import accelerate

WORTH_COMPILING = 50_000
"""Below this many entries NumPy takes half a millisecond, and importing numba would take a thousand times that; above
it the compiled loop is four times as fast."""


@dataclass(frozen=True)
class Kernel:
    """Radial basis function and white noise."""

    variance: float
    length: float
    noise: float

    def __post_init__(self) -> None:
        for name in ("variance", "length", "noise"):
            object.__setattr__(self, name, checks.positive(getattr(self, name), f"the kernel's {name}"))

    def between(self, a: Array, b: Array) -> Array:
        """(M, P) covariance of points a (M, Q) and b (P, Q), without noise: they are not the same observations."""
        large = len(a) * len(b) >= WORTH_COMPILING
        kernels = accelerate.kernels("understudy.gp.sparse_kernels") if large else None
        if kernels is None:
            return self.between_numpy(a, b)
        out = np.empty((len(a), len(b)))
        kernels.covariance(np.ascontiguousarray(a), np.ascontiguousarray(b.T), self.variance, self.length, out)
        return out

    def between_numpy(self, a: Array, b: Array) -> Array:
        """The same in NumPy."""
        result = squared_distances(a, b)
        result *= -0.5 / self.length**2
        np.exp(result, out=result)
        result *= self.variance
        return result

    def matrix(self, x: Array) -> Array:
        """(N, N) covariance K_x of the observations at x (N, Q), with noise on the diagonal."""
        result = self.between(x, x)
        result.flat[:: len(x) + 1] = self.variance + self.noise
        return result


def squared_distances(a: Array, b: Array) -> Array:
    """(M, P) squared distances of points a (M, Q) and b (P, Q), never below zero.

    By differences, a coordinate at a time: |a|^2 + |b|^2 - 2 a.b would be one product, but loses the digits of
    neighbours, and neighbours are what the connectivity prior's |x - x'|^-4 is about.
    """
    result = np.zeros((len(a), len(b)))
    for q in range(a.shape[1]):
        difference = np.subtract.outer(a[:, q], b[:, q])
        difference *= difference
        result += difference
    return result
