"""Kernels of `sample_graph` and `region_builder`: similarity, visits of a take, merging, costs of edges.

One pose is compared with all nodes, and a node is left as soon as it cannot be the lowest. The sum of distances is not
below the length of the summed differences, and eq. 3 is not below the sum of distances: most nodes are passed after one
comparison, before any velocity is read. Loops are written out: whole-array arithmetic takes numba long to compile.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.maths.rigid_fit_kernels import fit_rigid_single


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def make_unit(start: Array, end: Array, still: float, out: Array) -> None:
    """out (L, D) = unit vectors from the points `start` to `end` (L, D), zero where not longer than `still`."""
    for i in range(start.shape[0]):
        square = 0.0
        for d in range(start.shape[1]):
            square += (end[i, d] - start[i, d]) ** 2
        length = sqrt(square)
        for d in range(start.shape[1]):
            out[i, d] = (end[i, d] - start[i, d]) / length if length > still else 0.0


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def weighted_distance(distance: Array, u: Array, w: Array, influence: float, bound: float) -> float:
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def most_similar_node(
    pose: Array, incoming: Array, nodes: Array, centres: Array, starts: Array, units: Array, allowed: Array,
    influence: float, bound: float, distance: Array, still: Array
) -> tuple[int, float]:  # fmt: skip
    """The most similar node and its eq. 3, or (-1, bound) where none lies below `bound`.

    `centres` (N, D) are the sums of the nodes' landmarks; `allowed` (N,) which nodes count; `distance` (L,) is scratch
    memory and `still` (L, D) is zero.
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
        own_edges = max(incoming.shape[0], 1)
        node_edges = max(starts[n + 1] - starts[n], 1)
        for a in range(own_edges):
            u = incoming[a] if incoming.shape[0] else still
            for e in range(node_edges):
                w = units[starts[n] + e] if starts[n + 1] > starts[n] else still
                value = weighted_distance(distance, u, w, influence, bound)
                if value < bound:
                    best, bound = n, value
    return best, bound


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
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
                best = min(best, weighted_distance(distance, u, w, influence, best))
        costs[k] = best
    return costs


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _rotate_points(points: Array, r: Array, out: Array) -> None:
    """out (L, D) = R p for each row p of points (L, D)."""
    for i in range(points.shape[0]):
        for d in range(points.shape[1]):
            total = 0.0
            for e in range(points.shape[1]):
                total += r[d, e] * points[i, e]
            out[i, d] = total


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _apply_rigid(base: Array, displacement: Array, r: Array, t: Array, out: Array) -> None:
    """out (L, D) = R (base + displacement) + t - base; may not be `displacement` itself."""
    for i in range(base.shape[0]):
        for d in range(base.shape[1]):
            total = t[d] - base[i, d]
            for e in range(base.shape[1]):
                total += r[d, e] * (base[i, e] + displacement[i, e])
            out[i, d] = total


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _compose_rigid(turn: Array, shift: Array, r: Array, t: Array, out: Array) -> None:
    """(r, t) become (turn r, turn t + shift); `out` (D, D) is scratch memory."""
    size = r.shape[0]
    for d in range(size):
        for e in range(size):
            out[d, e] = 0.0
            for k in range(size):
                out[d, e] += turn[d, k] * r[k, e]
    for d in range(size):
        total = shift[d]
        for e in range(size):
            r[d, e] = out[d, e]
            total += turn[d, e] * t[e]
        out[d, 0] = total
    for d in range(size):
        t[d] = out[d, 0]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _add_base(base: Array, displacement: Array, out: Array) -> None:
    """out (L, D) = base + displacement."""
    for i in range(base.shape[0]):
        for d in range(base.shape[1]):
            out[i, d] = base[i, d] + displacement[i, d]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _allow(allowed: Array, peaks: Array, label: int, is_peak: bool) -> None:
    """Which nodes a pose may be merged with: all; for a peak those with its label or no peak, never the base pose."""
    for n in range(allowed.shape[0]):
        allowed[n] = not is_peak or (n > 0 and (peaks[n] < 0 or peaks[n] == label))


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def merge_nodes(
    displacements: Array, velocities: Array, own_starts: Array, own_units: Array, peak: int, label: int,
    base: Array, nodes: Array, centres: Array, starts: Array, units: Array, peaks: Array,
    influence: float, threshold: float, peak_share: float, align: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The node, the aligned displacement and the turned velocity of every node of the sample."""
    count, landmarks, dimensions = displacements.shape
    standing = nodes.shape[0]
    chosen = np.zeros(count, np.int64)
    placed, turned = np.zeros((count, landmarks, dimensions)), np.zeros((count, landmarks, dimensions))
    added, added_units = np.zeros((count, landmarks, dimensions)), np.zeros(own_units.shape)
    added_centres, added_starts = np.zeros((count, dimensions)), np.zeros(count + 1, np.int64)
    number = 0
    square = (dimensions, dimensions)
    r, turn, room = np.zeros(square), np.zeros(square), np.zeros(square)
    for d in range(dimensions):
        r[d, d] = 1.0
    t, shift = np.zeros(dimensions), np.zeros(dimensions)
    distance, still = np.zeros(landmarks), np.zeros((landmarks, dimensions))
    here, there = np.zeros((landmarks, dimensions)), np.zeros((landmarks, dimensions))
    allowed, added_allowed = np.ones(standing, np.bool_), np.ones(count, np.bool_)
    incoming = np.zeros(own_units.shape)
    _rotate_points(velocities[0], r, turned[0])
    for k in range(1, count):
        pose = placed[k]
        _apply_rigid(base, displacements[k], r, t, pose)
        edges = own_starts[k + 1] - own_starts[k]
        for e in range(edges):
            _rotate_points(own_units[own_starts[k] + e], r, incoming[e])
        mine = incoming[:edges]
        if k == peak or k == peak + 1:
            _allow(allowed, peaks, label, k == peak)
        limit = threshold * peak_share if k == peak else threshold
        best, bound = most_similar_node(
            pose, mine, nodes, centres, starts, units, allowed, influence, limit, distance, still
        )
        newer, _ = most_similar_node(
            pose, mine, added[:number], added_centres, added_starts, added_units, added_allowed, influence, bound,
            distance, still,
        )  # fmt: skip
        if newer >= 0:
            best = standing + newer
        if best >= 0:
            if align:
                _add_base(base, pose, here)
                _add_base(base, nodes[best] if best < standing else added[best - standing], there)
                fit_rigid_single(here, there, turn, shift)
                _compose_rigid(turn, shift, r, t, room)
                _apply_rigid(base, displacements[k], r, t, pose)
        else:
            best = standing + number
            for i in range(landmarks):
                for d in range(dimensions):
                    added[number, i, d] = pose[i, d]
                    added_centres[number, d] += pose[i, d]
            added_starts[number + 1] = added_starts[number] + edges
            for e in range(edges):
                _rotate_points(own_units[own_starts[k] + e], r, added_units[added_starts[number] + e])
            number += 1
        chosen[k] = best
        _rotate_points(velocities[k], r, turned[k])
    return chosen, placed, turned


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def visit_poses(
    poses: Array, units: Array, influence: float, threshold: float, still: float, peak: int, home: bool
) -> Array:
    """(F,) the node of each pose of displacements (F, L, D) with unit velocities (F, L, D)."""
    frames, landmarks, dimensions = poses.shape
    nodes = np.zeros((frames, landmarks, dimensions))
    counts = np.zeros(frames, np.int64)
    counts[0] = 1
    number = 1
    sources, targets = np.zeros(frames, np.int64), np.zeros(frames, np.int64)
    edges = 0
    visits = np.zeros(frames, np.int64)
    distance = np.zeros(landmarks)
    unit, standing = np.zeros((landmarks, dimensions)), np.zeros((landmarks, dimensions))
    for f in range(1, frames):
        chosen = 0
        if not (home and f == frames - 1):
            chosen, bound = -1, threshold
            for n in range(1 if f == peak else 0, number):
                if distances(poses[f], nodes[n], distance) >= bound:
                    continue
                alone = True
                for e in range(edges):
                    if targets[e] != n:
                        continue
                    alone = False
                    make_unit(nodes[sources[e]], nodes[n], still, unit)
                    value = weighted_distance(distance, units[f], unit, influence, bound)
                    if value < bound:
                        chosen, bound = n, value
                if alone:
                    value = weighted_distance(distance, units[f], standing, influence, bound)
                    if value < bound:
                        chosen, bound = n, value
            if chosen < 0:
                chosen = number
                number += 1
            if chosen:
                counts[chosen] += 1
                for i in range(landmarks):
                    for d in range(dimensions):
                        nodes[chosen, i, d] += (poses[f, i, d] - nodes[chosen, i, d]) / counts[chosen]
        visits[f] = chosen
        before = visits[f - 1]
        if chosen != before:
            known = False
            for e in range(edges):
                known = known or (sources[e] == before and targets[e] == chosen)
            if not known:
                sources[edges], targets[edges] = before, chosen
                edges += 1
    return visits
