"""Compiled scalar routines that other kernels call.

- `bezier_newton_scalar`: `bezier.solve_unit` for one equation.
- `solve_cholesky`: a x = b with a = L L', for kernels that solve many small systems of equations. Two rows are computed
  at a time: their sums are independent, and the common factors are read once. That is a third to a half faster than row
  by row, for 6 to 90 unknowns. A matrix that should be positive definite may not be, by rounding or because its data
  does not determine some of x. With a smallest pivot `least` of 0 there is no solution then; above 0 a pivot below it
  is raised to it, as if that unknown were held by something stiff, and the solution is exact where none was raised.
- `solve_box_qp_rows`: `solvers.solve_box_qp`, one right side after the other, with nothing allocated inside.
- `scalar_exp`: exp for compiled loops that are to be vectorised, which a call of the C library's prevents. exp(x) = 2^n
  exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2, where the Taylor series of degree 12 is exact to half a unit of
  the last place (r^13 / 13! = 2e-16). Three times the speed of `math.exp` in a loop over an array.
- `quaternion_from_matrix`: quaternions x, y, z, w of rotation matrices.
"""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is ln 2 to 1e-29


@compile_kernel(nogil=True)
def bezier_newton_scalar(p1: float, p2: float, u: float, steps: int, step_end: float, residual_end: float) -> float:
    """The solution of x(s) = u. The letters are those of `bezier`."""
    c1, c2, c3 = 3.0 * p1, 3.0 * (p2 - 2.0 * p1), 1.0 + 3.0 * (p1 - p2)
    s, low, high, last = u, 0.0, 1.0, 1.0
    for _ in range(steps):
        residual = ((c3 * s + c2) * s + c1) * s - u
        if abs(residual) <= residual_end:
            break
        rate = (3.0 * c3 * s + 2.0 * c2) * s + c1
        if residual < 0:
            low = s
        else:
            high = s
        step = residual / (rate if abs(rate) >= 1e-300 else 1e-300)
        new = s - step
        if new < low or new > high or abs(2.0 * step) > abs(last):
            new = 0.5 * (low + high)
        last = s - new
        s = new
        if abs(last) <= step_end:
            break
    return s


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def solve_cholesky(a: Array, b: Array, n: int, least: float) -> bool:
    """Solve a x = b in place of both, of the first n rows and columns; whether there was an answer, and a finite one.

    The lower half of `a` is read, and becomes the factor L; the upper half is left alone.
    """
    if not factorise_cholesky(a, n, least):
        return False
    for i in range(n):
        total = b[i]
        for m in range(i):
            total -= a[i, m] * b[m]
        b[i] = total / a[i, i]
    finite = True
    for i in range(n - 1, -1, -1):
        x = b[i] / a[i, i]
        for m in range(i):
            b[m] -= a[i, m] * x
        b[i] = x
        finite = finite and math.isfinite(x)
    return finite


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def factorise_cholesky(a: Array, n: int, least: float) -> bool:
    """The lower half of `a` becomes L, a = L L'; False where a pivot is not positive and `least` is 0."""
    for i in range(0, n, 2):
        k = min(i + 1, n - 1)  # the row besides, or the last one itself
        for j in range(i):
            one, other = a[i, j], a[k, j]
            for m in range(j):
                one -= a[i, m] * a[j, m]
                other -= a[k, m] * a[j, m]
            a[i, j], a[k, j] = one / a[j, j], other / a[j, j]
        one, between, other = a[i, i], a[k, i], a[k, k]
        for m in range(i):
            one -= a[i, m] * a[i, m]
            between -= a[k, m] * a[i, m]
            other -= a[k, m] * a[k, m]
        root = pivot_root(one, least)
        if root == 0.0:
            return False
        a[i, i] = root
        if k > i:
            a[k, i] = between / root
            root = pivot_root(other - a[k, i] * a[k, i], least)
            if root == 0.0:
                return False
            a[k, k] = root
    return True


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def pivot_root(pivot: float, least: float) -> float:
    """The root of a pivot that is raised to `least`, or 0 where that is 0 and the pivot not positive."""
    if least == 0.0:
        return math.sqrt(pivot) if pivot > 0.0 else 0.0
    return math.sqrt(least) if pivot < least else math.sqrt(pivot)


@compile_kernel()
def _box_qp_step(h: Array, gradient: Array, free: Array, n: int, least: float, factor: Array, step: Array) -> None:
    """step (n,) = -H_FF^-1 g_F; free (n,) are the numbers of F."""
    for i in range(n):
        for j in range(i + 1):
            factor[i, j] = h[free[i], free[j]]
        step[i] = -gradient[free[i]]
    solve_cholesky(factor, step, n, least)


@compile_kernel()
def _box_qp_gradient(h: Array, b: Array, w: Array, gradient: Array) -> float:
    """gradient (S,) = H w - b; returns the value 1/2 w'Hw - b'w."""
    value = 0.0
    for i in range(len(b)):
        s = -b[i]
        for j in range(len(b)):
            s += h[i, j] * w[j]
        gradient[i] = s
        value += 0.5 * w[i] * (s - b[i])
    return value


@compile_kernel(nogil=True)
def solve_box_qp_rows(
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
        value = _box_qp_gradient(h, right, w, gradient)
        for _ in range(steps):
            n, most = 0, 0.0
            for i in range(count):
                if not ((w[i] <= low[i] and gradient[i] > 0) or (w[i] >= high[i] and gradient[i] < 0)):
                    free[n] = i
                    n += 1
                    most = max(most, abs(gradient[i]))
            if most <= enough:
                break
            _box_qp_step(h, gradient, free, n, least, factor, step)
            share, better = 1.0, False
            for _ in range(30):
                for i in range(count):
                    tried[i] = w[i]
                for i in range(n):
                    tried[free[i]] = min(max(w[free[i]] + share * step[i], low[free[i]]), high[free[i]])
                lower = _box_qp_gradient(h, right, tried, other)
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


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, inline="always")
def exp_series(r: float) -> float:
    """e^r for |r| <= ln 2 / 2."""
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, inline="always")
def scalar_exp(x: float) -> float:
    """e^x for x <= 700; below -700, where it is 1e-304, as if there. NaN stays NaN."""
    x = max(x, -700.0)
    n = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - n * LN2_HIGH
    r = r - n * LN2_LOW
    return exp_series(r) * np.int64((np.int64(n) + 1023) << 52).view(np.float64)


@compile_kernel(nogil=True)
def largest_quaternion_column(m: Array, q: Array) -> None:
    """q (4,) times some factor of a rotation matrix (3, 3): the column of 4 q q' with the largest diagonal entry."""
    xx, yy, zz = 1 + m[0, 0] - m[1, 1] - m[2, 2], 1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]
    ww = 1 + m[0, 0] + m[1, 1] + m[2, 2]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    xw, yw, zw = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    most = max(max(xx, yy), max(zz, ww))
    if xx == most:
        q[0], q[1], q[2], q[3] = xx, xy, xz, xw
    elif yy == most:
        q[0], q[1], q[2], q[3] = xy, yy, yz, yw
    elif zz == most:
        q[0], q[1], q[2], q[3] = xz, yz, zz, zw
    else:
        q[0], q[1], q[2], q[3] = xw, yw, zw, ww


@compile_kernel(nogil=True)
def quaternion_from_matrix(m: Array, out: Array) -> None:
    """Quaternions (N, 4) of rotation matrices (N, 3, 3)."""
    for n in range(m.shape[0]):
        q = out[n]
        largest_quaternion_column(m[n], q)
        size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        for i in range(4):
            q[i] /= size
