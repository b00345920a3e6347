"""The covariance of the shared model, with a constant part [Yamane 2010, eq. 1].

    k(x, x') = t1 exp(-t2/2 |x - x'|^2) + t3 + noise [x is x']

The parameters are learned by logarithms over a floor, theta = LEAST + exp(l): the prior 1/theta would otherwise drive
those that do not matter to nothing, and the noise to where K cannot be inverted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array

LEAST = 1e-4  # of t1, t2 and t3, in units of normalised data
FIRST = (1.0, 0.1, 0.1, 0.01)  # where learning begins: t1, t2, t3, noise


@dataclass(frozen=True)
class SharedKernel:
    """Radial basis function, constant and white noise."""

    t1: float
    t2: float
    t3: float
    noise: float

    @classmethod
    def of(cls, logarithms: Array, least_noise: float) -> SharedKernel:
        """The kernel of (log over the floor) (4,)."""
        t1, t2, t3, noise = np.exp(logarithms)
        return cls(float(t1) + LEAST, float(t2) + LEAST, float(t3) + LEAST, float(noise) + least_noise)

    @property
    def theta(self) -> Array:
        """(4,) t1, t2, t3, noise."""
        return np.array([self.t1, self.t2, self.t3, self.noise])

    @property
    def length(self) -> float:
        """l of exp(-d^2 / (2 l^2)), as in `gp.kernel`."""
        return float(self.t2**-0.5)

    def between(self, a: Array, b: Array) -> Array:
        """(M, P) covariance of points a (M, d) and b (P, d), without noise."""
        squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
        result: Array = self.t1 * np.exp(-0.5 * self.t2 * np.maximum(squares, 0.0)) + self.t3
        return result

    def matrix(self, x: Array) -> Array:
        """(N, N) covariance of the observations at x (N, d)."""
        result = self.between(x, x)
        result.flat[:: len(x) + 1] = self.t1 + self.t3 + self.noise
        return result
