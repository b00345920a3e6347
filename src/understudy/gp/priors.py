"""Priors of the latents: frames close in time are close, and similar frames of separate segments are pulled together.

**Dynamics prior** [Bailey 2016, eq. 6]:

    psi_D(X) = sum_q log N(X_q; 0, K_t),   K_t = variance * exp(-(t - t')^2 / (2 length^2)) + noise * [t is t']

with a block for each segment: frames of two segments are independent. Times are in seconds, and the three numbers are
settings, not fitted. With frames in order of time K_t is a band: an RBF has fallen to rounding seven lengths away. So
is its Cholesky factor L, and X = L Z makes Z unit Gaussian, which is what the optimiser works on.

**Connectivity prior** [Levine 2012; Bailey 2016, section 4.3]: a random walk over all frames, with steps the likelier
the closer two are, and the density of getting from any frame to any other in a given time. With w_ij = |x_i - x_j|^-p,
w_ii = 0, its row sums d and A = d^-1/2 w d^-1/2,

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
from understudy.maths import jit

CUTOFF_LENGTHS = 7.0
"""Lengths at which K_t is cut off. exp(-7^2 / 2) is 2e-11 of the variance: far below `noise`, so K_t stays positive."""

MIN_DIFFUSION = 1e-16
"""Entries of K below this are rounding of the eigenvectors (1e-16 times the largest, about 1): they count as this."""

MIN_SQUARED_DISTANCE = 1e-12
"""Squared distances below this count as this. Latent spaces are about 1 wide: a millionth of that is the same pose."""

SERIES_EIGENVALUE_GAP = 1e-4
"""Eigenvalues closer than this over beta take the series: its error is x^3 / 24 = 4e-14, the quotient has eps / x."""


@dataclass(frozen=True)
class DynamicsPrior:
    """Settings of the dynamics prior: `length` in seconds, `variance` and white `noise` of the latent coordinates.

    0.3 s is seven frames at 24 a second, the time of the quicker accents of hand animation. Much longer lengths tie
    frames to their own segment more than to like poses of others; shorter ones no longer keep the path smooth. Noise
    of 1e-3 lets a frame be off its path by 3 % of the latent space, which is not visible, and keeps K_t far from
    singular.
    """

    length: float = 0.3
    variance: float = 1.0
    noise: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("length", "variance", "noise"):
            checks.positive(getattr(self, name), f"the dynamics' {name}")

    def matrix(self, segments: Array, times: Array) -> Array:
        """K_t (N, N), dense, for the tests and for reading."""
        gap = np.subtract.outer(times, times) / self.length
        together = segments[:, None] == segments[None, :]
        return np.where(together, self.variance * np.exp(-0.5 * gap**2), 0.0) + self.noise * np.eye(len(times))


class TimeCovariance:
    """K_t = L L^T of given frames, in order of segment and time."""

    def __init__(self, dynamics: DynamicsPrior, segments: Array, times: Array) -> None:
        from scipy.linalg import cholesky_banded

        self.order = np.lexsort((times, segments))  # (N,)
        segments, times = segments[self.order], times[self.order]
        width = 0
        while width < len(times) - 1 and self._is_within_cutoff(segments, times, width + 1, dynamics.length).any():
            width += 1
        band = np.zeros((width + 1, len(times)))
        band[0] = dynamics.variance + dynamics.noise
        for lag in range(1, width + 1):
            gap = (times[lag:] - times[:-lag]) / dynamics.length
            near = self._is_within_cutoff(segments, times, lag, dynamics.length)
            band[lag, : len(times) - lag] = np.where(near, dynamics.variance * np.exp(-0.5 * gap**2), 0.0)
        self._band = cholesky_banded(band, lower=True)  # (width + 1, N), row = how far below the diagonal
        self.log_determinant = 2.0 * float(np.log(self._band[0]).sum())

    @staticmethod
    def _is_within_cutoff(segments: Array, times: Array, lag: int, length: float) -> Array:
        return (segments[lag:] == segments[:-lag]) & (times[lag:] - times[:-lag] < CUTOFF_LENGTHS * length)

    def unwhiten(self, white: Array) -> Array:
        """X = L Z for Z (N, Q) in order of time; X is in the frames' own order."""
        result = self._band[0][:, None] * white
        for lag in range(1, len(self._band)):
            result[lag:] += self._band[lag, :-lag, None] * white[:-lag]
        out = np.empty_like(result)
        out[self.order] = result
        return out

    def pull_back_gradient(self, gradient: Array) -> Array:
        """L^T G: the gradient by Z of a function whose gradient by X is G (N, Q)."""
        ordered = gradient[self.order]
        result = self._band[0][:, None] * ordered
        for lag in range(1, len(self._band)):
            result[:-lag] += self._band[lag, :-lag, None] * ordered[lag:]
        return result

    def whiten(self, points: Array) -> Array:
        """Z = L^-1 X."""
        from scipy.linalg import solve_banded

        return np.asarray(solve_banded((len(self._band) - 1, 0), self._band, points[self.order]))

    def log_density(self, points: Array) -> tuple[float, Array]:
        """psi_D and its gradient -K_t^-1 X at points (N, Q)."""
        from scipy.linalg import cho_solve_banded

        count, dimensions = points.shape
        ordered = points[self.order]
        solved = np.empty_like(points)
        solved[self.order] = cho_solve_banded((self._band, True), ordered)
        constant = dimensions * (self.log_determinant + count * np.log(2 * np.pi))
        return -0.5 * (float(np.vdot(points, solved)) + constant), -solved


@dataclass(frozen=True)
class ConnectivityPrior:
    """Settings of the connectivity prior. `weight` is relative to the likelihood, `power` is p."""

    weight: float = 0.002
    beta: float = 10.0
    power: float = 4.0

    def __post_init__(self) -> None:
        for name in ("weight", "beta", "power"):
            checks.positive(getattr(self, name), f"the connectivity's {name}")

    def scale_to_frames(self, count: int) -> tuple[float, float]:
        """(weight, beta) for that many frames."""
        return self.weight * 500.0**2 / count**2, self.beta * count / 400.0


class RandomWalk:
    """The connectivity prior for `count` frames. Evaluations share buffers: one thread at a time."""

    def __init__(self, connectivity: ConnectivityPrior, count: int) -> None:
        self._settings = connectivity
        self._weight, self._beta = connectivity.scale_to_frames(count)
        self._kernels = jit.kernels("understudy.gp.gplvm_kernels")
        self._affinities, self._steps = np.empty((count, count)), np.empty((count, count))
        self._diffusion, self._product, self._scratch = (np.empty((count, count)) for _ in range(3))
        self._root = np.empty(count)

    def log_density(self, points: Array) -> tuple[float, Array]:
        """psi_C and its gradient (N, Q) at points (N, Q)."""
        power = float(self._settings.power)
        transposed = np.ascontiguousarray(points.T)
        self._kernels.affinities(transposed, power, MIN_SQUARED_DISTANCE, self._affinities, self._steps, self._root)
        values, vectors = np.linalg.eigh(self._steps)  # unlike scipy's, releases the interpreter's lock
        grown = np.exp(self._beta * (values - 1.0))
        np.multiply(vectors, grown, out=self._scratch)
        diffusion = np.matmul(self._scratch, vectors.T, out=self._diffusion)
        value = self._weight * self._kernels.sum_log_diffusion(diffusion, MIN_DIFFUSION)
        np.matmul(diffusion, vectors, out=self._scratch)
        product = np.matmul(vectors.T, self._scratch, out=self._product)
        self._kernels.divided_differences(product, values, grown, self._beta, SERIES_EIGENVALUE_GAP)
        np.matmul(vectors, product, out=self._scratch)
        slope = np.matmul(self._scratch, vectors.T, out=self._product)
        out = np.empty_like(transposed)
        self._kernels.connectivity_gradient(
            slope, self._steps, self._affinities, self._root, transposed, power, MIN_SQUARED_DISTANCE, out
        )
        return value, self._weight * out.T
