"""The compiled twin of `requests.gaps_slowly`."""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import compiled
from understudy.maths.quaternion_kernels import column_of


@compiled(nogil=True)
def gaps(parts: Array, place: Array, turn: Array, position: Array, orientation: Array, size: float, out: Array) -> None:
    """Ways and turns to go, into `out` (R, 6), zero where not asked for."""
    for r in range(parts.shape[0]):
        gap(parts[r], place[r], turn[r], position[r], orientation[r], size, out[r])


@compiled(nogil=True)
def gap(parts: Array, place: Array, turn: Array, position: Array, orientation: Array, size: float, out: Array) -> None:
    """Way and turn to go of one request, into `out` (6,)."""
    m, q = np.empty((3, 3)), np.empty(4)
    for a in range(3):
        out[a] = (place[a] - position[a]) / size if parts[0] else 0.0
        out[3 + a] = 0.0
    if not parts[1]:
        return
    for a in range(3):
        for b in range(3):
            m[a, b] = 0.0
            for c in range(3):
                m[a, b] += turn[a, c] * orientation[b, c]
    column_of(m, q)
    sine = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    cosine = abs(q[3])
    side = 1.0 if q[3] >= 0.0 else -1.0
    factor = 2.0 * side * math.atan2(sine, cosine) / sine if sine > 1e-12 * cosine else 2.0 * side / cosine
    for a in range(3):
        out[3 + a] = factor * q[a]
