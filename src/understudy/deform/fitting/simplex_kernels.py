"""Kernels of `simplex`: one small problem a vertex, solved by active sets, with nothing allocated inside.

The passive set is solved in closed form, w = H^-1 1 / (1' H^-1 1), so that the constraint holds to rounding.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import compile_kernel

MULTIPLIER_TOLERANCE = 1e-12  # of w' H w: below, a multiplier is rounding


@compile_kernel()
def _solve_passive(h: Array, passive: Array, n: int, factor: Array, y: Array) -> None:
    """y = H_PP^-1 1 / (1' H_PP^-1 1) by Cholesky; passive (n,) are the numbers of P."""
    for i in range(n):
        for j in range(i + 1):
            s = h[passive[i], passive[j]]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            factor[i, j] = s / factor[j, j] if j < i else np.sqrt(max(s, 1e-14 * h[passive[i], passive[i]] + 1e-300))
    for i in range(n):
        s = 1.0
        for k in range(i):
            s -= factor[i, k] * y[k]
        y[i] = s / factor[i, i]
    total = 0.0
    for i in range(n - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, n):
            s -= factor[k, i] * y[k]
        y[i] = s / factor[i, i]
        total += y[i]
    for i in range(n):
        y[i] /= total


@compile_kernel()
def quadratic_form(h: Array, w: Array) -> float:
    """w' H w."""
    total = 0.0
    for a in range(len(w)):
        if w[a] != 0:
            for b in range(len(w)):
                total += w[a] * h[a, b] * w[b]
    return total


@compile_kernel()
def minimise(h: Array, allowed: Array, w: Array, passive: Array, factor: Array, y: Array) -> None:
    """w (C,) = argmin w' H w with w >= 0, sum w = 1 and w = 0 where not `allowed` (C,)."""
    count = len(w)
    best = -1
    for i in range(count):
        w[i] = 0.0
        if allowed[i] and (best < 0 or h[i, i] < h[best, best]):
            best = i
    w[best] = 1.0
    for _ in range(6 * count):
        lowest, entering, value = 0.0, -1, quadratic_form(h, w)
        for i in range(count):
            if allowed[i] and w[i] == 0:
                slope = -value
                for j in range(count):
                    slope += h[i, j] * w[j]
                if slope < lowest:
                    lowest, entering = slope, i
        if entering < 0 or lowest > -MULTIPLIER_TOLERANCE * value:
            return
        n = 0
        for i in range(count):
            if w[i] > 0 or i == entering:
                passive[n] = i
                n += 1
        while True:
            _solve_passive(h, passive, n, factor, y)
            step = 1.0
            for k in range(n):
                if y[k] <= 0:
                    old = w[passive[k]]
                    step = min(step, old / (old - y[k]) if old > 0 else 0.0)
            kept = 0
            for k in range(n):
                i = passive[k]
                w[i] += step * (y[k] - w[i])
                if w[i] > 1e-15 or (step == 1.0 and y[k] > 0):
                    passive[kept] = i
                    kept += 1
                else:
                    w[i] = 0.0
            if kept == n or step == 1.0 or kept == 0:
                break
            n = kept


@compile_kernel()
def reduce(h: Array, most: int, allowed: Array, w: Array, passive: Array, factor: Array, y: Array) -> None:
    """Forbid influences of `w` one by one until `most` are left: each time the one whose loss costs least.

    The cost is found by solving without it.
    """
    count = len(w)
    trial, best = np.empty(count), np.empty(count)
    for i in range(count):
        allowed[i] = w[i] > 0
    while True:
        n = 0
        for i in range(count):
            n += w[i] > 0
        if n <= most:
            return
        cheapest, out = np.inf, -1
        for i in range(count):
            if w[i] > 0:
                allowed[i] = False
                minimise(h, allowed, trial, passive, factor, y)
                cost = quadratic_form(h, trial)
                allowed[i] = True
                if cost < cheapest:
                    cheapest, out = cost, i
                    for a in range(count):
                        best[a] = trial[a]
        for i in range(count):
            w[i] = best[i]
        allowed[out] = False


@compile_kernel()
def trade(h: Array, allowed: Array, w: Array, passive: Array, factor: Array, y: Array) -> None:
    """Exchange one influence of `w` for one that it lacks while that helps; taking away one by one can end badly.

    Only influences that would help if they were added to all the others (a negative slope) can help in another's place.
    """
    count = len(w)
    trial, best = np.empty(count), np.empty(count)
    for _ in range(4):
        cost = quadratic_form(h, w)
        cheapest = (1 - 1e-9) * cost
        for j in range(count):
            slope = -cost
            for i in range(count):
                slope += h[j, i] * w[i]
            if w[j] > 0 or slope >= 0:
                continue
            for i in range(count):
                if w[i] > 0:
                    for k in range(count):
                        allowed[k] = (w[k] > 0 and k != i) or k == j
                    minimise(h, allowed, trial, passive, factor, y)
                    value = quadratic_form(h, trial)
                    if value < cheapest:
                        cheapest = value
                        for k in range(count):
                            best[k] = trial[k]
        if cheapest >= (1 - 1e-9) * cost:
            return
        for k in range(count):
            w[k] = best[k]


@compile_kernel()
def offsets(matrices: Array, rest: Array, target: Array, bones: Array, x: Array) -> None:
    """x (C, E, 3) = M_b v - target, for bones (C,) of matrices (E, B, 3, 4), one vertex: rest (3,), target (E, 3)."""
    for c in range(len(bones)):
        for e in range(len(matrices)):
            m = matrices[e, bones[c]]
            for r in range(3):
                x[c, e, r] = m[r, 0] * rest[0] + m[r, 1] * rest[1] + m[r, 2] * rest[2] + m[r, 3] - target[e, r]


@compile_kernel()
def gram(x: Array, folds: Array, g: Array) -> None:
    """g (folds, C, C): the products of x (C, E, 3), each example in its own fold."""
    for a in range(len(x)):
        for b in range(a + 1):
            for f in range(len(g)):
                g[f, a, b] = 0.0
            for e in range(x.shape[1]):
                g[folds[e], a, b] += x[a, e, 0] * x[b, e, 0] + x[a, e, 1] * x[b, e, 1] + x[a, e, 2] * x[b, e, 2]
            for f in range(len(g)):
                g[f, b, a] = g[f, a, b]


@compile_kernel()
def cross_validation_errors(
    matrices: Array, rest: Array, targets: Array, bones: Array, penalty: Array, folds: Array, ridges: Array, size: Array
) -> Array:
    """(L,) squared errors in examples held out, summed over vertices, examples and folds, at each ridge.

    matrices (E, B, 3, 4), rest (V, 3), targets (V, E, 3), bones (V, C), penalty (V, C), folds (E,) numbers of folds,
    size (folds,) how many examples there are in each.
    """
    count, parts = bones.shape[1], len(size)
    x, g, h = np.empty((count, len(matrices), 3)), np.empty((parts, count, count)), np.empty((count, count))
    w, y, factor = np.empty(count), np.empty(count), np.empty((count, count))
    passive, allowed = np.empty(count, np.int64), np.ones(count, np.bool_)
    result = np.zeros(len(ridges))
    for v in range(len(rest)):
        offsets(matrices, rest[v], targets[v], bones[v], x)
        gram(x, folds, g)
        for f in range(parts):
            for r in range(len(ridges)):
                for a in range(count):
                    for b in range(count):
                        h[a, b] = -g[f, a, b]
                        for other in range(parts):
                            h[a, b] += g[other, a, b]
                    h[a, a] += ridges[r] * (len(folds) - size[f]) * penalty[v, a]
                minimise(h, allowed, w, passive, factor, y)
                result[r] += quadratic_form(g[f], w)
    return result


@compile_kernel()
def fit(
    matrices: Array, rest: Array, targets: Array, bones: Array, penalty: Array, ridge: float, most: int, weights: Array
) -> tuple[float, float]:
    """weights (V, C), at most `most` of a row not zero; squared errors before and after the reduction."""
    count = bones.shape[1]
    x, g, h = np.empty((count, len(matrices), 3)), np.empty((1, count, count)), np.empty((count, count))
    y, factor = np.empty(count), np.empty((count, count))
    passive, allowed = np.empty(count, np.int64), np.ones(count, np.bool_)
    folds = np.zeros(len(matrices), np.int64)
    before, after = 0.0, 0.0
    for v in range(len(rest)):
        offsets(matrices, rest[v], targets[v], bones[v], x)
        gram(x, folds, g)
        w = weights[v]
        for a in range(count):
            for b in range(count):
                h[a, b] = g[0, a, b]
            h[a, a] += ridge * len(matrices) * penalty[v, a]
            allowed[a] = True
        minimise(h, allowed, w, passive, factor, y)
        n = 0
        for a in range(count):
            n += w[a] > 0
        before += quadratic_form(g[0], w)
        if n > most:
            reduce(h, most, allowed, w, passive, factor, y)
            trade(h, allowed, w, passive, factor, y)
        after += quadratic_form(g[0], w)
    return before, after


@compile_kernel()
def minimise_all(h: Array, w: Array) -> None:
    """w (V, C) of each H (V, C, C)."""
    count = h.shape[1]
    y, factor = np.empty(count), np.empty((count, count))
    passive, allowed = np.empty(count, np.int64), np.ones(count, np.bool_)
    for v in range(len(h)):
        minimise(h[v], allowed, w[v], passive, factor, y)
