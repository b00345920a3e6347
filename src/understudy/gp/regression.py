"""Gaussian-process regression of few examples in many dimensions, with parameters by left-out error.

    k(y, y') = t1 exp(-t2/2 |y - y'|^2) + t3 y.y' + t4  +  exp(-|y - y'|^2 / 2 w) + WHITE_NOISE_RATIO [y is y']

in units of the noise. The first three terms are the relation that is looked for: local, linear and constant. The last
two are the noise: examples that people make contradict each other a little, so that averaging them predicts others
better; but an example should come back as it was made. So the noise is correlated over w, about half of the usual
distance from an example to the nearest other, and almost nothing of it is white.

With few examples the likelihood says little. t1 to t4 minimise what counts, the squared error e of examples that are
left out, which needs no second fit [Rasmussen & Williams 2006, eq. 5.12]:

    e_i = [K^-1 z]_i / [K^-1]_ii,      N log(mean |e_i|^2) + |log t - log t_0|^2 / s^2

The second term, a prior, decides where examples are few.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.maths import lbfgs
from understudy.maths.jit import one_blas_thread
from understudy.schema import Estimator

PRIOR_PARAMETERS = (10.0, 4.0, 1.0, 1.0)  # t_0, in units of the noise and of the usual distance of two examples
PRIOR_LOG_DEVIATION = 4.0  # s: a weak prior, which decides for three examples and says little for twenty
LINEAR_STARTS = (1.0, 10.0)  # t3 that searches begin with: a local and a linear relation are two minima
WIDTH_DISTANCE_RATIO = 0.6  # sqrt(w) over the distance to the nearest other: wider mixes what contradicts
WHITE_NOISE_RATIO = 0.02  # an example comes back to within a fiftieth of its residual
MAX_ITERATIONS = 60
FLAT_PARAMETER = 1e4  # t4 of an unknown mean
MAX_LOG_PARAMETER = 12.0


def _row_distances(a: Array, b: Array) -> Array:
    """(M, N) squared distances of rows a (M, D) and b (N, D) of hundreds of numbers, by one product."""
    squares = np.einsum("md,md->m", a, a)[:, None] + np.einsum("nd,nd->n", b, b) - 2 * (a @ b.T)
    return np.asarray(np.maximum(squares, 0.0))


class GaussianProcess(Estimator):
    """Regression from y (Dy,) to z (Dz,), fitted to N examples, one or more.

    After `fit`: `parameters_` (4,), `left_out_` (N,) the error of each example when it is left out (root mean square of
    its Dz coordinates, NaN for a single example), `predictions_` (N, Dz) of the left-out examples, and `noise_`, the
    variance of a coordinate.

    Args:
        centred: Whether predictions far from all examples tend to their mean; otherwise to zero, as corrections do. The
            mean is then an unknown with a flat prior (t4 is fixed and large): a mean that was taken from all examples
            would tell the left-out one.
        unit: Usual distance of two y, where a single example cannot tell; None takes that of the examples.
    """

    def __init__(self, centred: bool = True, unit: float | None = None) -> None:
        self.centred, self.unit = centred, unit

    def fit(self, Y: ArrayLike, Z: ArrayLike) -> GaussianProcess:
        """Fit to examples Y (N, Dy) and Z (N, Dz)."""
        with one_blas_thread():
            self._prepare(Y, Z)
            best = np.log(PRIOR_PARAMETERS)
            if len(self._z) > 2:
                gram = self._z @ self._z.T
                t1, t2, _, t4 = PRIOR_PARAMETERS
                starts = [np.log([t1, t2, t3, t4]) for t3 in LINEAR_STARTS]
                ends = [lbfgs.minimise(lambda log: self._objective(log, gram), x, MAX_ITERATIONS, 1e-6) for x in starts]
                best = min(ends, key=lambda state: state.value).x
            self._finish(np.exp(best))
        return self

    def _prepare(self, Y: ArrayLike, Z: ArrayLike) -> None:
        Y = checks.array(Y, "Y", ("N", "Dy"))
        Z = checks.array(Z, "Z", (len(Y), "Dz"))
        self.mean_source_ = Y.mean(axis=0)
        self.mean_target_ = Z.mean(axis=0) if self.centred else np.zeros(Z.shape[1])
        spread = float(np.sqrt(2 * ((Y - self.mean_source_) ** 2).sum(axis=1).mean()))
        self.unit_ = max(self.unit or spread, 1e-12)
        self._y, self._z = (Y - self.mean_source_) / self.unit_, Z - self.mean_target_
        self._squares, self._products = _row_distances(self._y, self._y), self._y @ self._y.T
        apart = np.where(np.eye(len(Y), dtype=bool), np.inf, self._squares).min(axis=1)
        nearest = float(np.median(apart)) if len(Y) > 1 else 1.0
        self.width_ = max(WIDTH_DISTANCE_RATIO**2 * nearest, 1e-12)

    def _finish(self, parameters: Array) -> None:
        self.parameters_ = checks.freeze(np.asarray(parameters, np.float64))
        inverse = np.linalg.inv(self._matrix(self.parameters_))
        self._inverse, self._weights = inverse, inverse @ self._z
        precision = np.diag(inverse)
        squares = np.square(self._weights / precision[:, None]).mean(axis=1)
        alone = len(squares) < 2
        self.left_out_ = np.full(1, np.nan) if alone else np.sqrt(squares)
        self.predictions_ = self.mean_target_ + self._z - self._weights / precision[:, None]
        # The variance of a left-out example is noise / precision, so this noise makes errors as large as expected.
        self.noise_ = float((squares * precision).mean()) if not alone else float(np.square(self._z).mean()) / 10

    def _covariance(self, t: Array, squares: Array, products: Array) -> Array:
        constant = FLAT_PARAMETER if self.centred else t[3]
        return np.asarray(t[0] * np.exp(-0.5 * t[1] * squares) + t[2] * products + constant)

    def _matrix(self, t: Array) -> Array:
        K = self._covariance(t, self._squares, self._products) + np.exp(-0.5 * self._squares / self.width_)
        K.flat[:: len(K) + 1] += WHITE_NOISE_RATIO
        return K

    def _objective(self, log: Array, gram: Array) -> tuple[float, Array]:
        """The objective at log t (4,) and its gradient; `gram` (N, N) = z z^T."""
        if np.abs(log).max() > MAX_LOG_PARAMETER:
            return np.inf, np.zeros(4)
        t = np.exp(log)
        inverse = np.linalg.inv(self._matrix(t))
        precision = np.diag(inverse)
        both = inverse @ gram @ inverse  # a a^T with a = K^-1 z
        errors = np.diag(both) / precision**2
        total, count = max(float(errors.sum()), 1e-300), len(gram)
        # d total = tr(M dK)
        M = (inverse * (2 * errors / precision)) @ inverse - 2 * (inverse / precision**2) @ both
        radial = np.exp(-0.5 * t[1] * self._squares)
        slope = np.array(
            [
                t[0] * (M * radial).sum(),
                -0.5 * t[0] * t[1] * (M * radial * self._squares).sum(),
                t[2] * (M * self._products).sum(),
                0.0 if self.centred else t[3] * M.sum(),
            ]
        )
        away = log - np.log(PRIOR_PARAMETERS)
        value = count * np.log(total / count) + float(away @ away) / PRIOR_LOG_DEVIATION**2
        return value, count * slope / total + 2 * away / PRIOR_LOG_DEVIATION**2

    def predict(self, Y: ArrayLike) -> tuple[Array, Array]:
        """Mean (M, Dz) and variance (M,) of a coordinate at new Y (M, Dy); the variance is that of another example."""
        y = (checks.array(Y, "Y", ("M", len(self.mean_source_))) - self.mean_source_) / self.unit_
        squares, t = _row_distances(y, self._y), self.parameters_
        k = self._covariance(t, squares, y @ self._y.T) + np.exp(-0.5 * squares / self.width_)
        constant = FLAT_PARAMETER if self.centred else t[3]
        prior = t[0] + t[2] * (y**2).sum(axis=1) + constant + 1.0
        variance = prior - np.einsum("mi,mi->m", k @ self._inverse, k)
        return k @ self._weights + self.mean_target_, np.maximum(variance, WHITE_NOISE_RATIO) * self.noise_

    def covariance(self, A: ArrayLike, B: ArrayLike) -> Array:
        """(M, P) covariance of a coordinate of predictions at A (M, Dy) and B (P, Dy), given the examples."""
        a, b = ((np.asarray(X, np.float64) - self.mean_source_) / self.unit_ for X in (A, B))
        between, (ka, kb) = _row_distances(a, b), (_row_distances(x, self._y) for x in (a, b))
        t = self.parameters_
        prior = self._covariance(t, between, a @ b.T) + np.exp(-0.5 * between / self.width_)
        ka = self._covariance(t, ka, a @ self._y.T) + np.exp(-0.5 * ka / self.width_)
        kb = self._covariance(t, kb, b @ self._y.T) + np.exp(-0.5 * kb / self.width_)
        return np.asarray(prior - ka @ self._inverse @ kb.T) * self.noise_
