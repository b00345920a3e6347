"""The quadratic program of an edit [Ciccone 2019, eq. 10], solved by DAQP, a dual active-set method.

    minimise    sum_i d_i x_i^2 + g' x + sum_r w_r (a_r x - b_r)^2
    subject to  low <= x <= high,   floor <= C x <= ceiling

The wishes (a_r, b_r) get variables of their own, y = b - a x, so that the quadratic form is diagonal in (x, y). DAQP
has a fast path for that: the answer is the same to rounding, and comes 5 to 16 times sooner than with a dense form
(measured for 124 to 316 variables).

DAQP stands rows that depend on each other, which pins over a whole segment soon have, and needs no start that satisfies
them. Rows that contradict each other are met as nearly as they can be: they are made soft, and the answer says so.

`approach` is the same program with its rows as wishes of great weight, so that only the bounds of the variables are
left (`dual_newton`, and DAQP for what is small). It always has a minimum and never takes long: a goal out of reach
of its pins, where hundreds of dependent rows enter and leave an active set, took 120 ms and more at the slowest tenth,
and takes 1 to 3 (190 variables, 200 to 500 rows). What the rows are off by is the force on them over twice the weight.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.keyframes import dual_newton
from understudy.maths import accelerate

OPTIMAL, SOFT_OPTIMAL = 1, 2
EQUAL, SOFT = 5, 8  # DAQP's words for a row that is an equation, and for one that may be broken
TOLERANCE = 1e-8  # of the rows, which are counted in character sizes and radians
PIVOT = 1e-14  # below this, relative, DAQP takes the form for singular; weights of 1e7 and more come down to 1e-12
SOFTNESS = 1e-6  # a softened row gives way by this much for each unit of force
ENDLESS = 1e30
FEW = 0.9  # rows for each variable below which they are solved for
SMALL = 90  # rows up to which the kernel is quicker than BLAS, and variables up to which DAQP is


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

    @property
    def side(self) -> Array:
        """(N,) 1 for variables held at their upper bound, -1 for those held at their lower one, 0 for the free."""
        return np.sign(self.bound_forces).astype(np.int8)


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


class Square:
    """weight C' C of a program's rows, for programs that differ in their wishes alone."""

    def __init__(self, c: Array, weight: float) -> None:
        self._c, self._weight = c, weight

    @cached_property
    def matrix(self) -> Array:
        """(N, N)."""
        found: Array = self._weight * (self._c.T @ self._c)
        return found


def approach(
    program: Program, weight: float, square: Square | None = None, side: Array | None = None
) -> Solution | None:
    """The minimum with each row met as nearly as `weight` (in the units of w) makes it, at the middle of its range.

    `side` (N,) is a guess: 1 for those at their upper bound, -1 for those at their lower one, 0 for the free.
    """
    middle = (program.floor + program.ceiling) / 2
    wanted = Wanted(
        (program.a, program.c),
        np.concatenate([program.b, middle]),
        np.concatenate([program.w, np.full(len(middle), weight)]),
    )
    if len(wanted.aims) < FEW * len(program.d):
        found = few_rows(program, wanted)
    elif len(program.d) <= SMALL:
        found = active_set(program, wanted)
    else:
        found = many_rows(program, wanted, square or Square(program.c, weight), side)
    found = found or active_set(program, wanted)
    if found is None:
        return None
    x, bound_forces = found
    off = program.c @ x - middle
    met = bool(np.abs(off).max(initial=0.0) <= np.abs(program.ceiling - middle).max(initial=0.0))
    return Solution(x, met, bound_forces, 2 * weight * off)


class Wanted(NamedTuple):
    """All that a program of wishes alone wants: rows in blocks, (S, N) and (M, N), and for each its aim and weight."""

    blocks: tuple[Array, Array]
    aims: Array  # (S + M,)
    weights: Array  # (S + M,)


def few_rows(program: Program, wanted: Wanted) -> tuple[Array, Array] | None:
    """The minimum of a program of wishes alone, and the forces of its bounds, in as many equations as rows."""
    kernels = accelerate.kernels("understudy.keyframes.qp_kernels") if len(wanted.aims) <= SMALL else None
    if kernels is None:
        return few_rows_slowly(program, wanted)
    rows = np.concatenate(wanted.blocks)
    found, x, forces = kernels.few_rows(*program[:4], rows, wanted.aims, wanted.weights, dual_newton.ROUNDS)
    return (x, forces) if found else None


def few_rows_slowly(program: Program, wanted: Wanted) -> tuple[Array, Array] | None:
    """`qp_kernels.few_rows` in NumPy, and what is used where BLAS is quicker."""
    bounded = _bounded(program, wanted)
    return dual_newton.minimum(bounded, dual_newton.InRows(bounded))


def many_rows(
    program: Program, wanted: Wanted, square: Square, side: Array | None = None
) -> tuple[Array, Array] | None:
    """The same in as many equations as free variables; `square` is that of the second block."""
    bounded, wishes = _bounded(program, wanted), wanted.blocks[0]
    both = square.matrix + (wishes.T * program.w) @ wishes
    return dual_newton.minimum(bounded, dual_newton.InVariables(bounded, both), side)


def _bounded(program: Program, wanted: Wanted) -> dual_newton.Bounded:
    root = np.sqrt(wanted.weights)
    return dual_newton.Bounded(*program[:4], wanted.blocks, root, root * wanted.aims)


def active_set(program: Program, wanted: Wanted) -> tuple[Array, Array] | None:
    """The same by DAQP."""
    import daqp

    n, rows, (_, aims, weights) = len(program.d), np.concatenate(wanted.blocks), wanted
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
