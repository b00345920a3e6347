"""A program of wishes within bounds, by Newton's method on what the wishes are off by.

    minimise    sum_i d_i x_i^2 + g' x + |B x - c|^2,    low <= x <= high

With z = c - B x each variable follows from z, x_i = (B_i' z - g_i / 2) / d_i cut off at its bounds, and z solves
z + B x(z) = c. Newton's method: with those that are cut off fixed it is linear, and exact as soon as the same are cut
off again. The equations are the slope of a convex function, which a step follows only as far as it falls: whole steps
alone, which are those of a primal-dual active set, may go round in circles. Great weights of wishes that are met do no
harm, as they would in x, where a variable at its bound lets all of them down.

The linear equations are as many as there are rows, (1 + B D^-1 B') z = c - B_fixed x_fixed + B D^-1 g / 2, or as there
are free variables, (D + B' B) x = B' (c - B_fixed x_fixed) - g / 2, which are the same [Woodbury].
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from understudy.checks import Array

ROUNDS = 60  # after which that is given up: drags take 1 to 15, random programs with half of their bounds met up to 45


class Bounded(NamedTuple):
    """The numbers of a program, letters as above. B is made of rows, in blocks, times the roots of their weights."""

    d: Array  # (N,) above zero
    g: Array  # (N,)
    low: Array  # (N,)
    high: Array  # (N,)
    blocks: tuple[Array, ...]  # (., N) each, M rows in all
    root: Array  # (M,)
    c: Array  # (M,) the aims of the rows, times the roots as well

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


class Linear(Protocol):
    """The equations with some variables fixed."""

    def solved(self, side: Array, x: Array) -> Array | None:
        """z (M,), where those with a side (N,) other than 0 are fixed at x (N,); None where there is none."""
        ...


class InRows:
    """As many equations as rows."""

    def __init__(self, program: Bounded) -> None:
        self._program, self._free = program, -0.5 * program.g / program.d
        self._scaled = np.concatenate(program.blocks) * program.root[:, None] / np.sqrt(program.d)
        self._k = self._scaled @ self._scaled.T
        self._k.flat[:: len(self._k) + 1] += 1.0
        self._fixed = np.zeros(len(program.d), bool)

    def solved(self, side: Array, x: Array) -> Array | None:
        from scipy.linalg.lapack import dposv

        now = side != 0
        for which, sign in ((now & ~self._fixed, -1.0), (self._fixed & ~now, 1.0)):
            if which.any():
                part = self._scaled[:, which]
                self._k += sign * (part @ part.T)
        self._fixed = now
        _, z, failed = dposv(self._k, self._program.c - self._program.times(np.where(now, x, self._free)))
        return None if failed or not np.isfinite(z).all() else z


class InVariables:
    """As many equations as free variables. `square` (N, N) is B' B, and is used up."""

    def __init__(self, program: Bounded, square: Array) -> None:
        self._program, self._h = program, square
        self._h.flat[:: len(square) + 1] += program.d
        self._right = program.back(program.c) - 0.5 * program.g

    def solved(self, side: Array, x: Array) -> Array | None:
        from scipy.linalg.lapack import dposv

        free, fixed = np.flatnonzero(side == 0), np.flatnonzero(side)
        h, right = self._h, self._right
        if len(fixed):
            right = right[free] - h[np.ix_(free, fixed)] @ x[fixed]
            h = h[np.ix_(free, free)]
        _, found, failed = dposv(h.T, right, overwrite_a=len(fixed) > 0)  # as LAPACK has it, and symmetric
        if failed or not np.isfinite(found).all():
            return None
        there = x.copy()
        there[free] = found
        return self._program.c - self._program.times(there)


def minimum(program: Bounded, equations: Linear, side: Array | None = None) -> tuple[Array, Array] | None:
    """The minimum (N,) and the forces of its bounds (N,), positive where from above; None where it is not found.

    `side` (N,) is a guess: 1 for those at their upper bound, -1 for those at their lower one, 0 for the free.
    """
    d, low, high, half = program.d, program.low, program.high, -0.5 * program.g
    side = np.zeros(len(d), np.int8) if side is None else side
    x = np.where(side > 0, high, np.where(side < 0, low, half / d))
    z, pull = np.zeros(len(program.c)), half
    for turn in range(ROUNDS):
        aim = equations.solved(side, x)
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


def _side(program: Bounded, pull: Array) -> Array:
    """(N,) 1 for variables beyond their upper bound, -1 for those beyond their lower one."""
    free = pull / program.d
    return (free > program.high).astype(np.int8) - (free < program.low)


def _share(program: Bounded, step: Array, pull: Array, along: Array) -> float:
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
