"""Kernels of `transition`, `synthesis` and `smoothing`, without temporary arrays.

A path is read off, varied, expanded into poses, straightened and sampled. Sigmoids are fitted to one column of one leg
after the other; frames are equally spaced, so that the exponentials of a sigmoid are powers of one number.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel


@compile_kernel(nogil=True, error_model="numpy")
def trace_path(following: Array, source: int, sink: int) -> Array:
    """(n,) the nodes from source to sink by a table (N,) of next nodes; empty where there is no path."""
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


@compile_kernel(nogil=True, error_model="numpy")
def detour_length(poses: Array, over: int, before: int, after: int) -> float:
    """Length of the path over a node, of poses (N, n)."""
    first, second = 0.0, 0.0
    for c in range(poses.shape[1]):
        first += (poses[over, c] - poses[before, c]) ** 2
        second += (poses[over, c] - poses[after, c]) ** 2
    return np.sqrt(first) + np.sqrt(second)


@compile_kernel(nogil=True, error_model="numpy")
def vary(
    path: Array, labels: Array, poses: Array, starts: Array, others: Array, share: float, longest: float, draws: Array
) -> None:
    """Replace about `share` of the nodes of a path, in place, by neighbours that share a label with source or sink.

    Source and sink stay. No substitute is a peak, neutral, or on the path already, and none makes the path between the
    nodes before and after it longer than `most` times: a face that moves back and forth trembles. `draws` are uniform.
    """
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
        most = longest * detour_length(poses, before[place], path[place - 1], path[place + 1])
        for node in others[starts[before[place]] : starts[before[place] + 1]]:
            fits = False
            for q in range(labels.shape[1]):
                fits = fits or (labels[node, q] and (labels[first, q] or labels[last, q]))
            for other in path:
                fits = fits and other != node
            if fits and detour_length(poses, node, path[place - 1], path[place + 1]) <= most:
                options[many] = node
                many += 1
        if many:
            path[place] = options[int(draws[2 * number + 2] * many)]


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
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


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def straighten(poses: Array, direct: float) -> None:
    """Blend poses (m, n) from peak to peak by `direct` with the straight line between them, in place.

    Takes meet in neutral, and so do paths; a face that changes its expression does not pass through neutral.
    """
    last = len(poses) - 1
    for i in range(1, last):
        u = i / last
        u = u * u * (3.0 - 2.0 * u)
        for c in range(poses.shape[1]):
            line = poses[0, c] + u * (poses[last, c] - poses[0, c])
            poses[i, c] = (1.0 - direct) * poses[i, c] + direct * line


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def crossings(poses: Array, first: float, second: float) -> tuple[float, float]:
    """Times at which poses (m, n) have done the shares `first` and `second`, as shares of their own duration."""
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


@compile_kernel(nogil=True, error_model="numpy")
def crossing(values: Array, level: float) -> float:
    """As `coupling.crossing`."""
    for i in range(len(values)):
        if values[i] >= level:
            return 0.0 if i == 0 else i - 1 + (level - values[i - 1]) / (values[i] - values[i - 1])
    return len(values) - 1.0


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
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


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def add_sampled(poses: Array, at: Array, weights: Array, members: Array, depth: int, points: Array) -> None:
    """Add to points (F, L, depth) poses (m, n) at real-valued indexes `at` (F,) times `weights` (F,)."""
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


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def blend_towards_sigmoids(
    points: Array, bounds: Array, blend: float, steps: int, flattest: float, steepest: float
) -> None:
    """Columns of points (F, C), in place, blended by `blend` with the sigmoids that follow them, leg by leg."""
    longest = 0
    for leg in range(len(bounds) - 1):
        longest = max(longest, bounds[leg + 1] - bounds[leg] + 1)
    way, fitted = np.empty(longest), np.empty(longest)
    for leg in range(len(bounds) - 1):
        first, last = bounds[leg], bounds[leg + 1]
        count = last - first + 1
        if count < 4:
            continue
        for column in range(points.shape[1]):
            start, reach = points[first, column], points[last, column] - points[first, column]
            if abs(reach) <= 1e-12:
                continue
            for i in range(count):
                way[i] = (points[first + i, column] - start) / reach
            fits = fit_sigmoid(way[:count], fitted[:count], steps, flattest, steepest)
            if fits > 0.0:
                share = blend * fits
                for i in range(1, count - 1):
                    here = points[first + i, column]
                    points[first + i, column] = here + share * (start + reach * fitted[i] - here)


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def fit_sigmoid(way: Array, g: Array, steps: int, flattest: float, steepest: float) -> float:
    """The sigmoid g (n,) nearest to one way (n,) from 0 to 1; returns how well it follows."""
    n = len(way)
    early, late = 0, 0
    while early < n - 1 and not way[early] >= 0.25:
        early += 1
    while late < n - 1 and not way[late] >= 0.75:
        late += 1
    t0, t1 = early / (n - 1), late / (n - 1)
    steep = min(max(2.0 * np.log(3.0) / max(t1 - t0, 1e-3), flattest), steepest)
    middle = min(max(0.5 * (t0 + t1), 0.0), 1.0)
    for step in range(steps + 1):
        start = 1.0 / (1.0 + np.exp(steep * middle))
        end = 1.0 / (1.0 + np.exp(-steep * (1.0 - middle)))
        slope0, slope1, span = start * (1.0 - start), end * (1.0 - end), end - start
        a, b, d, p, q = 1e-12, 0.0, 1e-12, 0.0, 0.0
        tail, ratio = np.exp(steep * middle), np.exp(-steep / (n - 1))
        each = 1.0 / span
        for i in range(n):
            u = i / (n - 1)
            here = 1.0 / (1.0 + tail)
            tail *= ratio
            slope = here * (1.0 - here)
            value = (here - start) * each
            by_steep = (
                (u - middle) * slope + middle * slope0 - value * ((1.0 - middle) * slope1 + middle * slope0)
            ) * each
            by_middle = -steep * (slope - slope0 - value * (slope1 - slope0)) * each
            r = way[i] - value
            g[i] = value
            a += by_steep * by_steep
            b += by_steep * by_middle
            d += by_middle * by_middle
            p += by_steep * r
            q += by_middle * r
        if step == steps:
            break
        size = a * d - b * b + 1e-15
        turned = steep + (d * p - b * q) / size
        shift = min(max((a * q - b * p) / size, -0.2), 0.2)
        steep = min(max(turned, max(0.5 * steep, flattest)), min(2.0 * steep, steepest))
        middle = min(max(middle + shift, 0.0), 1.0)
    mean = way.mean()
    left, whole = 0.0, 1e-15
    for i in range(n):
        left += (way[i] - g[i]) ** 2
        whole += (way[i] - mean) ** 2
    return min(max(1.0 - 10.0 * left / whole, 0.0), 1.0)
