"""Where one clip may turn into another: local minima of the window distance [Kovar 2002, section 3.2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.motiongraph.distance import window_distances


@dataclass(frozen=True, eq=False)
class Candidates:
    """T pairs of windows of `window` frames, frames counted through all clips: `first` begins in the clip left,
    `second` in the clip entered, at `distance` of each other. Each pair stands here in both directions."""

    first: Array  # (T,) int
    second: Array  # (T,) int
    distance: Array  # (T,) float

    def within(self, threshold: float) -> Candidates:
        """Those at most `threshold` apart."""
        near = self.distance <= threshold
        return Candidates(self.first[near], self.second[near], self.distance[near])


def local_minima(values: Array) -> Array:
    """(n, 2) places of an (M, N) array that no neighbour of eight undercuts; of a flat stretch the first in order.

    Beyond the borders nothing undercuts: the best match of a clip may well be its first window.
    """
    padded = np.pad(values, 1, constant_values=np.inf)
    rows, columns = values.shape
    lowest = np.ones(values.shape, bool)
    for down, right in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
        other = padded[1 + down : 1 + down + rows, 1 + right : 1 + right + columns]
        earlier = (down, right) < (0, 0)
        lowest &= (values < other) if earlier else (values <= other)
    return np.argwhere(lowest)


def find(clips: Sequence[Array], weights: Array) -> Candidates:
    """The candidates between all clips (F, E), and within each clip where the windows do not overlap."""
    k = len(weights)
    starts = np.cumsum([0, *(len(clip) for clip in clips)])
    first, second, distance = [], [], []
    for a, b, apart in window_distances(clips, weights):
        i, j = local_minima(apart).T
        if a == b:
            distinct = j - i >= k
            i, j = i[distinct], j[distinct]
        first += [starts[a] + i, starts[b] + j]
        second += [starts[b] + j, starts[a] + i]
        distance += [apart[i, j]] * 2
    nothing: Array = np.zeros(0, np.int64)
    return Candidates(
        np.concatenate([nothing, *first]),
        np.concatenate([nothing, *second]),
        np.concatenate([np.zeros(0), *distance]),
    )
