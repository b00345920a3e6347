"""Principal components and a linear map between them [Yamane 2010, section 6.4, "PCA"].

    y = mean_y + U a,  z = mean_z + V b,  b = A a

with the (at most) 30 leading components of either side and A the least-squares map of least norm between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.retarget.mapping import Mapped
from understudy.retarget.pairs import Pairs


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Coordinates of one space, times a matrix, are those of the other."""

    means: tuple[Array, Array]  # (Dy,), (Dz,)
    axes: tuple[Array, Array]  # (d, Dy), (d, Dz) orthonormal rows
    between: Array  # (d, d) row vectors: b = a @ between
    spread: float  # square metres, of a coordinate of the target about its mean
    name: str = "PCA"

    @classmethod
    def learn(cls, pairs: Pairs, dimension: int = 30) -> PrincipalComponents:
        """From pairs; as many components as they have where that is fewer than `dimension`."""
        Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
        (mean_y, axes_y), (mean_z, axes_z) = _components(Y, dimension), _components(Z, dimension)
        a, b = (Y - mean_y) @ axes_y.T, (Z - mean_z) @ axes_z.T
        between = np.linalg.lstsq(a, b, rcond=1e-9)[0]
        return cls((mean_y, mean_z), (axes_y, axes_z), between, float(np.var(Z - mean_z)))

    def map(self, local: Array, continuity: float = 0.0) -> Mapped:
        """The target's markers for source points (F, P, 3) in the local frame."""
        flat = np.asarray(local, np.float64).reshape(len(local), -1)
        a = (flat - self.means[0]) @ self.axes[0].T
        points = a @ self.between @ self.axes[1] + self.means[1]
        return Mapped(a, points.reshape(len(flat), -1, 3), np.full(len(flat), self.spread))


def _components(data: Array, most: int) -> tuple[Array, Array]:
    """Mean (D,) and the leading axes (d, D) of data (N, D); those without any spread are left out."""
    mean = data.mean(axis=0)
    _, size, axes = np.linalg.svd(data - mean, full_matrices=False)
    kept = min(most, max(1, int((size > 1e-9 * max(size[0], 1e-300)).sum())))
    return mean, axes[:kept]
