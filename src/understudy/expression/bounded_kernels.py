"""Compiled twin of `bounded`: one right side after the other, with nothing allocated inside."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import compiled
from understudy.maths.cholesky_kernels import solve as solve_equations


@compiled()
def _newton(h: Array, gradient: Array, free: Array, n: int, least: float, factor: Array, step: Array) -> None:
    """step (n,) = -H_FF^-1 g_F; free (n,) are the numbers of F."""
    for i in range(n):
        for j in range(i + 1):
            factor[i, j] = h[free[i], free[j]]
        step[i] = -gradient[free[i]]
    solve_equations(factor, step, n, least)


@compiled()
def _gradient(h: Array, b: Array, w: Array, gradient: Array) -> float:
    """gradient (S,) = H w - b; returns the value 1/2 w'Hw - b'w."""
    value = 0.0
    for i in range(len(b)):
        s = -b[i]
        for j in range(len(b)):
            s += h[i, j] * w[j]
        gradient[i] = s
        value += 0.5 * w[i] * (s - b[i])
    return value


@compiled(nogil=True)
def solve(
    h: Array, b: Array, low: Array, high: Array, start: Array, steps: int, tight: float, least: float, result: Array
) -> None:
    """Fills result (F, S) for right sides b (F, S)."""
    count = len(h)
    w, tried = np.empty(count), np.empty(count)
    for i in range(count):
        w[i] = start[i]
    gradient, other, step = np.empty(count), np.empty(count), np.empty(count)
    free, factor = np.empty(count, np.int64), np.empty((count, count))
    for frame in range(len(b)):
        right = b[frame]
        most = 1e-300
        for i in range(count):
            most = max(most, abs(right[i]))
        enough = tight * most
        value = _gradient(h, right, w, gradient)
        for _ in range(steps):
            n, most = 0, 0.0
            for i in range(count):
                if not ((w[i] <= low[i] and gradient[i] > 0) or (w[i] >= high[i] and gradient[i] < 0)):
                    free[n] = i
                    n += 1
                    most = max(most, abs(gradient[i]))
            if most <= enough:
                break
            _newton(h, gradient, free, n, least, factor, step)
            share, better = 1.0, False
            for _ in range(30):
                for i in range(count):
                    tried[i] = w[i]
                for i in range(n):
                    tried[free[i]] = min(max(w[free[i]] + share * step[i], low[free[i]]), high[free[i]])
                lower = _gradient(h, right, tried, other)
                if lower < value:
                    better = True
                    break
                share *= 0.5
            if not better:
                break
            w, tried = tried, w
            gradient, other = other, gradient
            value = lower
        for i in range(count):
            result[frame, i] = w[i]
