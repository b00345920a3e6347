"""Key poses met exactly: what a mapping misses at its pairs, put back near them.

The shared model has noise: pairs that contradict each other a little are averaged, and that foretells other poses
better. An animator's key pose should still come out as it was posed. So what is missing at pair i, r_i, is added where
the actor is near that pair's pose,

    z(y) += sum_i w_i r_i / max(1, sum_i w_i),     w_i = exp(-|y - y_i|^2 / 2 s^2)

with s a third of the usual distance from a pair to the nearest other: further away nothing changes. This is a Gaussian
process whose noise is correlated over s instead of white.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.retarget.pose_distance import squared_pose_distances

NARROW = 1 / 3


@dataclass(frozen=True, eq=False)
class KeyBumps:
    """What is missing at N pairs, and how far around them it is put back."""

    source: Array  # (N, Dy)
    missing: Array  # (N, Q, 3) metres
    width: float  # square metres, s^2

    @classmethod
    def of(cls, source: Array, missing: Array) -> KeyBumps:
        """Of pairs' source points (N, P, 3) and what is missing there."""
        flat = source.reshape(len(source), -1)
        squares = squared_pose_distances(flat, flat)
        squares[np.diag_indices(len(flat))] = np.inf
        usual = float(np.median(squares.min(axis=1)))
        return cls(flat, missing, max(NARROW**2 * usual, 1e-12))

    def at(self, local: Array) -> Array:
        """(F, Q, 3) what to add for source points (F, P, 3)."""
        squares = squared_pose_distances(np.asarray(local).reshape(len(local), -1), self.source)
        weights = np.exp(-0.5 * squares / self.width)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
        return np.asarray(np.einsum("fn,nqi->fqi", weights, self.missing, optimize=True))
