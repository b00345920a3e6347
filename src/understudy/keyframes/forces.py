"""What pushes back where an edit ends: the forces of pins, contacts, holds, limits and handles against the goals.

At the closest solution the pull towards the goals, g = J' gap, is in balance with what is held and with the bounds:

    g = sum_j C_j' lambda_j + mu,     mu_n only at a bound, and only outwards.

lambda is the least-squares answer with the variables at such bounds left out; the force of goal j is |C_j' lambda_j|,
in the metric of [Ciccone 2019, eq. 4]. A pin that is kept by leaving its columns alone [section 3.3, case 2] has no
rows: its force is the pull on those columns, as if they had tangents in the middle of their segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.keyframes import pieces
from understudy.keyframes.goals import Pin
from understudy.keyframes.problem import Constraint, Problem
from understudy.keyframes.requests import measure
from understudy.keyframes.wishes import with_goals

if TYPE_CHECKING:
    from understudy.keyframes.solve import Found

ROUNDS = 4  # of finding out which bounds push
NEAR = 1e-7  # to a bound counts as at it
RIDGE = 1e-8  # of the rows' own size: rows depend on each other
MIDDLE = 0.53  # how far a column moves in the middle of a segment for both of its value handles together, a unit in all


class Bound(NamedTuple):
    """A variable that is at the end of its range, and how: `handle` numbers the four of a piece, `high` says which."""

    piece: int
    handle: int
    high: bool


class Forces(NamedTuple):
    """The pull, what it is out of, and all that pushes back."""

    pull: float  # |g|
    strain: float  # |J| |gap|: the pull would be as large, were the goals in the direction that tangents move them best
    goals: list[tuple[Constraint, float]]
    frozen: list[tuple[Pin, float]]
    bounds: list[tuple[Bound, float]]
    rest: float  # what nothing balances


def forces(problem: Problem, found: Found) -> Forces:
    """The forces at the end of a search."""
    t, v = problem.tangents, found.v
    j = found.moves.matrix
    if not len(j):
        moves = measure(problem.states, t, problem.moves, v, problem.size)
        j = with_goals(moves, problem.wishes, problem.states, t, v, problem.size, True).matrix
    cost = np.maximum(t.cost, 0.1)
    g = j.T @ found.moves.residual / cost
    held = found.kept or measure(problem.states, t, found.held, v, problem.size)
    c = held.matrix / cost
    at_low, at_high = v <= t.low + NEAR, v >= t.high - NEAR
    push = np.zeros_like(g)  # of what is held
    bound = np.zeros(len(g), bool)
    lam = np.zeros(len(c))
    square = c.T @ c if len(c) > len(g) else None
    for _ in range(ROUNDS if len(g) else 0):
        lam = _balance(c, g, np.flatnonzero(~bound), square)
        push = c.T @ lam
        now = (at_low & (g - push < 0)) | (at_high & (g - push > 0))
        if (now == bound).all():
            break
        bound = now
    rows = found.held.row_goal
    goals = [(goal, float(np.linalg.norm(c[rows == k].T @ lam[rows == k]))) for k, goal in enumerate(problem.kept)]
    ends = [(_bound(problem, int(n), bool(at_high[n])), float(abs((g - push)[n]))) for n in np.flatnonzero(bound)]
    rest = float(np.linalg.norm((g - push)[~bound]))
    strain = float(np.linalg.norm(j / cost) * np.linalg.norm(found.moves.residual))
    return Forces(float(np.linalg.norm(g)), strain, goals, _frozen(problem, found), ends, rest)


def _balance(c: Array, g: Array, free: Array, square: Array | None) -> Array:
    """(M,) lambda that makes c' lambda nearest to g in the free variables: (c c' + r)^-1 c g, or c (c' c + r)^-1 g,
    which is the same and smaller where there are more rows than variables; `square` is c' c then."""
    from scipy.linalg.lapack import dposv

    if not len(c) or not len(free):
        return np.zeros(len(c))
    if square is None:
        part = c[:, free]
        gram, right = part @ part.T, part @ g[free]
    else:
        gram, right = square[np.ix_(free, free)], g[free]
    gram.flat[:: len(gram) + 1] += RIDGE * (1.0 + float(np.trace(gram)) / len(c))
    found: Array = dposv(gram.T, right, overwrite_a=True)[1]
    if square is None:
        return found
    whole = np.zeros(len(g))
    whole[free] = found
    return np.asarray(c @ whole)


def _bound(problem: Problem, n: int, high: bool) -> Bound:
    """Which handle keeps variable n from going on: of those that it moves, the one that is nearest to its end."""
    t = problem.tangents
    g, c = np.nonzero(t.variable == n)
    limited = [i for i in range(len(g)) if c[i] % 2 == 1] or list(range(len(g)))
    best = limited[0]
    return Bound(int(g[best]), int(c[best]), high == bool(t.factor[g[best], c[best]] > 0))


def _frozen(problem: Problem, found: Found) -> list[tuple[Pin, float]]:
    pins = problem.frozen
    if not pins:
        return []
    t, moves = problem.tangents, problem.moves
    values, _ = pieces.sample(t.pieces, t.handles(found.v), moves.grid)
    _, _, jacobian = problem.states.evaluate(values, moves.sample, moves.point)
    gap = found.moves.gap[: len(moves)] * np.repeat([1 / problem.size, 1.0], 3)
    pull = np.einsum("rkn,rk->rn", jacobian, gap) * problem.could_move  # (R, n)
    total = pull.sum(axis=0) * problem.unit * MIDDLE  # moves between the same keys may pull against each other
    return [(pin, float(np.linalg.norm(total[columns]))) for pin, columns in pins]
