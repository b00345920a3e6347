"""One column between keys: a chain of Bezier segments fitted to samples by least squares.

Times are counted in samples. Key k has a value v, a slope and a handle length on either side; handles are (d, s d), so
that equal slopes on both sides make a smooth key. The five numbers of a key, its state, are

    0 v    1 slope in    2 length in    3 slope out    4 length out

and between key 0 at time 0 and key 1 at time T the control points are (0, v0), (e0, v0 + s0 e0), (T - d1, v1 - s1 d1),
(T, v1). With B the Bernstein polynomials at the parameter of time t and m = y'/x' the slope there, the value's
derivatives are

    v0: B0 + B1    s0: B1 e0    e0: B1 (s0 - m)    v1: B2 + B3    s1: -B2 d1    d1: B2 (m - s1)

Levenberg and Marquardt's method on the weighted squares is a banded system, as a segment ties only its two keys. A weak
pull of the lengths towards a third decides where the samples do not (a straight piece fits with any lengths).

Three bounds keep curves calm where no sample looks. A segment of fewer than MIN_FITTED_SAMPLES samples is straight: a
cubic has four numbers, and could swing between so few. Lengths are a third up to MIN_FREE_SAMPLES, and the more
samples a segment of T has the freer,

    T_free / T / 3  <=  d / T  <=  1/3 + (1 - T_free / T) / 2

so that its steepest part always spans several samples. The two handles of a key differ in length by MAX_HANDLE_RATIO at
most: otherwise a small turn of the shorter one throws the longer one about.
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
MAX_HANDLE_RATIO = 3.0  # between the lengths of the two handles of a key
MIN_FITTED_SAMPLES = 4  # samples; shorter segments are straight
MIN_FREE_SAMPLES = 8  # samples; the handles of shorter segments are a third of them
MAX_SAMPLES_PER_SEGMENT = 16  # samples that a fit looks at: a dozen are as good as hundreds


@compile_kernel()
def parameter(p1: float, p2: float, u: float, guess: float) -> float:
    """x(s) = u on the unit segment by Newton's method in a bracket; handles are bounded, so that x' > 0."""
    c1, c2, c3 = 3.0 * p1, 3.0 * (p2 - 2.0 * p1), 1.0 + 3.0 * (p1 - p2)
    s, low, high = guess, 0.0, 1.0
    for _ in range(60):
        residual = ((c3 * s + c2) * s + c1) * s - u
        if abs(residual) < 1e-10:
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
    """The step in samples at which a segment is fitted."""
    stride = 1
    while span > MAX_SAMPLES_PER_SEGMENT * stride:
        stride *= 2
    return stride


@compile_kernel(inline="always")
def is_straight(keys: Array, k: int, cut: Array) -> bool:
    """Whether the segment after key k is straight: too short to be fitted, or a cut (M,) bool begins there."""
    return keys[k + 1] - keys[k] < MIN_FITTED_SAMPLES or cut[keys[k]]


@compile_kernel(inline="always")
def length_bounds(span: float) -> tuple[float, float]:
    """The shortest and the longest handle of a segment, in samples."""
    fixed = min(MIN_FREE_SAMPLES / span, 1.0)
    return span * fixed / 3.0, span * (1.0 / 3.0 + 0.5 * (1.0 - fixed))


@compile_kernel()
def bound_lengths(keys: Array, state: Array, broken: Array, first: int, last: int, cut: Array) -> None:
    """Bring handle lengths within their bounds, and make straight segments straight.

    Of the two outer keys only the handles inside the chain change.
    """
    for k in range(first, last):
        span = float(keys[k + 1] - keys[k])
        shortest, longest = length_bounds(span)
        for key, slot in ((k, LENGTH_OUT_SLOT), (k + 1, LENGTH_IN_SLOT)):
            state[key, slot] = min(max(state[key, slot], shortest), longest)
    for k in range(first, last + 1):
        length_in, length_out = state[k, LENGTH_IN_SLOT], state[k, LENGTH_OUT_SLOT]
        if length_in <= 0.0 or length_out <= 0.0 or (broken[k] and k in (first, last)):
            continue
        if (k > first and is_straight(keys, k - 1, cut)) or (k < last and is_straight(keys, k, cut)):
            continue
        if k > first:
            state[k, LENGTH_IN_SLOT] = min(length_in, MAX_HANDLE_RATIO * length_out)
            if k == last:
                state[k, LENGTH_IN_SLOT] = max(state[k, LENGTH_IN_SLOT], length_out / MAX_HANDLE_RATIO)
        if k < last:
            state[k, LENGTH_OUT_SLOT] = min(length_out, MAX_HANDLE_RATIO * length_in)
            if k == first:
                state[k, LENGTH_OUT_SLOT] = max(state[k, LENGTH_OUT_SLOT], length_in / MAX_HANDLE_RATIO)
    straighten(keys, state, first, last, cut)


@compile_kernel()
def straighten(keys: Array, state: Array, first: int, last: int, cut: Array) -> None:
    """Set the handles of straight segments: the slope of the chord, a third of the length."""
    for k in range(first, last):
        if is_straight(keys, k, cut):
            span = float(keys[k + 1] - keys[k])
            slope = (state[k + 1, 0] - state[k, 0]) / span
            state[k, SLOPE_OUT_SLOT] = state[k + 1, SLOPE_IN_SLOT] = slope
            state[k, LENGTH_OUT_SLOT] = state[k + 1, LENGTH_IN_SLOT] = span / 3.0


@compile_kernel()
def chain_cost(keys: Array, state: Array, first: int, last: int, target: Array, weight: Array, cut: Array) -> float:
    """Weighted sum of squares over the samples of the fit, plus the pull on the lengths."""
    place = np.full((last - first + 1, SLOTS_PER_KEY), -1)
    return _assemble(keys, state, first, last, target, weight, cut, place, np.empty((0, 0)), np.empty(0))


@compile_kernel()
def _assemble(
    keys: Array,
    state: Array,
    first: int,
    last: int,
    target: Array,
    weight: Array,
    cut: Array,
    place: Array,
    a: Array,
    b: Array,
) -> float:
    """Normal equations: lower band a (n, MATRIX_BANDWIDTH) and b (n,); place (K', 5) is the row of each slot, or -1.

    Returns the cost.
    """
    a[:] = 0.0
    b[:] = 0.0
    derivatives = len(b) > 0
    cost = 0.0
    g, where = np.empty(6), np.empty(6, np.int64)
    square, right_side = np.empty((6, 6)), np.empty(6)  # of one segment, lower triangle
    for k in range(first, last):
        i = k - first
        where[0], where[1], where[2] = place[i, 0], place[i, 3], place[i, 4]
        where[3], where[4], where[5] = place[i + 1, 0], place[i + 1, 1], place[i + 1, 2]
        left, right = state[k], state[k + 1]
        whole = keys[k + 1] - keys[k]
        span, stride = float(whole), stride_of(whole)
        straight = is_straight(keys, k, cut)
        if straight:
            stride = whole  # only its first key is looked at
        x1, x2 = left[4], span - right[2]
        s = 0.0
        y0, y1, y2, y3 = left[0], left[0] + left[3] * left[4], right[0] - right[1] * right[2], right[0]
        p1, p2 = x1 / span, x2 / span
        share = 1.0 if straight else float(stride)
        square[:] = 0.0
        right_side[:] = 0.0
        for sample in range(keys[k], keys[k + 1] + (1 if k + 1 == last else 0), stride):
            w = weight[sample]
            if w == 0.0:
                continue
            s = parameter(p1, p2, (sample - keys[k]) / span, s)
            m = 1.0 - s
            b0, b1, b2, b3 = m * m * m, 3.0 * m * m * s, 3.0 * m * s * s, s * s * s
            r = w * (b0 * y0 + b1 * y1 + b2 * y2 + b3 * y3 - target[sample])
            cost += share * r * r
            if not derivatives:
                continue
            dx = 3.0 * (m * m * x1 + 2.0 * m * s * (x2 - x1) + s * s * (span - x2))
            dy = 3.0 * (m * m * (y1 - y0) + 2.0 * m * s * (y2 - y1) + s * s * (y3 - y2))
            slope = dy / max(dx, 1e-9 * span)
            g[0], g[1], g[2] = w * (b0 + b1), w * b1 * left[4], w * b1 * (left[3] - slope)
            g[3], g[4], g[5] = w * (b2 + b3), -w * b2 * right[2], w * b2 * (slope - right[1])
            for p in range(6):
                right_side[p] += g[p] * r
                for q in range(p + 1):
                    square[p, q] += g[p] * g[q]
        for p in range(6):
            row = where[p]
            if row >= 0:  # rows grow with p
                b[row] -= share * right_side[p]
                for q in range(p + 1):
                    if where[q] >= 0:
                        a[row, row - where[q]] += share * square[p, q]
        for row, length in ((where[2], left[4]), (where[5], right[2])):
            off = length / span - 1 / 3
            cost += HANDLE_LENGTH_WEIGHT * off * off
            if row >= 0:
                a[row, 0] += HANDLE_LENGTH_WEIGHT / (span * span)
                b[row] -= HANDLE_LENGTH_WEIGHT * off / span
    return cost


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
def _number_slots(keys: Array, first: int, last: int, broken: Array, free: Array, cut: Array, place: Array) -> int:
    """Rows of the unknowns: free (K', 5) slots in order, the slopes of a smooth key in one row."""
    n = 0
    for i in range(last - first + 1):
        for slot in range(SLOTS_PER_KEY):
            place[i, slot] = -1
            fixed = not free[i, slot]
            if slot != VALUE_SLOT:
                segment = first + i - (1 if slot in (SLOPE_IN_SLOT, LENGTH_IN_SLOT) else 0)
                fixed |= segment < first or segment >= last
                if not fixed:
                    short = keys[segment + 1] - keys[segment] <= MIN_FREE_SAMPLES
                    fixed = is_straight(keys, segment, cut) or (short and slot in (LENGTH_IN_SLOT, LENGTH_OUT_SLOT))
            if fixed:
                continue
            if slot == SLOPE_OUT_SLOT and not broken[first + i] and place[i, SLOPE_IN_SLOT] >= 0:
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
    cut: Array,
    free: Array,
    iterations: int,
    enough: float,
) -> float:
    """Fit the states of keys `first` to `last` in place to target (M,) with weight (M,); returns the cost.

    free (last - first + 1, 5) bool says which slots may move; lengths that may not are made a third. Slopes of keys
    that are not `broken` stay equal on both sides: at the ends of the chain that means both or none of them is free.
    cut (M,) bool says where straight segments begin. Gives up after two steps that leave more than `enough`.
    """
    count = last - first + 1
    place = np.empty((count, SLOTS_PER_KEY), np.int64)
    n = _number_slots(keys, first, last, broken, free, cut, place)
    thirds = not free[0, LENGTH_OUT_SLOT]
    for k in range(first, last):
        if thirds:
            state[k, LENGTH_OUT_SLOT] = state[k + 1, LENGTH_IN_SLOT] = (keys[k + 1] - keys[k]) / 3.0
    if thirds:
        straighten(keys, state, first, last, cut)
    else:
        bound_lengths(keys, state, broken, first, last, cut)
    if n == 0:
        return chain_cost(keys, state, first, last, target, weight, cut)
    a, b = np.empty((n, MATRIX_BANDWIDTH)), np.empty(n)
    a_new, b_new = np.empty((n, MATRIX_BANDWIDTH)), np.empty(n)
    x, factor = np.empty(n), np.zeros((n, MATRIX_BANDWIDTH))
    old = np.empty((count, SLOTS_PER_KEY))
    cost = _assemble(keys, state, first, last, target, weight, cut, place, a, b)
    damping = 1e-3
    for iteration in range(iterations):
        if iteration == 2 and cost > enough:
            break
        gained = False
        for _ in range(4):
            if not _solve_band(a, b, damping, factor, x):
                damping *= 10.0
                continue
            old[:] = state[first : last + 1]
            _step(keys, state, broken, first, last, place, x, cut, thirds)
            new = _assemble(keys, state, first, last, target, weight, cut, place, a_new, b_new)
            if new < cost:
                gained = new < cost * (1 - 5e-3)
                cost = new
                a, a_new = a_new, a
                b, b_new = b_new, b
                damping = max(damping * 0.2, 1e-9)
                break
            state[first : last + 1] = old
            damping *= 8.0
        if not gained:
            break
    return cost


@compile_kernel()
def _step(
    keys: Array,
    state: Array,
    broken: Array,
    first: int,
    last: int,
    place: Array,
    x: Array,
    cut: Array,
    thirds: bool,
) -> None:
    """Add the step, with lengths kept within their bounds; the other side of a smooth end key turns along."""
    for k in range(first, last + 1):
        i = k - first
        for slot in range(SLOTS_PER_KEY):
            if place[i, slot] >= 0:
                state[k, slot] += x[place[i, slot]]
        if not broken[k]:
            if k == first and place[i, SLOPE_OUT_SLOT] >= 0:
                state[k, SLOPE_IN_SLOT] = state[k, SLOPE_OUT_SLOT]
            if k == last and place[i, SLOPE_IN_SLOT] >= 0:
                state[k, SLOPE_OUT_SLOT] = state[k, SLOPE_IN_SLOT]
    if thirds:
        straighten(keys, state, first, last, cut)
    else:
        bound_lengths(keys, state, broken, first, last, cut)
