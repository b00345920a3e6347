"""Variation: the same labels, never the same motion [Serra 2018, section 5.2].

Some nodes of a path give way to their neighbours, and durations vary as they do in the takes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.acting.paths import Routes

FURTHEST_DRAW = 2.0  # deviations; a face that takes three of them longer looks as if it had been forgotten
DRAWS = 49  # uniform numbers for one path: whether one more node changes, and two for each of the 24 that may
DETOUR = 1.25  # of the way over the node that was there
SHORTEST, LONGEST = 0.6, 1.6  # of the mean duration; outside of it speed itself becomes an expression


class PathNoise(NamedTuple):
    """The share of a path's nodes that may change, and how many edges away a substitute may lie.

    Beyond two hops neighbours no longer resemble the node, and noise is no longer coherent.
    """

    share: float = 0.2
    hops: int = 1

    @classmethod
    def checked(cls, given: tuple[float, int]) -> PathNoise:
        """From what a caller gave."""
        share, hops = given
        if not 0.0 <= share <= 1.0 or hops != int(hops) or not 1 <= hops <= 8:
            raise InvalidInput(f"path noise should be a share of 0 to 1 and 1 to 8 hops, but is {share:g} and {hops:g}")
        return cls(float(share), int(hops))


def varied(routes: Routes, path: Array, noise: PathNoise, draws: Array) -> Array:
    """(n,) the path with about `share` of its nodes replaced by neighbours that share a label with source or sink.

    Source and sink stay. No substitute is a peak, neutral, or on the path already, and none makes the way between the
    nodes before and after it longer by more than `DETOUR`: a face that turns back and forth is not another person, but
    a trembling one. `draws` (DRAWS,) are uniform.
    """
    inner = len(path) - 2
    count = min(int(noise.share * len(path) + draws[0]), inner, (DRAWS - 1) // 2)
    if noise.share == 0.0 or count < 1:
        return path
    labels, result = routes.region.labels, path.copy()
    poses = routes.region.displacements.reshape(routes.region.nodes, -1)

    def detour(over: int, before: int, after: int) -> float:
        return float(np.linalg.norm(poses[over] - poses[before]) + np.linalg.norm(poses[over] - poses[after]))

    known = labels[path[0]] | labels[path[-1]]
    starts, others = routes.substitutes(noise.hops)
    left = list(range(1, inner + 1))
    for number in range(count):
        place = left.pop(int(draws[2 * number + 1] * len(left)))
        found = others[starts[path[place]] : starts[path[place] + 1]].tolist()
        most = DETOUR * detour(path[place], result[place - 1], result[place + 1])
        options = [
            node
            for node in found
            if (labels[node] & known).any()
            and node not in result
            and detour(node, result[place - 1], result[place + 1]) <= most
        ]
        if options:
            result[place] = options[int(draws[2 * number + 2] * len(options))]
    return result


def varied_length(mean: Array, deviation: Array, shared: float, own: Array, coupling: float, amount: float) -> Array:
    """(R,) durations about `mean` (R,) with a standard deviation of `amount` times `deviation` (R,).

    The draw of a region is a mixture of the `shared` and its `own` (R,) standard normal one; the squares of their
    weights sum to 1, so that the spread is the same whatever the coupling.
    """
    drawn = np.clip(coupling * shared + np.sqrt(1.0 - coupling**2) * own, -FURTHEST_DRAW, FURTHEST_DRAW)
    result: Array = np.clip(mean + amount * deviation * drawn, SHORTEST * mean, LONGEST * mean)
    return result
