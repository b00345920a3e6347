"""Key poses met exactly: what a mapping misses at its pairs, put back near them.

The shared model has noise: pairs that contradict each other a little are averaged, and that foretells other poses
better. An animator's key pose should still come out as it was posed. So what is missing at pair i, r_i, is added where
the actor is near that pair's pose,

    z(y) += sum_i k(y, y_i) w_i,     k(y, y') = exp(-|y - y'|^2 / 2 s^2),     (K + LEAST) w = r

with s about the half of the usual distance from a pair to the nearest other: further away nothing changes. This is a
Gaussian process whose noise is correlated over s instead of white. It has a price: passing by a key pose is a small
jolt (a lamp's jerk grows by four fifths).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.retarget.pose_distance import squared_pose_distances

NARROW = 0.6  # of that distance: narrower jolts more, wider mixes pairs that contradict each other
LEAST = 0.02  # a pair comes back to within a fiftieth of what is missing


@dataclass(frozen=True, eq=False)
class KeyBumps:
    """N bumps, and how far around the pairs they reach."""

    source: Array  # (N, Dy)
    weights: Array  # (N, Q, 3) metres, w
    width: float  # square metres, s^2

    @classmethod
    def of(cls, source: Array, missing: Array) -> KeyBumps:
        """Of pairs' source points (N, P, 3) and what is missing there (N, Q, 3)."""
        flat = source.reshape(len(source), -1)
        width = width_of(flat)
        near = np.exp(-0.5 * squared_pose_distances(flat, flat) / width) + LEAST * np.eye(len(flat))
        return cls(flat, np.linalg.solve(near, missing.reshape(len(flat), -1)).reshape(missing.shape), width)

    def at(self, local: Array) -> Array:
        """(F, Q, 3) what to add for source points (F, P, 3)."""
        squares = squared_pose_distances(np.asarray(local).reshape(len(local), -1), self.source)
        near = np.exp(-0.5 * squares / self.width)
        return (near @ self.weights.reshape(len(self.weights), -1)).reshape(len(near), *self.weights.shape[1:])


def width_of(flat: Array) -> float:
    """s^2 for poses (N, Dy), in their units squared."""
    squares = squared_pose_distances(flat, flat)
    apart = np.where(np.eye(len(flat), dtype=bool), np.inf, squares).min(axis=1)
    return max(NARROW**2 * float(np.median(apart)), 1e-12)
