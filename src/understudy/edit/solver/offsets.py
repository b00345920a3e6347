"""Offsets: smooth changes of curves within a window of time, as variables z whose squared length is their cost.

Keys that a fitter placed are not poses. Within a window of radius R around the moment of an edit their values may move,
and so may the slopes at them and at the keys around the moment; the number of keys, their times and the lengths of
handles in time stay. A curve with a key on every frame takes an offset over its frames instead, a spline with knots of
its own. Either way the change of column c is smooth and linear in its unknowns, d_c(t) = B_c(t) x_c, a smooth key stays
smooth, a broken one as broken as it was, and no handle can whirl. The change of the path is what it costs, not that of
the tangents [Ciccone 2019, eq. 4]:

    E = sum_c (W_c / R) int d_c(t)^2 / k + rho(t) [ e_c(t)^2 + (s R / pi)^4 e_c''(t)^2 ] dt,
    e_c(t) = d_c(t) - phi(t) d_c(t*),    rho = 1 / (phi(t)^2 + FALLOFF_FLOOR)

phi is a raised cosine of radius R around the moments, and t* the moment nearest to t. A column that fades like phi
costs its size alone; e is what differs from that, as the keys or something that is held ask for, and far from the
moments it costs 200 times as much as near. Between two moments nothing fades: e is zero and e'' is d''. W_c is what
the column moves (`column_weights`): the inertia of the body along its own path, and more for every bone beyond the
dragged limb. E is block diagonal: with H_c = L L' and x = L^-T z it is |z|^2, and a sample of column c is
Phi_c(t) z_c. That is computed once, when a gesture begins.

A piece is one column between two keys (or knots): the values at both ends and the slopes leaving and arriving are its
four unknowns, -1 where one stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP, bezier_segments
from understudy.checks import Array
from understudy.edit.solver.free_tangents import Range, join_spans, owners, pack_columns, repeats
from understudy.edit.solver.segments import Grid, OffsetGrid, PackedCurves
from understudy.maths import bezier, quaternion

FALLOFF_FLOOR = 0.005
SHAPE_COST_RATIO = 10.0  # k: a column of the wrong shape costs ten times as much as one that fades like phi
SMOOTHNESS = 0.5  # s: a bend of e over half the window costs as much as e itself
GAUSS_POINTS = 12  # of a piece: the energy of a cubic with uneven handles to about 1e-6
KNOTS_PER_RADIUS = 4  # of the spline over a curve with a key on every frame
MAX_FRAME_GAP_SECONDS = 0.07  # between keys of such a curve: captures of 15 frames a second and more
MIN_FRAME_KEYS = 5  # within the window
SLOPE_STEP_SECONDS = 1e-4  # of the central difference of a spline that has no detail below its knots

# The window of an edit without a falloff of its own, seconds.
MIN_RADIUS, MAX_RADIUS = 0.5, 1.5
SAME_MOMENT_SECONDS = 0.12  # a key this near to the moment is at it: the next one bounds the window
RADIUS_PER_KEY_GAP = 1.3  # a bump that is narrower than the gap between keys cannot be drawn with them


class Window(NamedTuple):
    """The moments of an edit, from `start` to `stop`, and the radius around them in which it may change curves."""

    start: float
    stop: float
    radius: float

    def away(self, times: Array) -> Array:
        """(S,) seconds from the moments, zero at them."""
        return np.maximum(np.maximum(self.start - times, times - self.stop), 0.0)

    def falloff(self, times: Array) -> Array:
        """(S,) phi: 1 at the moments and 0 beyond the window."""
        share = np.minimum(self.away(times) / self.radius, 1.0)
        return 0.5 + 0.5 * np.cos(np.pi * share)


class OffsetPieces(NamedTuple):
    """G pieces of m columns, those of a column in the order of time."""

    first: Array  # (m + 1,) int, where the pieces of each column begin
    start: Array  # (G,) seconds
    length: Array  # (G,) seconds
    leaving: Array  # (G,) seconds, the handle in time at the start
    arriving: Array  # (G,) seconds, that at the end
    stepped: Array  # (G,) bool
    variable: Array  # (G, 4) int: value at the start, at the end, slope at the start, at the end
    period: Array  # (m,) seconds of a column that repeats, else 0


@dataclass(frozen=True)
class OffsetVariables:
    """N variables z that change m of n columns of an animation; |z|^2 is the energy of the change."""

    curves: Curves  # with the free segments made Bezier
    columns: Array  # (n,) int, of the animation
    window: Window
    pieces: OffsetPieces
    moved: Array  # (m,) int, into `columns`
    first: Array  # (m + 1,) int, where the variables of each moved column begin
    blocks: Array  # x = X z of each column, one after the other
    first_block: Array  # (m + 1,) int
    effects: tuple[CurveEffect, ...]

    @property
    def count(self) -> int:
        """N."""
        return int(self.first[-1])

    @cached_property
    def column(self) -> Array:
        """(N,) int: the column that each variable moves, into `columns`."""
        return np.repeat(self.moved, np.diff(self.first))

    @cached_property
    def cost(self) -> Array:
        """(N,) ones: the variables are white."""
        return np.ones(self.count)

    @cached_property
    def low(self) -> Array:
        """(N,) no variable has a bound."""
        return np.full(self.count, -np.inf)

    @cached_property
    def high(self) -> Array:
        """(N,) no variable has a bound."""
        return np.full(self.count, np.inf)

    def grid(self, times: Array) -> OffsetGrid:
        """The samples at times (S,)."""
        times = np.ascontiguousarray(times, dtype=float)
        flat, columns = self._flat
        return OffsetGrid(times, self.basis(times), flat.sample(times, flat.where(times))[:, columns])

    def basis(self, times: Array) -> Array:
        """(S, N) what each variable adds to its column at times (S,); between linear frames, the mean of theirs."""
        times = np.ascontiguousarray(times, dtype=float)
        phi = self.spline_basis(times)
        for frames, variables in self._linear_frames:
            k = np.clip(np.searchsorted(frames, times, side="right") - 1, 0, len(frames) - 2)
            share = np.clip((times - frames[k]) / (frames[k + 1] - frames[k]), 0.0, 1.0)[:, None]
            used, at = np.unique(np.concatenate([k, k + 1]), return_inverse=True)
            ends = self.spline_basis(frames[used])[:, variables][at.reshape(2, -1)]
            phi[:, variables] = (1 - share) * ends[0] + share * ends[1]
        return phi

    def spline_basis(self, times: Array) -> Array:
        """(S, N) `basis` of the splines themselves, which frames sample."""
        phi = np.zeros((len(times), self.count))
        times = np.ascontiguousarray(times, dtype=float)
        kernels().fill_samples(self.pieces, self.first, self.first_block, self.blocks, times, phi)
        return phi

    @cached_property
    def _linear_frames(self) -> list[tuple[Array, Array]]:
        """The key times (K,) of curves with a linear key on every frame, and the variables (.,) of those that share
        them."""
        owner, _ = owners(self.curves, self.columns)
        groups: dict[bytes, tuple[Array, list[int]]] = {}
        for number in np.unique(owner[self.moved]):
            curve = self.curves.curves[number]
            linear = bool((curve.segments == LINEAR).any())
            if linear and is_dense(curve, self.window.start, self.window.stop):
                group = groups.setdefault(curve.times.tobytes(), (curve.times, []))
                group[1].extend(np.flatnonzero(owner[self.column] == number).tolist())
        return [(times, np.array(variables)) for times, variables in groups.values()]

    def offset(self, grid: Grid, z: Array) -> Array:
        """(S, n) what variables z (N,) add to the values."""
        assert isinstance(grid, OffsetGrid)
        values = np.zeros_like(grid.fixed)
        kernels().fill_offsets(grid.phi, self.first, self.moved, z, values)
        return values

    def sample(self, grid: Grid, z: Array) -> Array:
        """(S, n) the values for variables z (N,)."""
        return grid.fixed + self.offset(grid, z)

    def chain_rows(self, jacobian: Array, grid: Grid, sample: Array, first_row: Array, size: float, out: Array) -> None:
        """Rows (M, N) of targets by the variables, from derivatives (R, 6, n) by columns: `chain_offset_rows`."""
        assert isinstance(grid, OffsetGrid)
        kernels().chain_offset_rows(jacobian, grid.phi, self.column, sample, first_row, size, out)

    @cached_property
    def _flat(self) -> tuple[PackedCurves, Array]:
        """The curves of the columns, packed, and the number of each column there."""
        return pack_columns(self.curves, self.columns)

    @property
    def changeable_columns(self) -> Array:
        """(n,) bool: the columns that some variable moves."""
        result = np.zeros(len(self.columns), bool)
        result[self.moved] = True
        return result

    def sharp_times(self, gap: float) -> Array:
        """(T,) times within the pieces at which curves turn so sharply that samples `gap` seconds apart miss it."""
        pieces = self.pieces
        return bezier.close_times(pieces.start, pieces.length, pieces.leaving, pieces.arriving, gap)

    @property
    def spans(self) -> list[Range]:
        """The time spans of all pieces."""
        return list(zip(self.pieces.start.tolist(), (self.pieces.start + self.pieces.length).tolist()))

    def changeable_spans(self, of: Array) -> list[Range]:
        """The time spans in which any of the columns `of` (n,) bool can change, joined where they touch."""
        pieces, column = self.pieces, np.repeat(self.moved, np.diff(self.pieces.first))
        moves = of[column] & (pieces.variable >= 0).any(axis=1)
        return join_spans(pieces.start[moves], pieces.length[moves])

    def apply_to_curves(self, z: Array) -> Curves:
        """The animation with the offsets for variables z (N,)."""
        if not z.any():
            return self.curves
        x = np.empty(self.count)
        for c in range(len(self.moved)):
            a, b = self.first[c], self.first[c + 1]
            x[a:b] = self.blocks[self.first_block[c] : self.first_block[c + 1]].reshape(b - a, b - a) @ z[a:b]
        return self.curves.with_curves(
            {effect.number: effect.apply(self.curves.curves[effect.number], x, z) for effect in self.effects}
        )


class FrameEffect(NamedTuple):
    """What the variables z do to one column of a curve with a key on every frame."""

    keys: Array  # (F,) int
    within: int  # the column of the curve
    variables: slice
    basis: Array  # (F, n) what these variables add to the values
    slopes: Array  # (F, n) what they add to the slopes, per second


class CurveEffect(NamedTuple):
    """What the unknowns x do to one curve: key k of column w gets x[v] added to its value, or as a slope."""

    number: int  # of the curve
    value: tuple[Array, Array, Array]  # (.,) v, k, w
    leaving: tuple[Array, Array, Array]
    arriving: tuple[Array, Array, Array]
    frames: tuple[FrameEffect, ...] = ()  # where the curve has a key on every frame

    def apply(self, curve: Curve, x: Array, z: Array) -> Curve:
        """The curve with its offset."""
        values, before, after = np.array(curve.values), np.array(curve.before), np.array(curve.after)
        if self.frames:
            for keys, within, variables, basis, slopes in self.frames:
                values[keys, within] += basis @ z[variables]
                rise = slopes @ z[variables]
                for handles in (before, after):
                    handles[keys, within, 1] += handles[keys, within, 0] * rise
            if curve.channel.kind == "rotation" and not (curve.segments == BEZIER).any():
                values[keys] = quaternion.normalise(values[keys])
            return curve.with_values(checks.freeze(values), checks.freeze(before), checks.freeze(after))
        v, k, w = self.value
        values[k, w] += x[v]
        v, k, w = self.leaving
        after[k, w, 1] += x[v] * after[k, w, 0]
        v, k, w = self.arriving
        before[k, w, 1] += x[v] * before[k, w, 0]
        return curve.with_values(checks.freeze(values), checks.freeze(before), checks.freeze(after))


def uses_window(curves: Curves, numbers: Array, start: float, stop: float) -> bool:
    """Whether any of the curves has keys of a fitter, or a key on every frame, near the moments from start to stop."""
    near = [(curve, _keys_near(curve, start - MIN_RADIUS, stop + MIN_RADIUS)) for curve in _select(curves, numbers)]
    return any(bool(curve.fitted[keys].any()) or is_dense(curve, start, stop) for curve, keys in near)


def is_dense(curve: Curve, start: float, stop: float) -> bool:
    """Whether a curve has a key on nearly every frame around the moments from start to stop."""
    if curve.fitted.any():
        return False
    keys = curve.times[_keys_near(curve, start - MIN_RADIUS, stop + MIN_RADIUS)]
    return len(keys) >= MIN_FRAME_KEYS and bool(np.median(np.diff(keys)) <= MAX_FRAME_GAP_SECONDS)


def window_radius(curves: Curves, owner: Array, weight: Array, start: float, stop: float) -> float:
    """Seconds: as wide as the gaps between keys ask for, by the median over columns (m,), light ones counting most.

    Of each column the gap is that to the nearest key on the farther side, keys at the moment left out.
    """
    gaps = {}
    for number in np.unique(owner):
        curve = curves.curves[number]
        before = curve.times[curve.times < start - SAME_MOMENT_SECONDS]
        after = curve.times[curve.times > stop + SAME_MOMENT_SECONDS]
        first = before[-1] if len(before) else curve.times[0]
        last = after[0] if len(after) else curve.times[-1]
        dense = is_dense(curve, start, stop)
        gaps[int(number)] = 0.0 if dense else max(start - float(first), float(last) - stop)
    if not gaps:
        return MIN_RADIUS
    gap, share = np.array([gaps[int(number)] for number in owner]), 1 / weight
    order = np.argsort(gap, kind="stable")
    middle = int(np.searchsorted(np.cumsum(share[order]), share.sum() / 2))
    return float(np.clip(RADIUS_PER_KEY_GAP * gap[order[min(middle, len(order) - 1)]], MIN_RADIUS, MAX_RADIUS))


def offset_variables(
    curves: Curves, columns: Array, free: Array, window: Window, *, unit: Array, weight: Array
) -> OffsetVariables:
    """The offsets of columns (n,), of which those `free` (n,) bool may change, within a window.

    `unit` and `weight` (n,) are those of the columns: see `column_units` and `column_weights`.
    """
    owner, within = owners(curves, columns)
    curves = _to_bezier(curves, np.unique(owner[free]), window)
    moved: list[Array] = []
    tables: list[PieceTable] = []
    effects: list[CurveEffect] = []
    dense: list[int] = []
    count = 0
    for number in np.unique(owner[free]):
        curve, own = curves.curves[number], np.flatnonzero(free & (owner == number))
        if len(curve) < 2:
            continue
        if is_dense(curve, window.start, window.stop):
            table = _knot_table(curve, window, len(own), count)
            dense.append(int(number))
        else:
            table, effect = _key_table(curve, int(number), within[own], window, count, curves.start, curves.end)
            effects.append(effect)
        if not table.counts.sum():
            continue
        count += int(table.counts.sum())
        used = table.counts > 0
        moved.append(own[used])
        tables.append(table)
    pieces, counts = _join_tables(tables)
    chosen = np.concatenate([np.zeros(0, np.int64), *moved])
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    first_block = np.concatenate([[0], np.cumsum(counts**2)]).astype(np.int64)
    blocks = np.empty(int(first_block[-1]))
    nodes, node_weights = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    kernels().fill_whitening(
        pieces,
        first,
        first_block,
        np.ascontiguousarray(weight[chosen] / unit[chosen] ** 2),
        tuple(window),
        FALLOFF_FLOOR,
        SHAPE_COST_RATIO,
        SMOOTHNESS,
        (nodes + 1) / 2,
        node_weights / 2,
        blocks,
    )
    variables = OffsetVariables(curves, columns, window, pieces, chosen, first, blocks, first_block, ())
    effects += _frame_effects(variables, dense)
    return replace(variables, effects=tuple(effects))


class PieceTable(NamedTuple):
    """The pieces of w columns of one curve."""

    counts: Array  # (w,) the variables of each column
    column: Array  # (G,) int, 0 to w - 1, rising
    start: Array  # (G,)
    length: Array
    leaving: Array
    arriving: Array
    stepped: Array
    variable: Array  # (G, 4)
    period: float


def _key_table(
    curve: Curve, number: int, within: Array, window: Window, base: int, begin: float, end: float
) -> tuple[PieceTable, CurveEffect]:
    """The pieces of the columns `within` (w,) between the keys of a curve, with variables from `base` on."""
    # The change of a curve that repeats is one of a loop, even where the curve itself is not closed.
    times, keys, seamless = curve.times, len(curve), repeats(curve)
    period = float(times[-1] - times[0]) if seamless else 0.0
    away = np.min([window.away(times + shift) for shift in ((0.0, period, -period) if seamless else (0.0,))], axis=0)
    inside = away < window.radius
    last = int(np.clip(np.searchsorted(times, window.stop, side="left"), 1, keys - 1))
    inside[int(np.clip(np.searchsorted(times, window.start, side="right") - 1, 0, keys - 2)) : last + 1] = True
    smooth = curve.segments == BEZIER
    left, right = np.append(seamless and smooth[-1], smooth), np.append(smooth, False)
    if seamless:  # the last key is the first
        inside[0] |= inside[-1]
        inside[-1] = False
    leave_length, arrive_length = curve.after[:, within, 0].T, curve.before[:, within, 0].T  # (w, K)
    if seamless:
        arrive_length = np.concatenate([arrive_length[:, -1:], arrive_length[:, 1:]], axis=1)
    leaves, arrives = inside & right & (leave_length > 0), inside & left & (arrive_length > 0)
    joined = leaves & arrives  # also at a broken key: its change is smooth, whatever it is itself
    exists = np.stack([np.broadcast_to(inside & curve.fitted, joined.shape), leaves, arrives & ~joined], axis=-1)
    number_of = np.where(exists, base + np.cumsum(exists.reshape(-1)).reshape(exists.shape) - 1, -1)
    value, leaving = number_of[..., 0], number_of[..., 1]
    arriving = np.where(joined, leaving, number_of[..., 2])
    if seamless:
        value[:, -1], arriving[:, -1], arriving[:, 0] = value[:, 0], arriving[:, 0], -1
    variable = np.stack([value[:, :-1], value[:, 1:], leaving[:, :-1], arriving[:, 1:]], axis=-1)  # (w, K - 1, 4)
    lengths = np.diff(times)
    parts: list[tuple[Any, ...]] = []
    for c in range(len(within)):
        g = np.flatnonzero((variable[c] >= 0).any(axis=1))
        first, final = value[c, 0], value[c, -1]
        hold = [
            (np.array([t]), np.array([d]), np.array([[v, v, -1, -1]]))
            for t, d, v in ((begin, times[0] - begin, first), (times[-1], end - times[-1], final))
            if v >= 0 and d > 0 and not seamless
        ]
        early, late = ([h for h in hold if h[0][0] < times[0]], [h for h in hold if h[0][0] >= times[0]])
        la = np.where(smooth[g], curve.after[g, within[c], 0], lengths[g] / 3)
        lb = np.where(smooth[g], curve.before[g + 1, within[c], 0], lengths[g] / 3)
        rows = [
            *((*h, h[1] / 3, h[1] / 3, np.zeros(1, bool)) for h in early),
            (times[g], lengths[g], variable[c, g], la, lb, curve.segments[g] == STEP),
            *((*h, h[1] / 3, h[1] / 3, np.zeros(1, bool)) for h in late),
        ]
        joint = [np.concatenate(arrays) for arrays in zip(*rows)]
        parts.append((np.full(len(joint[0]), c), *joint))
    column, start, length, variable_of, la, lb, stepped = (np.concatenate(arrays) for arrays in zip(*parts))
    counts = exists.sum(axis=(1, 2))
    table = PieceTable(counts, column, start, length, la, lb, stepped, variable_of.reshape(-1, 4), period)
    effect = CurveEffect(number, _entries(value, within), _entries(leaving, within), _entries(arriving, within))
    return table, effect


def _entries(variable: Array, within: Array) -> tuple[Array, Array, Array]:
    """The variables of (w, K) that exist, with their keys and columns."""
    c, k = np.nonzero(variable >= 0)
    return variable[c, k], k, within[c]


def _knot_table(curve: Curve, window: Window, width: int, base: int) -> PieceTable:
    """The pieces of a spline over the frames of a curve: knots inside the window are free, its ends stay at zero."""
    start = max(window.start - window.radius, float(curve.times[0]))
    stop = min(window.stop + window.radius, float(curve.times[-1]))
    step = window.radius / KNOTS_PER_RADIUS
    knots = np.linspace(start, stop, max(3, int(np.ceil((stop - start) / step - 1e-9)) + 1))
    free = np.ones(len(knots), bool)
    # Where the clip begins or ends within the window, its first or last frame moves too.
    free[0] = start > window.start - window.radius + 1e-9
    free[-1] = stop < window.stop + window.radius - 1e-9
    exists = np.broadcast_to(free[None, :, None], (width, len(knots), 2))
    number = np.where(exists, base + np.cumsum(exists.reshape(-1)).reshape(exists.shape) - 1, -1)
    value, slope = number[..., 0], number[..., 1]
    variable = np.stack([value[:, :-1], value[:, 1:], slope[:, :-1], slope[:, 1:]], axis=-1).reshape(-1, 4)
    count, length = len(knots) - 1, np.tile(np.diff(knots), width)
    return PieceTable(
        exists.sum(axis=(1, 2)),
        np.repeat(np.arange(width), count),
        np.tile(knots[:-1], width),
        length,
        length / 3,
        length / 3,
        np.zeros(width * count, bool),
        variable,
        0.0,
    )


def _frame_effects(variables: OffsetVariables, numbers: Sequence[int]) -> list[CurveEffect]:
    """The effects on curves with a key on every frame: their offsets, sampled at the keys in the window."""
    owner, within = owners(variables.curves, variables.columns)
    none = (np.zeros(0, np.int64),) * 3
    sampled: dict[bytes, tuple[Array, Array, Array]] = {}  # of each set of key times: keys, basis, slopes
    effects = []
    for number in numbers:
        times = variables.curves.curves[number].times
        if times.tobytes() not in sampled:
            keys = np.flatnonzero(variables.window.away(times) < variables.window.radius)
            ahead, behind = (
                variables.spline_basis(times[keys] + step) for step in (SLOPE_STEP_SECONDS, -SLOPE_STEP_SECONDS)
            )
            slopes = (ahead - behind) / (2 * SLOPE_STEP_SECONDS)
            sampled[times.tobytes()] = keys, variables.spline_basis(times[keys]), slopes
        keys, basis, slopes = sampled[times.tobytes()]
        frames = []
        for c in np.flatnonzero(owner[variables.moved] == number):
            own = slice(int(variables.first[c]), int(variables.first[c + 1]))
            column = int(within[variables.moved[c]])
            frames.append(FrameEffect(keys, column, own, basis[:, own].copy(), slopes[:, own].copy()))
        effects.append(CurveEffect(number, none, none, none, tuple(frames)))
    return effects


def _join_tables(tables: Sequence[PieceTable]) -> tuple[OffsetPieces, Array]:
    """All pieces, column after column, and the number of variables of each column; columns without any are left out."""
    counts, periods, sizes, rows = [np.zeros(0, np.int64)], [np.zeros(0)], [np.zeros(0, np.int64)], []
    for table in tables:
        used = table.counts > 0
        counts.append(table.counts[used])
        periods.append(np.full(int(used.sum()), table.period))
        sizes.append(np.bincount(table.column, minlength=len(used))[used])
        rows.append([array[used[table.column]] for array in table[2:8]])
    empty = [np.zeros(0)] * 4 + [np.zeros(0, bool), np.zeros((0, 4), np.int64)]
    start, length, leaving, arriving, stepped, variable = (np.concatenate(arrays) for arrays in zip(empty, *rows))
    first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    pieces = OffsetPieces(
        first, start, length, leaving, arriving, stepped, variable.astype(np.int64), np.concatenate(periods)
    )
    return pieces, np.concatenate(counts).astype(np.int64)


def _to_bezier(curves: Curves, numbers: Array, window: Window) -> Curves:
    """The animation with the linear segments in the window made Bezier, of curves without a key on every frame."""
    new = {}
    for number in numbers:
        curve = curves.curves[number]
        if len(curve) < 2 or is_dense(curve, window.start, window.stop):
            continue
        low, high = window.start - window.radius, window.stop + window.radius
        bent = bezier_segments(curve, (curve.segments == LINEAR) & (curve.times[:-1] < high) & (curve.times[1:] > low))
        if bent is not curve:
            new[int(number)] = bent
    return curves.with_curves(new) if new else curves


def _select(curves: Curves, numbers: Array) -> list[Curve]:
    return [curves.curves[number] for number in numbers if len(curves.curves[number]) > 1]


def _keys_near(curve: Curve, low: float, high: float) -> slice:
    """The keys from low to high, and the one before and after."""
    first, last = np.searchsorted(curve.times, [low, high])
    return slice(max(int(first) - 1, 0), int(last) + 1)


def kernels() -> Any:
    """The compiled kernels of offsets, imported by the first call."""
    from understudy.edit.solver import offset_kernels

    return offset_kernels
