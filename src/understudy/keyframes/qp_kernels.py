"""The compiled twins of `qp.gram_slowly` and `qp.few_rows_slowly`: see `dual_newton`."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled
from understudy.maths.cholesky_kernels import solve


@compiled(nogil=True, fastmath=FAST)
def gram(rows: Array, weights: Array, out: Array) -> None:
    """Add sum_r w_r a_r a_r' to `out` (N, N); rows are half empty, and what is zero is passed over."""
    n = out.shape[0]
    for r in range(rows.shape[0]):
        for i in range(n):
            scaled = weights[r] * rows[r, i]
            if scaled != 0.0:
                for j in range(i + 1):
                    out[i, j] += scaled * rows[r, j]
    for i in range(n):
        for j in range(i):
            out[j, i] = out[i, j]


@compiled(nogil=True, fastmath=FAST)
def few_rows(
    d: Array,
    g: Array,
    low: Array,
    high: Array,
    rows: Array,
    aims: Array,
    weights: Array,
    rounds: int,
) -> tuple[bool, Array, Array]:
    """Whether the minimum was found, the minimum (N,) and the forces of the bounds (N,)."""
    m, n = rows.shape
    b, k = np.empty((n, m)), np.zeros((m, m))  # B', and the lower half of 1 + B D^-1 B'
    x, pull, along = np.empty(n), -0.5 * g, np.empty(n)  # pull is B' z - g / 2
    side, z, c = np.zeros(n, np.int8), np.zeros(m), np.sqrt(weights) * aims
    for r in range(m):
        root = np.sqrt(weights[r])
        for i in range(n):
            b[i, r] = root * rows[r, i]
        k[r, r] = 1.0
    for i in range(n):
        add_square(b, i, 1.0 / d[i], k)
        x[i] = pull[i] / d[i]
    for turn in range(rounds):
        step = c.copy()
        for i in range(n):
            value = x[i] if side[i] != 0 else -0.5 * g[i] / d[i]
            for r in range(m):
                step[r] -= b[i, r] * value
        if not solve(k.copy(), step, m, 0.0):
            return False, x, along
        step -= z
        same = True
        for i in range(n):
            along[i] = 0.0
            for r in range(m):
                along[i] += step[r] * b[i, r]
            free = (pull[i] + along[i]) / d[i]
            same = same and (free > high[i]) - (free < low[i]) == side[i]
        if same:
            for i in range(n):
                pull[i] += along[i]
                x[i] = min(max(pull[i] / d[i], low[i]), high[i])
                along[i] = 2.0 * (pull[i] - d[i] * x[i]) if side[i] != 0 else 0.0
            return True, x, along
        share = 1.0 if turn == 0 else share_of(d, low, high, step, pull, along)
        z += share * step
        for i in range(n):
            pull[i] += share * along[i]
            free = pull[i] / d[i]
            x[i] = min(max(free, low[i]), high[i])
            now = (free > high[i]) - (free < low[i])
            if (now == 0) != (side[i] == 0):
                add_square(b, i, (1.0 if now == 0 else -1.0) / d[i], k)
            side[i] = now
    return False, x, along


@compiled(nogil=True, fastmath=FAST)
def share_of(d: Array, low: Array, high: Array, step: Array, pull: Array, along: Array) -> float:
    """The share of a step up to which the convex function falls, at most 1."""
    n = d.size
    at, rates = np.ones(2 * n), np.zeros(2 * n)
    rate = 0.0  # of the slope at the start
    for r in range(step.size):
        rate += step[r] * step[r]
    slope = -rate
    for i in range(n):
        if along[i] != 0.0:
            one, other = (d[i] * low[i] - pull[i]) / along[i], (d[i] * high[i] - pull[i]) / along[i]
            first, last, own = min(one, other), max(one, other), along[i] * along[i] / d[i]
            if first <= 0.0 <= last:
                slope -= own
            at[2 * i], at[2 * i + 1] = min(max(first, 0.0), 1.0), min(max(last, 0.0), 1.0)
            rates[2 * i], rates[2 * i + 1] = own, -own
    share = 0.0
    for k in np.argsort(at):
        rise = rate * (at[k] - share)
        if slope + rise >= 0.0:
            return share - slope / max(rate, 1e-300)
        slope, share, rate = slope + rise, at[k], rate + rates[k]
    return 1.0


@compiled(nogil=True, fastmath=FAST)
def add_square(b: Array, i: int, factor: float, k: Array) -> None:
    """k += factor b_i b_i', in the lower half; what is zero is passed over."""
    for r in range(k.shape[0]):
        scaled = factor * b[i, r]
        if scaled != 0.0:
            for q in range(r + 1):
                k[r, q] += scaled * b[i, q]
