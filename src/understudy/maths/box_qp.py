"""Least squares within bounds, for many right sides at once.

    min over w of  1/2 w'Hw - b'w      with  low <= w <= high

H is the same for all. Newton's method on the weights that are free [Bertsekas 1982]: a weight at a bound stays there
while the gradient pushes it outwards; the others take the Newton step, cut off at the bounds. It ends, for a positive
definite H, with the exact minimum after a few steps; each right side starts where the one before ended.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import jit

MAX_NEWTON_STEPS = 60  # frames of a face need 2 to 6
GRADIENT_TOLERANCE_RATIO = 1e-10  # of the largest entry of b: a smaller gradient is rounding
MIN_PIVOT_RATIO = 1e-14  # of the largest diagonal entry of H: smaller pivots are rounding, and their weights stay fixed


def solve_box_qp(h: Array, b: Array, low: Array, high: Array, start: Array | None = None) -> Array:
    """(F, S) the minima for right sides b (F, S), with h (S, S) positive definite, low (S,) and high (S,)."""
    begin = np.clip(np.zeros(len(h)) if start is None else start, low, high)
    result = np.empty(b.shape)
    least = MIN_PIVOT_RATIO * float(np.diag(h).max(initial=0.0)) + 1e-300
    arrays = [np.ascontiguousarray(array, np.float64) for array in (h, b, low, high, begin)]
    kernels = jit.kernels("understudy.maths.scalar_kernels")
    kernels.solve_box_qp_rows(*arrays, MAX_NEWTON_STEPS, GRADIENT_TOLERANCE_RATIO, least, result)
    return result
