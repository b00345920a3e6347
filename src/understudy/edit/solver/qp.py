"""The quadratic program of an edit [Ciccone 2019, eq. 10], solved by DAQP or, with soft rows, by a bounded dual Newton.

    minimise    sum_i d_i x_i^2 + g' x + sum_r w_r (a_r x - b_r)^2
    subject to  low <= x <= high,   floor <= C x <= ceiling

`minimise` uses DAQP, a dual active-set method. The objective rows (a_r, b_r) get variables of their own, y = b - a x,
so that the quadratic form is diagonal in (x, y). DAQP has a fast path for that: the answer is the same to rounding, and
comes 5 to 16 times sooner than with a dense form (measured for 124 to 316 variables). DAQP accepts rows that depend on
each other, which pins over a whole segment soon have, and needs no feasible start. Rows that contradict each other are
met as nearly as possible: they are made soft, and the answer says so.

`minimise_soft` is the same program with its rows as objectives of a large weight, so that only the bounds of the
variables are left (`minimise_box_qp`, and DAQP for small programs). It always has a minimum and never takes long: a
goal out of reach of its pins, where hundreds of dependent rows enter and leave an active set, took 120 ms and more at
the slowest tenth, and takes 1 to 3 (190 variables, 200 to 500 rows). The residual of a row is the force on it over
twice the weight.

`minimise_box_qp`: objectives within bounds, by Newton's method on their residuals.

    minimise    sum_i d_i x_i^2 + g' x + |B x - c|^2,    low <= x <= high

With z = c - B x each variable follows from z, x_i = (B_i' z - g_i / 2) / d_i clipped to its bounds, and z solves
z + B x(z) = c. Newton's method: with the clipped variables fixed it is linear, and exact as soon as the same variables
are clipped again. The equations are the slope of a convex function, and a step is followed only as far as that function
falls: whole steps alone, which are those of a primal-dual active set, may cycle. Large weights of objectives that are
met do no harm, as they would in x, where a variable at its bound affects all of them.

The linear equations are as many as there are rows, (1 + B D^-1 B') z = c - B_fixed x_fixed + B D^-1 g / 2, or as there
are free variables, (D + B' B) x = B' (c - B_fixed x_fixed) - g / 2, which are the same [Woodbury].
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from understudy.checks import Array
from understudy.maths import jit

KERNELS = "understudy.edit.solver.target_kernels"

DAQP_OPTIMAL, DAQP_SOFT_OPTIMAL = 1, 2
DAQP_EQUALITY, DAQP_SOFT = 5, 8  # DAQP's flags of a row that is an equation, and of one that may be violated
DAQP_PRIMAL_TOLERANCE = 1e-8  # of the rows, character sizes and radians
DAQP_ZERO_TOLERANCE = 1e-14  # relative; below it DAQP takes the form for singular. Weights of 1e7 reach 1e-12
DAQP_SOFT_COMPLIANCE = 1e-6  # residual of a soft row per unit of force
DAQP_INFINITY = 1e30

ROWS_PER_VARIABLE_DENSE = 0.9  # with fewer rows per variable the equations are those of the rows
MAX_ROWS_DAQP = 90  # rows up to which the kernel is faster than BLAS, and variables up to which DAQP is
MAX_NEWTON_ROUNDS = 60  # drags take 1 to 15, random programs with half of their bounds active up to 45


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


class QpSolution(NamedTuple):
    """The minimum, whether every row was met, and the force of each bound and row (positive at upper bounds)."""

    x: Array  # (N,)
    exact: bool
    bound_forces: Array  # (N,)
    row_forces: Array  # (M,)

    @property
    def side(self) -> Array:
        """(N,) 1 for variables at their upper bound, -1 for those at their lower one, 0 for free ones."""
        return np.sign(self.bound_forces).astype(np.int8)


def minimise(program: Program) -> QpSolution | None:
    """The minimum, or None where DAQP finds none."""
    import daqp

    n, s, m = len(program.d), len(program.b), len(program.floor)
    h = np.diag(2 * np.concatenate([program.d, program.w]))
    f = np.concatenate([program.g, np.zeros(s)])
    rows = np.zeros((m + s, n + s))
    rows[:m, :n], rows[m:, :n] = program.c, program.a
    rows[m:, n:] = np.eye(s)
    endless = np.full(s, DAQP_INFINITY)
    upper = np.concatenate([program.high, endless, program.ceiling, program.b])
    lower = np.concatenate([program.low, -endless, program.floor, program.b])
    sense = np.zeros(n + s + m + s, np.int32)
    sense[n + s + m :] = DAQP_EQUALITY
    for kind in (0, DAQP_SOFT):
        sense[n + s : n + s + m] = kind
        tolerances = {
            "primal_tol": DAQP_PRIMAL_TOLERANCE,
            "zero_tol": DAQP_ZERO_TOLERANCE,
            "rho_soft": DAQP_SOFT_COMPLIANCE,
        }
        x, _, flag, info = daqp.solve(h, f, rows, upper, lower, sense, **tolerances)
        if flag in (DAQP_OPTIMAL, DAQP_SOFT_OPTIMAL) and np.isfinite(x).all():
            forces = np.asarray(info["lam"], dtype=float)
            return QpSolution(np.asarray(x[:n], dtype=float), kind == 0, forces[:n], forces[n + s : n + s + m])
    return None


class RowGram:
    """weight C' C of the rows of a program, for programs that differ in their objective rows alone."""

    def __init__(self, c: Array, weight: float) -> None:
        self._c, self._weight = c, weight

    @cached_property
    def matrix(self) -> Array:
        """(N, N)."""
        gram: Array = self._weight * (self._c.T @ self._c)
        return gram


def minimise_soft(
    program: Program, weight: float, square: RowGram | None = None, side: Array | None = None
) -> QpSolution | None:
    """The minimum with each row met as nearly as `weight` (in the units of w) makes it, at the middle of its range.

    `side` (N,) is a guess: 1 for those at their upper bound, -1 for those at their lower one, 0 for the free.
    """
    middle = (program.floor + program.ceiling) / 2
    wanted = WeightedRows(
        (program.a, program.c),
        np.concatenate([program.b, middle]),
        np.concatenate([program.w, np.full(len(middle), weight)]),
    )
    if len(wanted.aims) < ROWS_PER_VARIABLE_DENSE * len(program.d):
        found = solve_few_rows(program, wanted)
    elif len(program.d) <= MAX_ROWS_DAQP:
        found = solve_active_set(program, wanted)
    else:
        found = solve_many_rows(program, wanted, square or RowGram(program.c, weight), side)
    found = found or solve_active_set(program, wanted)
    if found is None:
        return None
    x, bound_forces = found
    off = program.c @ x - middle
    met = bool(np.abs(off).max(initial=0.0) <= np.abs(program.ceiling - middle).max(initial=0.0))
    return QpSolution(x, met, bound_forces, 2 * weight * off)


class WeightedRows(NamedTuple):
    """The objective rows of a program without constraints: blocks (S, N) and (M, N), with targets and weights."""

    blocks: tuple[Array, Array]
    aims: Array  # (S + M,)
    weights: Array  # (S + M,)


def solve_few_rows(program: Program, wanted: WeightedRows) -> tuple[Array, Array] | None:
    """The minimum of a program of weighted rows, and the forces of its bounds, in as many equations as rows."""
    if len(wanted.aims) > MAX_ROWS_DAQP:
        bounded = _box_qp(program, wanted)
        return minimise_box_qp(bounded, RowSystem(bounded))
    kernels, rows = jit.kernels(KERNELS), np.concatenate(wanted.blocks)
    found, x, forces = kernels.solve_few_rows(*program[:4], rows, wanted.aims, wanted.weights, MAX_NEWTON_ROUNDS)
    return (x, forces) if found else None


def solve_many_rows(
    program: Program, wanted: WeightedRows, square: RowGram, side: Array | None = None
) -> tuple[Array, Array] | None:
    """The same in as many equations as free variables; `square` is the Gram matrix of the second block."""
    bounded, rows = _box_qp(program, wanted), wanted.blocks[0]
    both = square.matrix + (rows.T * program.w) @ rows
    return minimise_box_qp(bounded, VariableSystem(bounded, both), side)


def _box_qp(program: Program, wanted: WeightedRows) -> BoxQp:
    root = np.sqrt(wanted.weights)
    return BoxQp(*program[:4], wanted.blocks, root, root * wanted.aims)


def solve_active_set(program: Program, wanted: WeightedRows) -> tuple[Array, Array] | None:
    """The same by DAQP."""
    import daqp

    n, rows, (_, aims, weights) = len(program.d), np.concatenate(wanted.blocks), wanted
    h = np.diag(program.d)
    jit.kernels(KERNELS).gram(rows, weights, h)
    f = program.g - 2 * rows.T @ (weights * aims)
    none, plain = np.zeros((0, n)), np.zeros(n, np.int32)
    tolerances = {"primal_tol": DAQP_PRIMAL_TOLERANCE, "zero_tol": DAQP_ZERO_TOLERANCE}
    x, _, flag, info = daqp.solve(2 * h, f, none, program.high, program.low, plain, **tolerances)
    if flag != DAQP_OPTIMAL or not np.isfinite(x).all():
        return None
    return np.asarray(x, dtype=float), np.asarray(info["lam"], dtype=float)[:n]


def dense_form(program: Program) -> tuple[Array, Array]:
    """H and f of 1/2 x' H x + f' x, the same program without the variables y: for other solvers."""
    h = 2 * (np.diag(program.d) + (program.a.T * program.w) @ program.a)
    return h, program.g - 2 * program.a.T @ (program.w * program.b)


class BoxQp(NamedTuple):
    """The numbers of a box program, letters as above. B are rows, in blocks, times the roots of their weights."""

    d: Array  # (N,) above zero
    g: Array  # (N,)
    low: Array  # (N,)
    high: Array  # (N,)
    blocks: tuple[Array, ...]  # (., N) each, M rows in all
    root: Array  # (M,)
    c: Array  # (M,) the targets of the rows, times the roots as well

    def times(self, x: Array) -> Array:
        """(M,) B x."""
        return self.root * np.concatenate([block @ x for block in self.blocks])

    def back(self, z: Array) -> Array:
        """(N,) B' z."""
        scaled, result, first = self.root * z, np.zeros(len(self.d)), 0
        for block in self.blocks:
            result += scaled[first : first + len(block)] @ block
            first += len(block)
        return result


class ReducedSystem(Protocol):
    """The linear equations with some variables fixed."""

    def solve_with_fixed(self, side: Array, x: Array) -> Array | None:
        """z (M,), with the variables of a side (N,) other than 0 fixed at x (N,); None where it cannot be solved."""
        ...


class RowSystem:
    """As many equations as rows."""

    def __init__(self, program: BoxQp) -> None:
        self._program, self._free = program, -0.5 * program.g / program.d
        self._scaled = np.concatenate(program.blocks) * program.root[:, None] / np.sqrt(program.d)
        self._k = self._scaled @ self._scaled.T
        self._k.flat[:: len(self._k) + 1] += 1.0
        self._fixed = np.zeros(len(program.d), bool)

    def solve_with_fixed(self, side: Array, x: Array) -> Array | None:
        from scipy.linalg.lapack import dposv

        now = side != 0
        for which, sign in ((now & ~self._fixed, -1.0), (self._fixed & ~now, 1.0)):
            if which.any():
                part = self._scaled[:, which]
                self._k += sign * (part @ part.T)
        self._fixed = now
        _, z, failed = dposv(self._k, self._program.c - self._program.times(np.where(now, x, self._free)))
        return None if failed or not np.isfinite(z).all() else z


class VariableSystem:
    """As many equations as free variables. `square` (N, N) is B' B, and is overwritten."""

    def __init__(self, program: BoxQp, square: Array) -> None:
        self._program, self._h = program, square
        self._h.flat[:: len(square) + 1] += program.d
        self._right = program.back(program.c) - 0.5 * program.g

    def solve_with_fixed(self, side: Array, x: Array) -> Array | None:
        from scipy.linalg.lapack import dposv

        free, fixed = np.flatnonzero(side == 0), np.flatnonzero(side)
        h, right = self._h, self._right
        if len(fixed):
            right = right[free] - h[np.ix_(free, fixed)] @ x[fixed]
            h = h[np.ix_(free, free)]
        _, solution, failed = dposv(h.T, right, overwrite_a=len(fixed) > 0)  # in LAPACK's order, and symmetric
        if failed or not np.isfinite(solution).all():
            return None
        full = x.copy()
        full[free] = solution
        return self._program.c - self._program.times(full)


def minimise_box_qp(program: BoxQp, equations: ReducedSystem, side: Array | None = None) -> tuple[Array, Array] | None:
    """The minimum (N,) and the forces of its bounds (N,), positive at upper bounds; None where it is not found.

    `side` (N,) is a guess: 1 for those at their upper bound, -1 for those at their lower one, 0 for the free.
    """
    d, low, high, half = program.d, program.low, program.high, -0.5 * program.g
    side = np.zeros(len(d), np.int8) if side is None else side
    x = np.where(side > 0, high, np.where(side < 0, low, half / d))
    z, pull = np.zeros(len(program.c)), half
    for turn in range(MAX_NEWTON_ROUNDS):
        aim = equations.solve_with_fixed(side, x)
        if aim is None:
            return None
        step = aim - z
        along = program.back(step)
        if (_side(program, pull + along) == side).all():
            pull = pull + along
            x = np.clip(pull / d, low, high)
            return x, np.where(side != 0, 2 * (pull - d * x), 0.0)
        share = 1.0 if turn == 0 else _share(program, step, pull, along)
        z, pull = z + share * step, pull + share * along
        x, side = np.clip(pull / d, low, high), _side(program, pull)
    return None


def _side(program: BoxQp, pull: Array) -> Array:
    """(N,) 1 for variables beyond their upper bound, -1 for those beyond their lower one."""
    free = pull / program.d
    return (free > program.high).astype(np.int8) - (free < program.low)


def _share(program: BoxQp, step: Array, pull: Array, along: Array) -> float:
    """The share of a step up to which the convex function falls: where its slope along it changes sign, at most 1.

    The slope is -step' (1 + B D^-1 B') step of the free at the start, rises by |step|^2, and by along_i^2 / d_i as long
    as variable i is between its bounds. Sums that nearly cancel, as that of the slope itself, would be lost in the
    rounding of great weights.
    """
    d, low, high = program.d, program.low, program.high
    moving = along != 0
    ends = np.stack([d * low - pull, d * high - pull])[:, moving] / along[moving]
    first, last = np.clip(ends.min(axis=0), 0.0, 1.0), np.clip(ends.max(axis=0), 0.0, 1.0)
    rate = along[moving] ** 2 / d[moving]
    square = float(step @ step)
    at = np.concatenate([first, last, [1.0]])
    order = np.argsort(at, kind="stable")
    at = np.concatenate([[0.0], at[order]])
    rates = square + np.concatenate([[0.0], np.cumsum(np.concatenate([rate, -rate, [0.0]])[order])])
    began = -square - float(rate[(ends.min(axis=0) <= 0.0) & (ends.max(axis=0) >= 0.0)].sum())
    slopes = began + np.concatenate([[0.0], np.cumsum(rates[:-1] * np.diff(at))])
    k = int(np.searchsorted(slopes, 0.0))
    if k == len(slopes):
        return 1.0
    return float(at[k - 1] + min(-slopes[k - 1] / max(rates[k - 1], 1e-300), at[k] - at[k - 1]))
