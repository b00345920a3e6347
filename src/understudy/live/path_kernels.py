"""Compiled twin of `path.cheapest_numpy`: the next point is found while the costs are brought up to date."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import compiled


@compiled(nogil=True)
def cheapest(between: Array, from_start: Array, to_end: Array, direct: float) -> Array:
    """(K,) the training points on the cheapest way; see `path.cheapest_numpy`."""
    count = len(from_start)
    cost, before = from_start.copy(), np.full(count, -1)
    settled = np.zeros(count, np.bool_)
    best, last = direct, -1
    while True:
        i, here = -1, best
        for j in range(count):
            if not settled[j] and cost[j] < here:
                i, here = j, cost[j]
        if i < 0:
            break
        settled[i] = True
        if here + to_end[i] < best:
            best, last = here + to_end[i], i
        for j in range(count):
            through = here + between[i, j]
            if through < cost[j] and through < best:
                cost[j], before[j] = through, i
    way = np.empty(count, np.int64)
    n = 0
    while last >= 0:
        way[n] = last
        n += 1
        last = before[last]
    return way[:n][::-1].copy()
