"""Coarse meshes for characters that are seen small: edges are collapsed, the vertices that stay are the mesh's own.

A vertex v may be drawn to a neighbour u at the cost of Garland and Heckbert (1997, "Surface simplification using
quadric error metrics"): how far u lies from the planes of the triangles that v and u stand for,

    cost(v -> u) = u^T (Q_v + Q_u) u,        Q = sum of p p^T over the planes p of the triangles around, by area

Since no vertex moves, what hangs on vertices (skin weights, shapes) is kept as it is, not made anew. Collapses are done
in rounds: all that share no triangle with a cheaper one at once. A vertex on a border is drawn along it only, and the
border counts as a plane of its own, at right angles to the surface. Where the picture on the surface is cut into
charts, a vertex is drawn only to one that lies in all of its charts, so that no triangle loses its own.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

ROUNDS = 80  # each takes away a tenth or so, until nothing can be taken away
SHARE = 0.7  # of the candidates at most, in a round: the cheaper ones first
FOLDED = 0.2  # cosine between a triangle's normal before and after; below, the surface would fold
SIDES = ((0, 1), (1, 2), (2, 0))
UPPER = np.triu_indices(4)


def coarsened(vertices: Array, triangles: Array, wanted: int, charts: Array | None = None) -> tuple[Array, Array]:
    """Triangles (t, 3) on fewer of the vertices (V, 3), near `wanted` where that can be, and which they were (t,).

    `charts` (T,) numbers the chart of each triangle.
    """
    points, t = vertices.astype(np.float64), triangles.astype(np.int64)
    which = np.flatnonzero(~_empty(t))
    t = t[which]
    chart = np.zeros(len(triangles), np.int64) if charts is None else charts
    member = _members(t, chart[which], len(points))
    quadrics = _quadrics(points, t)
    tired = np.zeros(len(points), bool)  # those whose cheapest way would fold the surface, until that has changed
    for number in range(ROUNDS):
        left = int(np.count_nonzero(np.bincount(t.reshape(-1))))
        if left <= wanted:
            break
        tired &= number % 4 != 0
        source, target = _round(points, t, quadrics, member, tired, left - wanted)
        if not len(source) and not tired.any():
            break
        moved = np.arange(len(points))
        moved[source] = target
        for k in range(quadrics.shape[1]):
            quadrics[:, k] += np.bincount(target, quadrics[source, k], len(points))
        t = moved[t]
        whole = ~_empty(t)
        t, which = t[whole], which[whole]
    return t, which


def _empty(t: Array) -> Array:
    return (t[:, 0] == t[:, 1]) | (t[:, 1] == t[:, 2]) | (t[:, 2] == t[:, 0])


def _edges(t: Array, count: int) -> tuple[Array, Array, Array]:
    """Ends v (E,) and u (E,) of each edge, both ways, and of how many triangles it is."""
    pairs = t[:, SIDES].reshape(-1, 2)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    keys, times = np.unique(low * count + high, return_counts=True)
    v, u = keys // count, keys % count
    return np.concatenate([v, u]), np.concatenate([u, v]), np.concatenate([times, times])


def _members(t: Array, chart: Array, count: int) -> Array:
    """(V,) uint64, a bit for each of the vertex's charts; charts that share a bit are at worst kept apart less well."""
    result = np.zeros(count, np.uint64)
    bit = np.uint64(1) << (chart % 64).astype(np.uint64)
    for k in range(3):
        np.bitwise_or.at(result, t[:, k], bit)
    return result


def _quadrics(points: Array, t: Array) -> Array:
    """(V, 10) the upper triangle of Q of each vertex."""
    a, b, c = points[t[:, 0]], points[t[:, 1]], points[t[:, 2]]
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.where(area > 0, area, 1)
    result = _summed(normal, area, a, t, len(points))
    for side in SIDES:
        ends = t[:, side]
        v, u = ends.min(axis=1), ends.max(axis=1)
        border = ends[_times(t, v, u, len(points)) == 1]
        face = normal[_times(t, v, u, len(points)) == 1]
        along = points[border[:, 1]] - points[border[:, 0]]
        across = np.cross(along, face)  # as long as the edge, which is its weight twice over
        size = np.linalg.norm(across, axis=1, keepdims=True)
        across = across / np.where(size > 0, size, 1)
        result += _summed(across, size * size, points[border[:, 0]], border, len(points))
    return result


def _summed(normal: Array, weight: Array, through: Array, owners: Array, count: int) -> Array:
    """(V, 10) sums of planes with a normal (n, 3) through a point (n, 3), each at all of its owners (n, m)."""
    plane = np.concatenate([normal, -np.einsum("ti,ti->t", normal, through)[:, None]], axis=1)
    each = weight * plane[:, UPPER[0]] * plane[:, UPPER[1]]
    width = owners.shape[1]
    columns = [np.bincount(owners.reshape(-1), np.repeat(each[:, k], width), count) for k in range(10)]
    return np.stack(columns, axis=1)


def _times(t: Array, v: Array, u: Array, count: int) -> Array:
    """(n,) of how many triangles the edges v (n,) < u (n,) are."""
    pairs = np.sort(t[:, SIDES].reshape(-1, 2), axis=1)
    keys, times = np.unique(pairs[:, 0] * count + pairs[:, 1], return_counts=True)
    return times[np.searchsorted(keys, v * count + u)]


def _round(points: Array, t: Array, quadrics: Array, member: Array, tired: Array, most: int) -> tuple[Array, Array]:
    """Collapses v -> u that share no triangle: sources (n,) and targets (n,). Those that fold become tired."""
    count = len(points)
    v, u, times = _edges(t, count)
    inside = np.ones(count, bool)
    inside[v[times != 2]] = False
    fits = (inside[v] | (times == 1)) & ((member[v] & ~member[u]) == 0) & ~tired[v]
    v, u = v[fits], u[fits]
    if not len(v):
        return v, u
    place = np.concatenate([points[u], np.ones((len(u), 1))], axis=1)
    twice = np.where(UPPER[0] == UPPER[1], 1.0, 2.0) * place[:, UPPER[0]] * place[:, UPPER[1]]
    length = np.square(points[u] - points[v]).sum(axis=1)
    cost = np.einsum("ek,ek->e", twice, quadrics[v] + quadrics[u]) + 1e-3 * length * length
    order = np.lexsort((cost, v))
    first = order[np.flatnonzero(np.diff(v[order], prepend=-1))]  # the cheapest way of each vertex
    v, u, cost = v[first], u[first], cost[first]
    cheapest = np.argsort(cost, kind="stable")[: max(1, int(SHARE * len(cost)))]
    rank = np.full(count, count)
    rank[v[cheapest]] = np.arange(len(cheapest))
    lowest = rank[t].min(axis=1)  # of each triangle, the cheapest of its corners
    beaten = np.bincount(t.reshape(-1), (rank[t] > lowest[:, None]).reshape(-1), count) > 0
    chosen = cheapest[~beaten[v[cheapest]]][:most]
    target = np.full(count, -1)
    target[v[chosen]] = u[chosen]
    folds = _folds(points, t, target)
    tired |= folds
    source = v[chosen][~folds[v[chosen]]]
    return source, target[source]


def _folds(points: Array, t: Array, target: Array) -> Array:
    """(V,) bool, whether drawing a vertex to its target would turn a triangle over."""
    corner = target[t] >= 0  # at most one of each triangle
    which = np.flatnonzero(corner.any(axis=1))
    k = corner[which].argmax(axis=1)
    old = t[which]
    v = old[np.arange(len(which)), k]
    new = old.copy()
    new[np.arange(len(which)), k] = target[v]
    before, after = (np.cross(points[x[:, 1]] - points[x[:, 0]], points[x[:, 2]] - points[x[:, 0]]) for x in (old, new))
    size = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    bad = ~_empty(new) & (np.einsum("ti,ti->t", before, after) < FOLDED * size + 1e-30)
    result = np.zeros(len(points), bool)
    result[v[bad]] = True
    return result
