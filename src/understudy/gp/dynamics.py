"""The dynamics prior: frames that are close in time are close in the latent space [Bailey 2016, eq. 6].

    psi_D(X) = sum_q log N(X_q; 0, K_t),   K_t = variance * exp(-(t - t')^2 / (2 length^2)) + noise * [t is t']

with a block for each segment: frames of two segments are independent. Times are in seconds, and the three numbers are
set, not learned. With frames in order of time K_t is a band: an RBF has fallen to rounding seven lengths away. So is
its Cholesky factor L, and X = L Z makes Z unit Gaussian, which is what the optimiser works on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array

REACH = 7.0
"""Lengths at which K_t is cut off. exp(-7^2 / 2) is 2e-11 of the variance: far below `noise`, so K_t stays positive."""


@dataclass(frozen=True)
class Dynamics:
    """The prior's settings: `length` in seconds, `variance` and white `noise` of the latent coordinates.

    0.3 s is seven frames at 24 a second, the time of the quicker accents of hand animation. Much longer lengths tie
    frames to their own segment more than to like poses of others; shorter ones no longer keep the path smooth. Noise
    of 1e-3 lets a frame stand off its path by 3 % of the latent space, which is below what is seen, and keeps K_t far
    from singular.
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


class Path:
    """K_t = L L^T of given frames, in order of segment and time."""

    def __init__(self, dynamics: Dynamics, segments: Array, times: Array) -> None:
        from scipy.linalg import cholesky_banded

        self.order = np.lexsort((times, segments))  # (N,)
        segments, times = segments[self.order], times[self.order]
        width = 0
        while width < len(times) - 1 and self._within(segments, times, width + 1, dynamics.length).any():
            width += 1
        band = np.zeros((width + 1, len(times)))
        band[0] = dynamics.variance + dynamics.noise
        for lag in range(1, width + 1):
            gap = (times[lag:] - times[:-lag]) / dynamics.length
            near = self._within(segments, times, lag, dynamics.length)
            band[lag, : len(times) - lag] = np.where(near, dynamics.variance * np.exp(-0.5 * gap**2), 0.0)
        self._band = cholesky_banded(band, lower=True)  # (width + 1, N), row = how far below the diagonal
        self.log_determinant = 2.0 * float(np.log(self._band[0]).sum())

    @staticmethod
    def _within(segments: Array, times: Array, lag: int, length: float) -> Array:
        return (segments[lag:] == segments[:-lag]) & (times[lag:] - times[:-lag] < REACH * length)

    def coloured(self, white: Array) -> Array:
        """X = L Z for Z (N, Q) in order of time; X is in the frames' own order."""
        result = self._band[0][:, None] * white
        for lag in range(1, len(self._band)):
            result[lag:] += self._band[lag, :-lag, None] * white[:-lag]
        out = np.empty_like(result)
        out[self.order] = result
        return out

    def pulled_back(self, gradient: Array) -> Array:
        """L^T G: the gradient by Z of a function whose gradient by X is G (N, Q)."""
        ordered = gradient[self.order]
        result = self._band[0][:, None] * ordered
        for lag in range(1, len(self._band)):
            result[:-lag] += self._band[lag, :-lag, None] * ordered[lag:]
        return result

    def whitened(self, points: Array) -> Array:
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
