"""The quadratic program of an edit [Ciccone 2019, eq. 10], solved by DAQP, a dual active-set method.

    minimise    sum_i d_i x_i^2 + g' x + sum_r w_r (a_r x - b_r)^2
    subject to  low <= x <= high,   floor <= C x <= ceiling

The wishes (a_r, b_r) get variables of their own, y = b - a x, so that the quadratic form is diagonal in (x, y). DAQP
has a fast path for that: the answer is the same to rounding, and comes 5 to 16 times sooner than with a dense form
(measured for 124 to 316 variables).

DAQP stands rows that depend on each other, which pins over a whole segment soon have, and needs no start that satisfies
them. Rows that contradict each other are met as nearly as they can be: they are made soft, and the answer says so.

`approach` is the same program with its rows as wishes of great weight, so that only the bounds of the variables are
left for the active set. It always has a minimum and never takes long: a goal out of reach of its pins, where hundreds
of dependent rows enter and leave the active set, took 120 ms and more at the slowest tenth, and takes 3 (180 variables,
200 rows). What the rows are off by is the force on them over twice the weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.maths import accelerate

OPTIMAL, SOFT_OPTIMAL = 1, 2
EQUAL, SOFT = 5, 8  # DAQP's words for a row that is an equation, and for one that may be broken
TOLERANCE = 1e-8  # of the rows, which are counted in character sizes and radians
PIVOT = 1e-14  # below this, relative, DAQP takes the form for singular; weights of 1e7 and more come down to 1e-12
SOFTNESS = 1e-6  # a softened row gives way by this much for each unit of force
ENDLESS = 1e30
FEW = 0.9  # rows for each variable below which they are solved for
SMALL = 90  # rows up to which the kernel is quicker than BLAS
ROUNDS = 60  # after which that is given up: drags take 1 to 15, random programs with half of their bounds met up to 45
HALVINGS, ALONG = 16, 0.1  # how far a round goes: until this much of the slope is left, or nearly


class Program(NamedTuple):
    """The numbers of one program, letters as above."""

    d: Array  # (N,) above zero
    g: Array  # (N,)
    low: Array  # (N,)
    high: Array  # (N,)
    a: Array  # (S, N)
    b: Array  # (S,)
    w: Array  # (S,)
    c: Array  # (M, N)
    floor: Array  # (M,)
    ceiling: Array  # (M,)


class Solution(NamedTuple):
    """The minimum, whether every row was met, and the force of each bound and row (positive where from above)."""

    x: Array  # (N,)
    exact: bool
    bound_forces: Array  # (N,)
    row_forces: Array  # (M,)


def minimise(program: Program) -> Solution | None:
    """The minimum, or None where the numbers are such that there is none to be had."""
    import daqp

    n, s, m = len(program.d), len(program.b), len(program.floor)
    h = np.diag(2 * np.concatenate([program.d, program.w]))
    f = np.concatenate([program.g, np.zeros(s)])
    rows = np.zeros((m + s, n + s))
    rows[:m, :n], rows[m:, :n] = program.c, program.a
    rows[m:, n:] = np.eye(s)
    endless = np.full(s, ENDLESS)
    upper = np.concatenate([program.high, endless, program.ceiling, program.b])
    lower = np.concatenate([program.low, -endless, program.floor, program.b])
    sense = np.zeros(n + s + m + s, np.int32)
    sense[n + s + m :] = EQUAL
    for kind in (0, SOFT):
        sense[n + s : n + s + m] = kind
        tolerances = {"primal_tol": TOLERANCE, "zero_tol": PIVOT, "rho_soft": SOFTNESS}
        x, _, flag, info = daqp.solve(h, f, rows, upper, lower, sense, **tolerances)
        if flag in (OPTIMAL, SOFT_OPTIMAL) and np.isfinite(x).all():
            forces = np.asarray(info["lam"], dtype=float)
            return Solution(np.asarray(x[:n], dtype=float), kind == 0, forces[:n], forces[n + s : n + s + m])
    return None


def approach(program: Program, weight: float) -> Solution | None:
    """The minimum with each row met as nearly as `weight` (in the units of w) makes it, at the middle of its range."""
    middle = (program.floor + program.ceiling) / 2
    rows, aims = np.concatenate([program.a, program.c]), np.concatenate([program.b, middle])
    weights = np.concatenate([program.w, np.full(len(middle), weight)])
    found = few_rows(program, rows, aims, weights) if len(rows) < FEW * len(program.d) else None
    found = found or _dense(program, rows, aims, weights)
    if found is None:
        return None
    x, bound_forces = found
    off = program.c @ x - middle
    met = bool(np.abs(off).max(initial=0.0) <= np.abs(program.ceiling - middle).max(initial=0.0))
    return Solution(x, met, bound_forces, 2 * weight * off)


def few_rows(program: Program, rows: Array, aims: Array, weights: Array) -> tuple[Array, Array] | None:
    """The minimum of a program of wishes alone, and the forces of its bounds, where it is found in a few rounds."""
    kernels = accelerate.kernels("understudy.keyframes.qp_kernels") if len(rows) <= SMALL else None
    if kernels is None:
        return few_rows_slowly(program, rows, aims, weights)
    found, x, forces = kernels.few_rows(*program[:4], rows, aims, weights, ROUNDS, HALVINGS, ALONG)
    return (x, forces) if found else None


def few_rows_slowly(program: Program, rows: Array, aims: Array, weights: Array) -> tuple[Array, Array] | None:
    """`qp_kernels.few_rows` in NumPy, and what is used where BLAS is quicker.

    With B = sqrt(W) A and z = sqrt(W) (b - A x), each variable follows from z, x_i = (B_i' z - g_i / 2) / d_i cut off
    at its bounds, and z solves as many equations as there are rows, z + B x(z) = sqrt(W) b. Newton's method: with those
    that are cut off fixed, (1 + B D^-1 B') z = sqrt(W) b - B_fixed x_fixed + B D^-1 g / 2 [Woodbury], which is exact as
    soon as the same are cut off again. The equations are the slope of a convex function, which a step follows only
    as far as it falls: whole steps alone may go round in circles.
    """
    from scipy.linalg.lapack import dposv

    root = np.sqrt(weights)
    b, c = rows * root[:, None], root * aims
    half, inverse = -0.5 * program.g, 1 / program.d
    scaled = b * np.sqrt(inverse)
    k = scaled @ scaled.T
    k.flat[:: len(k) + 1] += 1.0
    side = np.zeros(len(half), np.int8)  # 1 beyond its upper bound, -1 beyond its lower, 0 free
    x, z, pull = inverse * half, np.zeros(len(c)), np.zeros(len(half))
    for turn in range(ROUNDS):
        _, aim, failed = dposv(k, c - b @ np.where(side != 0, x, inverse * half))
        if failed or not np.isfinite(aim).all():
            return None
        step = aim - z
        along = step @ b
        share = 1.0 if turn == 0 else _share(program, z, step, c, half + pull, along)
        z, pull = z + share * step, pull + share * along
        free = inverse * (half + pull)
        x = np.clip(free, program.low, program.high)
        now = (free > program.high).astype(np.int8) - (free < program.low)
        if share == 1.0 and (now == side).all():
            return x, np.where(now != 0, 2 * (half + pull - program.d * x), 0.0)
        for which, sign in (((now != 0) & (side == 0), -1.0), ((now == 0) & (side != 0), 1.0)):
            if which.any():
                k += sign * (scaled[:, which] @ scaled[:, which].T)
        side = now
    return None


def _share(program: Program, z: Array, step: Array, c: Array, pull: Array, along: Array) -> float:
    """The share of a step up to which the convex function falls, nearly: where its slope along it changes sign."""

    def slope(share: float) -> float:
        x = np.clip((pull + share * along) / program.d, program.low, program.high)
        return float(step @ (z + share * step - c) + along @ x)

    low, high, most = 0.0, 1.0, -ALONG * slope(0.0)
    share = 1.0
    for _ in range(HALVINGS):
        here = slope(share)
        if abs(here) <= most or (share == 1.0 and here <= 0.0):
            break
        low, high = (share, high) if here < 0.0 else (low, share)
        share = (low + high) / 2
    return share


def _dense(program: Program, rows: Array, aims: Array, weights: Array) -> tuple[Array, Array] | None:
    """The same by DAQP, in the variables alone."""
    import daqp

    n = len(program.d)
    h = np.diag(program.d)
    kernels = accelerate.kernels("understudy.keyframes.qp_kernels")
    (gram_slowly if kernels is None else kernels.gram)(rows, weights, h)
    f = program.g - 2 * rows.T @ (weights * aims)
    none, plain = np.zeros((0, n)), np.zeros(n, np.int32)
    tolerances = {"primal_tol": TOLERANCE, "zero_tol": PIVOT}
    x, _, flag, info = daqp.solve(2 * h, f, none, program.high, program.low, plain, **tolerances)
    if flag != OPTIMAL or not np.isfinite(x).all():
        return None
    return np.asarray(x, dtype=float), np.asarray(info["lam"], dtype=float)[:n]


def gram_slowly(rows: Array, weights: Array, out: Array) -> None:
    """`qp_kernels.gram` in NumPy. The kernel is not faster than BLAS, but BLAS wakes threads for this little work, and
    on a busy machine waits for them."""
    out += (rows.T * weights) @ rows


def dense(program: Program) -> tuple[Array, Array]:
    """H and f of 1/2 x' H x + f' x, the same program without the variables of the wishes: for other solvers."""
    h = 2 * (np.diag(program.d) + (program.a.T * program.w) @ program.a)
    return h, program.g - 2 * program.a.T @ (program.w * program.b)
