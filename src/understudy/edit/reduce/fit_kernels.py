"""One column between keys: a chain of Bezier segments fitted to samples by least squares.

Times are counted in samples (two a frame). Key k has a value v, a slope and a handle length on either side; handles are
(d, s d), so that equal slopes on both sides make a smooth key. The five numbers of a key, its state, are

    0 v    1 slope in    2 length in    3 slope out    4 length out

and between key 0 at time 0 and key 1 at time T the control points are (0, v0), (e0, v0 + s0 e0), (T - d1, v1 - s1 d1),
(T, v1). With B the Bernstein polynomials at the parameter of time t and m = y'/x' the slope there, the value's
derivatives are

    v0: B0 + B1    s0: B1 e0    e0: B1 (s0 - m)    v1: B2 + B3    s1: -B2 d1    d1: B2 (m - s1)

Levenberg and Marquardt's method on the weighted squares is a banded system, as a segment ties only its two keys. A weak
pull of the lengths towards a third decides where the samples do not (a straight piece fits with any lengths).
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import compile_kernel

SLOTS_PER_KEY = 5
VALUE_SLOT, SLOPE_IN_SLOT, LENGTH_IN_SLOT, SLOPE_OUT_SLOT, LENGTH_OUT_SLOT = 0, 1, 2, 3, 4
MATRIX_BANDWIDTH = 8  # a segment reaches from slot 0 of one key to slot 2 of the next: seven apart, and the diagonal
# Weight of the pull towards a third of the length, against residuals that are one at the tolerance.
HANDLE_LENGTH_WEIGHT = 1e-3
MIN_TIME_HANDLE_RATIO = 0.02  # of the segment; a handle without length leaves its slope undetermined
MAX_TIME_HANDLE_RATIO = 0.95  # of the segment; x' stays above 0.075 in its middle
MAX_SHORT_SEGMENT_HANDLE_RATIO = 0.6  # of segments of up to four frames, where no sample would see the steep middle


@compile_kernel(inline="always")
def max_handle_ratio(span: float) -> float:
    """The longest handle, as a share of a segment of `span` samples."""
    return MAX_TIME_HANDLE_RATIO if span > 8 else MAX_SHORT_SEGMENT_HANDLE_RATIO


@compile_kernel()
def parameter(p1: float, p2: float, u: float, guess: float) -> float:
    """x(s) = u on the unit segment by Newton's method in a bracket; handles are bounded, so that x' > 0."""
    c1, c2, c3 = 3.0 * p1, 3.0 * (p2 - 2.0 * p1), 1.0 + 3.0 * (p1 - p2)
    s, low, high = guess, 0.0, 1.0
    for _ in range(60):
        residual = ((c3 * s + c2) * s + c1) * s - u
        if abs(residual) < 1e-11:
            break
        if residual < 0:
            low = s
        else:
            high = s
        rate = (3.0 * c3 * s + 2.0 * c2) * s + c1
        new = s - residual / rate if rate > 1e-9 else 0.5 * (low + high)
        s = new if low < new < high else 0.5 * (low + high)
    return s


@compile_kernel()
def sample_segment(span: float, left: Array, right: Array, t: float) -> float:
    """The value at time t of the segment between two keys' states (5,)."""
    s = parameter(left[4] / span, 1.0 - right[2] / span, t / span, t / span)
    return _value(left, right, s)


@compile_kernel(inline="always")
def _value(left: Array, right: Array, s: float) -> float:
    m = 1.0 - s
    y1, y2 = left[0] + left[3] * left[4], right[0] - right[1] * right[2]
    return m * m * m * left[0] + 3.0 * m * m * s * y1 + 3.0 * m * s * s * y2 + s * s * s * right[0]


@compile_kernel()
def sample_chain(keys: Array, state: Array, first: int, last: int, out: Array) -> None:
    """Values at all samples from key `first` to key `last` (both included), into out[sample - keys[first]]."""
    start = keys[first]
    for k in range(first, last):
        span = float(keys[k + 1] - keys[k])
        out[keys[k] - start] = state[k, 0]
        p1, p2, s = state[k, 4] / span, 1.0 - state[k + 1, 2] / span, 0.0
        for m in range(keys[k] + 1, keys[k + 1]):
            s = parameter(p1, p2, (m - keys[k]) / span, s)
            out[m - start] = _value(state[k], state[k + 1], s)
    out[keys[last] - start] = state[last, 0]


@compile_kernel(inline="always")
def stride_of(span: int) -> int:
    """The step in samples at which a segment is fitted: a dozen or two samples are as good as hundreds."""
    return 1 if span <= 24 else (2 if span <= 96 else 4 if span <= 256 else 8)


@compile_kernel()
def chain_cost(keys: Array, state: Array, first: int, last: int, target: Array, weight: Array) -> float:
    """Weighted sum of squares over the samples of the fit, plus the pull on the lengths."""
    cost = 0.0
    for k in range(first, last):
        span = keys[k + 1] - keys[k]
        stride = stride_of(span)
        p1, p2, s = state[k, 4] / span, 1.0 - state[k + 1, 2] / span, 0.0
        for m in range(keys[k], keys[k + 1], stride):
            s = parameter(p1, p2, (m - keys[k]) / span, s)
            r = weight[m] * (_value(state[k], state[k + 1], s) - target[m])
            cost += r * r * stride
        cost += HANDLE_LENGTH_WEIGHT * ((state[k, 4] / span - 1 / 3) ** 2 + (state[k + 1, 2] / span - 1 / 3) ** 2)
    r = weight[keys[last]] * (state[last, 0] - target[keys[last]])
    return cost + r * r


@compile_kernel()
def _assemble(
    keys: Array, state: Array, first: int, last: int, target: Array, weight: Array, place: Array, a: Array, b: Array
) -> None:
    """Normal equations: lower band a (n, MATRIX_BANDWIDTH) and b (n,); place (K', 5) is the row of each slot, or -1."""
    a[:] = 0.0
    b[:] = 0.0
    g, where = np.empty(6), np.empty(6, np.int64)
    for k in range(first, last):
        i = k - first
        where[0], where[1], where[2] = place[i, 0], place[i, 3], place[i, 4]
        where[3], where[4], where[5] = place[i + 1, 0], place[i + 1, 1], place[i + 1, 2]
        left, right = state[k], state[k + 1]
        whole = keys[k + 1] - keys[k]
        span, stride = float(whole), stride_of(whole)
        x1, x2 = left[4], span - right[2]
        s = 0.0
        y0, y1, y2, y3 = left[0], left[0] + left[3] * left[4], right[0] - right[1] * right[2], right[0]
        for sample in range(keys[k], keys[k + 1] + (1 if k + 1 == last else 0), stride):
            w = weight[sample]
            if w == 0.0:
                continue
            s = parameter(x1 / span, x2 / span, (sample - keys[k]) / span, s)
            m = 1.0 - s
            b0, b1, b2, b3 = m * m * m, 3.0 * m * m * s, 3.0 * m * s * s, s * s * s
            dx = 3.0 * (m * m * x1 + 2.0 * m * s * (x2 - x1) + s * s * (span - x2))
            dy = 3.0 * (m * m * (y1 - y0) + 2.0 * m * s * (y2 - y1) + s * s * (y3 - y2))
            slope = dy / max(dx, 1e-9 * span)
            r = w * (b0 * y0 + b1 * y1 + b2 * y2 + b3 * y3 - target[sample])
            g[0], g[1], g[2] = w * (b0 + b1), w * b1 * left[4], w * b1 * (left[3] - slope)
            g[3], g[4], g[5] = w * (b2 + b3), -w * b2 * right[2], w * b2 * (slope - right[1])
            for p in range(6):
                row = where[p]
                if row < 0:
                    continue
                b[row] -= stride * g[p] * r
                for q in range(6):
                    column = where[q]
                    if 0 <= column <= row:
                        a[row, row - column] += stride * g[p] * g[q]
        for row, length in ((where[2], left[4]), (where[5], right[2])):
            if row >= 0:
                a[row, 0] += HANDLE_LENGTH_WEIGHT / (span * span)
                b[row] -= HANDLE_LENGTH_WEIGHT * (length / span - 1 / 3) / span


@compile_kernel()
def _solve_band(a: Array, b: Array, damping: float, factor: Array, x: Array) -> bool:
    """(a + damping diag(a)) x = b by a banded Cholesky; False where it is not positive."""
    n = len(b)
    for i in range(n):
        for d in range(min(i, MATRIX_BANDWIDTH - 1), -1, -1):
            j = i - d
            total = a[i, d]
            if d == 0:
                total += damping * a[i, 0] + 1e-30
            for e in range(d + 1, min(i, MATRIX_BANDWIDTH - 1) + 1):
                if e - d < MATRIX_BANDWIDTH and j - (e - d) >= 0:
                    total -= factor[i, e] * factor[j, e - d]
            if d == 0:
                if not total > 0.0:
                    return False
                factor[i, 0] = np.sqrt(total)
            else:
                factor[i, d] = total / factor[j, 0]
    for i in range(n):
        total = b[i]
        for d in range(1, min(i, MATRIX_BANDWIDTH - 1) + 1):
            total -= factor[i, d] * x[i - d]
        x[i] = total / factor[i, 0]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for d in range(1, min(n - 1 - i, MATRIX_BANDWIDTH - 1) + 1):
            total -= factor[i + d, d] * x[i + d]
        x[i] = total / factor[i, 0]
    return True


@compile_kernel()
def _number_slots(first: int, last: int, broken: Array, free: Array, place: Array) -> int:
    """Rows of the unknowns: free (K', 5) slots in order, the slopes of a smooth key in one row."""
    n = 0
    for i in range(last - first + 1):
        for slot in range(SLOTS_PER_KEY):
            place[i, slot] = -1
            outside = (i == 0 and slot in (1, 2)) or (i == last - first and slot in (3, 4))
            if free[i, slot] and not outside:
                joined = slot == SLOPE_OUT_SLOT and not broken[first + i] and place[i, SLOPE_IN_SLOT] >= 0
                if joined:
                    place[i, slot] = place[i, SLOPE_IN_SLOT]
                else:
                    place[i, slot] = n
                    n += 1
    return n


@compile_kernel()
def fit_chain(
    keys: Array,
    state: Array,
    broken: Array,
    first: int,
    last: int,
    target: Array,
    weight: Array,
    free: Array,
    iterations: int,
    enough: float,
) -> float:
    """Fit the states of keys `first` to `last` in place to target (M,) with weight (M,); returns the cost.

    free (last - first + 1, 5) bool says which slots may move; lengths that may not are made a third. Slopes of keys
    that are not `broken` stay equal on both sides: at the ends of the chain that means both or none of them is free.
    Gives up after three steps that leave more than `enough`.
    """
    count = last - first + 1
    place = np.empty((count, SLOTS_PER_KEY), np.int64)
    n = _number_slots(first, last, broken, free, place)
    for k in range(first, last):
        span = float(keys[k + 1] - keys[k])
        if not free[k - first, LENGTH_OUT_SLOT]:
            state[k, LENGTH_OUT_SLOT] = span / 3.0
        if not free[k + 1 - first, LENGTH_IN_SLOT]:
            state[k + 1, LENGTH_IN_SLOT] = span / 3.0
    cost = chain_cost(keys, state, first, last, target, weight)
    if n == 0:
        return cost
    a, b, x, factor = np.empty((n, MATRIX_BANDWIDTH)), np.empty(n), np.empty(n), np.zeros((n, MATRIX_BANDWIDTH))
    old = np.empty((count, SLOTS_PER_KEY))
    damping = 1e-3
    for iteration in range(iterations):
        if iteration == 3 and cost > enough:
            break
        _assemble(keys, state, first, last, target, weight, place, a, b)
        gained = False
        for _ in range(5):
            if not _solve_band(a, b, damping, factor, x):
                damping *= 10.0
                continue
            old[:] = state[first : last + 1]
            _step(keys, state, broken, first, last, place, x)
            new = chain_cost(keys, state, first, last, target, weight)
            if new < cost:
                gained = new < cost * (1 - 2e-3)
                cost = new
                damping = max(damping * 0.2, 1e-9)
                break
            state[first : last + 1] = old
            damping *= 8.0
        if not gained:
            break
    return cost


@compile_kernel()
def _step(keys: Array, state: Array, broken: Array, first: int, last: int, place: Array, x: Array) -> None:
    """Add the step, with lengths kept within their bounds; the other side of a smooth end key turns along."""
    for k in range(first, last + 1):
        i = k - first
        for slot in range(SLOTS_PER_KEY):
            if place[i, slot] >= 0:
                state[k, slot] += x[place[i, slot]]
        if k > first:
            span = float(keys[k] - keys[k - 1])
            state[k, 2] = min(max(state[k, 2], MIN_TIME_HANDLE_RATIO * span), max_handle_ratio(span) * span)
        if k < last:
            span = float(keys[k + 1] - keys[k])
            state[k, 4] = min(max(state[k, 4], MIN_TIME_HANDLE_RATIO * span), max_handle_ratio(span) * span)
        if not broken[k]:
            if i == 0 and place[i, SLOPE_OUT_SLOT] >= 0:
                state[k, SLOPE_IN_SLOT] = state[k, SLOPE_OUT_SLOT]
            if i == slot_count(first, last) - 1 and place[i, SLOPE_IN_SLOT] >= 0:
                state[k, SLOPE_OUT_SLOT] = state[k, SLOPE_IN_SLOT]


@compile_kernel(inline="always")
def slot_count(first: int, last: int) -> int:
    """Keys from first to last."""
    return last - first + 1
