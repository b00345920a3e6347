"""Covariance functions of latent points.

`Kernel` is the covariance of poses at two points of a latent space [Bailey 2016, eq. 5]:

    k(x, x') = variance * exp(-|x - x'|^2 / (2 length^2)) + noise * [x is x']

`variance` is sigma_rbf^2, `length` l_x and `noise` sigma_white^2 of the paper.

`SharedKernel` is that of the shared model, with a constant part [Yamane 2010, eq. 1]:

    k(x, x') = t1 exp(-t2/2 |x - x'|^2) + t3 + noise [x is x']

Its parameters are fitted as logarithms over a floor, theta = `MIN_KERNEL_PARAMETER` + exp(l): the prior 1/theta would
otherwise drive those that do not matter to zero, and the noise to where K cannot be inverted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.maths import jit

MIN_KERNEL_PARAMETER = 1e-4  # of t1, t2 and t3, in units of normalised data
INITIAL_KERNEL_PARAMETERS = (1.0, 0.1, 0.1, 0.01)  # t1, t2, t3, noise at the start of a fit


@dataclass(frozen=True)
class Kernel:
    """Radial basis function and white noise."""

    variance: float
    length: float
    noise: float

    def __post_init__(self) -> None:
        for name in ("variance", "length", "noise"):
            object.__setattr__(self, name, checks.positive(getattr(self, name), f"the kernel's {name}"))

    def cross_covariance(self, a: Array, b: Array) -> Array:
        """(M, P) covariance of points a (M, Q) and b (P, Q), without noise: they are not the same observations."""
        out, a, b = np.empty((len(a), len(b))), np.ascontiguousarray(a), np.ascontiguousarray(b.T)
        jit.kernels("understudy.gp.gplvm_kernels").inducing_covariance(a, b, self.variance, self.length, out)
        return out

    def matrix(self, x: Array) -> Array:
        """(N, N) covariance K_x of the observations at x (N, Q), with noise on the diagonal."""
        result = self.cross_covariance(x, x)
        result.flat[:: len(x) + 1] = self.variance + self.noise
        return result


@dataclass(frozen=True)
class SharedKernel:
    """Radial basis function, constant and white noise."""

    t1: float
    t2: float
    t3: float
    noise: float

    @classmethod
    def from_logarithms(cls, logarithms: Array, least_noise: float) -> SharedKernel:
        """The kernel of logarithms over the floor (4,)."""
        t1, t2, t3, noise = np.exp(logarithms)
        return cls(
            float(t1) + MIN_KERNEL_PARAMETER,
            float(t2) + MIN_KERNEL_PARAMETER,
            float(t3) + MIN_KERNEL_PARAMETER,
            float(noise) + least_noise,
        )

    @property
    def theta(self) -> Array:
        """(4,) t1, t2, t3, noise."""
        return np.array([self.t1, self.t2, self.t3, self.noise])

    @property
    def length(self) -> float:
        """l of exp(-d^2 / (2 l^2)), as in `Kernel`."""
        return float(self.t2**-0.5)

    def cross_covariance(self, a: Array, b: Array) -> Array:
        """(M, P) covariance of points a (M, d) and b (P, d), without noise."""
        squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
        result: Array = self.t1 * np.exp(-0.5 * self.t2 * np.maximum(squares, 0.0)) + self.t3
        return result

    def matrix(self, x: Array) -> Array:
        """(N, N) covariance of the observations at x (N, d)."""
        result = self.cross_covariance(x, x)
        result.flat[:: len(x) + 1] = self.t1 + self.t3 + self.noise
        return result


def squared_distances(a: Array, b: Array) -> Array:
    """(M, P) squared distances of points a (M, Q) and b (P, Q), never below zero.

    By differences, a coordinate at a time: |a|^2 + |b|^2 - 2 a.b would be one product, but loses the digits of
    neighbours, and the connectivity prior's |x - x'|^-4 depends on neighbours.
    """
    result = np.zeros((len(a), len(b)))
    for q in range(a.shape[1]):
        difference = np.subtract.outer(a[:, q], b[:, q])
        difference *= difference
        result += difference
    return result
