"""The connectivity prior: similar frames of separate segments are pulled together [Levine 2012; Bailey 2016, 4.3].

A random walk over all frames, with steps the likelier the closer two are, and the density of getting from any frame to
any other in a given time. With w_ij = |x_i - x_j|^-p, w_ii = 0, its row sums d and A = d^-1/2 w d^-1/2,

    H = A - 1,   K = exp(beta H) = U exp(beta lambda) U^T,   psi_C = weight * sum_ij ln K_ij

`weight` is for 500 frames and scaled by 500^2 / N^2, `beta` for 400 frames and scaled by N / 400, so that settings
carry over between sizes. The gradient goes through the eigenvectors by divided differences: with G = dpsi/dK and
B = U^T G U,  dpsi/dA = U (B * (e_i - e_j) / (lambda_i - lambda_j)) U^T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.gp.kernel import squared_distances
from understudy.maths import accelerate

LOWEST = 1e-16
"""Entries of K below this are rounding of the eigenvectors (1e-16 times the largest, about 1): they count as this."""

NEAREST = 1e-12
"""Squared distances below this count as this. Latent spaces are about 1 wide: a millionth of that is the same pose."""

SERIES = 1e-4
"""Eigenvalues closer than this over beta take the series: its error is x^3 / 24 = 4e-14, the quotient has eps / x."""


@dataclass(frozen=True)
class Connectivity:
    """The prior's settings. `weight` is how much it counts beside the likelihood, `power` is p."""

    weight: float = 0.002
    beta: float = 10.0
    power: float = 4.0

    def __post_init__(self) -> None:
        for name in ("weight", "beta", "power"):
            checks.positive(getattr(self, name), f"the connectivity's {name}")

    def scaled(self, count: int) -> tuple[float, float]:
        """(weight, beta) for that many frames."""
        return self.weight * 500.0**2 / count**2, self.beta * count / 400.0


class Walk:
    """Evaluates the prior for so many frames again and again in the same memory: one thread at a time."""

    def __init__(self, connectivity: Connectivity, count: int) -> None:
        self._settings = connectivity
        self._weight, self._beta = connectivity.scaled(count)
        self._kernels = accelerate.kernels("understudy.gp.connectivity_kernels")
        self._affinities, self._steps = np.empty((count, count)), np.empty((count, count))
        self._diffusion, self._product, self._scratch = (np.empty((count, count)) for _ in range(3))
        self._root = np.empty(count)

    def log_density(self, points: Array) -> tuple[float, Array]:
        """psi_C and its gradient (N, Q) at points (N, Q)."""
        if self._kernels is None:
            return log_density_numpy(self._settings, points)
        power = float(self._settings.power)
        transposed = np.ascontiguousarray(points.T)
        self._kernels.affinities(transposed, power, NEAREST, self._affinities, self._steps, self._root)
        values, vectors = np.linalg.eigh(self._steps)  # which, unlike scipy's, lets other threads run
        grown = np.exp(self._beta * (values - 1.0))
        np.multiply(vectors, grown, out=self._scratch)
        diffusion = np.matmul(self._scratch, vectors.T, out=self._diffusion)
        value = self._weight * self._kernels.logarithms(diffusion, LOWEST)
        np.matmul(diffusion, vectors, out=self._scratch)
        product = np.matmul(vectors.T, self._scratch, out=self._product)
        self._kernels.divided_differences(product, values, grown, self._beta, SERIES)
        np.matmul(vectors, product, out=self._scratch)
        slope = np.matmul(self._scratch, vectors.T, out=self._product)
        out = np.empty_like(transposed)
        self._kernels.gradient(slope, self._steps, self._affinities, self._root, transposed, power, NEAREST, out)
        return value, self._weight * out.T


def log_density_numpy(connectivity: Connectivity, points: Array) -> tuple[float, Array]:
    """The same by the formulas, for the tests and where there is no numba."""
    count, p = len(points), connectivity.power
    weight, beta = connectivity.scaled(count)
    square = np.maximum(squared_distances(points, points), NEAREST)
    w = square ** (-0.5 * p)
    np.fill_diagonal(w, 0.0)
    root = 1.0 / np.sqrt(w.sum(axis=1))
    steps = w * np.outer(root, root)
    values, vectors = np.linalg.eigh(steps)
    grown = np.exp(beta * (values - 1.0))
    diffusion = (vectors * grown) @ vectors.T
    clamped = diffusion <= LOWEST
    diffusion[clamped] = LOWEST
    by_diffusion = np.where(clamped, 0.0, 1.0 / diffusion)
    gap = np.subtract.outer(values, values)
    close = np.abs(beta * gap) <= SERIES
    x = beta * gap
    quotient = np.subtract.outer(grown, grown) / np.where(close, 1.0, gap)
    quotient = np.where(close, beta * grown[None, :] * (1.0 + x * (0.5 + x / 6.0)), quotient)
    slope = vectors @ ((vectors.T @ by_diffusion @ vectors) * quotient) @ vectors.T
    share = (slope * steps).sum(axis=1) * root**2
    by_square = (np.outer(root, root) * slope - 0.5 * np.add.outer(share, share)) * (-0.5 * p * w / square)
    by_square[square <= NEAREST] = 0.0
    np.fill_diagonal(by_square, 0.0)
    gradient = 4.0 * (by_square.sum(axis=1)[:, None] * points - by_square @ points)
    return weight * float(np.log(diffusion).sum()), weight * gradient
