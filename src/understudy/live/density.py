"""How likely a point of the latent space is, in the form that the particle needs half a dozen times a frame.

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
from understudy.gp import Mapping
from understudy.gp.kernel import squared_distances

# Points are chosen until the variance that they leave unexplained at any training point is this part of the noise. The
# likelihood force is then off by 0.2 % of its height (root mean square; 3 % at worst), on the dragon's spaces. A tenth
# of it costs up to a quarter more points; ten times it makes the error 2 % (40 % at worst).
UNEXPLAINED = 1e-2
WORTH = 0.9  # of the points; with more than these left, the exact form costs as little
ENOUGH = 250  # training points from which quantiles are taken: they are then known to 3 % of the points
# Of the kernel's height: points more than 5.3 lengths away are not asked, a third to three quarters of the dragon's.
# It changes log s there by 1e-4 at most; 1e-5 would save little more and change it a hundred times as much.
SILENT = 1e-6
LANES = 4  # the kernels take points by fours; the places that are left over, at least one, have a precision of zero


@dataclass(frozen=True, eq=False)
class Density:
    """p(x|M) with its gradient. `points` (P, Q) and `precision` (P, P) end in spare places, with a precision of zero,
    up to a multiple of `LANES`."""

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
        k, b, s = self._variance(x)
        k *= b
        ds = -2 / self.length**2 * (k @ self.points - k.sum(axis=1)[:, None] * x)
        half = 0.5 * self.dimensions
        return -half * np.log(s), -half * ds / s[:, None]

    def log_density(self, x: Array) -> Array:
        """p(x|M) (M,) at x (M, Q)."""
        return -0.5 * self.dimensions * np.log(self._variance(x)[2])

    def _variance(self, x: Array) -> tuple[Array, Array, Array]:
        """k and P k (M, P), and s (M,)."""
        k = self.variance * np.exp(-0.5 / self.length**2 * squared_distances(x, self.points))
        k[k <= SILENT * self.variance] = 0.0
        b = k @ self.precision
        return k, b, np.maximum(self.top - np.einsum("mp,mp->m", k, b), self.floor)


def prepared(mapping: Mapping) -> Density:
    """The density of a mapping's model, over as few points as give the same."""
    from scipy.linalg import solve_triangular

    points, kernel = mapping.points, mapping.kernel
    order, factor = pivoted(kernel.between(points, points), UNEXPLAINED * kernel.noise)
    m = factor.shape[1]
    if m > WORTH * len(points):
        return over(mapping, points, mapping.precision)
    # With the chosen points first, T = (I, A)^T and T^T P T = P_mm + A P_nm + (A P_nm)^T + A P_nn A^T.
    a = solve_triangular(factor[:m], factor[m:].T, trans="T", lower=True)  # (m, N - m)
    p = mapping.precision[np.ix_(order, order)]
    across = a @ p[m:, :m]
    cheap = over(mapping, points[order[:m]], p[:m, :m] + across + across.T + a @ p[m:, m:] @ a.T)
    probes = around(some(points), 0.5 * kernel.length, 1)
    difference = np.abs(cheap.log_density(probes) - mapping.log_density(probes)).max() / (0.5 * mapping.outputs)
    return replace(cheap, error=float(difference))


def over(mapping: Mapping, points: Array, precision: Array, error: float = 0.0) -> Density:
    """The density of a mapping's model over points (P, Q) with their precision (P, P)."""
    kernel = mapping.kernel
    spare = LANES - len(points) % LANES
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


def pivoted(covariance: Array, unexplained: float) -> tuple[Array, Array]:
    """An order (N,) of points, and the first m columns (N, m) of the Cholesky factor of their covariance (N, N) in it.

    Each point in turn is the one that those before it say least about; after m, none has more than `unexplained` of its
    variance left.
    """
    from scipy.linalg.lapack import dpstrf

    factor, order, m, _ = dpstrf(covariance, lower=1, tol=unexplained)
    return order.astype(np.int64) - 1, np.tril(factor)[:, :m]


def some(points: Array) -> Array:
    """Not more than `ENOUGH` of points (N, Q), evenly spread over their order."""
    return points[:: -(-len(points) // ENOUGH)]


def around(points: Array, distance: float, copies: int) -> Array:
    """(copies N, Q) points at `distance` from the given ones (N, Q), in directions that are always the same."""
    rng = np.random.default_rng(20)
    direction = rng.normal(size=(copies, *points.shape))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    return (points + distance * direction).reshape(-1, points.shape[1])
