"""The compiled twin of `merging._merged`."""

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
def _extended(array: Array, room: int) -> Array:
    """The array (N, ...) with `room` rows of zeros after it."""
    result = np.zeros((array.shape[0] + room, *array.shape[1:]), array.dtype)
    result[: array.shape[0]] = array
    return result


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
    placed, turned = np.zeros_like(displacements), velocities.copy()
    added = np.zeros((count, landmarks, dimensions))
    added_centres, added_units = np.zeros((count, dimensions)), np.zeros_like(own_units)
    added_starts = np.zeros(count + 1, np.int64)
    new_peaks = peaks.copy()
    number = 0
    r, t = np.eye(dimensions), np.zeros(dimensions)
    turn, shift = np.eye(dimensions), np.zeros(dimensions)
    distance, still = np.zeros(landmarks), np.zeros((landmarks, dimensions))
    pose = np.zeros((landmarks, dimensions))
    allowed = np.ones(standing, np.bool_)
    added_allowed = np.ones(count, np.bool_)
    most = 0
    for k in range(count):
        most = max(most, own_starts[k + 1] - own_starts[k])
    incoming = np.zeros((most, landmarks, dimensions))
    for k in range(1, count):
        _turned(base + displacements[k], r, pose)
        pose += t - base
        edges = own_starts[k + 1] - own_starts[k]
        for e in range(edges):
            _turned(own_units[own_starts[k] + e], r, incoming[e])
        if k == peak:
            for n in range(standing):
                allowed[n] = n > 0 and (new_peaks[n] < 0 or new_peaks[n] == label)
        limit = threshold * peak_share if k == peak else threshold
        best, bound = lowest(
            pose, incoming[:edges], nodes, centres, starts, units, allowed, influence, limit, distance, still
        )
        newer, _ = lowest(
            pose, incoming[:edges], added[:number], added_centres, added_starts, added_units, added_allowed,
            influence, bound, distance, still,
        )  # fmt: skip
        if k == peak:
            allowed[:] = True
        if newer >= 0:
            best = standing + newer
        if best >= 0:
            if align:
                taker = nodes[best] if best < standing else added[best - standing]
                aligned(base + pose, base + taker, turn, shift)
                r[:] = turn @ r
                t[:] = turn @ t + shift
                _turned(base + pose, turn, pose)
                pose += shift - base
            if k == peak and best < standing:
                new_peaks[best] = label
        else:
            best = standing + number
            added[number] = pose
            for i in range(landmarks):
                for d in range(dimensions):
                    added_centres[number, d] += pose[i, d]
            added_starts[number + 1] = added_starts[number] + edges
            added_units[added_starts[number] : added_starts[number + 1]] = incoming[:edges]
            number += 1
        chosen[k] = best
        placed[k] = pose
        _turned(velocities[k], r, turned[k])
    return chosen, placed, turned
