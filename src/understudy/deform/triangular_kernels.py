"""x := (L D L^T)^-1 x by a sparse factor (`gradient_mesh.Factor`), for one frame (three columns) or several.

Reading the factor is what costs. Four columns that follow each other and have the same rows below them are taken
together (`panels`), so that each of these rows is read and written once instead of four times.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

PANEL = 4  # columns


@compiled(error_model="numpy")
def panels(column: Array, row: Array) -> Array:
    """(P + 1,) where the panels of 4 columns or of 1 begin, and the end.

    Rows of a column are those of the columns below that it changes, so column j + 1 has all rows of j but itself where
    j has it; with as many, they are the same.
    """
    count = len(column) - 1
    first, found, j = np.empty(count + 1, np.int64), 0, 0
    while j < count:
        first[found] = j
        found += 1
        n, last = column[j], j + PANEL - 1
        together = last < count and column[j + 1] - n >= PANEL - 1
        if together:
            together = column[last + 1] - column[last] == column[j + 1] - n - (PANEL - 1)
            for k in range(PANEL - 1):
                together = together and row[n + k] == j + 1 + k
        j += PANEL if together else 1
    first[found] = count
    return first[: found + 1].copy()


@compiled(fastmath=FAST, error_model="numpy")
def solve_one(first: Array, column: Array, row: Array, value: Array, inverse: Array, x: Array) -> None:
    """x (V, 3), all numbers of a panel held in registers; `inverse` is that of D."""
    for p in range(len(first) - 1):
        j = first[p]
        if first[p + 1] - j == 1:
            a0, a1, a2 = x[j, 0], x[j, 1], x[j, 2]
            for n in range(column[j], column[j + 1]):
                y, v = x[row[n]], value[n]
                y0, y1, y2 = y[0] - v * a0, y[1] - v * a1, y[2] - v * a2
                y[0], y[1], y[2] = y0, y1, y2
        else:
            _down(j, column, row, value, x)
    for p in range(len(first) - 2, -1, -1):
        j = first[p]
        if first[p + 1] - j == 1:
            s = inverse[j]
            a0, a1, a2 = s * x[j, 0], s * x[j, 1], s * x[j, 2]
            for n in range(column[j], column[j + 1]):
                y, v = x[row[n]], value[n]
                a0, a1, a2 = a0 - v * y[0], a1 - v * y[1], a2 - v * y[2]
            x[j, 0], x[j, 1], x[j, 2] = a0, a1, a2
        else:
            _up(j, column, row, value, inverse, x)


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _down(j: int, column: Array, row: Array, value: Array, x: Array) -> None:
    """What four columns take from the rows below; a, b, c, d are their own."""
    s, t, u, v = column[j], column[j + 1], column[j + 2], column[j + 3]
    A, B, C, D = x[j], x[j + 1], x[j + 2], x[j + 3]
    ba, ca, da, cb, db, dc = value[s], value[s + 1], value[s + 2], value[t], value[t + 1], value[u]
    a0, a1, a2 = A[0], A[1], A[2]
    b0, b1, b2 = B[0] - ba * a0, B[1] - ba * a1, B[2] - ba * a2
    c0, c1, c2 = C[0] - ca * a0 - cb * b0, C[1] - ca * a1 - cb * b1, C[2] - ca * a2 - cb * b2
    d0 = D[0] - da * a0 - db * b0 - dc * c0
    d1 = D[1] - da * a1 - db * b1 - dc * c1
    d2 = D[2] - da * a2 - db * b2 - dc * c2
    B[0], B[1], B[2] = b0, b1, b2
    C[0], C[1], C[2] = c0, c1, c2
    D[0], D[1], D[2] = d0, d1, d2
    s, t, u = s + 3, t + 2, u + 1
    for n in range(column[j + 4] - v):
        y, e, f, g, h = x[row[v + n]], value[s + n], value[t + n], value[u + n], value[v + n]
        y0 = y[0] - e * a0 - f * b0 - g * c0 - h * d0
        y1 = y[1] - e * a1 - f * b1 - g * c1 - h * d1
        y2 = y[2] - e * a2 - f * b2 - g * c2 - h * d2
        y[0], y[1], y[2] = y0, y1, y2


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _up(j: int, column: Array, row: Array, value: Array, inverse: Array, x: Array) -> None:
    """What the rows below give to four columns."""
    s, t, u, v = column[j], column[j + 1], column[j + 2], column[j + 3]
    A, B, C, D = x[j], x[j + 1], x[j + 2], x[j + 3]
    ba, ca, da, cb, db, dc = value[s], value[s + 1], value[s + 2], value[t], value[t + 1], value[u]
    e, f, g, h = inverse[j], inverse[j + 1], inverse[j + 2], inverse[j + 3]
    a0, a1, a2, b0, b1, b2 = e * A[0], e * A[1], e * A[2], f * B[0], f * B[1], f * B[2]
    c0, c1, c2, d0, d1, d2 = g * C[0], g * C[1], g * C[2], h * D[0], h * D[1], h * D[2]
    s, t, u = s + 3, t + 2, u + 1
    for n in range(column[j + 4] - v):
        y, e, f, g, h = x[row[v + n]], value[s + n], value[t + n], value[u + n], value[v + n]
        y0, y1, y2 = y[0], y[1], y[2]
        a0, a1, a2 = a0 - e * y0, a1 - e * y1, a2 - e * y2
        b0, b1, b2 = b0 - f * y0, b1 - f * y1, b2 - f * y2
        c0, c1, c2 = c0 - g * y0, c1 - g * y1, c2 - g * y2
        d0, d1, d2 = d0 - h * y0, d1 - h * y1, d2 - h * y2
    c0, c1, c2 = c0 - dc * d0, c1 - dc * d1, c2 - dc * d2
    b0, b1, b2 = b0 - cb * c0 - db * d0, b1 - cb * c1 - db * d1, b2 - cb * c2 - db * d2
    A[0], A[1] = a0 - ba * b0 - ca * c0 - da * d0, a1 - ba * b1 - ca * c1 - da * d1
    A[2] = a2 - ba * b2 - ca * c2 - da * d2
    B[0], B[1], B[2] = b0, b1, b2
    C[0], C[1], C[2] = c0, c1, c2
    D[0], D[1], D[2] = d0, d1, d2


@compiled(fastmath=FAST, error_model="numpy")
def solve_several(first: Array, column: Array, row: Array, value: Array, inverse: Array, x: Array) -> None:
    """x (V, width): the numbers of a row are worked on together."""
    width = x.shape[1]
    for p in range(len(first) - 1):
        j, after = first[p], first[p + 1]
        rows = column[after] - column[after - 1]  # below the panel
        for i in range(j, after):
            a, n = x[i], column[i]
            for k in range(after - 1 - i):
                y, v = x[i + 1 + k], value[n + k]
                for m in range(width):
                    y[m] -= v * a[m]
        if after - j == 1:
            a, n = x[j], column[j]
            for r in range(rows):
                y, v = x[row[n + r]], value[n + r]
                for m in range(width):
                    y[m] -= v * a[m]
            continue
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        s, t, u, v = column[j] + 3, column[j + 1] + 2, column[j + 2] + 1, column[j + 3]
        for r in range(rows):
            y, e, f, g, h = x[row[v + r]], value[s + r], value[t + r], value[u + r], value[v + r]
            for m in range(width):
                y[m] -= e * a[m] + f * b[m] + g * c[m] + h * d[m]
    for p in range(len(first) - 2, -1, -1):
        j, after = first[p], first[p + 1]
        rows = column[after] - column[after - 1]
        for i in range(j, after):
            for m in range(width):
                x[i, m] *= inverse[i]
        if after - j == 1:
            a, n = x[j], column[j]
            for r in range(rows):
                y, v = x[row[n + r]], value[n + r]
                for m in range(width):
                    a[m] -= v * y[m]
            continue
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        s, t, u, v = column[j] + 3, column[j + 1] + 2, column[j + 2] + 1, column[j + 3]
        for r in range(rows):
            y, e, f, g, h = x[row[v + r]], value[s + r], value[t + r], value[u + r], value[v + r]
            for m in range(width):
                z = y[m]
                a[m] -= e * z
                b[m] -= f * z
                c[m] -= g * z
                d[m] -= h * z
        for i in range(after - 1, j - 1, -1):
            a, n = x[i], column[i]
            for k in range(after - 1 - i):
                y, v = x[i + 1 + k], value[n + k]
                for m in range(width):
                    a[m] -= v * y[m]
