"""Freeing tangents for an edit: which handles of which segments may change, how they hang together, and their bounds.

Bounds [Ciccone 2019, eqs. 7 to 9] hold for the handles as they will be:

    0 <= after dt, before dt <= LONGEST of the segment
    4/3 (u - min(y0, y3)) <= after dv <= 4/3 (v - max(y0, y3)), and the same negated for before dv

for a column with limits u and v. The appendix proves that these keep the whole segment within them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.handles import bezier_segments, is_broken, slopes
from understudy.keyframes.pieces import Pieces
from understudy.keyframes.tangents import Range, Tangents, owners

SHORTEST = 0.02  # of the segment: a time handle of no length makes a kink that no value handle can shape
LONGEST = 0.95  # at 1 on both sides time halts in the middle, and the derivatives grow without bound
TIME_COST = 10.0  # how much dearer a time handle is: states answer to it less evenly, and timing is best left alone


class Table(NamedTuple):
    """G pieces as they were found."""

    column: Array  # (G,) int
    key: Array  # (G,) int, the one that it leaves
    pieces: Pieces
    start: Array  # (G, 4)
    unit: Array  # (G,) of the values
    inner: Array  # (G,) bool: whether it may change by itself, or only follows a neighbour


class Joint(NamedTuple):
    """A key of one column: the piece that arrives there and the one that leaves, -1 where there is none."""

    arriving: int
    leaving: int
    broken: bool
    outside: Array | None  # (2,) the fixed handle of the other side, where only one side is a piece
    outside_length: float  # of that side's segment


def freed(
    curves: Curves,
    columns: Array,
    free: Array,
    ranges: Sequence[Range],
    *,
    unit: Array,
    limits: Mapping[int, Range],
    stiffness: Array,
    smooth_edges: bool,
) -> Tangents:
    """The tangents of columns (n,), of which those `free` (n,) may change, in the segments that `ranges` touch.

    `limits` are by column of the animation, `stiffness` and `unit` (n,) by column. With `smooth_edges` an unbroken
    tangent at the end of a range takes its other side along.
    """
    owner, _ = owners(curves, columns)
    curves = _bezier(curves, np.unique(owner[free]), ranges)
    table = _table(curves, columns, free, ranges, unit, smooth_edges)
    joints = _joints(curves, columns, table)
    variable, factor, count = _variables(table, joints)
    low, high = _bounds(curves, columns, table, variable, factor, count, limits)
    used = variable >= 0
    cost = np.zeros(count)
    np.maximum.at(cost, variable[used], (stiffness[table.column][:, None] * (TIME_COST, 1.0, TIME_COST, 1.0))[used])
    pulls = _pulls(table, joints, variable, factor, count)
    return Tangents(
        curves, columns, table.pieces, table.column, table.key, table.start, variable, factor, low, high, cost, *pulls
    )


def _touched(curve: Curve, ranges: Sequence[Range]) -> Array:
    """(K - 1,) the segments that any of the ranges overlaps."""
    result = np.zeros(len(curve) - 1, bool)
    for a, b in ranges:
        result |= (curve.times[:-1] < b) & (curve.times[1:] > a)
    return result


def _bezier(curves: Curves, numbers: Array, ranges: Sequence[Range]) -> Curves:
    """The animation with linear segments in the ranges made Bezier, of the same shape or, for rotations, nearly."""
    result = list(curves.curves)
    for number in numbers:
        curve = result[number]
        result[number] = bezier_segments(curve, _touched(curve, ranges) & (curve.segments == LINEAR))
    return curves if all(a is b for a, b in zip(result, curves.curves)) else replace(curves, curves=tuple(result))


def _table(
    curves: Curves, columns: Array, free: Array, ranges: Sequence[Range], unit: Array, smooth_edges: bool
) -> Table:
    owner, within = owners(curves, columns)
    found = []
    for number in np.unique(owner[free]):
        curve = curves.curves[number]
        inner = _touched(curve, ranges)
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
            found.append(
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
    column, key, t0, d, y0, y3, start, units, inner = (np.concatenate(each) for each in zip(empty, *found))
    return Table(column, key, Pieces(t0, d, y0, y3), start, units, inner)


def is_seamless(curve: Curve) -> bool:
    """Whether the curve repeats, so that its last key and its first are one."""
    repeats = all(mode.startswith("cycle") for mode in curve.extrapolation)
    return repeats and bool(curve.extrapolation[1] == "cycle_offset" or np.allclose(curve.values[0], curve.values[-1]))


def _joints(curves: Curves, columns: Array, table: Table) -> list[Joint]:
    owner, within = owners(curves, columns)
    sides: dict[tuple[int, int], list[int]] = {}
    for g, (i, k) in enumerate(zip(table.column.tolist(), table.key.tolist())):
        curve = curves.curves[owner[i]]
        after = 0 if k + 1 == len(curve) - 1 and is_seamless(curve) else k + 1
        sides.setdefault((i, k), [-1, -1])[1] = g
        sides.setdefault((i, after), [-1, -1])[0] = g
    broken = {int(number): _broken(curves.curves[number]) for number in np.unique(owner[table.column])}
    joints = []
    for (i, k), (arriving, leaving) in sides.items():
        curve, c = curves.curves[owner[i]], within[i]
        outside, length = None, 0.0
        if arriving < 0 < k:
            outside, length = curve.before[k, c], curve.times[k] - curve.times[k - 1]
        elif leaving < 0 and k < len(curve) - 1:
            outside, length = curve.after[k, c], curve.times[k + 1] - curve.times[k]
        joints.append(Joint(arriving, leaving, bool(broken[int(owner[i])][k, c]), outside, float(length)))
    return joints


def _broken(curve: Curve) -> Array:
    """(K, n) `is_broken`, with the first key of a curve that repeats judged against the last."""
    result = is_broken(curve)
    if is_seamless(curve):
        arriving, leaving = slopes(curve)
        size = np.maximum(np.maximum(np.abs(arriving[-1]), np.abs(leaving[0])), 1.0)
        result[0] = ~(np.abs(arriving[-1] - leaving[0]) <= 1e-6 * size)
    return result


def _variables(table: Table, joints: list[Joint]) -> tuple[Array, Array, int]:
    """What moves each handle: `variable` (G, 4) and `factor` (G, 4) of `Tangents`, and N."""
    start, d, unit = table.start, table.pieces.d, table.unit
    variable, factor, count = np.full(start.shape, -1, np.int64), np.zeros(start.shape), 0
    for joint in joints:
        a, b = joint.arriving, joint.leaving
        if a >= 0 and b >= 0 and not joint.broken and (table.inner[a] or table.inner[b]):
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


def _bounds(
    curves: Curves,
    columns: Array,
    table: Table,
    variable: Array,
    factor: Array,
    count: int,
    limits: Mapping[int, Range],
) -> tuple[Array, Array]:
    """(N,) the least and the greatest value of each variable [eqs. 7 to 9]."""
    start, pieces = table.start, table.pieces
    floor, ceiling = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    for c in (0, 2):
        floor[:, c] = np.minimum(SHORTEST * pieces.d, start[:, c])
        ceiling[:, c] = np.maximum(LONGEST * pieces.d, start[:, c])
    least, most = np.minimum(pieces.y0, pieces.y3), np.maximum(pieces.y0, pieces.y3)
    for number, (u, v) in limits.items():
        own = columns[table.column] == number
        wrong = np.flatnonzero(own & ((least < u) | (most > v)))
        if wrong.size:
            g = int(wrong[0])
            first = not u <= pieces.y0[g] <= v
            name = curves.channels.names[number]
            scale, unit = (np.degrees(1.0), " degrees") if ".euler." in name else (1.0, "")
            least_said, most_said, there = (scale * each for each in (u, v, (pieces.y0 if first else pieces.y3)[g]))
            raise InvalidInput(
                f"{name} should stay between {least_said:.4g} and {most_said:.4g}{unit}, but its key at "
                f"{pieces.t0[g] + (0 if first else pieces.d[g]):.4g} s is {there:.4g}"
            )
        floor[own, 1], ceiling[own, 1] = 4 / 3 * (u - least[own]), 4 / 3 * (v - most[own])
        floor[own, 3], ceiling[own, 3] = -ceiling[own, 1], -floor[own, 1]
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    used = variable >= 0
    np.maximum.at(low, variable[used], (floor - start)[used] / factor[used])
    np.minimum.at(high, variable[used], (ceiling - start)[used] / factor[used])
    return low, np.maximum(high, low)


def _pulls(
    table: Table, joints: list[Joint], variable: Array, factor: Array, count: int
) -> tuple[Array, Array, Array, Array]:
    """How far both sides of each broken key are apart: the last four fields of `Tangents` [eq. 5].

    Sides are compared as slopes are, each in lengths of its own segment, so that a smooth key counts as whole whatever
    the spacing of keys.
    """
    rows, values = [], []
    cost, slope = np.zeros(count), np.zeros(count)
    for joint in joints:
        sides = [(joint.arriving, 2, 1.0), (joint.leaving, 0, -1.0)]
        ends = [(g, c, sign) for g, c, sign in sides if g >= 0]
        if (len(ends) == 1 and joint.outside is None) or (len(ends) == 2 and not joint.broken):
            continue
        for part in range(2):  # time, value
            row, constant = np.zeros(count), 0.0
            for g, c, sign in ends:
                d = table.pieces.d[g]
                scale = sign / (d if part == 0 else table.unit[g])
                scale *= 1.0 if len(ends) == 1 or c == 2 else table.pieces.d[joint.arriving] / d
                constant += scale * table.start[g, c + part]
                if variable[g, c + part] >= 0:
                    row[variable[g, c + part]] += scale * factor[g, c + part]
            if joint.outside is not None and len(ends) == 1:
                g, _, sign = ends[0]
                d = table.pieces.d[g]
                constant -= sign * joint.outside[part] * d / joint.outside_length / (d if part == 0 else table.unit[g])
            moved = np.flatnonzero(row)
            if len(moved) == 1:
                cost[moved] += row[moved] ** 2
                slope[moved] += 2 * row[moved] * constant
            elif len(moved) == 2:
                rows.append(row)
                values.append(constant)
    return np.array(rows).reshape(len(rows), count), np.array(values), cost, slope
