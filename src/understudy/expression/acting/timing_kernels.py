"""Compiled twins of `timing`: a path is read off, unfolded into poses and sampled without a temporary array a step."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def expand(displacements: Array, velocities: Array, runs: Array, path: Array) -> Array:
    """(m, n) the poses of a path of nodes; displacements and velocities (N, n), runs (N,)."""
    width = displacements.shape[1]
    total = 0
    for node in path:
        total += max(int(np.rint(runs[node])), 1)
    poses = np.empty((total, width))
    row = 0
    for i in range(len(path)):
        node, before, after = path[i], path[max(i - 1, 0)], path[min(i + 1, len(path) - 1)]
        count = max(int(np.rint(runs[node])), 1)
        along = 0.0
        for c in range(width):
            along += velocities[node, c] * (displacements[after, c] - displacements[before, c])
        sign = -1.0 if along < 0.0 else 1.0
        for k in range(count):
            place = sign * (k - 0.5 * (count - 1))
            for c in range(width):
                a, b, own = displacements[before, c], displacements[after, c], displacements[node, c]
                value = own + place * velocities[node, c]
                poses[row, c] = min(max(value, min(min(a, b), own)), max(max(a, b), own))
            row += 1
    return poses


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def progress(poses: Array) -> Array:
    """(m,) how far each pose (m, n) is from the first."""
    result = np.zeros(len(poses))
    for i in range(1, len(poses)):
        total = 0.0
        for c in range(poses.shape[1]):
            step = poses[i, c] - poses[0, c]
            total += step * step
        result[i] = np.sqrt(total)
    return result


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def add_sampled(poses: Array, at: Array, weights: Array, members: Array, depth: int, points: Array) -> None:
    """Add to points (F, L, depth) poses (m, n) at real-valued places `at` (F,) times `weights` (F,)."""
    last = len(poses) - 1
    for f in range(len(at)):
        place = min(max(at[f], 0.0), float(last))
        left = min(int(place), max(last - 1, 0))
        right = min(left + 1, last)
        share, weight = place - left, weights[f]
        column = 0
        for member in members:
            for d in range(depth):
                value = poses[left, column] * (1.0 - share) + poses[right, column] * share
                points[f, member, d] += weight * value
                column += 1
