"""Compiled twin of `RotationalRegression.deform_reference`: a few frames at once, so that the factor is read once."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

TOGETHER = 8  # frames


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def gradient(f: Array, Q: Array, near: Array, coefficients: Array, v: int, D: Array) -> None:
    """D[v] (9) in one frame, times one half: Q exp(A f) (1 + B f) / 2."""
    x = y = z = xx = yy = zz = xy = xz = yz = np.float32(0.0)
    rows = coefficients[v]
    k = 0
    for n in range(near.shape[1]):
        g = f[near[v, n]]
        for i in range(g.shape[0]):
            c, t = rows[k], g[i]
            x, y, z = x + c[0] * t, y + c[1] * t, z + c[2] * t
            xx, yy, zz = xx + c[3] * t, yy + c[4] * t, zz + c[5] * t
            xy, xz, yz = xy + c[6] * t, xz + c[7] * t, yz + c[8] * t
            k += 1
    square = x * x + y * y + z * z
    half = np.float32(0.5) * np.sqrt(square)
    if square > np.float32(1e-8):
        s = np.sin(half) / (np.float32(2.0) * half)
    else:
        s = np.float32(0.5) - square / np.float32(48.0)
    x, y, z, w = x * s, y * s, z * s, np.cos(half)
    one, two, d = np.float32(1.0), np.float32(2.0), D[v]
    r0, r1, r2 = one - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w)
    r3, r4, r5 = two * (x * y + z * w), one - two * (x * x + z * z), two * (y * z - x * w)
    r6, r7, r8 = two * (x * z - y * w), two * (y * z + x * w), one - two * (x * x + y * y)
    xx, yy, zz = one + xx, one + yy, one + zz
    for i in range(3):
        a, b, c0 = np.float32(0.5) * Q[i, 0], np.float32(0.5) * Q[i, 1], np.float32(0.5) * Q[i, 2]
        u, t, e = a * r0 + b * r3 + c0 * r6, a * r1 + b * r4 + c0 * r7, a * r2 + b * r5 + c0 * r8
        d[3 * i] = u * xx + t * xy + e * xz
        d[3 * i + 1] = u * xy + t * yy + e * yz
        d[3 * i + 2] = u * xz + t * yz + e * zz


@compiled(fastmath=FAST, error_model="numpy")
def solve(
    near: Array,
    bone: Array,
    coefficients: Array,
    start: Array,
    other: Array,
    apart: Array,
    own: Array,
    trust: Array,
    f: Array,
    Q: Array,
    column: Array,
    row: Array,
    value: Array,
    diagonal: Array,
    place: Array,
    out: Array,
) -> None:
    """out (F, V, 3), which comes with the linear blend, F at most TOGETHER."""
    frames, count = out.shape[0], out.shape[1]
    width = 3 * frames
    x = np.zeros((count, width), np.float32)
    every = np.empty((frames, count, 9), np.float32)
    for v in range(count):
        for m in range(frames):
            gradient(f[m], Q[m, bone[v]], near, coefficients, v, every[m])
    for m in range(frames):
        D = every[m]
        for v in range(count):
            d, px, py, pz = D[v], own[v, 0], own[v, 1], own[v, 2]
            a = d[0] * px + d[1] * py + d[2] * pz
            b = d[3] * px + d[4] * py + d[5] * pz
            c = d[6] * px + d[7] * py + d[8] * pz
            for n in range(start[v], start[v + 1]):
                e, px, py, pz = D[other[n]], apart[n, 0], apart[n, 1], apart[n, 2]
                a += e[0] * px + e[1] * py + e[2] * pz
                b += e[3] * px + e[4] * py + e[5] * pz
                c += e[6] * px + e[7] * py + e[8] * pz
            t, y = trust[v], x[place[v]]
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
