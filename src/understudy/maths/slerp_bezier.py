"""A slerp as a Bezier segment: quaternion columns that are cubics in time, and the same turn once normalised."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import linear


def slerp_handles(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Value handles (..., 4), leaving a and arriving at b, both a third of the time long, that follow the slerp.

    a and b are unit quaternions (..., 4) on one side of the sphere. With o the angle from a to b as 4-vectors, and u,
    v the directions of travel at both ends, P1 = a (1 + r) + u o/3 and P2 = b (1 + r) - v o/3. The curve stays in the
    slerp's plane and has its velocity at both keys; r = -(o^2/30 + o^4/5000), which nobody sees since rotations are
    normalised, evens the speed between. Found by minimising the largest angle over o from 0 to 90 degrees: for a half
    turn (o = 90) it is 1.2e-5 radians instead of 5e-3 with r = 0, for 90 degrees 1e-7, for 60 degrees 1e-8.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    o = 2.0 * np.arctan2(linear.length(a - b), linear.length(a + b))[..., None]
    small = o < 1e-8
    ratio = np.where(small, 1.0, o / np.where(small, 1.0, np.sin(o)))
    cosine = np.cos(o)
    inward = -(o**2 / 30 + o**4 / 5000)
    return a * inward + ratio * (b - a * cosine) / 3, -b * inward + ratio * (b * cosine - a) / 3
