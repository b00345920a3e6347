"""Displacements over time as sums of Gaussians, and least squares in their weights [Yamane 2010, eq. 10].

    d(t) = sum_i w_i phi_i(t),    phi_i(t) = exp(-(t - T_i)^2 / sigma^2),    sigma = twice the interval of the T_i

(sigma is no standard deviation: there is no factor 2). Gaussians are cut off where they are below 1e-4. A sum of
squares that ties each frame to the next two has a banded matrix in the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths import jit

KERNELS = "understudy.transfer.physics.physics_kernels"
SIGMA_INTERVAL_RATIO = 2.0  # sigma over the interval
WINDOW_SIGMAS = 3.0  # half width of a Gaussian's window: exp(-9) = 1e-4


@dataclass(frozen=True, eq=False)
class RadialBasis:
    """N Gaussians over F frames; of each frame only a window of W is not zero."""

    first: Array  # (F,) the first Gaussian of the window of each frame
    values: Array  # (F, W)
    count: int  # N

    @property
    def dense(self) -> Array:
        """(F, N) values of all Gaussians at all frames."""
        result = np.zeros((len(self.first), self.count))
        np.put_along_axis(result, self.first[:, None] + np.arange(self.values.shape[1]), self.values, axis=1)
        return result

    def sum(self, weights: Array) -> Array:
        """(F, n) displacements of weights (N, n)."""
        window = self.first[:, None] + np.arange(self.values.shape[1])
        return np.einsum("fw,fwn->fn", self.values, weights[window])

    def weight_gradients(self, slopes: Array) -> Array:
        """(N, n) the transpose of `sum`: gradients by the weights, from gradients (F, n) by the displacements."""
        window = self.first[:, None] + np.arange(self.values.shape[1])
        result = np.zeros((self.count, slopes.shape[1]))
        np.add.at(result, window, self.values[..., None] * slopes[:, None, :])
        return result

    def banded_matrix(self, blocks: Array) -> Array:
        """The matrix of the weights for that of the displacements, in the upper banded form of LAPACK.

        `blocks` (3, F, n, n): row f of block d ties frame f to frame f + d. Unknowns are ordered (N, n).
        """
        size = blocks.shape[-1]
        wide = (self.values.shape[1] + 2) * size
        result = np.zeros((min(wide, self.count * size), self.count * size))
        kernels = jit.kernels(KERNELS)
        if kernels is None:
            return self.banded_matrix_numpy(blocks)
        kernels.gather(self.first, self.values, np.ascontiguousarray(blocks), result)
        return result

    def banded_matrix_numpy(self, blocks: Array) -> Array:
        """`banded_matrix` in NumPy alone."""
        size = blocks.shape[-1]
        wide = min((self.values.shape[1] + 2) * size, self.count * size)
        phi = self.dense
        full = np.einsum("fi,fab,fj->iajb", phi, blocks[0], phi)
        for d in (1, 2):
            tied = np.einsum("fi,fab,fj->iajb", phi[:-d], blocks[d, : len(phi) - d], phi[d:])
            full += tied + np.transpose(tied, (2, 3, 0, 1))
        full = full.reshape(self.count * size, -1)
        result = np.zeros((wide, len(full)))
        for offset in range(wide):
            result[wide - 1 - offset, offset:] = np.diagonal(full, offset)
        return result


def basis_of(frames: int, rate: float, interval: float) -> RadialBasis:
    """Gaussians every `interval` seconds over a number of frames, from before the first to after the last."""
    step = max(interval * rate, 1.0)
    sigma = SIGMA_INTERVAL_RATIO * step
    count = max(int(np.ceil((frames - 1) / step)), 0) + 3
    centres = (np.arange(count) - 1) * step
    wide = min(int(np.floor(2 * WINDOW_SIGMAS * sigma / step)) + 1, count)
    time = np.arange(frames)
    first = np.clip(np.ceil((time - WINDOW_SIGMAS * sigma) / step).astype(np.int64) + 1, 0, count - wide)
    away = time[:, None] - centres[first[:, None] + np.arange(wide)]
    values = np.where(np.abs(away) <= WINDOW_SIGMAS * sigma, np.exp(-((away / sigma) ** 2)), 0.0)
    return RadialBasis(first, values, count)
