"""Weights of one vertex: the convex, sparse combination of what the bones would do that comes closest to what it did.

    min |A w - x|^2 = w.G w - 2 c.w + const,    w >= 0,  sum w = 1,  at most K of them not zero

by an active set (Lawson and Hanson's, with the sum as a further condition): bones enter one at a time where they help
most and leave where they would become negative. With more than K left the least is dropped and the rest solved again.
Written in the part of Python that numba compiles, so that there is one source for both ways.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def equality(G: Array, c: Array, used: Array, n: int, w: Array) -> None:
    """w[:n] = the least of w.G w - 2 c.w with sum 1 over the bones used[:n], signs free.

    Gauss-Jordan elimination with pivots on the system bordered by the condition.
    """
    m = n + 1
    a = np.zeros((m, m + 1))
    for i in range(n):
        for j in range(n):
            a[i, j] = G[used[i], used[j]]
        a[i, n], a[n, i], a[i, m] = 1.0, 1.0, c[used[i]]
    a[n, m] = 1.0
    for i in range(m):
        best = i
        for r in range(i + 1, m):
            if abs(a[r, i]) > abs(a[best, i]):
                best = r
        if best != i:
            for k in range(m + 1):
                a[i, k], a[best, k] = a[best, k], a[i, k]
        pivot = a[i, i]
        if pivot == 0.0:
            pivot = 1e-300
        for k in range(i, m + 1):
            a[i, k] /= pivot
        for r in range(m):
            if r != i and a[r, i] != 0.0:
                factor = a[r, i]
                for k in range(i, m + 1):
                    a[r, k] -= factor * a[i, k]
    for i in range(n):
        w[i] = a[i, m]


def convex(G: Array, c: Array, allowed: Array, count: int, used: Array, w: Array) -> int:
    """The least over the bones allowed[:count]: how many are used, and in used[:n], w[:n] which and how much."""
    best = 0
    for i in range(1, count):
        b, a = allowed[i], allowed[best]
        if G[b, b] - 2 * c[b] < G[a, a] - 2 * c[a]:
            best = i
    used[0], w[0] = allowed[best], 1.0
    n = 1
    trial = np.zeros(count + 1)
    for _ in range(4 * count):
        level = 0.0
        for i in range(n):
            level -= c[used[i]] * w[i]
            for j in range(n):
                level += w[i] * G[used[i], used[j]] * w[j]
        enters, lowest = -1, -1e-9 * (abs(level) + G[used[0], used[0]])
        for i in range(count):
            b = allowed[i]
            slope = -c[b] - level
            known = False
            for j in range(n):
                slope += G[b, used[j]] * w[j]
                known = known or used[j] == b
            if not known and slope < lowest:
                enters, lowest = b, slope
        if enters < 0:
            break
        used[n], w[n] = enters, 0.0
        n += 1
        while True:
            equality(G, c, used, n, trial)
            step, leaves = 1.0, -1
            for i in range(n):
                if trial[i] <= 0.0 and w[i] - trial[i] > 0.0 and w[i] / (w[i] - trial[i]) < step:
                    step, leaves = w[i] / (w[i] - trial[i]), i
            for i in range(n):
                w[i] += step * (trial[i] - w[i])
            if leaves < 0:
                break
            n -= 1
            for i in range(leaves, n):
                used[i], w[i] = used[i + 1], w[i + 1]
        if used[n - 1] == enters and w[n - 1] <= 0.0:
            break
    return n


def sparse_convex(G: Array, c: Array, allowed: Array, most: int, used: Array, w: Array) -> int:
    """`convex` with at most `most` bones."""
    n = convex(G, c, allowed, len(allowed), used, w)
    left = allowed.copy()
    while n > most:
        least = 0
        for i in range(1, n):
            if w[i] < w[least]:
                least = i
        k = 0
        for i in range(n):
            if i != least:
                left[k] = used[i]
                k += 1
        n = convex(G, c, left, k, used, w)
    return n


def vertex_weights(
    points: Array, pairs: Array, seen: Array, ridge: float, candidates: int, joints: Array, weights: Array
) -> None:
    """Weights (V, K) and joints (V, K) of all vertices.

    points (V, 4) with a one; pairs (B, B, 4, 4) = sum_f M_b^T M_b'; seen (V, B, 4) = sum_f M_b^T x. Only the
    `candidates` bones that would come closest alone are tried, which is all that ever win.
    """
    bones, most = pairs.shape[0], joints.shape[1]
    few = min(bones, candidates)
    used, w = np.zeros(bones + 2, np.int64), np.zeros(bones + 2)
    for v in range(points.shape[0]):
        p = points[v]
        c = np.zeros(bones)
        G = np.zeros((bones, bones))
        alone = np.zeros(bones)
        for b in range(bones):
            for i in range(4):
                c[b] += p[i] * seen[v, b, i]
                for j in range(4):
                    G[b, b] += p[i] * pairs[b, b, i, j] * p[j]
            alone[b] = G[b, b] - 2 * c[b]
        allowed = np.argsort(alone)[:few]
        for s in range(few):
            for t in range(s):
                a, b = allowed[s], allowed[t]
                total = 0.0
                for i in range(4):
                    for j in range(4):
                        total += p[i] * pairs[a, b, i, j] * p[j]
                G[a, b], G[b, a] = total, total
        for s in range(few):
            G[allowed[s], allowed[s]] += ridge
        n = sparse_convex(G, c, allowed, most, used, w)
        total = 0.0
        for i in range(n):
            total += max(w[i], 0.0)
        for k in range(most):
            joints[v, k], weights[v, k] = used[k] if k < n else 0, max(w[k], 0.0) / total if k < n else 0.0
