"""The compiled twin of `similarity`: one pose against all nodes, left as soon as a node cannot be the lowest.

The sum of distances is not below the length of the summed differences, and eq. 3 is not below the sum of distances:
most nodes are passed after one comparison, before any velocity is looked at.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def make_unit(start: Array, end: Array, still: float, out: Array) -> None:
    """out (L, D) = unit vectors from the points `start` to `end` (L, D), zero where not longer than `still`."""
    for i in range(start.shape[0]):
        square = 0.0
        for d in range(start.shape[1]):
            square += (end[i, d] - start[i, d]) ** 2
        length = sqrt(square)
        for d in range(start.shape[1]):
            out[i, d] = (end[i, d] - start[i, d]) / length if length > still else 0.0


@compiled(fastmath=FAST, error_model="numpy")
def distances(a: Array, b: Array, out: Array) -> float:
    """out (L,) = distance of each landmark of two poses (L, D); their sum."""
    total = 0.0
    for i in range(a.shape[0]):
        square = 0.0
        for d in range(a.shape[1]):
            square += (a[i, d] - b[i, d]) ** 2
        out[i] = sqrt(square)
        total += out[i]
    return total


@compiled(fastmath=FAST, error_model="numpy")
def weighed(distance: Array, u: Array, w: Array, influence: float, bound: float) -> float:
    """Eq. 3 of known distances (L,) and unit or zero velocities u, w (L, D); infinity once above `bound`."""
    total = 0.0
    for i in range(distance.shape[0]):
        one, two, dot = 0.0, 0.0, 0.0
        for d in range(u.shape[1]):
            one += u[i, d] * u[i, d]
            two += w[i, d] * w[i, d]
            dot += u[i, d] * w[i, d]
        if one > 0.5 and two > 0.5:
            v = 1.0 - abs(dot)
        elif one > 0.5 or two > 0.5:
            v = 0.5
        else:
            v = 0.0
        total += distance[i] * (1.0 + influence * v)
        if total >= bound:
            return np.inf
    return total


@compiled(fastmath=FAST, error_model="numpy")
def lowest(
    pose: Array, incoming: Array, nodes: Array, centres: Array, starts: Array, units: Array, allowed: Array,
    influence: float, bound: float, distance: Array, still: Array
) -> tuple[int, float]:  # fmt: skip
    """The node that is most alike and its eq. 3, or (-1, bound) where none lies below `bound`.

    `centres` (N, D) are the sums of the nodes' landmarks; `allowed` (N,) which nodes count; `distance` (L,) is room to
    work in and `still` (L, D) is zero.
    """
    landmarks, dimensions = pose.shape
    centre = np.zeros(dimensions)
    for i in range(landmarks):
        for d in range(dimensions):
            centre[d] += pose[i, d]
    best = -1
    for n in range(nodes.shape[0]):
        square = 0.0
        for d in range(dimensions):
            square += (centre[d] - centres[n, d]) ** 2
        if not allowed[n] or square >= bound * bound or distances(pose, nodes[n], distance) >= bound:
            continue
        mine = max(incoming.shape[0], 1)
        theirs = max(starts[n + 1] - starts[n], 1)
        for a in range(mine):
            u = incoming[a] if incoming.shape[0] else still
            for e in range(theirs):
                w = units[starts[n] + e] if starts[n + 1] > starts[n] else still
                value = weighed(distance, u, w, influence, bound)
                if value < bound:
                    best, bound = n, value
    return best, bound


@compiled(fastmath=FAST, error_model="numpy")
def edge_costs(edges: Array, nodes: Array, starts: Array, units: Array, influence: float) -> Array:
    """(E,) eq. 3 between the ends of each edge (E, 2), the lowest over the edges into both."""
    costs = np.zeros(edges.shape[0])
    distance, still = np.zeros(nodes.shape[1]), np.zeros(nodes.shape[1:])
    for k in range(edges.shape[0]):
        a, b = edges[k, 0], edges[k, 1]
        distances(nodes[a], nodes[b], distance)
        best = np.inf
        for e in range(max(starts[a + 1] - starts[a], 1)):
            u = units[starts[a] + e] if starts[a + 1] > starts[a] else still
            for g in range(max(starts[b + 1] - starts[b], 1)):
                w = units[starts[b] + g] if starts[b + 1] > starts[b] else still
                best = min(best, weighed(distance, u, w, influence, best))
        costs[k] = best
    return costs
