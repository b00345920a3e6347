"""Tangents: the handles that an edit may change, as dimensionless variables v, and what bounds them.

Each handle is start + factor * v. A time handle is counted in lengths of its segment, a value handle in units of its
kind (a radian, the character's size, a whole weight), so that one stiffness suits all. At an unbroken key both sides
share their variables, before = r after with the r that they have, so that the curve stays smooth there exactly; a
broken key's sides have their own, and [Ciccone 2019, eq. 5] pulls them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy import checks
from understudy.character import Curves
from understudy.checks import Array
from understudy.keyframes.flat import Flat
from understudy.keyframes.pieces import Grid, Pieces

Range = tuple[float, float]


@dataclass(frozen=True)
class Tangents:
    """N variables that move the handles of G pieces, of n columns of an animation."""

    curves: Curves  # with the segments concerned made Bezier
    columns: Array  # (n,) of the animation
    pieces: Pieces
    column: Array  # (G,) int, into `columns`
    segment: Array  # (G,) int, of the column's curve
    start: Array  # (G, 4) the handles where v = 0
    variable: Array  # (G, 4) int, -1 where a handle stays
    factor: Array  # (G, 4)
    low: Array  # (N,)
    high: Array  # (N,)
    cost: Array  # (N,) stiffness [eq. 4]
    # How far the sides of broken keys are apart [eq. 5]: |pull v + pull_start|^2 where both sides may move, and
    # pull_cost v^2 + pull_slope v, summed over the variables, where one does.
    pull: Array  # (B, N)
    pull_start: Array  # (B,)
    pull_cost: Array  # (N,)
    pull_slope: Array  # (N,)

    @property
    def count(self) -> int:
        """N."""
        return len(self.low)

    def handles(self, v: Array) -> Array:
        """(G, 4) for variables (N,)."""
        return self.start + self.factor * np.append(v, 0.0)[self.variable]

    def grid(self, times: Array) -> Grid:
        """Where the values of the columns at times (S,) come from."""
        times = np.ascontiguousarray(times, dtype=float)
        piece = np.full((len(times), len(self.columns)), -1, np.int64)
        t0, d = self.pieces.t0[:, None], self.pieces.d[:, None]
        g, s = np.nonzero((times >= t0) & (times <= t0 + d))
        np.maximum.at(piece, (s, self.column[g]), g)  # at a key, the piece that leaves it
        flat, columns = self._flat
        return Grid(times, piece, flat.sample(times, flat.where(times))[:, columns])

    @cached_property
    def _flat(self) -> tuple[Flat, Array]:
        """The curves of the columns, and the column of each there."""
        owner, within = owners(self.curves, self.columns)
        used, number = np.unique(owner, return_inverse=True)
        flat = Flat([self.curves.curves[i] for i in used])
        return flat, flat.offsets[number.reshape(-1)] + within

    def changed(self, of: Array) -> list[Range]:
        """The stretches of time in which any of the columns `of` (n,) bool can change, joined where they touch."""
        moves = (self.variable >= 0).any(axis=1) & of[self.column]
        spans = sorted(zip(self.pieces.t0[moves].tolist(), (self.pieces.t0 + self.pieces.d)[moves].tolist()))
        joined: list[Range] = []
        for a, b in spans:
            if joined and a <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
            else:
                joined.append((a, b))
        return joined

    def applied(self, v: Array) -> Curves:
        """The animation with its handles moved."""
        handles, curves, new = self.handles(v), self.curves.curves, {}
        for number, own, k, i in self._movers:
            before, after = curves[number].before.copy(), curves[number].after.copy()
            after[k, i], before[k + 1, i] = handles[own, :2], handles[own, 2:]
            new[number] = curves[number].with_handles(checks.freeze(before), checks.freeze(after))
        return self.curves.with_some(new)

    @cached_property
    def _movers(self) -> list[tuple[int, Array, Array, Array]]:
        """Of each curve that changes its number, its pieces, and the segment and the column of each there."""
        owner, within = owners(self.curves, self.columns)
        owner, within = owner[self.column], within[self.column]
        found = []
        for number in np.unique(owner[(self.variable >= 0).any(axis=1)]):
            own = np.flatnonzero(owner == number)
            found.append((int(number), own, self.segment[own], within[own]))
        return found


def owners(curves: Curves, columns: Array) -> tuple[Array, Array]:
    """(n,) the curve of each column, and its number there."""
    offsets = curves.channels.offsets
    owner = np.searchsorted(offsets, columns, side="right") - 1
    return owner, columns - offsets[owner]
