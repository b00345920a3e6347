"""The compiled twin of `merging._merged`. Loops are written out: whole-array arithmetic takes numba long to compile."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.expression.graph.rigid_kernels import align as aligned
from understudy.expression.graph.similarity_kernels import lowest
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def _turned(points: Array, r: Array, out: Array) -> None:
    """out (L, D) = R p for each row p of points (L, D)."""
    for i in range(points.shape[0]):
        for d in range(points.shape[1]):
            total = 0.0
            for e in range(points.shape[1]):
                total += r[d, e] * points[i, e]
            out[i, d] = total


@compiled(fastmath=FAST, error_model="numpy")
def _moved(base: Array, displacement: Array, r: Array, t: Array, out: Array) -> None:
    """out (L, D) = R (base + displacement) + t - base; may not be `displacement` itself."""
    for i in range(base.shape[0]):
        for d in range(base.shape[1]):
            total = t[d] - base[i, d]
            for e in range(base.shape[1]):
                total += r[d, e] * (base[i, e] + displacement[i, e])
            out[i, d] = total


@compiled(fastmath=FAST, error_model="numpy")
def _followed(turn: Array, shift: Array, r: Array, t: Array, out: Array) -> None:
    """(r, t) become (turn r, turn t + shift); `out` (D, D) is room to work in."""
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


@compiled(fastmath=FAST, error_model="numpy")
def _summed(base: Array, displacement: Array, out: Array) -> None:
    """out (L, D) = base + displacement."""
    for i in range(base.shape[0]):
        for d in range(base.shape[1]):
            out[i, d] = base[i, d] + displacement[i, d]


@compiled(fastmath=FAST, error_model="numpy")
def _allow(allowed: Array, peaks: Array, label: int, is_peak: bool) -> None:
    """Which nodes may take what comes: all, or for a peak those of its own label or none, and never the base pose."""
    for n in range(allowed.shape[0]):
        allowed[n] = not is_peak or (n > 0 and (peaks[n] < 0 or peaks[n] == label))


@compiled(fastmath=FAST, error_model="numpy")
def merged(
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
    _turned(velocities[0], r, turned[0])
    for k in range(1, count):
        pose = placed[k]
        _moved(base, displacements[k], r, t, pose)
        edges = own_starts[k + 1] - own_starts[k]
        for e in range(edges):
            _turned(own_units[own_starts[k] + e], r, incoming[e])
        mine = incoming[:edges]
        if k == peak or k == peak + 1:
            _allow(allowed, peaks, label, k == peak)
        limit = threshold * peak_share if k == peak else threshold
        best, bound = lowest(pose, mine, nodes, centres, starts, units, allowed, influence, limit, distance, still)
        newer, _ = lowest(
            pose, mine, added[:number], added_centres, added_starts, added_units, added_allowed, influence, bound,
            distance, still,
        )  # fmt: skip
        if newer >= 0:
            best = standing + newer
        if best >= 0:
            if align:
                _summed(base, pose, here)
                _summed(base, nodes[best] if best < standing else added[best - standing], there)
                aligned(here, there, turn, shift)
                _followed(turn, shift, r, t, room)
                _moved(base, displacements[k], r, t, pose)
        else:
            best = standing + number
            for i in range(landmarks):
                for d in range(dimensions):
                    added[number, i, d] = pose[i, d]
                    added_centres[number, d] += pose[i, d]
            added_starts[number + 1] = added_starts[number] + edges
            for e in range(edges):
                _turned(own_units[own_starts[k] + e], r, added_units[added_starts[number] + e])
            number += 1
        chosen[k] = best
        _turned(velocities[k], r, turned[k])
    return chosen, placed, turned
