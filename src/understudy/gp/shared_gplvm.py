"""Shared GPLVM: two pose spaces over one latent space, fitted to pairs [Yamane 2010, section 4.2; Ek 2007].

The fit maximises, over the latent points X (N, d) of the pairs and the parameters of two kernels,

    P(Y|X, Phi_Y) P(Z|X, Phi_Z) P(X) P(Phi_Y) P(Phi_Z),     P(X) = N(0, 1),     P(theta) = 1 / theta        (eq. 2)

starting from kernel CCA. Mapping takes a new y to the latent point that explains it best (`descend`), and from
there to

    z = mean_Z + Z^T K_Z^-1 k(x),      s^2 = k(x, x) - k(x)^T K_Z^-1 k(x)                             (eqs. 3, 4)

Both spaces are centred, and scaled by one number each, so that a marker's coordinates keep their proportions.

**Likelihood** of one of the two pose spaces over the shared latent points, and its slope [section 4.2.1]:

    -log P(Y|X) = (D/2) log|K| + (1/2) tr(K^-1 Y Y^T) + (N D / 2) log 2 pi,      dF/dK = (D K^-1 - K^-1 Y Y^T K^-1) / 2

Y enters by Y Y^T only. Poses have hundreds of coordinates and there are some tens of pairs, so Y is turned once into N
columns with the same products: nothing after that depends on D.

**Kernel CCA** [Akaho 2001] gives the first latent points: what the two pose spaces have in common. With centred kernel
matrices A and B of the two spaces, of mean diagonal 1, canonical directions are sought among the functions that each
kernel can express, smoothed by kappa:

    S_A = A (A + kappa)^-1,   S_A^1/2 S_B^1/2 = U r V^T,   latents = (S_A^1/2 U + S_B^1/2 V) / 2

with r the canonical correlations. The directions come out equally long, which would put all pairs equally far from each
other; each is scaled by the share of the two spaces' variance that it explains, so that far poses stay far.

**Dimension** of the latent space [section 6.2]. The paper looks at the error of the pairs themselves, which stops
falling at 15, and at how jerky the latent path of a motion is, which takes 30. Both are here; the choice is by a third,
the error of pairs that were left out of the fit, a fifth of them at a time: it also rises again where a model has more
room than the pairs can fill.

**Search** of the latent points of new observations, all frames at once [eq. 5]:

    minimise  (1/2) |mean(x) - y|^2 / s^2(x) + (D/2) log s^2(x) + |x|^2 / 2 + (pull/2) |x - centre|^2

over x for every y: the likelihood of y, the unit Gaussian prior (without it neighbouring frames were a thousand units
apart), and a pull towards the neighbours in time. Each frame has its own L-BFGS [Nocedal & Wright 2006, algorithm
7.4], of a few short vectors that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.covariance import INITIAL_KERNEL_PARAMETERS, SharedKernel, squared_distances
from understudy.maths import jit, lbfgs, solvers
from understudy.maths.jit import one_blas_thread
from understudy.schema import Estimator

KERNELS = "understudy.gp.gplvm_kernels"
AUTO = "auto"  # the dimension that asks for `choose_dimension`
MIN_NOISE_VARIANCE_RATIO = 1e-3  # of the variance of the data: a tenth of its spread is a thirtieth of a pose's size
BACK_MAP_NOISE_RATIO = 1e-2  # of the regression from Y to the latents
CONTINUITY_SWEEPS = 3  # over the even frames, then the odd ones; a frame acts on frames up to six away
OBJECTIVE_TOLERANCE_RATIO = 1e-9  # gain of an iteration over the objective
MAX_LOG_PARAMETER = 30.0  # beyond, exp would overflow
RIDGE_DIAGONAL_RATIO = 0.1  # kappa, over the mean diagonal; from 0.01 to 1 the fitted models are alike
CANDIDATE_DIMENSIONS = (2, 3, 5, 8, 12, 15, 20, 30)
CROSS_VALIDATION_FOLDS = 5
MAX_ERROR_RATIO = 1.02  # over the least error: the fewest dimensions within it are taken
SEARCH_KERNELS = "understudy.gp.shared_kernels"
MAX_ITERATIONS = 80
MAX_LINE_SEARCH_TRIALS = 14  # the last step is 1e-6 of the first
MIN_GAIN_NATS = 1e-4  # the search ends after two iterations in a row that gain less; 1e-3 nats are no evidence yet


class SharedGPLVM(Estimator):
    """Fitted to pairs y_i (Dy,), z_i (Dz,); maps new y to z by the latent point that explains y best.

    `dimension` of the latent space, or "auto"; `noise` is the least share of white noise in both spaces. After `fit`:
    `latents_` (N, d), `kernels_` (of Y, of Z), `objective_` (minus the log posterior), `correlations_`, `dimension_`,
    `curve_` (of the choice of the dimension, None where it was given).
    """

    def __init__(
        self, dimension: int | str = 30, iterations: int = 70, seed: int = 0, noise: float = MIN_NOISE_VARIANCE_RATIO
    ) -> None:
        if isinstance(dimension, str):
            checks.one_of(dimension, "dimension (or a number)", (AUTO,))
        elif dimension < 1:
            raise InvalidInput(f"dimension should be 1 or more, but is {dimension}")
        self.dimension, self.iterations, self.seed = dimension, iterations, seed
        self.noise = checks.positive(noise, "noise")

    def fit(self, Y: ArrayLike, Z: ArrayLike) -> SharedGPLVM:
        """Fit to pairs Y (N, Dy) and Z (N, Dz)."""
        Y = checks.array(Y, "Y", ("N", "Dy"))
        Z = checks.array(Z, "Z", (len(Y), "Dz"))
        if len(Y) < 2:
            raise InvalidInput(f"a shared model should be learned from at least two pairs, but there are {len(Y)}")
        self.curve_ = None
        if isinstance(self.dimension, str):
            self.dimension_, self.curve_ = choose_dimension(Y, Z, self.iterations, self.seed, self.noise)
        else:
            self.dimension_ = self.dimension
        with one_blas_thread():
            self._fit(Y, Z)
        return self

    def _fit(self, Y: Array, Z: Array) -> None:
        self.spaces_ = Standardiser.from_data(Y), Standardiser.from_data(Z)
        views = [PoseView(space.data) for space in self.spaces_]
        first, self.correlations_ = kernel_cca(self.spaces_[0].data, self.spaces_[1].data, self.dimension_)
        objective = SharedObjective(views, first.shape, self.noise)
        state = lbfgs.minimise(objective, objective.pack(first), self.iterations, OBJECTIVE_TOLERANCE_RATIO)
        latents, kernels = objective.unpack(state.x)
        self.objective_ = float(state.value)
        self._prepare(views[0], latents, kernels)

    def _prepare(self, view: PoseView, latents: Array, kernels: tuple[SharedKernel, SharedKernel]) -> None:
        """All that mapping needs, from latent points (N, d) and the kernels of both spaces."""
        self.latents_, self.kernels_ = checks.freeze(np.ascontiguousarray(latents)), kernels
        of_y, of_z = (whitener(kernel.matrix(self.latents_)) for kernel in kernels)
        weights = np.ascontiguousarray(of_y.T @ (of_y @ view.columns))
        self._observed = ObservedPoses(self.latents_, kernels[0], of_y, weights, view.outputs)
        self._basis, self._columns = view.basis, np.ascontiguousarray(view.columns)
        self._whitener, self._weights = of_z, of_z.T @ (of_z @ self.spaces_[1].data)
        squares = squared_row_distances(self._columns, self._columns)
        self._width = float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
        near = np.exp(-0.5 * squares / self._width) + BACK_MAP_NOISE_RATIO * np.eye(len(squares))
        self._back = np.linalg.solve(near, self.latents_)

    def arrays(self) -> dict[str, Array]:
        """What `from_arrays` needs besides the pairs."""
        kernels = np.stack([kernel.theta for kernel in self.kernels_])
        objective = np.array([self.objective_])
        return {
            "latents": self.latents_,
            "kernels": kernels,
            "correlations": self.correlations_,
            "objective": objective,
        }

    @classmethod
    def from_arrays(cls, Y: ArrayLike, Z: ArrayLike, arrays: Mapping[str, Array], **settings: Any) -> SharedGPLVM:
        """The model that was learned from pairs Y (N, Dy) and Z (N, Dz), without learning it again."""
        model = cls(**settings)
        Y = checks.array(Y, "Y", ("N", "Dy"))
        Z = checks.array(Z, "Z", (len(Y), "Dz"))
        latents = checks.array(arrays["latents"], "latents", (len(Y), "d"))
        kernels = checks.array(arrays["kernels"], "kernels", (2, 4))
        if kernels.min() <= 0:
            raise InvalidInput(f"parameters of kernels should be positive, but the smallest is {kernels.min():g}")
        model.spaces_ = Standardiser.from_data(Y), Standardiser.from_data(Z)
        model.dimension_, model.curve_ = latents.shape[1], None
        model.correlations_ = checks.array(arrays["correlations"], "correlations", ("r",))
        model.objective_ = float(checks.array(arrays["objective"], "objective", (1,))[0])
        of_y, of_z = (SharedKernel(*map(float, theta)) for theta in kernels)
        with one_blas_thread():
            model._prepare(PoseView(model.spaces_[0].data), latents, (of_y, of_z))
        return model

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
        with one_blas_thread():
            x = self._starts(inside, rest) if start is None else np.array(start, np.float64)
            if before is not None:
                pull, centres = continuity, np.broadcast_to(before, x.shape)
                return descend(observed, inside, rest, x, pull, centres)[0]
            x, _ = descend(observed, inside, rest, x)
            for _ in range(CONTINUITY_SWEEPS if continuity > 0 and len(x) > 1 else 0):
                for frames in (np.arange(0, len(x), 2), np.arange(1, len(x), 2)):
                    x[frames] = self._smooth_latents(inside, rest, x, frames, continuity)
        return x

    def _smooth_latents(self, inside: Array, rest: Array, x: Array, frames: Array, continuity: float) -> Array:
        """Points of every other frame, each pulled to its neighbours (at the ends, the only one)."""
        left = np.where(frames > 0, frames - 1, frames + 1)
        right = np.where(frames < len(x) - 1, frames + 1, frames - 1)
        centres, pull = 0.5 * (x[left] + x[right]), 2.0 * continuity
        return descend(self._observed, inside[frames], rest[frames], x[frames], pull, centres)[0]

    def _starts(self, inside: Array, rest: Array) -> Array:
        """(M, d) of the nearest pair or of the regression, whichever explains the frame better."""
        squares = squared_row_distances(inside, self._columns)
        nearest = self.latents_[squares.argmin(axis=1)]
        regressed = np.exp(-0.5 * squares / self._width) @ self._back
        values = [value_and_gradient(self._observed, inside, rest, x)[0] for x in (nearest, regressed)]
        return np.where((values[0] < values[1])[:, None], nearest, regressed)

    def predict(self, latent: ArrayLike) -> tuple[Array, Array]:
        """Mean (M, Dz), and variance (M,) of one coordinate, at latent points (M, d), in the units of Z."""
        x = checks.array(latent, "latent", ("M", self.dimension_))
        kernel, space = self.kernels_[1], self.spaces_[1]
        k = kernel.cross_covariance(x, self.latents_)
        mean = k @ self._weights * space.scale + space.mean
        variance = kernel.t1 + kernel.t3 + kernel.noise - ((k @ self._whitener.T) ** 2).sum(axis=1)
        return mean, np.maximum(variance, kernel.noise) * space.scale**2


@dataclass(frozen=True, eq=False)
class Standardiser:
    """Data less its mean, over one scale."""

    mean: Array  # (D,)
    scale: float
    data: Array  # (N, D)

    @classmethod
    def from_data(cls, data: Array) -> Standardiser:
        """Standardised data (N, D); data that does not vary keeps its unit."""
        mean = data.mean(axis=0)
        scale = float((data - mean).std()) or 1.0
        return cls(mean, scale, (data - mean) / scale)


class SharedObjective:
    """Minus the logarithm of eq. 2, of a vector of X and the logarithms of both kernels' parameters."""

    def __init__(self, views: list[PoseView], shape: tuple[int, int], noise: float) -> None:
        self.views, self.shape, self.noise = views, shape, noise
        self.size = shape[0] * shape[1]

    def pack(self, latents: Array) -> Array:
        """The vector of latents (N, d) and the first kernels."""
        return np.concatenate([latents.ravel(), np.log(INITIAL_KERNEL_PARAMETERS), np.log(INITIAL_KERNEL_PARAMETERS)])

    def unpack(self, vector: Array) -> tuple[Array, tuple[SharedKernel, SharedKernel]]:
        """Latents (N, d) and kernels of a vector."""
        of_y, of_z = (SharedKernel.from_logarithms(vector[self.size + 4 * i :][:4], self.noise) for i in range(2))
        return vector[: self.size].reshape(self.shape), (of_y, of_z)

    def __call__(self, vector: Array) -> tuple[float, Array]:
        """Value and gradient."""
        logs = vector[self.size :]
        if np.abs(logs).max() > MAX_LOG_PARAMETER:
            return np.inf, np.zeros_like(vector)
        points, kernels = self.unpack(vector)
        value, slope = 0.5 * float((points**2).sum()), vector.copy()
        by_points = slope[: self.size].reshape(self.shape)
        for i, (view, kernel) in enumerate(zip(self.views, kernels)):
            likelihood, pull, by_kernel = view.evaluate(points, kernel)
            theta, free = kernel.theta, np.exp(logs[4 * i : 4 * i + 4])
            value += likelihood + float(np.log(theta).sum())
            by_points += pull
            by_theta = by_kernel / np.array([theta[0], theta[1], 1.0, 1.0])
            slope[self.size + 4 * i :][:4] = (by_theta + 1.0 / theta) * free
        return value, slope


class PoseView:
    """Normalised observations (N, D) of one space, and their likelihood. Buffers are shared: one thread at a time."""

    def __init__(self, data: Array) -> None:
        self.count, self.outputs = data.shape
        basis, upper = np.linalg.qr(data.T)
        self.basis: Array = basis  # (D, r): data = columns @ basis.T
        self.columns: Array = np.asfortranarray(upper.T)  # (N, r)
        self._rbf, self._matrix = np.zeros((self.count, self.count)), np.zeros((self.count, self.count))
        self._constant = 0.5 * self.count * self.outputs * np.log(2 * np.pi)

    def evaluate(self, points: Array, kernel: SharedKernel) -> tuple[float, Array, Array]:
        """-log P at points (N, d), its gradient by the points (N, d), and by log t1, log t2, t3 and noise (4,)."""
        kernels = jit.kernels(KERNELS)
        from scipy.linalg import blas

        transposed = np.ascontiguousarray(points.T)
        kernels.rbf_covariance(transposed, kernel.t1, kernel.length, kernel.noise, self._rbf, self._matrix)
        self._matrix += kernel.t3
        if not solvers.cholesky_in_place(self._matrix):
            return np.inf, np.zeros_like(points), np.zeros(4)
        half_log_determinant = kernels.log_diagonal(self._matrix)
        solvers.inverse_in_place(self._matrix)
        inverse = self._matrix.T  # in Fortran's order: BLAS works in place, on its lower triangle
        a = blas.dsymm(1.0, inverse, self.columns, lower=1)
        value = self.outputs * half_log_determinant + 0.5 * np.vdot(a, self.columns) + self._constant
        weight = blas.dsyrk(-0.5, a, beta=0.5 * self.outputs, c=inverse, lower=1, overwrite_c=1)
        by_constant = 2.0 * np.tril(weight).sum() - np.trace(weight)
        out = np.empty_like(transposed)
        by_variance, by_length, by_noise = kernels.likelihood_gradient(
            weight.T, self._rbf, transposed, kernel.length, out
        )
        return float(value), out.T, np.array([by_variance, -0.5 * by_length, by_constant, by_noise])


def whitener(matrix: Array) -> Array:
    """L^-1 (N, N) of a matrix L L^T."""
    from scipy.linalg import solve_triangular

    factor = np.linalg.cholesky(matrix)
    result: Array = np.ascontiguousarray(solve_triangular(factor, np.eye(len(matrix)), lower=True))
    return result


def squared_row_distances(a: Array, b: Array) -> Array:
    """(M, N) squared distances of rows a (M, D) and b (N, D), by one product."""
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    result: Array = np.maximum(squares, 0.0)
    return result


def kernel_cca(Y: Array, Z: Array, dimension: int) -> tuple[Array, Array]:
    """Latents (N, dimension) of centred pairs Y (N, Dy) and Z (N, Dz), and the canonical correlations (q,).

    There are at most q = N - 1 directions; further dimensions are zero. The first is of unit variance, about.
    """
    count = len(Y)
    a, b = _smoothing_root(Y), _smoothing_root(Z)
    u, correlations, vt = np.linalg.svd(a.T @ b)
    q = min(dimension, count - 1)
    both = 0.5 * (a @ u + b @ vt.T)[:, :q]
    directions = both / np.maximum(np.linalg.norm(both, axis=0), 1e-12)
    directions *= np.where((directions**3).sum(axis=0) < 0, -1.0, 1.0)  # fixes the free sign of an eigenvector
    explained = sum((((data.T @ directions) ** 2).sum(axis=0) / max((data**2).sum(), 1e-300)) for data in (Y, Z))
    share = np.sqrt(explained / max(float(np.max(explained, initial=0.0)), 1e-300))
    latents = np.zeros((count, dimension))
    latents[:, :q] = directions * share * np.sqrt(count)
    return latents, correlations[:q]


def _smoothing_root(data: Array) -> Array:
    """A square root (N, N) of S = K (K + kappa)^-1, K the centred radial kernel of the data."""
    squares = squared_distances(data, data)
    between = squares[squares > 0]
    width = float(np.median(between)) if between.size else 1.0
    kernel = np.exp(-0.5 * squares / width)
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1, keepdims=True)
    kernel /= max(float(np.trace(kernel)) / len(data), 1e-12)
    values, vectors = np.linalg.eigh(kernel)
    values = np.maximum(values, 0.0)
    root: Array = vectors * np.sqrt(values / (values + RIDGE_DIAGONAL_RATIO))
    return root


@dataclass(frozen=True)
class DimensionTrial:
    """One candidate dimension: root mean square errors of a coordinate of z, in its unit, and a path's roughness."""

    dimension: int
    shown: float  # error of the fitted pairs
    left_out: float  # error of pairs that were left out
    roughness: float | None = None  # of the latent path of a motion; see `roughness`


def choose_dimension(
    Y: Array, Z: Array, iterations: int, seed: int, noise: float
) -> tuple[int, tuple[DimensionTrial, ...]]:
    """The dimension for pairs Y (N, Dy) and Z (N, Dz), and the trials that it was chosen from."""
    usable = [d for d in CANDIDATE_DIMENSIONS if d < len(Y)] or [1]
    curve = tuple(evaluate_dimension(Y, Z, d, iterations, seed, noise) for d in usable)
    least = min(row.left_out for row in curve)
    return next(row.dimension for row in curve if row.left_out <= MAX_ERROR_RATIO * least), curve


def evaluate_dimension(
    Y: Array, Z: Array, dimension: int, iterations: int, seed: int, noise: float, motion: Array | None = None
) -> DimensionTrial:
    """The trial of one dimension; `motion` (M, Dy) is a motion whose latent path is measured."""

    def fit_rows(rows: Array) -> SharedGPLVM:
        return SharedGPLVM(dimension, iterations, seed, noise).fit(Y[rows], Z[rows])

    every = np.arange(len(Y))
    order = np.random.default_rng(seed).permutation(len(Y))
    folds = min(CROSS_VALIDATION_FOLDS, len(Y) - 1) if len(Y) > 3 else 0
    square = 0.0
    for fold in range(folds):
        out = order[fold::folds]
        square += _squared_error(fit_rows(np.setdiff1d(every, out)), Y[out], Z[out])
    model = fit_rows(every)
    shown = float(np.sqrt(_squared_error(model, Y, Z) / Z.size))
    left_out = float(np.sqrt(square / Z.size)) if folds else shown
    path = None if motion is None else roughness(model.map(motion))
    return DimensionTrial(dimension, shown, left_out, path)


def roughness(latents: Array) -> float:
    """How jerky a path (M, d) is: the mean length of its second differences over that of its first."""
    first, second = np.diff(latents, axis=0), np.diff(latents, n=2, axis=0)
    length = float(np.linalg.norm(first, axis=1).mean()) if len(first) else 0.0
    return float(np.linalg.norm(second, axis=1).mean()) / length if length > 0 and len(second) else 0.0


def _squared_error(model: SharedGPLVM, Y: Array, Z: Array) -> float:
    """Sum of squared errors of the predicted Z."""
    return float(((model.predict(model.map(Y))[0] - Z) ** 2).sum())


@dataclass(frozen=True, eq=False)
class ObservedPoses:
    """The observed space, as the search needs it.

    K = L L^T. The variance is a small difference of large numbers: by L^-1 it keeps the digits that K^-1 would lose.
    """

    latents: Array  # (N, d)
    kernel: SharedKernel
    whitener: Array  # (N, N) L^-1, lower
    weights: Array  # (N, r) K^-1 times the data's columns
    outputs: int  # D


def descend(
    observed: ObservedPoses, y: Array, rest: Array, starts: Array, pull: float = 0.0, centres: Array | None = None
) -> tuple[Array, Array]:
    """Latent points (M, d) of y (M, r), and the values (M,) there, from `starts` (M, d).

    `rest` (M,) is the squared length of the part of y outside the r columns. `centres` (M, d) go with `pull`.
    """
    y, starts = np.ascontiguousarray(y), np.ascontiguousarray(starts)
    centres = np.zeros_like(starts) if centres is None else np.ascontiguousarray(centres)
    x, values = starts.copy(), np.empty(len(y))
    jit.kernels(SEARCH_KERNELS).descend(
        (np.ascontiguousarray(observed.latents), observed.whitener, observed.weights, observed.kernel.theta),
        float(observed.outputs),
        y,
        np.ascontiguousarray(rest),
        float(pull),
        centres,
        (MAX_ITERATIONS, MAX_LINE_SEARCH_TRIALS, MIN_GAIN_NATS),
        x,
        values,
    )
    return x, values


def value_and_gradient(
    observed: ObservedPoses, y: Array, rest: Array, x: Array, pull: float = 0.0, centres: Array | float = 0.0
) -> tuple[Array, Array]:
    """The function that is minimised, (M,), and its gradient (M, d) at x (M, d).

    With k the covariances with the pairs, s2 = k(x, x) - k^T K^-1 k and q = |mean - y|^2,

        df/dk = W (mean - y) / s2 + (q / s2^2 - D / s2) K^-1 k,     dk_i/dx = -t2 (k_i - t3) (x - x_i)
    """
    kernel, D = observed.kernel, observed.outputs
    k = kernel.cross_covariance(x, observed.latents)
    white = k @ observed.whitener.T
    solved = white @ observed.whitener
    miss = k @ observed.weights - y
    square = (miss**2).sum(axis=1) + rest
    raw = kernel.t1 + kernel.t3 + kernel.noise - (white**2).sum(axis=1)
    variance = np.maximum(raw, kernel.noise)
    away = x - centres
    value = 0.5 * square / variance + 0.5 * D * np.log(variance) + 0.5 * (x**2).sum(axis=1)
    value += 0.5 * pull * (away**2).sum(axis=1)
    through = np.where(raw > kernel.noise, square / variance**2 - D / variance, 0.0)
    by_k = (miss @ observed.weights.T) / variance[:, None] + through[:, None] * solved
    by_k *= k - kernel.t3
    slope = kernel.t2 * (by_k @ observed.latents - by_k.sum(axis=1)[:, None] * x) + x + pull * away
    return value, slope
