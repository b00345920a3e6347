"""x(s) = u on the unit segment x0 = 0, x3 = 1: Newton's method inside a shrinking bracket.

With x1 = p1 and x2 = p2 the cubic is x(s) = c1 s + c2 s^2 + c3 s^3, c1 = 3 p1, c2 = 3 (p2 - 2 p1), c3 = 1 + 3 p1 -
3 p2. A Newton step that leaves the bracket, or does not at least halve the step before it, is replaced by a
bisection, so that every problem ends, also the flat ones (handles as long as the segment make x' = 0 in the middle,
where Newton alone creeps).
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import accelerate

STEPS = 64
"""Bisection alone needs 53 halvings for float64; a handful of Newton steps is usual. 64 leaves room for a mixture."""

STEP_END = 1e-14
RESIDUAL_END = 2e-16
"""Newton's step is the error of s: below 1e-14 rounding rules (x itself carries about 5e-16); a hundred times
larger would show in derivatives. A residual of 2e-16 is rounding: the next float64 after 1."""

WORTH_COMPILING = 10_000
"""Below this many equations NumPy takes a few milliseconds and importing numba a hundred times that; above it the
compiled loop wins, three to five times over for a million."""


def solve_unit(p1: Array, p2: Array, u: Array) -> Array:
    """s (N,) for p1, p2 and u in [0, 1], each (N,)."""
    kernels = accelerate.kernels("understudy.maths.bezier_kernels") if u.size >= WORTH_COMPILING else None
    if kernels is None:
        return newton(p1, p2, u)
    out = np.empty(u.size)
    kernels.newton(*map(np.ascontiguousarray, (p1, p2, u)), out, STEPS, STEP_END, RESIDUAL_END)
    return out


def newton(p1: Array, p2: Array, u: Array) -> Array:
    """The same in NumPy: all equations step together, and the solved ones are dropped when half are done."""
    c1, c2, c3 = 3.0 * p1, 3.0 * (p2 - 2.0 * p1), 1.0 + 3.0 * (p1 - p2)
    result = u.copy()
    s, low, high, last = u.copy(), np.zeros(u.size), np.ones(u.size), np.ones(u.size)
    active, unsolved = np.arange(u.size), np.ones(u.size, dtype=bool)
    for _ in range(STEPS):
        residual = ((c3 * s + c2) * s + c1) * s - u
        rate = (3.0 * c3 * s + 2.0 * c2) * s + c1
        low, high = np.where(residual <= 0, s, low), np.where(residual >= 0, s, high)
        step = residual / np.where(np.abs(rate) < 1e-300, 1e-300, rate)
        new = s - step
        poor = (new < low) | (new > high) | (np.abs(2.0 * step) > np.abs(last))
        new = np.where(poor, 0.5 * (low + high), new)
        last = s - new
        unsolved &= np.abs(residual) > RESIDUAL_END
        s = np.where(unsolved, new, s)
        unsolved &= np.abs(last) > STEP_END
        left = np.count_nonzero(unsolved)
        if 2 * left <= active.size:
            result[active] = s
            if left == 0:
                return result
            keep, unsolved = unsolved, unsolved[unsolved]
            active, s, low, high, last = active[keep], s[keep], low[keep], high[keep], last[keep]
            c1, c2, c3, u = c1[keep], c2[keep], c3[keep], u[keep]
    result[active] = s
    return result
