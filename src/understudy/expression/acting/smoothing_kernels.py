"""Compiled twin of the sigmoids of `smoothing`: one column of one leg after the other.

Frames are equally spaced, so that the exponentials of a sigmoid are powers of one number.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def towards_sigmoids(points: Array, bounds: Array, blend: float, steps: int, flattest: float, steepest: float) -> None:
    """Columns of points (F, C), in place, brought `blend` of the way to the sigmoids that follow them, leg by leg."""
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
            fits = fit(way[:count], fitted[:count], steps, flattest, steepest)
            if fits > 0.0:
                share = blend * fits
                for i in range(1, count - 1):
                    here = points[first + i, column]
                    points[first + i, column] = here + share * (start + reach * fitted[i] - here)


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def fit(way: Array, g: Array, steps: int, flattest: float, steepest: float) -> float:
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
