"""Compiled twin of `RotationalRegression.deform_reference`: a few frames at once, so that the factor is read once.

Vertices are taken in blocks, number by number, so that the processor works on eight of them at a time.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.deform.triangular_kernels import solve_one, solve_several
from understudy.maths.accelerate import FAST, compiled

TOGETHER = 8  # frames
BLOCK = 64  # vertices: what is known of them and their coefficients of one joint stay in the nearest cache
RIGID = 1e-9  # matrices this near to rotations are taken as such
F32 = np.float32


@compiled(error_model="numpy")
def is_rotation(m: Array) -> bool:
    """Whether the 3x3 part of m is one."""
    for i in range(3):
        for j in range(i, 3):
            dot = m[0, i] * m[0, j] + m[1, i] * m[1, j] + m[2, i] * m[2, j]
            if not abs(dot - (1.0 if i == j else 0.0)) < RIGID:
                return False
    x = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    y = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
    z = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    return m[0, 0] * x + m[0, 1] * y + m[0, 2] * z > 0


@compiled(error_model="numpy")
def product(a: Array, b: Array, out: Array) -> None:
    """out (3, 3) := that of the 3x3 parts."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@compiled(error_model="numpy")
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


@compiled(error_model="numpy")
def pose(t: Array, joints: Array, above: Array, back: Array, binds: Array, f: Array, Q: Array) -> bool:
    """f (F, M, 7) and Q (F, B, 9) of world_from_joint t (F, B, 4, 4); False, and nothing of use, where some matrix on
    the way is no rotation: then singular values are needed."""
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


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def predict(coefficients: Array, near: Array, f: Array, known: Array, of_joint: Array) -> None:
    """known (9, BLOCK) := A f and B f of one block."""
    known[:] = F32(0)
    k = 0
    for n in range(near.shape[0]):
        for i in range(f.shape[1]):
            for v in range(BLOCK):
                of_joint[v] = f[near[n, v], i]
            for o in range(9):
                c, total = coefficients[k, o], known[o]
                for v in range(BLOCK):
                    total[v] += c[v] * of_joint[v]
            k += 1


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def gradients(known: Array, q: Array, d: Array) -> None:
    """d (9, BLOCK) := q exp(A f) (1 + B f).

    The sign of a quaternion does not matter, so whole half turns are taken from the half angle (in two parts, the first
    of which has few digits and is subtracted exactly), and series to the 12th power give sine and cosine to 1e-7.
    """
    one, two, half = F32(1), F32(2), F32(0.5)
    for v in range(BLOCK):
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


@compiled(fastmath=FAST, error_model="numpy")
def every_gradient(near: Array, bone: Array, coefficients: Array, f: Array, Q: Array, out: Array) -> None:
    """out (F, blocks * BLOCK, 9), times one half, of f (F, M, FEATURES) and Q (F, B, 9)."""
    known, of_joint = np.empty((9, BLOCK), F32), np.empty(BLOCK, F32)
    q, d = np.empty((9, BLOCK), F32), np.empty((9, BLOCK), F32)
    for b in range(len(coefficients)):
        for m in range(len(f)):
            predict(coefficients[b], near[b], f[m], known, of_joint)
            for v in range(BLOCK):
                turn = Q[m, bone[b, v]]
                for i in range(9):
                    q[i, v] = F32(0.5) * turn[i]
            gradients(known, q, d)
            for v in range(BLOCK):
                for i in range(9):
                    out[m, b * BLOCK + v, i] = d[i, v]


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
    every_gradient(near, bone, coefficients, f, Q, every)
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
