"""Compiled twins of `timing`: a path is read off, unfolded into poses and sampled without a temporary array a step."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(nogil=True, error_model="numpy")
def way(following: Array, source: int, sink: int) -> Array:
    """(n,) the nodes from source to sink by a table (N,) of next nodes; none where there is no way."""
    count, node = 1, source
    while node != sink:
        node = following[node]
        count += 1
        if node < 0:
            return np.empty(0, np.int64)
    path = np.empty(count, np.int64)
    path[0] = source
    for i in range(1, count):
        path[i] = following[path[i - 1]]
    return path


@compiled(nogil=True, error_model="numpy")
def detour(poses: Array, over: int, before: int, after: int) -> float:
    """How long the way over a node is, of poses (N, n)."""
    first, second = 0.0, 0.0
    for c in range(poses.shape[1]):
        first += (poses[over, c] - poses[before, c]) ** 2
        second += (poses[over, c] - poses[after, c]) ** 2
    return np.sqrt(first) + np.sqrt(second)


@compiled(nogil=True, error_model="numpy")
def vary(
    path: Array, labels: Array, poses: Array, starts: Array, others: Array, share: float, longest: float, draws: Array
) -> None:
    """As `variation.varied`, in place; poses (N, n)."""
    inner = len(path) - 2
    count = min(int(share * len(path) + draws[0]), inner, (len(draws) - 1) // 2)
    if share == 0.0 or count < 1:
        return
    first, last = path[0], path[-1]
    before = path.copy()
    left = np.arange(1, inner + 1)
    options = np.empty(len(labels), np.int64)
    for number in range(count):
        remaining = inner - number
        pick = int(draws[2 * number + 1] * remaining)
        place = left[pick]
        for i in range(pick, remaining - 1):
            left[i] = left[i + 1]
        many = 0
        most = longest * detour(poses, before[place], path[place - 1], path[place + 1])
        for node in others[starts[before[place]] : starts[before[place] + 1]]:
            fits = False
            for q in range(labels.shape[1]):
                fits = fits or (labels[node, q] and (labels[first, q] or labels[last, q]))
            for other in path:
                fits = fits and other != node
            if fits and detour(poses, node, path[place - 1], path[place + 1]) <= most:
                options[many] = node
                many += 1
        if many:
            path[place] = options[int(draws[2 * number + 2] * many)]


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
def straighten(poses: Array, direct: float) -> None:
    """As `way.straightened`, in place."""
    last = len(poses) - 1
    for i in range(1, last):
        u = i / last
        u = u * u * (3.0 - 2.0 * u)
        for c in range(poses.shape[1]):
            line = poses[0, c] + u * (poses[last, c] - poses[0, c])
            poses[i, c] = (1.0 - direct) * poses[i, c] + direct * line


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def crossings(poses: Array, first: float, second: float) -> tuple[float, float]:
    """When poses (m, n) have gone the shares `first` and `second` of their way, as shares of their own time."""
    last = len(poses) - 1
    far = np.zeros(last + 1)
    for i in range(1, last + 1):
        total = 0.0
        for c in range(poses.shape[1]):
            step = poses[i, c] - poses[0, c]
            total += step * step
        far[i] = np.sqrt(total)
    if last < 1 or far[last] <= 0.0:
        return first, second
    early, late = crossing(far, first * far[last]) / last, crossing(far, second * far[last]) / last
    return (early, late) if late > early else (first, second)


@compiled(nogil=True, error_model="numpy")
def crossing(values: Array, level: float) -> float:
    """As `rising.crossing`."""
    for i in range(len(values)):
        if values[i] >= level:
            return 0.0 if i == 0 else i - 1 + (level - values[i - 1]) / (values[i] - values[i - 1])
    return len(values) - 1.0


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def nearest_to_neutral(displacements: Array, path: Array) -> int:
    """Which node of a path is nearest to the base pose."""
    best, found = np.inf, 0
    for i in range(len(path)):
        total = 0.0
        for c in range(displacements.shape[1]):
            total += displacements[path[i], c] ** 2
        if total < best:
            best, found = total, i
    return found


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
