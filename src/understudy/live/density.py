"""How likely a point of the latent space is, in the form that the particle needs a dozen times a frame.

    p(x|M) = -(D / 2) log s(x),    s(x) = max(top - k(x)^T P k(x), floor),    k_i(x) = sigma^2 exp(-|x - x_i|^2 / 2 l^2)

The paper leaves p(x|M) undefined [Bailey 2016, eqs. 11 and 12]; this is the logarithm of the model's predictive
density at its own mean, up to a constant. A smooth kernel over many neighbouring frames says the same thing many times:
k at all N points is very nearly a linear function T of k at a few of them, chosen by a pivoted Cholesky factorisation,
and then

    k^T P k = k_m^T (T^T P T) k_m        with  T = K_Nm K_mm^-1,  m of the order of 100 for N = 400.

Both the exponentials and the product shrink, ten times and more. The choice stops when what no chosen point explains is
a small fraction of the noise, `error` says how much log s(x) was then seen to change, and a kernel too rough for this
keeps all its points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy.checks import Array, freeze
from understudy.gp import Kernel, Mapping

# Points are chosen until the variance that they leave unexplained at any training point is this part of the noise. The
# likelihood force is then off by 0.2 % of its height (root mean square; 3 % at worst), on the dragon's spaces. A tenth
# of it costs up to a quarter more points; ten times it makes the error 2 % (40 % at worst).
UNEXPLAINED = 1e-2
WORTH = 0.9  # of the points; with more than these left, the exact form costs as little
LANES = 4  # the kernels take points by fours; the places that are left over have a precision of zero


@dataclass(frozen=True, eq=False)
class Density:
    """p(x|M) with its gradient. `points` (P, Q) and `precision` (P, P) are padded to a multiple of `LANES`."""

    points: Array
    precision: Array
    variance: float
    length: float
    top: float
    floor: float
    dimensions: int
    error: float

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """As the kernels read it: points (Q, P), precision (P, P), and (5,) top, floor, 1 / l^2, D / 2, variance."""
        numbers = np.array([self.top, self.floor, 1 / self.length**2, 0.5 * self.dimensions, self.variance])
        return freeze(np.ascontiguousarray(self.points.T)), self.precision, freeze(numbers)

    def log_density_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """p(x|M) (M,) and its gradient (M, Q) at x (M, Q).

        The gradient is that of top - k^T P k also where s(x) is held at its floor: it points the right way there too.
        """
        away = self.points[None] - x[:, None]
        k = self.variance * np.exp(-0.5 / self.length**2 * np.einsum("mpq,mpq->mp", away, away))
        b = k @ self.precision
        s = np.maximum(self.top - np.einsum("mp,mp->m", k, b), self.floor)
        ds = -2 / self.length**2 * np.einsum("mp,mpq->mq", k * b, away)
        half = 0.5 * self.dimensions
        return -half * np.log(s), -half * ds / s[:, None]

    def log_density(self, x: Array) -> Array:
        """p(x|M) (M,) at x (M, Q)."""
        return self.log_density_and_gradient(x)[0]


def prepared(mapping: Mapping) -> Density:
    """The density of a mapping's model, over as few points as give the same."""
    points, precision, kernel = mapping.points, mapping.precision, mapping.kernel
    exact = over(mapping, points, precision)
    chosen = pivots(points, kernel, UNEXPLAINED * kernel.noise)
    if len(chosen) > WORTH * len(points):
        return exact
    few = points[chosen]
    rounding = 1e-12 * kernel.variance * np.eye(len(few))  # far below what is unexplained
    covariance = kernel.between(few, few) + rounding
    t = np.linalg.solve(covariance, kernel.between(few, points))  # (m, N)
    cheap = over(mapping, few, t @ precision @ t.T)
    probes = around(points, 0.5 * kernel.length, 1)
    difference = np.abs(cheap.log_density(probes) - exact.log_density(probes)).max() / (0.5 * exact.dimensions)
    return replace(cheap, error=float(difference))


def over(mapping: Mapping, points: Array, precision: Array, error: float = 0.0) -> Density:
    """The density of a mapping's model over points (P, Q) with their precision (P, P)."""
    kernel = mapping.kernel
    spare = -len(points) % LANES
    return Density(
        freeze(np.pad(np.asarray(points, np.float64), ((0, spare), (0, 0)))),
        freeze(np.pad(np.asarray(precision + precision.T) / 2, ((0, spare), (0, spare)))),
        float(kernel.variance),
        float(kernel.length),
        float(kernel.variance + kernel.noise),
        float(kernel.noise),
        mapping.outputs,
        error,
    )


def pivots(points: Array, kernel: Kernel, unexplained: float) -> Array:
    """Indices of points, out of (N, Q), that leave no more than `unexplained` of the variance of any other.

    Pivoted Cholesky factorisation of the kernel matrix: each step takes the point that the ones before it say least
    about.
    """
    left = np.full(len(points), kernel.variance)
    factor = np.zeros((len(points), len(points)), order="F")
    chosen: list[int] = []
    for column in range(len(points)):
        j = int(left.argmax())
        if left[j] <= unexplained:
            break
        k = kernel.between(points, points[j : j + 1])[:, 0] - factor[:, :column] @ factor[j, :column]
        factor[:, column] = k / np.sqrt(left[j])
        left = np.maximum(left - factor[:, column] ** 2, 0)
        left[j] = 0
        chosen.append(j)
    return np.array(chosen, dtype=np.int64)


def around(points: Array, distance: float, copies: int) -> Array:
    """(copies N, Q) points at `distance` from the given ones (N, Q), in directions that are always the same."""
    rng = np.random.default_rng(20)
    direction = rng.normal(size=(copies, *points.shape))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    return (points + distance * direction).reshape(-1, points.shape[1])
