"""Shared GPLVM: two pose spaces over one latent space, learned from pairs [Yamane 2010, section 4.2; Ek 2007].

Learning maximises, over the latent points X (N, d) of the pairs and the parameters of two kernels,

    P(Y|X, Phi_Y) P(Z|X, Phi_Z) P(X) P(Phi_Y) P(Phi_Z),     P(X) = N(0, 1),     P(theta) = 1 / theta        (eq. 2)

from what kernel CCA finds common to both. Mapping takes a new y to the latent point that explains it best
(`shared_search`), and from there to

    z = mean_Z + Z^T K_Z^-1 k(x),      s^2 = k(x, x) - k(x)^T K_Z^-1 k(x)                             (eqs. 3, 4)

Both spaces are centred, and scaled by one number each, so that a marker's coordinates keep their proportions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.estimator import Estimator
from understudy.gp import shared_search
from understudy.gp.kernel_cca import kernel_cca
from understudy.gp.shared_kernel import FIRST, SharedKernel
from understudy.gp.shared_likelihood import View
from understudy.gp.shared_search import Observed
from understudy.gp.threads import one_thread
from understudy.maths import lbfgs

AUTO = "auto"
LEAST_NOISE = 1e-3  # of the variance of the data: a tenth of its spread is a thirtieth of a pose's size
BACK_NOISE = 1e-2
SWEEPS = 3  # over the even frames, then the odd ones; a frame's neighbours are felt six frames away
TOLERANCE = 1e-9
FARTHEST = 30.0  # of a logarithm: beyond, exp would overflow


@dataclass(frozen=True, eq=False)
class Normalised:
    """Data less its mean, over one scale."""

    mean: Array  # (D,)
    scale: float
    data: Array  # (N, D)

    @classmethod
    def of(cls, data: Array) -> Normalised:
        """Of data (N, D); what does not vary at all counts in its own unit."""
        mean = data.mean(axis=0)
        scale = float((data - mean).std()) or 1.0
        return cls(mean, scale, (data - mean) / scale)


class SharedGplvm(Estimator):
    """Learns from pairs y_i (Dy,), z_i (Dz,), and maps new y to z by the latent point that explains y best.

    `dimension` of the latent space, or "auto"; `noise` is the least share of white noise in both spaces. After `fit`:
    `latents_` (N, d), `kernels_` (of Y, of Z), `objective_` (minus the log posterior), `correlations_`, `dimension_`,
    `curve_` (of the choice of the dimension, None where it was given).
    """

    def __init__(
        self, dimension: int | str = 30, iterations: int = 70, seed: int = 0, noise: float = LEAST_NOISE
    ) -> None:
        if isinstance(dimension, str):
            checks.one_of(dimension, "dimension (or a number)", (AUTO,))
        elif dimension < 1:
            raise InvalidInput(f"dimension should be 1 or more, but is {dimension}")
        self.dimension, self.iterations, self.seed = dimension, iterations, seed
        self.noise = checks.positive(noise, "noise")

    def fit(self, Y: ArrayLike, Z: ArrayLike) -> SharedGplvm:
        """Learn from pairs Y (N, Dy) and Z (N, Dz)."""
        Y = checks.array(Y, "Y", ("N", "Dy"))
        Z = checks.array(Z, "Z", (len(Y), "Dz"))
        if len(Y) < 2:
            raise InvalidInput(f"a shared model should be learned from at least two pairs, but there are {len(Y)}")
        self.curve_ = None
        if isinstance(self.dimension, str):
            from understudy.gp.dimension import chosen

            self.dimension_, self.curve_ = chosen(Y, Z, self.iterations, self.seed, self.noise)
        else:
            self.dimension_ = self.dimension
        with one_thread():
            self._learn(Y, Z)
        return self

    def _learn(self, Y: Array, Z: Array) -> None:
        self.spaces_ = Normalised.of(Y), Normalised.of(Z)
        views = [View(space.data) for space in self.spaces_]
        first, self.correlations_ = kernel_cca(self.spaces_[0].data, self.spaces_[1].data, self.dimension_)
        objective = Objective(views, first.shape, self.noise)
        state = lbfgs.minimise(objective, objective.packed(first), self.iterations, TOLERANCE)
        latents, kernels = objective.unpacked(state.x)
        self.latents_, self.kernels_ = checks.freeze(np.ascontiguousarray(latents)), kernels
        self.objective_ = float(state.value)
        of_y, of_z = (whitener(kernel.matrix(self.latents_)) for kernel in kernels)
        weights = np.ascontiguousarray(of_y.T @ (of_y @ views[0].columns))
        self._observed = Observed(self.latents_, kernels[0], of_y, weights, views[0].outputs)
        self._basis, self._columns = views[0].basis, np.ascontiguousarray(views[0].columns)
        self._whitener, self._weights = of_z, of_z.T @ (of_z @ self.spaces_[1].data)
        squares = squares_between(self._columns, self._columns)
        self._width = float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
        near = np.exp(-0.5 * squares / self._width) + BACK_NOISE * np.eye(len(squares))
        self._back = np.linalg.solve(near, self.latents_)

    def map(
        self, Y: ArrayLike, continuity: float = 0.0, start: Array | None = None, before: Array | None = None
    ) -> Array:
        """(M, d) the latent points of new Y (M, Dy), frames of one motion in their order.

        With `continuity` c the squared steps of the latent point from frame to frame cost c/2 each; `before` (d,) is
        that of the frame before the first, for a motion that arrives bit by bit. The search begins at the nearest pair
        or at the regression from Y to the latents, whichever explains the frame better, or at `start` (M, d).
        """
        space = self.spaces_[0]
        y = checks.array(Y, "Y", ("M", len(space.mean)))
        y = (y - space.mean) / space.scale
        inside = y @ self._basis
        rest = np.maximum((y**2).sum(axis=1) - (inside**2).sum(axis=1), 0.0)
        observed = self._observed
        with one_thread():
            x = self._starts(inside, rest) if start is None else np.array(start, np.float64)
            if before is not None:
                pull, centres = continuity, np.broadcast_to(before, x.shape)
                return shared_search.descend(observed, inside, rest, x, pull, centres)[0]
            x, _ = shared_search.descend(observed, inside, rest, x)
            for _ in range(SWEEPS if continuity > 0 and len(x) > 1 else 0):
                for some in (np.arange(0, len(x), 2), np.arange(1, len(x), 2)):
                    x[some] = self._smoothed(inside, rest, x, some, continuity)
        return x

    def _smoothed(self, inside: Array, rest: Array, x: Array, some: Array, continuity: float) -> Array:
        """Points of `some` frames, every other one, each pulled to its neighbours (at the ends, the only one)."""
        left, right = np.where(some > 0, some - 1, some + 1), np.where(some < len(x) - 1, some + 1, some - 1)
        centres, pull = 0.5 * (x[left] + x[right]), 2.0 * continuity
        return shared_search.descend(self._observed, inside[some], rest[some], x[some], pull, centres)[0]

    def _starts(self, inside: Array, rest: Array) -> Array:
        """(M, d) of the nearest pair or of the regression, whichever explains the frame better."""
        squares = squares_between(inside, self._columns)
        nearest = self.latents_[squares.argmin(axis=1)]
        regressed = np.exp(-0.5 * squares / self._width) @ self._back
        values = [shared_search.value_and_slope(self._observed, inside, rest, x)[0] for x in (nearest, regressed)]
        return np.where((values[0] < values[1])[:, None], nearest, regressed)

    def predict(self, latent: ArrayLike) -> tuple[Array, Array]:
        """Mean (M, Dz), and variance (M,) of one coordinate, at latent points (M, d), in the units of Z."""
        x = checks.array(latent, "latent", ("M", self.dimension_))
        kernel, space = self.kernels_[1], self.spaces_[1]
        k = kernel.between(x, self.latents_)
        mean = k @ self._weights * space.scale + space.mean
        variance = kernel.t1 + kernel.t3 + kernel.noise - ((k @ self._whitener.T) ** 2).sum(axis=1)
        return mean, np.maximum(variance, kernel.noise) * space.scale**2


class Objective:
    """Minus the logarithm of eq. 2, of a vector of X and the logarithms of both kernels' parameters."""

    def __init__(self, views: list[View], shape: tuple[int, int], noise: float) -> None:
        self.views, self.shape, self.noise = views, shape, noise
        self.size = shape[0] * shape[1]

    def packed(self, latents: Array) -> Array:
        """The vector of latents (N, d) and the first kernels."""
        return np.concatenate([latents.ravel(), np.log(FIRST), np.log(FIRST)])

    def unpacked(self, vector: Array) -> tuple[Array, tuple[SharedKernel, SharedKernel]]:
        """Latents (N, d) and kernels of a vector."""
        of_y, of_z = (SharedKernel.of(vector[self.size + 4 * i :][:4], self.noise) for i in range(2))
        return vector[: self.size].reshape(self.shape), (of_y, of_z)

    def __call__(self, vector: Array) -> tuple[float, Array]:
        """Value and slope."""
        logs = vector[self.size :]
        if np.abs(logs).max() > FARTHEST:
            return np.inf, np.zeros_like(vector)
        points, kernels = self.unpacked(vector)
        value, slope = 0.5 * float((points**2).sum()), vector.copy()
        by_points = slope[: self.size].reshape(self.shape)
        for i, (view, kernel) in enumerate(zip(self.views, kernels)):
            found, pull, by_kernel = view.evaluate(points, kernel)
            theta, free = kernel.theta, np.exp(logs[4 * i : 4 * i + 4])
            value += found + float(np.log(theta).sum())
            by_points += pull
            by_theta = by_kernel / np.array([theta[0], theta[1], 1.0, 1.0])
            slope[self.size + 4 * i :][:4] = (by_theta + 1.0 / theta) * free
        return value, slope


def whitener(matrix: Array) -> Array:
    """L^-1 (N, N) of a matrix L L^T."""
    from scipy.linalg import solve_triangular

    factor = np.linalg.cholesky(matrix)
    result: Array = np.ascontiguousarray(solve_triangular(factor, np.eye(len(matrix)), lower=True))
    return result


def squares_between(a: Array, b: Array) -> Array:
    """(M, N) squared distances of rows a (M, D) and b (N, D), by one product."""
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    result: Array = np.maximum(squares, 0.0)
    return result
