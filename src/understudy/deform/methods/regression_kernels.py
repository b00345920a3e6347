"""`RotationalRegression.deform`, with the sparse solve of `gradient_mesh.Factor`.

A few frames are taken at once, so that the factor is read once. Vertices are taken in blocks, number by number, so that
the processor works on eight of them at a time.

The solve is x := (L D L^T)^-1 x, for one frame (three columns) or several. Reading the factor is what costs. Four
columns that follow each other and have the same rows below them are taken together (`panels`), so that each of these
rows is read and written once instead of four times.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

COLUMNS_PER_PANEL = 4  # columns of the factor
FRAMES_PER_BATCH = 8  # frames of one call of `solve`
VERTICES_PER_BLOCK = 64  # their predictions and coefficients of one joint stay in the nearest cache
ROTATION_TOLERANCE = 1e-9  # matrices this near to rotations are taken as such
F32 = np.float32


@compile_kernel(error_model="numpy")
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
        n, last = column[j], j + COLUMNS_PER_PANEL - 1
        together = last < count and column[j + 1] - n >= COLUMNS_PER_PANEL - 1
        if together:
            together = column[last + 1] - column[last] == column[j + 1] - n - (COLUMNS_PER_PANEL - 1)
            for k in range(COLUMNS_PER_PANEL - 1):
                together = together and row[n + k] == j + 1 + k
        j += COLUMNS_PER_PANEL if together else 1
    first[found] = count
    return first[: found + 1].copy()


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def solve_one(first: Array, column: Array, row: Array, value: Array, inverse: Array, x: Array) -> None:
    """x (V, 3), all numbers of a panel in registers; `inverse` is that of D."""
    for p in range(len(first) - 1):
        j = first[p]
        if first[p + 1] - j == 1:
            a0, a1, a2 = x[j, 0], x[j, 1], x[j, 2]
            for n in range(column[j], column[j + 1]):
                y, v = x[row[n]], value[n]
                y0, y1, y2 = y[0] - v * a0, y[1] - v * a1, y[2] - v * a2
                y[0], y[1], y[2] = y0, y1, y2
        else:
            _subtract_from_rows_below(j, column, row, value, x)
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
            _subtract_rows_below(j, column, row, value, inverse, x)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _subtract_from_rows_below(j: int, column: Array, row: Array, value: Array, x: Array) -> None:
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _subtract_rows_below(j: int, column: Array, row: Array, value: Array, inverse: Array, x: Array) -> None:
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
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


@compile_kernel(error_model="numpy")
def is_rotation(m: Array) -> bool:
    """Whether the 3x3 part of m is one."""
    for i in range(3):
        for j in range(i, 3):
            dot = m[0, i] * m[0, j] + m[1, i] * m[1, j] + m[2, i] * m[2, j]
            if not abs(dot - (1.0 if i == j else 0.0)) < ROTATION_TOLERANCE:
                return False
    x = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    y = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
    z = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    return m[0, 0] * x + m[0, 1] * y + m[0, 2] * z > 0


@compile_kernel(error_model="numpy")
def product(a: Array, b: Array, out: Array) -> None:
    """out (3, 3) := that of the 3x3 parts."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@compile_kernel(error_model="numpy")
def rotation_vector(m: Array) -> tuple[float, float, float]:
    """Of a rotation m (3, 3), at most pi long: from the column of 4 q q^T with the largest entry (Shepperd)."""
    x, y, z = m[0, 0], m[1, 1], m[2, 2]
    xx, yy, zz, ww = 1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z, 1.0 + x + y + z
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    xw, yw, zw = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    largest = max(xx, yy, zz, ww)
    if xx == largest:
        a, b, c, w = xx, xy, xz, xw
    elif yy == largest:
        a, b, c, w = xy, yy, yz, yw
    elif zz == largest:
        a, b, c, w = xz, yz, zz, zw
    else:
        a, b, c, w = xw, yw, zw, ww
    if w < 0:
        a, b, c, w = -a, -b, -c, -w
    size = np.sqrt(a * a + b * b + c * c)
    scale = 2.0 * np.arctan2(size, w) / size if size > 1e-12 * w else 2.0 / w
    return a * scale, b * scale, c * scale


@compile_kernel(error_model="numpy")
def pose(t: Array, joints: Array, above: Array, back: Array, binds: Array, f: Array, Q: Array) -> bool:
    """f (F, M, 7) and Q (F, B, 9) of world_from_joint t (F, B, 4, 4), in place.

    False, with incomplete results, where some matrix is no rotation: then singular values are needed.
    """
    m, n = np.empty((3, 3)), np.empty((3, 3))
    for k in range(len(t)):
        for b in range(t.shape[1]):
            if not is_rotation(t[k, b]):
                return False
            product(t[k, b], binds[b], m)
            if not is_rotation(m):
                return False
            for i in range(9):
                Q[k, b, i] = m[i // 3, i % 3]
        for j in range(len(joints)):
            product(t[k, above[j]].T, t[k, joints[j]], n)
            product(back[j], n, m)
            if not is_rotation(m):
                return False
            x, y, z = rotation_vector(m)
            size = np.sqrt(x * x + y * y + z * z)
            f[k, j, 0], f[k, j, 1], f[k, j, 2] = x, y, z
            f[k, j, 3], f[k, j, 4], f[k, j, 5] = size * x, size * y, size * z
            f[k, j, 6] = size * size
    return True


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def predict(coefficients: Array, near: Array, f: Array, known: Array, of_joint: Array) -> None:
    """known (9, BLOCK) := A f and B f of one block."""
    known[:] = F32(0)
    k = 0
    for n in range(near.shape[0]):
        for i in range(f.shape[1]):
            for v in range(VERTICES_PER_BLOCK):
                of_joint[v] = f[near[n, v], i]
            for o in range(9):
                c, total = coefficients[k, o], known[o]
                for v in range(VERTICES_PER_BLOCK):
                    total[v] += c[v] * of_joint[v]
            k += 1


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def gradients(known: Array, q: Array, d: Array) -> None:
    """d (9, BLOCK) := q exp(A f) (1 + B f).

    The sign of a quaternion does not matter, so whole half turns are taken from the half angle (in two parts, the first
    of which has few digits and is subtracted exactly), and series to the 12th power give sine and cosine to 1e-7.
    """
    one, two, half = F32(1), F32(2), F32(0.5)
    for v in range(VERTICES_PER_BLOCK):
        x, y, z = known[0, v], known[1, v], known[2, v]
        h = half * np.sqrt(x * x + y * y + z * z)
        turns = np.rint(h * F32(0.3183098861837907))
        r = h - turns * F32(3.140625)
        r = r - turns * F32(0.0009676535897932)
        s = r * r
        w = s * (F32(1 / 40320) + s * (F32(-1 / 3628800) + s * F32(1 / 479001600)))
        w = one + s * (F32(-0.5) + s * (F32(1 / 24) + s * (F32(-1 / 720) + w)))
        k = s * (F32(-1 / 5040) + s * (F32(1 / 362880) - s * F32(1 / 39916800)))
        k = one + s * (F32(-1 / 6) + s * (F32(1 / 120) + k))
        k = half * k * r / h if h > F32(1e-4) else half
        x, y, z = x * k, y * k, z * k
        r0, r1, r2 = one - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w)
        r3, r4, r5 = two * (x * y + z * w), one - two * (x * x + z * z), two * (y * z - x * w)
        r6, r7, r8 = two * (x * z - y * w), two * (y * z + x * w), one - two * (x * x + y * y)
        xx, yy, zz = one + known[3, v], one + known[4, v], one + known[5, v]
        xy, xz, yz = known[6, v], known[7, v], known[8, v]
        for i in range(3):
            a, b, c = q[3 * i, v], q[3 * i + 1, v], q[3 * i + 2, v]
            u, t, e = a * r0 + b * r3 + c * r6, a * r1 + b * r4 + c * r7, a * r2 + b * r5 + c * r8
            d[3 * i, v] = u * xx + t * xy + e * xz
            d[3 * i + 1, v] = u * xy + t * yy + e * yz
            d[3 * i + 2, v] = u * xz + t * yz + e * zz


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def all_gradients(near: Array, bone: Array, coefficients: Array, f: Array, Q: Array, out: Array) -> None:
    """out (F, blocks * BLOCK, 9), times one half, of f (F, M, FEATURES) and Q (F, B, 9)."""
    known, of_joint = np.empty((9, VERTICES_PER_BLOCK), F32), np.empty(VERTICES_PER_BLOCK, F32)
    q, d = np.empty((9, VERTICES_PER_BLOCK), F32), np.empty((9, VERTICES_PER_BLOCK), F32)
    for b in range(len(coefficients)):
        for m in range(len(f)):
            predict(coefficients[b], near[b], f[m], known, of_joint)
            for v in range(VERTICES_PER_BLOCK):
                turn = Q[m, bone[b, v]]
                for i in range(9):
                    q[i, v] = F32(0.5) * turn[i]
            gradients(known, q, d)
            for v in range(VERTICES_PER_BLOCK):
                for i in range(9):
                    out[m, b * VERTICES_PER_BLOCK + v, i] = d[i, v]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
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
    first: Array,
    column: Array,
    row: Array,
    value: Array,
    inverse: Array,
    place: Array,
    out: Array,
) -> None:
    """out (F, V, 3), which comes with the linear blend, F at most TOGETHER."""
    frames, count = out.shape[0], out.shape[1]
    x = np.empty((count, 3 * frames), F32)
    every = np.empty((frames, bone.size, 9), F32)
    all_gradients(near, bone, coefficients, f, Q, every)
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
    if frames == 1:
        solve_one(first, column, row, value, inverse, x)
    else:
        solve_several(first, column, row, value, inverse, x)
    for m in range(frames):
        for v in range(count):
            y = x[place[v]]
            out[m, v, 0], out[m, v, 1], out[m, v, 2] = y[3 * m], y[3 * m + 1], y[3 * m + 2]
