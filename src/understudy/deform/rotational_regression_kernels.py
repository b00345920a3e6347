"""Compiled twin of `RotationalRegression.deform_reference`: a few frames at once, so that the factor is read once."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

TOGETHER = 8  # frames


@compiled(fastmath=FAST, error_model="numpy")
def gradient(f: Array, Q: Array, near: Array, coefficients: Array, D: Array) -> None:
    """D (9) of one vertex in one frame, times one half: Q exp(A f) (1 + B f) / 2."""
    r = np.zeros(9, np.float32)
    k = 0
    for n in range(near.shape[0]):
        g = f[near[n]]
        for i in range(g.shape[0]):
            row, x = coefficients[k], g[i]
            for o in range(9):
                r[o] += row[o] * x
            k += 1
    x, y, z = r[0], r[1], r[2]
    square = x * x + y * y + z * z
    half = np.float32(0.5) * np.sqrt(square)
    if square > 1e-8:
        s = np.sin(half) / (np.float32(2.0) * half)
    else:
        s = np.float32(0.5) - square / np.float32(48.0)
    x, y, z, w = x * s, y * s, z * s, np.cos(half)
    one, two = np.float32(1.0), np.float32(2.0)
    R = (
        one - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w),
        two * (x * y + z * w), one - two * (x * x + z * z), two * (y * z - x * w),
        two * (x * z - y * w), two * (y * z + x * w), one - two * (x * x + y * y),
    )  # fmt: skip
    S = (one + r[3], r[6], r[7], r[6], one + r[4], r[8], r[7], r[8], one + r[5])
    for i in range(3):
        a, b, c = Q[i, 0], Q[i, 1], Q[i, 2]
        u = a * R[0] + b * R[3] + c * R[6]
        v = a * R[1] + b * R[4] + c * R[7]
        t = a * R[2] + b * R[5] + c * R[8]
        for j in range(3):
            D[3 * i + j] = np.float32(0.5) * (u * S[j] + v * S[3 + j] + t * S[6 + j])


@compiled(fastmath=FAST, error_model="numpy")
def solve(
    rest: Array,
    near: Array,
    bone: Array,
    coefficients: Array,
    start: Array,
    other: Array,
    weight: Array,
    trust: Array,
    f: Array,
    Q: Array,
    column: Array,
    row: Array,
    value: Array,
    diagonal: Array,
    order: Array,
    out: Array,
) -> None:
    """out (F, V, 3), which comes with the linear blend, F at most TOGETHER."""
    frames, count = out.shape[0], out.shape[1]
    width = 3 * frames
    place = np.empty(count, np.int64)
    for k in range(count):
        place[order[k]] = k
    x = np.zeros((count, width), np.float32)
    D = np.empty((count, 9), np.float32)
    for m in range(frames):
        for v in range(count):
            gradient(f[m], Q[m, bone[v]], near[v], coefficients[v], D[v])
        for v in range(count):
            a, b, c = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            d = D[v]
            for n in range(start[v], start[v + 1]):
                o = other[n]
                w, e = np.float32(weight[n]), D[o]
                px, py, pz = w * (rest[v, 0] - rest[o, 0]), w * (rest[v, 1] - rest[o, 1]), w * (rest[v, 2] - rest[o, 2])
                a += (d[0] + e[0]) * px + (d[1] + e[1]) * py + (d[2] + e[2]) * pz
                b += (d[3] + e[3]) * px + (d[4] + e[4]) * py + (d[5] + e[5]) * pz
                c += (d[6] + e[6]) * px + (d[7] + e[7]) * py + (d[8] + e[8]) * pz
            t, y = np.float32(trust[v]), x[place[v]]
            y[3 * m], y[3 * m + 1], y[3 * m + 2] = a + t * out[m, v, 0], b + t * out[m, v, 1], c + t * out[m, v, 2]
    back_and_forth(column, row, value, diagonal, x)
    for m in range(frames):
        for v in range(count):
            y = x[place[v]]
            out[m, v, 0], out[m, v, 1], out[m, v, 2] = y[3 * m], y[3 * m + 1], y[3 * m + 2]


@compiled(fastmath=FAST, error_model="numpy")
def back_and_forth(column: Array, row: Array, value: Array, diagonal: Array, x: Array) -> None:
    """x := (L D L^T)^-1 x, of x (V, width)."""
    count, width = x.shape
    if width == 3:
        for j in range(count):
            a, b, c = x[j, 0], x[j, 1], x[j, 2]
            for n in range(column[j], column[j + 1]):
                y, v = x[row[n]], value[n]
                y[0] -= v * a
                y[1] -= v * b
                y[2] -= v * c
        for j in range(count - 1, -1, -1):
            a, b, c = x[j, 0] / diagonal[j], x[j, 1] / diagonal[j], x[j, 2] / diagonal[j]
            for n in range(column[j], column[j + 1]):
                y, v = x[row[n]], value[n]
                a -= v * y[0]
                b -= v * y[1]
                c -= v * y[2]
            x[j, 0], x[j, 1], x[j, 2] = a, b, c
        return
    for j in range(count):
        from_here = x[j]
        for n in range(column[j], column[j + 1]):
            y, v = x[row[n]], value[n]
            for k in range(width):
                y[k] -= v * from_here[k]
    for j in range(count - 1, -1, -1):
        here, scale = x[j], np.float32(1.0) / diagonal[j]
        for k in range(width):
            here[k] *= scale
        for n in range(column[j], column[j + 1]):
            y, v = x[row[n]], value[n]
            for k in range(width):
                here[k] -= v * y[k]
