"""Flights: between leaving the floor and coming back to it the centre of mass moves as thrown things do.

From the last frame on the floor, at c0, to the first on it again, at c1, T seconds later,

    c(t) = (1 - s) c0 + s c1 + g/2 T^2 s (1 - s) up,    s = t / T

whose second differences are those of gravity to rounding. What is in the air for longer than a jump is carried by
something else, and left alone.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.retarget.contacts import runs

LONGEST = 1.0  # seconds: a person would jump higher than a metre


def fallen(centres: Array, air: Array, rate: float, gravity: float) -> Array:
    """(F, 3) by how far the centres of mass (F, 3) are from where they would fly, where a body is in the air (F,)."""
    result = np.zeros(centres.shape)
    for a, b in runs(np.asarray(air)):
        if a == 0 or b == len(centres) or b - a > LONGEST * rate:
            continue
        count = b - a + 1
        share = np.arange(1, count)[:, None] / count
        line = (1 - share) * centres[a - 1] + share * centres[b]
        line[:, 1] += 0.5 * gravity * (count / rate) ** 2 * (share * (1 - share))[:, 0]
        result[a:b] = line - centres[a:b]
    return result
