"""The frames as a graph, its strongly connected part, and the quickest ways through it [Kovar 2002, sections 3.3, 4].

KGP02 has clips as edges and choice points as nodes. With a frame a node, the frame that follows it one edge away and a
transition `window` edges away, the graph is the same and every question is one of scipy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array

NOWHERE = -1


def adjacency(follows: Array, leave: Array, enter: Array, window: int) -> Any:
    """(N, N) sparse, entry [f, g] = frames from f to g: 1 along clips, `window` along transitions `leave` -> `enter`.

    `follows` (N,) is true where the frame f + 1 is of the same clip.
    """
    from scipy.sparse import csr_matrix

    along = np.flatnonzero(follows)
    size = len(follows)
    source, target = np.concatenate([along, leave]), np.concatenate([along + 1, enter])
    cost = np.concatenate([np.ones(len(along)), np.full(len(leave), float(window))])
    return csr_matrix((cost, (source, target)), shape=(size, size))


def largest_component(graph: Any, among: Array) -> Array:
    """(N,) true for the frames of the largest strongly connected component within `among` (N,); none if it is a point.

    Every frame of it can be reached from every other without leaving it; Tarjan's algorithm, by scipy. Of components
    of one size the one with the first frame is taken.
    """
    from scipy.sparse.csgraph import connected_components

    inside = np.flatnonzero(among)
    kept = np.zeros(len(among), bool)
    if not len(inside):
        return kept
    _, member = connected_components(graph[inside][:, inside], directed=True, connection="strong")
    _, begin, size = np.unique(member, return_index=True, return_counts=True)
    best = np.lexsort((begin, -size))[0]
    if size[best] > 1:
        kept[inside[member == member[begin[best]]]] = True
    return kept


def ways_to(graph: Any, targets: Array) -> tuple[Array, Array]:
    """Frames (N,) from each frame to the nearest of `targets` (N,) bool, inf where there is no way, and the frame (N,)
    that comes next on that way, NOWHERE at its end: Dijkstra backwards from all targets at once."""
    from scipy.sparse.csgraph import dijkstra

    ends = np.flatnonzero(targets)
    size = len(targets)
    if not len(ends):
        return np.full(size, np.inf), np.full(size, NOWHERE)
    cost, following, _ = dijkstra(graph.T.tocsr(), indices=ends, return_predecessors=True, min_only=True)
    return np.asarray(cost), np.where(following < 0, NOWHERE, following).astype(np.int64)
