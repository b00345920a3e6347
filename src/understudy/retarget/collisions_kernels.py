"""Compiled loops of `collisions`. Their twin in NumPy is `collisions.distances_numpy`."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import accelerate


@accelerate.compiled()
def distances(start: Array, end: Array, first: Array, second: Array, distance: Array, normal: Array) -> None:
    """Of segments (F, L, 3) to (F, L, 3), pairs of them (C,) [Ericson 2005, 5.1.9]."""
    tiny = 1e-18
    d1, d2, r = np.empty(3), np.empty(3), np.empty(3)
    for n in range(len(start)):
        for i in range(len(first)):
            a = e = f = c = b = 0.0
            for k in range(3):
                d1[k] = end[n, first[i], k] - start[n, first[i], k]
                d2[k] = end[n, second[i], k] - start[n, second[i], k]
                r[k] = start[n, first[i], k] - start[n, second[i], k]
                a += d1[k] * d1[k]
                e += d2[k] * d2[k]
                f += d2[k] * r[k]
                c += d1[k] * r[k]
                b += d1[k] * d2[k]
            denominator = a * e - b * b
            s = min(max((b * f - c * e) / denominator, 0.0), 1.0) if denominator > tiny else 0.0
            t = (b * s + f) / max(e, tiny)
            if t < 0:
                s = min(max(-c / max(a, tiny), 0.0), 1.0)
            elif t > 1:
                s = min(max((b - c) / max(a, tiny), 0.0), 1.0)
            t = min(max(t, 0.0), 1.0)
            square = 0.0
            for k in range(3):
                r[k] += s * d1[k] - t * d2[k]
                square += r[k] * r[k]
            size = np.sqrt(square)
            distance[n, i] = size
            for k in range(3):
                normal[n, i, k] = r[k] / size if size > 0 else (1.0 if k == 1 else 0.0)
