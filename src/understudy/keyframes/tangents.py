"""Tangents: the handles that an edit may change, as dimensionless variables v, and what bounds them.

Each handle is start + factor * v. A time handle is counted in lengths of its segment, a value handle in units of its
kind (a radian, the character's size, a whole weight), so that one stiffness suits all. At an unbroken key both sides
share their variables, before = r after with the r that they have, so that the curve stays smooth there exactly; a
broken key's sides have their own, and [Ciccone 2019, eq. 5] pulls them together.

Bounds [eqs. 7 to 9] hold for start + factor * v:

    0 <= after dt, before dt <= LONGEST of the segment
    4/3 (u - min(y0, y3)) <= after dv <= 4/3 (v - max(y0, y3)), and the same negated for before dv

for a column with limits u and v. The appendix proves that these keep the whole segment within them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.handles import bezier_segments, is_broken
from understudy.keyframes.pieces import Grid, Pieces

SHORTEST = 0.02  # of the segment: a time handle of no length makes a kink that no value handle can shape
LONGEST = 0.95  # at 1 on both sides time halts in the middle, and the derivatives grow without bound
TIME_COST = 10.0  # how much dearer a time handle is: states answer to it less evenly, and timing is best left alone
UNITS = {"euler": 1.0, "rotation": 0.5, "weights": 1.0, "controls": 1.0, "scale": 1.0}

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
        for g, (i, t0, d) in enumerate(zip(self.column, self.pieces.t0, self.pieces.d)):
            piece[(times >= t0) & (times <= t0 + d), i] = g
        fixed = np.zeros(piece.shape)
        owner, within = _owners(self.curves, self.columns)
        for number in np.unique(owner):
            own = np.flatnonzero(owner == number)
            still = np.flatnonzero((piece[:, own] < 0).any(axis=1))
            if still.size:
                fixed[np.ix_(still, own)] = self.curves.curves[number].sample(times[still])[:, within[own]]
        return Grid(times, piece, fixed)

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
        handles = self.handles(v)
        curves = list(self.curves.curves)
        owner, within = _owners(self.curves, self.columns)
        for number in np.unique(owner[self.column[(self.variable >= 0).any(axis=1)]]):
            curve = curves[number]
            before, after = curve.before.copy(), curve.after.copy()
            for g in np.flatnonzero(owner[self.column] == number):
                k, i = self.segment[g], within[self.column[g]]
                after[k, i], before[k + 1, i] = handles[g, :2], handles[g, 2:]
            curves[number] = replace(curve, before=before, after=after)
        return replace(self.curves, curves=tuple(curves))


def tangents(
    curves: Curves,
    columns: Array,
    free: Array,
    ranges: list[Range],
    *,
    size: float,
    limits: Mapping[int, Range],
    stiffness: Array,
    smooth_edges: bool,
) -> Tangents:
    """The tangents of columns (n,), of which those `free` (n,) may change, in the segments that `ranges` touch.

    `limits` are by column of the animation, `stiffness` (n,) by column. With `smooth_edges` an unbroken tangent at the
    end of a range takes its other side along.
    """
    owner, within = _owners(curves, columns)
    made = _bezier(curves, np.unique(owner[free]), ranges)
    slots: dict[tuple[int, int], list[int]] = {}  # (column, key) -> piece that arrives, piece that leaves
    table = []
    for i in np.flatnonzero(free):
        curve = made.curves[owner[i]]
        inner = _touched(curve, ranges)
        for k in np.flatnonzero(_with_neighbours(curve, inner) if smooth_edges else inner):
            if curve.segments[k] == BEZIER:
                slots.setdefault((i, k), [-1, -1])[1] = len(table)
                slots.setdefault((i, k + 1), [-1, -1])[0] = len(table)
                table.append((i, k, bool(inner[k])))
    return _variables(made, columns, owner, within, table, slots, size, limits, stiffness)


def _variables(
    curves: Curves,
    columns: Array,
    owner: Array,
    within: Array,
    table: list[tuple[int, int, bool]],
    slots: dict[tuple[int, int], list[int]],
    size: float,
    limits: Mapping[int, Range],
    stiffness: Array,
) -> Tangents:
    column = np.array([i for i, _, _ in table], np.int64)
    segment = np.array([k for _, k, _ in table], np.int64)
    inner = np.array([yes for _, _, yes in table], bool)
    t0, d, y0, y3 = np.zeros((4, len(table)))
    start = np.zeros((len(table), 4))
    unit = np.zeros(len(table))
    for g, (i, k, _) in enumerate(table):
        curve, own = curves.curves[owner[i]], within[i]
        t0[g], d[g] = curve.times[k], curve.times[k + 1] - curve.times[k]
        y0[g], y3[g] = curve.values[k, own], curve.values[k + 1, own]
        start[g, :2], start[g, 2:] = curve.after[k, own], curve.before[k + 1, own]
        unit[g] = UNITS.get(curve.channel.kind, size)
    variable, factor = np.full((len(table), 4), -1, np.int64), np.zeros((len(table), 4))
    count = 0
    pulls: list[tuple[int, int]] = []  # pieces that arrive at and leave a broken key
    ends: list[tuple[int, int, int]] = []  # piece, side, and the key whose other side is fixed
    broken = {number: is_broken(curves.curves[number]) for number in np.unique(owner[column])}
    for (i, k), (left, right) in slots.items():
        sides = [(g, side) for g, side in ((left, 1), (right, 0)) if g >= 0]
        joined = left >= 0 and right >= 0 and not broken[owner[i]][k, within[i]]
        if joined and (inner[left] or inner[right]):
            ratio = start[left, 2] / start[right, 0]
            variable[right, :2] = variable[left, 2:] = (count, count + 1)
            factor[right, :2] = d[right], unit[right]
            factor[left, 2:] = ratio * d[right], ratio * unit[left]
            count += 2
            continue
        for g, side in sides:
            if inner[g]:
                span = slice(2 * side, 2 * side + 2)
                variable[g, span], factor[g, span] = (count, count + 1), (d[g], unit[g])
                count += 2
        if left >= 0 and right >= 0:
            pulls.append((left, right))
        elif 0 < k < len(curves.curves[owner[i]]) - 1:
            ends.append((sides[0][0], sides[0][1], int(k)))
    pieces = Pieces(t0, d, y0, y3)
    low, high = _bounds(curves, columns, pieces, column, start, variable, factor, limits, count)
    cost = np.zeros(count)
    used = variable >= 0
    np.maximum.at(cost, variable[used], (stiffness[column][:, None] * (TIME_COST, 1.0, TIME_COST, 1.0))[used])
    pulled = _pulls(curves, owner, within, column, pieces, unit, start, variable, factor, pulls, ends, count)
    return Tangents(curves, columns, pieces, column, segment, start, variable, factor, low, high, cost, *pulled)


def _bounds(
    curves: Curves,
    columns: Array,
    pieces: Pieces,
    column: Array,
    start: Array,
    variable: Array,
    factor: Array,
    limits: Mapping[int, Range],
    count: int,
) -> tuple[Array, Array]:
    """(N,) the least and the greatest value of each variable [eqs. 7 to 9]."""
    floor, ceiling = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    for c in (0, 2):
        floor[:, c] = np.minimum(SHORTEST * pieces.d, start[:, c])
        ceiling[:, c] = np.maximum(LONGEST * pieces.d, start[:, c])
    for g, i in enumerate(column):
        if int(columns[i]) not in limits:
            continue
        u, v = limits[int(columns[i])]
        least, most = sorted((pieces.y0[g], pieces.y3[g]))
        if least < u or most > v:
            t = pieces.t0[g] if u > pieces.y0[g] or v < pieces.y0[g] else pieces.t0[g] + pieces.d[g]
            raise InvalidInput(
                f"{curves.channels.names[columns[i]]} should stay between {u:.4g} and {v:.4g}, "
                f"but its key at {t:.4g} s is {least if least < u else most:.4g}"
            )
        floor[g, 1], ceiling[g, 1] = 4 / 3 * (u - least), 4 / 3 * (v - most)
        floor[g, 3], ceiling[g, 3] = -ceiling[g, 1], -floor[g, 1]
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    used = variable >= 0
    np.maximum.at(low, variable[used], ((floor - start)[used] / factor[used]))
    np.minimum.at(high, variable[used], ((ceiling - start)[used] / factor[used]))
    return low, np.maximum(high, low)


def _pulls(
    curves: Curves,
    owner: Array,
    within: Array,
    column: Array,
    pieces: Pieces,
    unit: Array,
    start: Array,
    variable: Array,
    factor: Array,
    pulls: list[tuple[int, int]],
    ends: list[tuple[int, int, int]],
    count: int,
) -> tuple[Array, Array, Array, Array]:
    """The last four fields of `Tangents`."""
    rows, values = [], []
    cost, slope = np.zeros(count), np.zeros(count)

    def add(terms: list[tuple[int, int, float]], constant: float) -> None:
        row = np.zeros(count)
        for g, c, times in terms:
            constant += times * start[g, c]
            if variable[g, c] >= 0:
                row[variable[g, c]] += times * factor[g, c]
        moved = np.flatnonzero(row)
        if len(moved) == 1:
            cost[moved] += row[moved] ** 2
            slope[moved] += 2 * row[moved] * constant
        elif len(moved) == 2:
            rows.append(row)
            values.append(constant)

    for left, right in pulls:
        ratio = pieces.d[left] / pieces.d[right]
        for c, scale in ((0, pieces.d[left]), (1, unit[left])):
            add([(right, c, ratio / scale), (left, c + 2, -1 / scale)], 0.0)
    for g, side, k in ends:
        curve, own = curves.curves[owner[column[g]]], within[column[g]]
        outside = curve.before[k, own] if side == 0 else curve.after[k, own]
        other = curve.times[k] - curve.times[k - 1] if side == 0 else curve.times[k + 1] - curve.times[k]
        for c, scale in ((0, pieces.d[g]), (1, unit[g])):
            add([(g, c + 2 * side, 1 / scale)], -outside[c] * pieces.d[g] / other / scale)
    return np.array(rows).reshape(-1, count), np.array(values), cost, slope


def _owners(curves: Curves, columns: Array) -> tuple[Array, Array]:
    """(n,) the curve of each column, and its number there."""
    offsets = curves.channels.offsets
    owner = np.searchsorted(offsets, columns, side="right") - 1
    return owner, columns - offsets[owner]


def _touched(curve: Curve, ranges: list[Range]) -> Array:
    """(K - 1,) the segments that any of the ranges overlaps."""
    result = np.zeros(len(curve) - 1, bool)
    for a, b in ranges:
        result |= (curve.times[:-1] < b) & (curve.times[1:] > a)
    return result


def _with_neighbours(curve: Curve, inner: Array) -> Array:
    result = inner.copy()
    result[1:] |= inner[:-1]
    result[:-1] |= inner[1:]
    return result


def _bezier(curves: Curves, numbers: Array, ranges: list[Range]) -> Curves:
    """The animation with linear segments in the ranges made Bezier, of the same shape or, for rotations, nearly."""
    result = list(curves.curves)
    for number in numbers:
        curve = result[number]
        result[number] = bezier_segments(curve, _touched(curve, ranges) & (curve.segments == LINEAR))
    return curves if all(a is b for a, b in zip(result, curves.curves)) else replace(curves, curves=tuple(result))
