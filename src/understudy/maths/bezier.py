"""One cubic Bezier segment of an animation curve, with free handles in time and value.

The segment between two keys P0 and P3 has inner points P1 = P0 + after and P2 = P3 - before [Ciccone 2019, appendix
A]. Each handle is an offset (dt, dv), so both time offsets are positive. Time and value are cubics in a parameter s:

    x(s) = sum B_i(s) x_i,   y(s) = sum B_i(s) y_i,   B = ((1-s)^3, 3(1-s)^2 s, 3(1-s) s^2, s^3)

and the value at time t is y(s) with x(s) = t. Where each time handle is no longer than the segment, x rises and s
is unique. Control points are x (..., 4) and y (..., 4); times t (...) broadcast against their leading dimensions.

**Solving x(s) = u** on the unit segment x0 = 0, x3 = 1, by Newton's method inside a shrinking bracket. With x1 = p1 and
x2 = p2 the cubic is x(s) = c1 s + c2 s^2 + c3 s^3, c1 = 3 p1, c2 = 3 (p2 - 2 p1), c3 = 1 + 3 p1 - 3 p2. A Newton step
that leaves the bracket, or does not at least halve the step before it, is replaced by a bisection, so that every
problem ends, also the flat ones (handles as long as the segment make x' = 0 in the middle, where Newton alone creeps).

**Slerp as a Bezier segment**: quaternion columns that are cubics in time, and the same rotation once normalised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import vector

MAX_NEWTON_STEPS = 64
"""Bisection alone needs 53 halvings for float64; a handful of Newton steps is usual. 64 leaves room for a mixture."""

STEP_TOLERANCE = 1e-14
RESIDUAL_TOLERANCE = 2e-16
"""Newton's step is the error of s: below 1e-14 rounding rules (x itself carries about 5e-16); a hundred times
larger would show in derivatives. A residual of 2e-16 is rounding: the next float64 after 1."""

MIN_TIME_SLOPE_RATIO = 1e-9
"""x'(s) below this fraction of the segment counts as a halt of time. Handles of up to 0.95 of the segment keep x'
above 0.075 in its middle; at 1e-9 the ratio y'/x' has lost half of its digits to the rounding of x'."""

STALL_OFFSET_RATIO = 1e-6
"""Where time halts, y'/x' is taken this far further inside. It errs by about the nudge (1e-6 of the curve's bend),
while x' there is still at least 3e-12 even where it starts like s^3: far above rounding (1e-16)."""


def control_points(
    start: ArrayLike,
    end: ArrayLike,
    after: ArrayLike,
    before: ArrayLike,
) -> tuple[Array, Array]:
    """Keys and handles, each (..., 2) = (time, value), -> x (..., 4), y (..., 4)."""
    p0, p3 = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    points = np.broadcast_arrays(p0, p0 + np.asarray(after, dtype=float), p3 - np.asarray(before, dtype=float), p3)
    both = np.stack(points, axis=-1)
    return both[..., 0, :], both[..., 1, :]


def handles(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """The handles `after` (..., 2) of the first key and `before` (..., 2) of the last, from control points."""
    points = np.stack(np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float)), axis=-1)
    return points[..., 1, :] - points[..., 0, :], points[..., 3, :] - points[..., 2, :]


def bernstein(s: ArrayLike) -> Array:
    """B_i(s): (...) -> (..., 4). They sum to one, and are exactly 0 or 1 at the ends."""
    s = np.asarray(s, dtype=float)
    m = 1.0 - s
    return np.stack((m * m * m, 3.0 * m * m * s, 3.0 * m * s * s, s * s * s), axis=-1)


def evaluate(x: ArrayLike, y: ArrayLike, t: ArrayLike) -> Array:
    """The value (...) at time t (...); before and after the segment its end values hold."""
    s = parameter(x, t)
    return np.einsum("...i,...i->...", bernstein(s), np.asarray(y, dtype=float))


def parameter(x: ArrayLike, t: ArrayLike) -> Array:
    """`solve_parameter` of control points x (..., 4): s (...)."""
    x = np.asarray(x, dtype=float)
    return solve_parameter(x[..., 0], x[..., 1], x[..., 2], x[..., 3], t)


def solve_parameter(x0: ArrayLike, x1: ArrayLike, x2: ArrayLike, x3: ArrayLike, t: ArrayLike) -> Array:
    """s in [0, 1] with x(s) = t, by Newton's method with a bisection safeguard. All arguments broadcast to (...).

    Exactly 0 for t <= x0 and 1 for t >= x3. Handles so long that x folds back still give a solution, one of several.
    """
    start, span = np.asarray(x0, dtype=float), np.asarray(x3, dtype=float) - np.asarray(x0, dtype=float)
    empty = span <= 0
    span = np.where(empty, 1.0, span)
    u = (np.asarray(t, dtype=float) - start) / span
    p1, p2 = (np.asarray(x1, dtype=float) - start) / span, (np.asarray(x2, dtype=float) - start) / span
    p1, p2, u, empty = np.broadcast_arrays(p1, p2, np.clip(u, 0.0, 1.0), empty)
    s = solve_unit(p1.ravel(), p2.ravel(), u.ravel()).reshape(u.shape)
    return np.where(empty | (u <= 0) | (u >= 1), np.where(u > 0, 1.0, 0.0), s)


def solve_unit(p1: Array, p2: Array, u: Array) -> Array:
    """s (N,) for p1, p2 and u in [0, 1], each (N,).

    All equations step together, and the solved ones are dropped when half are done. This is a fifth of a microsecond an
    equation; a kernel takes a quarter of that, and most of a second to load. Kernels that sample many curves call
    `scalar_kernels.bezier_newton_scalar`.
    """
    c1, c2, c3 = 3.0 * p1, 3.0 * (p2 - 2.0 * p1), 1.0 + 3.0 * (p1 - p2)
    result = u.copy()
    s, low, high, last = u.copy(), np.zeros(u.size), np.ones(u.size), np.ones(u.size)
    active, unsolved = np.arange(u.size), np.ones(u.size, dtype=bool)
    for _ in range(MAX_NEWTON_STEPS):
        residual = ((c3 * s + c2) * s + c1) * s - u
        rate = (3.0 * c3 * s + 2.0 * c2) * s + c1
        low, high = np.where(residual <= 0, s, low), np.where(residual >= 0, s, high)
        step = residual / np.where(np.abs(rate) < 1e-300, 1e-300, rate)
        new = s - step
        poor = (new < low) | (new > high) | (np.abs(2.0 * step) > np.abs(last))
        new = np.where(poor, 0.5 * (low + high), new)
        last = s - new
        unsolved &= np.abs(residual) > RESIDUAL_TOLERANCE
        s = np.where(unsolved, new, s)
        unsolved &= np.abs(last) > STEP_TOLERANCE
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


def slope(x: ArrayLike, y: ArrayLike, t: ArrayLike) -> Array:
    """dy/dt (...) = y'(s) / x'(s) at time t inside the segment, always finite.

    Where time halts (x' = 0, as at a key whose handle has no length) it is the limit from further inside.
    """
    return _slope(np.asarray(x, dtype=float), np.asarray(y, dtype=float), parameter(x, t))


def _slope(x: Array, y: Array, s: Array) -> Array:
    span = np.maximum(x[..., 3] - x[..., 0], np.finfo(float).tiny)
    run = _derivative(x, s) / span
    halted = run < MIN_TIME_SLOPE_RATIO
    if halted.any():
        inside = s + np.where(s < 0.5, STALL_OFFSET_RATIO, -STALL_OFFSET_RATIO)
        s = np.where(halted, inside, s)
        # A fold (x' < 0) or a triple halt in the middle is steep without end: 1e-12 bounds it.
        run = np.maximum(_derivative(x, s) / span, 1e-12)
    return _derivative(y, s) / run / span


def _derivative(p: Array, s: Array) -> Array:
    """p'(s) = 3 (1-s)^2 (p1-p0) + 6 (1-s) s (p2-p1) + 3 s^2 (p3-p2)."""
    m = 1.0 - s
    first, middle, last = p[..., 1] - p[..., 0], p[..., 2] - p[..., 1], p[..., 3] - p[..., 2]
    return 3.0 * (m * m * first + 2.0 * m * s * middle + s * s * last)


def from_hermite(span: ArrayLike, slope0: ArrayLike, slope1: ArrayLike) -> tuple[Array, Array]:
    """Handles after, before (..., 2), a third of the span each, from slopes in value per second (glTF CUBICSPLINE)."""
    third = np.asarray(span, dtype=float) / 3.0
    after = np.broadcast_arrays(third, third * np.asarray(slope0, dtype=float))
    before = np.broadcast_arrays(third, third * np.asarray(slope1, dtype=float))
    return np.stack(after, axis=-1), np.stack(before, axis=-1)


def to_hermite(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Slopes (...) in value per second at both ends.

    The Hermite cubic with these slopes has the same shape only where both time handles are a third of the span.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    ends = np.zeros(np.broadcast_shapes(x.shape, y.shape)[:-1])
    return _slope(x, y, ends), _slope(x, y, ends + 1.0)


def split(x: ArrayLike, y: ArrayLike, t: ArrayLike) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Cut at time t by de Casteljau's construction, shape kept: (x, y) of the left part, (x, y) of the right part."""
    s = parameter(x, t)
    (left_x, right_x), (left_y, right_y) = (
        _split_polygon(np.asarray(x, dtype=float), s),
        _split_polygon(np.asarray(y, dtype=float), s),
    )
    return (left_x, left_y), (right_x, right_y)


def _split_polygon(p: Array, s: Array) -> tuple[Array, Array]:
    s = s[..., None]
    a = p[..., :-1] * (1.0 - s) + p[..., 1:] * s
    b = a[..., :-1] * (1.0 - s) + a[..., 1:] * s
    c = b[..., :-1] * (1.0 - s) + b[..., 1:] * s
    p = np.broadcast_to(p, (*c.shape[:-1], 4))
    left = np.concatenate((p[..., :1], a[..., :1], b[..., :1], c), axis=-1)
    right = np.concatenate((c, b[..., -1:], a[..., -1:], p[..., -1:]), axis=-1)
    return left, right


def slerp_handles(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Value handles (..., 4), leaving a and arriving at b, both a third of the time long, that follow the slerp.

    a and b are unit quaternions (..., 4) on one side of the sphere. With o the angle from a to b as 4-vectors, and u,
    v the directions of travel at both ends, P1 = a (1 + r) + u o/3 and P2 = b (1 + r) - v o/3. The curve stays in the
    slerp's plane and has its velocity at both keys; r = -(o^2/30 + o^4/5000), which normalisation removes from the
    rotation, evens the speed between. Found by minimising the largest angle over o from 0 to 90 degrees: for a half
    turn (o = 90) it is 1.2e-5 radians instead of 5e-3 with r = 0, for 90 degrees 1e-7, for 60 degrees 1e-8.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    o = 2.0 * np.arctan2(vector.length(a - b), vector.length(a + b))[..., None]
    small = o < 1e-8
    ratio = np.where(small, 1.0, o / np.where(small, 1.0, np.sin(o)))
    cosine = np.cos(o)
    inward = -(o**2 / 30 + o**4 / 5000)
    return a * inward + ratio * (b - a * cosine) / 3, -b * inward + ratio * (b * cosine - a) / 3


def close_times(start: Array, length: Array, leaving: Array, arriving: Array, gap: float) -> Array:
    """(T,) times within segments (G,) where four samples of the parameter lie less than `gap` apart in time.

    `leaving` and `arriving` (G,) are the time handles. Times are rounded to a millisecond.
    """
    u = (np.arange(6) - 0.5) / 4  # one beyond each end, for the distance to the next segment's
    u = np.clip(u, 0.0, 1.0)
    a, b, d = leaving[:, None], arriving[:, None], length[:, None]
    times = start[:, None] + 3 * u * (1 - u) ** 2 * a + 3 * u * u * (1 - u) * (d - b) + u**3 * d
    close = np.minimum(times[:, 1:-1] - times[:, :-2], times[:, 2:] - times[:, 1:-1]) < gap / 2
    return np.unique(np.round(times[:, 1:-1][close], 3))
