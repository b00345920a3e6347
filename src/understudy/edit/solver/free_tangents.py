"""Free tangents: the handles that an edit may change, as dimensionless variables v, and their bounds.

Each handle is start + factor * v. A time handle is counted in lengths of its segment, a value handle in units of its
kind (a radian, the character's size, a whole weight), so that one stiffness suits all. At an unbroken key both sides
share their variables, before = r after with the r that they have, so that the curve stays smooth there exactly; the
sides of a broken key have their own, and [Ciccone 2019, eq. 5] pulls them together.

Bounds [Ciccone 2019, eqs. 7 to 9] hold for the handles after the edit:

    0 <= after dt, before dt <= MAX_TIME_HANDLE_RATIO of the segment
    4/3 (u - min(y0, y3)) <= after dv <= 4/3 (v - max(y0, y3)), and the same negated for before dv

for a column with limits u and v. The appendix proves that these keep the whole segment within them. (The lower bound of
time handles is MIN_TIME_HANDLE_RATIO here, and a handle that is outside of its bounds already may stay.)

A piece is one column of one Bezier segment, with four handle numbers (`segments`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, bezier_segments
from understudy.checks import Array
from understudy.edit.keys import is_broken, key_slopes
from understudy.edit.solver.segments import FreeSegments, Grid, PackedCurves, SampleGrid, sample_values
from understudy.errors import InvalidInput
from understudy.maths import bezier

MIN_TIME_HANDLE_RATIO = 0.02  # of the segment: without length it makes a kink that no value handle can shape
MAX_TIME_HANDLE_RATIO = 0.95  # of the segment: at 1 on both sides dt/ds is 0 in the middle, and derivatives diverge
# Cost of a time handle relative to a value handle: states are less linear in it, and timing is best left alone.
TIME_HANDLE_COST = 10.0

Range = tuple[float, float]


@dataclass(frozen=True)
class TangentVariables:
    """N variables that move the handles of G pieces, of n columns of an animation."""

    curves: Curves  # with the free segments made Bezier
    columns: Array  # (n,) int, of the animation
    pieces: FreeSegments
    column: Array  # (G,) int, into `columns`
    segment: Array  # (G,) int, of the column's curve
    start: Array  # (G, 4) the handles where v = 0
    variable: Array  # (G, 4) int, -1 where a handle stays
    factor: Array  # (G, 4)
    low: Array  # (N,)
    high: Array  # (N,)
    cost: Array  # (N,) stiffness [eq. 4]
    # The difference of the sides of broken keys [eq. 5]: |pull v + pull_start|^2 where both sides may move, and
    # pull_cost v^2 + pull_slope v, summed over the variables, where one side may.
    pull: Array  # (B, N)
    pull_start: Array  # (B,)
    pull_cost: Array  # (N,)
    pull_slope: Array  # (N,)

    @property
    def count(self) -> int:
        """N."""
        return len(self.low)

    def handles(self, v: Array) -> Array:
        """(G, 4) the handles for variables (N,)."""
        return self.start + self.factor * np.append(v, 0.0)[self.variable]

    def grid(self, times: Array) -> SampleGrid:
        """The sample grid of the columns at times (S,)."""
        times = np.ascontiguousarray(times, dtype=float)
        piece = np.full((len(times), len(self.columns)), -1, np.int64)
        t0, d = self.pieces.t0[:, None], self.pieces.d[:, None]
        g, s = np.nonzero((times >= t0) & (times <= t0 + d))
        np.maximum.at(piece, (s, self.column[g]), g)  # at a key, the piece that leaves it
        flat, columns = self._flat
        return SampleGrid(times, piece, flat.sample(times, flat.where(times))[:, columns])

    @cached_property
    def _flat(self) -> tuple[PackedCurves, Array]:
        """The curves of the columns, packed, and the number of each column there."""
        return pack_columns(self.curves, self.columns)

    def sample(self, grid: Grid, v: Array) -> Array:
        """(S, n) the values for variables v (N,)."""
        assert isinstance(grid, SampleGrid)
        return sample_values(self.pieces, self.handles(v), grid)

    @property
    def changeable_columns(self) -> Array:
        """(n,) bool: the columns that some variable moves."""
        result = np.zeros(len(self.columns), bool)
        result[np.unique(self.column[(self.variable >= 0).any(axis=1)])] = True
        return result

    def sharp_times(self, gap: float) -> Array:
        """(T,) times within the pieces at which curves turn so sharply that samples `gap` seconds apart miss it."""
        return bezier.close_times(self.pieces.t0, self.pieces.d, self.start[:, 0], self.start[:, 2], gap)

    @property
    def spans(self) -> list[Range]:
        """The time spans of all pieces."""
        return list(zip(self.pieces.t0.tolist(), (self.pieces.t0 + self.pieces.d).tolist()))

    def changeable_spans(self, of: Array) -> list[Range]:
        """The time spans in which any of the columns `of` (n,) bool can change, joined where they touch."""
        moves = (self.variable >= 0).any(axis=1) & of[self.column]
        return join_spans(self.pieces.t0[moves], self.pieces.d[moves])

    def apply_to_curves(self, v: Array) -> Curves:
        """The animation with the handles for variables (N,)."""
        handles, curves, new = self.handles(v), self.curves.curves, {}
        for number, pieces, k, i in self._changed_curves:
            before, after = curves[number].before.copy(), curves[number].after.copy()
            after[k, i], before[k + 1, i] = handles[pieces, :2], handles[pieces, 2:]
            new[number] = curves[number].with_handles(checks.freeze(before), checks.freeze(after))
        return self.curves.with_curves(new)

    @cached_property
    def _changed_curves(self) -> list[tuple[int, Array, Array, Array]]:
        """For each curve that changes: its number, its pieces, and the segment and the column of each piece there."""
        owner, within = owners(self.curves, self.columns)
        owner, within = owner[self.column], within[self.column]
        curves = []
        for number in np.unique(owner[(self.variable >= 0).any(axis=1)]):
            pieces = np.flatnonzero(owner == number)
            curves.append((int(number), pieces, self.segment[pieces], within[pieces]))
        return curves


class HandleTable(NamedTuple):
    """G pieces before their variables are assigned."""

    column: Array  # (G,) int
    key: Array  # (G,) int, the key at which the piece begins
    pieces: FreeSegments
    start: Array  # (G, 4)
    unit: Array  # (G,) of the values
    inner: Array  # (G,) bool: whether it may change by itself; else it only follows a neighbour


class HandleJunction(NamedTuple):
    """A key of one column: the piece that ends there and the one that begins there, -1 where there is none."""

    arriving: int
    leaving: int
    broken: bool
    outside: Array | None  # (2,) the fixed handle of the other side, where only one side is a piece
    outside_length: float  # of that side's segment


def tangent_variables(
    curves: Curves,
    columns: Array,
    free: Array,
    ranges: Sequence[Range],
    *,
    unit: Array,
    limits: Mapping[int, Range],
    stiffness: Array,
    smooth_edges: bool,
) -> TangentVariables:
    """The tangents of columns (n,), of which those `free` (n,) bool may change, in the segments that `ranges` overlap.

    `ranges` are seconds, `limits` ranges by column number of the animation, `stiffness` and `unit` (n,). With
    `smooth_edges` an unbroken tangent at the end of a range takes its other side along.
    """
    owner, _ = owners(curves, columns)
    curves = _to_bezier_segments(curves, np.unique(owner[free]), ranges)
    table = _handle_table(curves, columns, free, ranges, unit, smooth_edges)
    junctions = _find_junctions(curves, columns, table)
    variable, factor, count = _variables(table, junctions)
    low, high = _bounds(curves, columns, table, variable, factor, count, limits)
    cost = _handle_cost(table, variable, factor, count, stiffness)
    pulls = _pulls(table, junctions, variable, factor, count)
    return TangentVariables(
        curves, columns, table.pieces, table.column, table.key, table.start, variable, factor, low, high, cost, *pulls
    )


def owners(curves: Curves, columns: Array) -> tuple[Array, Array]:
    """(n,) the number of the curve of each column, and the number of the column in that curve."""
    offsets = curves.channels.offsets
    owner = np.searchsorted(offsets, columns, side="right") - 1
    return owner, columns - offsets[owner]


def pack_columns(curves: Curves, columns: Array) -> tuple[PackedCurves, Array]:
    """The curves of the columns (n,), packed, and the number (n,) of each column there."""
    owner, within = owners(curves, columns)
    used, number = np.unique(owner, return_inverse=True)
    packed = PackedCurves([curves.curves[i] for i in used])
    return packed, packed.offsets[number.reshape(-1)] + within


def join_spans(start: Array, length: Array) -> list[Range]:
    """The spans of time (G,), in order, joined where they touch."""
    joined: list[Range] = []
    for a, b in sorted(zip(start.tolist(), (start + length).tolist())):
        if joined and a <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined


def repeats(curve: Curve) -> bool:
    """Whether the curve repeats before its first key and after its last."""
    return all(mode.startswith("cycle") for mode in curve.extrapolation)


def is_seamless(curve: Curve) -> bool:
    """Whether the curve repeats, so that its last key and its first are the same."""
    same = curve.extrapolation[1] == "cycle_offset" or np.allclose(curve.values[0], curve.values[-1])
    return repeats(curve) and bool(same)


def _overlapped_segments(curve: Curve, ranges: Sequence[Range]) -> Array:
    """(K - 1,) bool: the segments that any of the ranges overlaps."""
    result = np.zeros(len(curve) - 1, bool)
    for a, b in ranges:
        result |= (curve.times[:-1] < b) & (curve.times[1:] > a)
    return result


def _to_bezier_segments(curves: Curves, numbers: Array, ranges: Sequence[Range]) -> Curves:
    """The animation with linear segments in the ranges made Bezier, of the same shape (nearly, for rotations)."""
    result = list(curves.curves)
    for number in numbers:
        curve = result[number]
        result[number] = bezier_segments(curve, _overlapped_segments(curve, ranges) & (curve.segments == LINEAR))
    return curves if all(a is b for a, b in zip(result, curves.curves)) else replace(curves, curves=tuple(result))


def _handle_table(
    curves: Curves, columns: Array, free: Array, ranges: Sequence[Range], unit: Array, smooth_edges: bool
) -> HandleTable:
    owner, within = owners(curves, columns)
    parts = []
    for number in np.unique(owner[free]):
        curve = curves.curves[number]
        inner = _overlapped_segments(curve, ranges)
        used = inner.copy()
        if smooth_edges:
            used[1:] |= inner[:-1]
            used[:-1] |= inner[1:]
            if is_seamless(curve):
                used[0] |= inner[-1]
                used[-1] |= inner[0]
        k = np.flatnonzero(used & (curve.segments == BEZIER))
        for i in np.flatnonzero(free & (owner == number)):
            c = within[i]
            parts.append(
                (
                    np.full(len(k), i),
                    k,
                    curve.times[k],
                    curve.times[k + 1] - curve.times[k],
                    curve.values[k, c],
                    curve.values[k + 1, c],
                    np.concatenate([curve.after[k, c], curve.before[k + 1, c]], axis=1),
                    np.full(len(k), unit[i]),
                    inner[k],
                )
            )
    empty = [np.zeros(0, np.int64)] * 2 + [np.zeros(0)] * 4 + [np.zeros((0, 4)), np.zeros(0), np.zeros(0, bool)]
    column, key, t0, d, y0, y3, start, units, inner = (np.concatenate(arrays) for arrays in zip(empty, *parts))
    return HandleTable(column, key, FreeSegments(t0, d, y0, y3), start, units, inner)


def _find_junctions(curves: Curves, columns: Array, table: HandleTable) -> list[HandleJunction]:
    owner, within = owners(curves, columns)
    sides: dict[tuple[int, int], list[int]] = {}
    for g, (i, k) in enumerate(zip(table.column.tolist(), table.key.tolist())):
        curve = curves.curves[owner[i]]
        after = 0 if k + 1 == len(curve) - 1 and is_seamless(curve) else k + 1
        sides.setdefault((i, k), [-1, -1])[1] = g
        sides.setdefault((i, after), [-1, -1])[0] = g
    broken = {int(number): _find_broken_keys(curves.curves[number]) for number in np.unique(owner[table.column])}
    junctions = []
    for (i, k), (arriving, leaving) in sides.items():
        curve, c = curves.curves[owner[i]], within[i]
        outside, length = None, 0.0
        if arriving < 0 < k:
            outside, length = curve.before[k, c], curve.times[k] - curve.times[k - 1]
        elif leaving < 0 and k < len(curve) - 1:
            outside, length = curve.after[k, c], curve.times[k + 1] - curve.times[k]
        junctions.append(HandleJunction(arriving, leaving, bool(broken[int(owner[i])][k, c]), outside, float(length)))
    return junctions


def _find_broken_keys(curve: Curve) -> Array:
    """(K, n) `is_broken`, with the first key of a curve that repeats compared with the last."""
    result = is_broken(curve)
    if is_seamless(curve):
        arriving, leaving = key_slopes(curve)
        size = np.maximum(np.maximum(np.abs(arriving[-1]), np.abs(leaving[0])), 1.0)
        result[0] = ~(np.abs(arriving[-1] - leaving[0]) <= 1e-6 * size)
    return result


def _variables(table: HandleTable, junctions: list[HandleJunction]) -> tuple[Array, Array, int]:
    """`variable` (G, 4) and `factor` (G, 4) of `TangentVariables`, and N."""
    start, d, unit = table.start, table.pieces.d, table.unit
    variable, factor, count = np.full(start.shape, -1, np.int64), np.zeros(start.shape), 0
    for junction in junctions:
        a, b = junction.arriving, junction.leaving
        if a >= 0 and b >= 0 and not junction.broken and (table.inner[a] or table.inner[b]):
            ratio = start[a, 2] / start[b, 0]
            variable[b, :2] = variable[a, 2:] = count, count + 1
            factor[b, :2], factor[a, 2:] = (d[b], unit[b]), (ratio * d[b], ratio * unit[b])
            count += 2
            continue
        for g, span in ((a, slice(2, 4)), (b, slice(0, 2))):
            if g >= 0 and table.inner[g]:
                variable[g, span], factor[g, span] = (count, count + 1), (d[g], unit[g])
                count += 2
    return variable, factor, count


def _handle_cost(table: HandleTable, variable: Array, factor: Array, count: int, stiffness: Array) -> Array:
    """(N,) D of [Ciccone 2019, eq. 4]: D^2 v^2 is the sum over all handles that a variable moves, each in its units."""
    units = np.stack([table.pieces.d, table.unit] * 2, axis=-1)
    stiff = stiffness[table.column][:, None] * np.array([TIME_HANDLE_COST, 1.0, TIME_HANDLE_COST, 1.0])
    used, squares = variable >= 0, np.zeros(count)
    np.add.at(squares, variable[used], ((stiff * factor / units) ** 2)[used])
    return np.sqrt(squares)


def _bounds(
    curves: Curves,
    columns: Array,
    table: HandleTable,
    variable: Array,
    factor: Array,
    count: int,
    limits: Mapping[int, Range],
) -> tuple[Array, Array]:
    """(N,) the lower and upper bound of each variable [eqs. 7 to 9]."""
    start, pieces = table.start, table.pieces
    floor, ceiling = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    for c in (0, 2):
        floor[:, c] = np.minimum(MIN_TIME_HANDLE_RATIO * pieces.d, start[:, c])
        ceiling[:, c] = np.maximum(MAX_TIME_HANDLE_RATIO * pieces.d, start[:, c])
    least, most = np.minimum(pieces.y0, pieces.y3), np.maximum(pieces.y0, pieces.y3)
    for number, (u, v) in limits.items():
        limited = columns[table.column] == number
        wrong = np.flatnonzero(limited & ((least < u) | (most > v)))
        if wrong.size:
            g = int(wrong[0])
            first = not u <= pieces.y0[g] <= v
            name = curves.channels.names[number]
            scale, unit = (np.degrees(1.0), " degrees") if ".euler." in name else (1.0, "")
            low_text, high_text, value = (scale * x for x in (u, v, (pieces.y0 if first else pieces.y3)[g]))
            raise InvalidInput(
                f"{name} should stay between {low_text:.4g} and {high_text:.4g}{unit}, but its key at "
                f"{pieces.t0[g] + (0 if first else pieces.d[g]):.4g} s is {value:.4g}"
            )
        floor[limited, 1], ceiling[limited, 1] = 4 / 3 * (u - least[limited]), 4 / 3 * (v - most[limited])
        floor[limited, 3], ceiling[limited, 3] = -ceiling[limited, 1], -floor[limited, 1]
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    used = variable >= 0
    np.maximum.at(low, variable[used], (floor - start)[used] / factor[used])
    np.minimum.at(high, variable[used], (ceiling - start)[used] / factor[used])
    return low, np.maximum(high, low)


def _pulls(
    table: HandleTable, junctions: list[HandleJunction], variable: Array, factor: Array, count: int
) -> tuple[Array, Array, Array, Array]:
    """The differences of the sides of broken keys: the last four fields of `TangentVariables` [eq. 5].

    Sides are compared as slopes, each in lengths of its own segment, so that a smooth key has no difference whatever
    the spacing of keys.
    """
    rows, values = [], []
    cost, slope = np.zeros(count), np.zeros(count)
    for junction in junctions:
        sides = [(junction.arriving, 2, 1.0), (junction.leaving, 0, -1.0)]
        ends = [(g, c, sign) for g, c, sign in sides if g >= 0]
        if (len(ends) == 1 and junction.outside is None) or (len(ends) == 2 and not junction.broken):
            continue
        for part in range(2):  # time, value
            row, constant = np.zeros(count), 0.0
            for g, c, sign in ends:
                d = table.pieces.d[g]
                scale = sign / (d if part == 0 else table.unit[g])
                scale *= 1.0 if len(ends) == 1 or c == 2 else table.pieces.d[junction.arriving] / d
                constant += scale * table.start[g, c + part]
                if variable[g, c + part] >= 0:
                    row[variable[g, c + part]] += scale * factor[g, c + part]
            if junction.outside is not None and len(ends) == 1:
                g, _, sign = ends[0]
                d = table.pieces.d[g]
                constant -= (
                    sign * junction.outside[part] * d / junction.outside_length / (d if part == 0 else table.unit[g])
                )
            moved = np.flatnonzero(row)
            if len(moved) == 1:
                cost[moved] += row[moved] ** 2
                slope[moved] += 2 * row[moved] * constant
            elif len(moved) == 2:
                rows.append(row)
                values.append(constant)
    return np.array(rows).reshape(len(rows), count), np.array(values), cost, slope
