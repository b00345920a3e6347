"""From keys as written to one column of a curve: departures, holds and overshoot become nodes with slopes.

A node is a key of the finished curve. Its slope is automatic unless given by hand: zero where the value turns or rests,
otherwise the harmonic mean 2 a b / (a + b) of the chords' slopes a and b on both sides [Fritsch and Butland 1984], made
smaller where a long handle would carry the curve beyond the next key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.cast.dope_sheet.sheet import DEFAULT_INTERPOLATION, Key, KeyInterpolation
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.maths import bezier

HOLD_DRIFT_RATIO = 0.05  # of the last move: how far a hold drifts on
MIN_DRIFTING_HOLD_FRAMES = 3.0  # a shorter hold does not drift, since that would not be visible


class Node(NamedTuple):
    """A key of the finished column; `interpolation` is that of the segment before it, and of its slopes."""

    frame: float
    value: float
    interpolation: KeyInterpolation = DEFAULT_INTERPOLATION


@dataclass(frozen=True)
class Column:
    """K keys of one number over time: times (K,) seconds, values (K,), handles (K, 2) of (seconds, value) each."""

    times: Array
    values: Array
    before: Array
    after: Array
    broken: Array  # (K,) bool: a corner is intended

    def split(self, times: Array) -> Column:
        """The same column with its keys at `times` (M,), which include its own; its shape does not change.

        The part of a Bezier segment between parameters a and b has the control points B(a,a,a), B(a,a,b), B(a,b,b) and
        B(b,b,b), where B(u,v,w) is the blossom: de Casteljau's construction with another parameter at each step.
        """
        if len(times) == len(self.times):
            return self
        k = np.searchsorted(self.times, times[:-1], side="right") - 1
        points = np.stack([self.times, self.values], axis=1)
        x, y = bezier.control_points(points[k], points[k + 1], self.after[k], self.before[k + 1])
        a, b = bezier.parameter(x, times[:-1]), bezier.parameter(x, times[1:])
        parts = [
            np.stack([_blossom(p, a, a, a), _blossom(p, a, a, b), _blossom(p, a, b, b), _blossom(p, b, b, b)], axis=1)
            for p in (x, y)
        ]
        leaving, arriving = bezier.handles(*parts)
        end = np.zeros((1, 2))
        return Column(
            times,
            np.append(parts[1][:, 0], self.values[-1]),
            np.concatenate([end, arriving]),
            np.concatenate([leaving, end]),
            np.isin(times, self.times[self.broken]),
        )


def _blossom(p: Array, u: Array, v: Array, w: Array) -> Array:
    """(M,) B(u, v, w) of control points p (M, 4)."""
    for s in (u, v, w):
        p = p[:, :-1] + (p[:, 1:] - p[:, :-1]) * s[:, None]
    return p[:, 0]


class ColumnRange(NamedTuple):
    """The name of a column, its rest, and the range that it must not leave."""

    column: str = ""
    rest: float = 0.0
    low: float = -np.inf
    high: float = np.inf
    clamps: bool = False  # whether an overshoot stops at the end of the range, instead of being refused


UNBOUNDED_RANGE = ColumnRange()


def nodes(
    keys: Sequence[Key], frames: float, still: bool, path: str, within: ColumnRange = UNBOUNDED_RANGE
) -> list[Node]:
    """The keys of the finished column, from frame 0 to the last, in frames."""
    result: list[Node] = []
    move = 0.0
    drift = 0.0 if still else HOLD_DRIFT_RATIO
    if not keys or keys[0].frame > 0:
        result.append(Node(0.0, within.rest))
    for key in keys:
        if result:
            departure = result[-1].frame if key.departure is None else key.departure
            if key.frame <= result[-1].frame or departure < result[-1].frame:
                named = f"{within.column} " if within.column else ""
                reason = f"{named}leaves or arrives before the key before it has settled (frame {result[-1].frame:g})"
                raise BadFile(path, reason, key.place)
            result += _hold_end(result[-1], departure, drift * move, within)
            move = key.value - result[-1].value
        result += _arrival(key, move, within, path)
    if result[-1].frame > frames:
        raise BadFile(path, f"settles at frame {result[-1].frame:g}, after the last frame ({frames:g})", keys[-1].place)
    return result + _hold_end(result[-1], frames, drift * move, within)


def _hold_end(last: Node, departure: float, drift: float, within: ColumnRange) -> list[Node]:
    """The node at the end of a hold, which has drifted a little further, but never out of the range."""
    if departure <= last.frame:
        return []
    if departure - last.frame < MIN_DRIFTING_HOLD_FRAMES:
        drift = 0.0
    return [Node(departure, min(max(last.value + drift, within.low), within.high))]


def _arrival(key: Key, move: float, within: ColumnRange, path: str) -> list[Node]:
    if key.interpolation.overshoot is None:
        return [Node(key.frame, key.value, key.interpolation)]
    part, step, swings = key.interpolation.overshoot
    sizes = [part * move * (-0.5) ** swing for swing in range(swings)] + [0.0]
    values = [_overshoot_value(key, key.value + size, within, path) for size in sizes]
    first = Node(key.frame, values[0], key.interpolation._replace(leaving=None))
    return [first, *(Node(key.frame + number * step, value) for number, value in enumerate(values[1:], 1))]


def _overshoot_value(key: Key, value: float, within: ColumnRange, path: str) -> float:
    """A value of an overshoot; `BadFile` where it leaves the range.

    A column that comes back to rest at the end of its range (a weight that fades to zero) stops there; so does one that
    clamps.
    """
    beyond = max(value - within.high, within.low - value)
    if beyond <= 1e-9:
        return value
    if within.clamps or (key.value == within.rest and within.rest in (within.low, within.high)):
        return min(max(value, within.low), within.high)
    reason = (
        f"{within.column} overshoots to {value:.4g}, {beyond:.3g} beyond its range of {within.low:g} to {within.high:g}"
    )
    raise BadFile(path, reason, key.place)


def column(sequence: Sequence[Node], rate: float) -> Column:
    """One finished column, times in seconds."""
    return columns([sequence], rate)[0]


def columns(sequences: Sequence[Sequence[Node]], rate: float) -> list[Column]:
    """Finished columns, all computed at once, times in seconds."""
    every = [node for sequence in sequences for node in sequence]
    ends = np.cumsum([len(sequence) for sequence in sequences])
    times = np.array([node.frame for node in every]) / rate
    values = np.array([node.value for node in every])
    handles = np.array([node.interpolation.handles for node in every])
    # there is no segment between two columns: it gets some length, no rise, and no handles
    apart = ends[:-1] - 1
    length = np.diff(times)
    length[apart] = 1.0
    rise = np.diff(values)
    rise[apart] = 0.0
    chord = rise / length
    # handles of the segments that begin and that end at each node, in seconds; none beyond the ends
    out = np.append(handles[1:, 0] * length, 0.0)
    into = np.append(0.0, handles[1:, 1] * length)
    out[apart] = into[apart + 1] = 0.0
    slope = _slopes(chord, length, out, into)
    arriving, leaving = slope.copy(), slope.copy()
    broken = np.zeros(len(every), dtype=bool)
    for k in _nodes_with_given_slopes(every):
        _set_given_slopes(every, k, chord, length, (into, arriving), (out, leaving), broken)
    before = checks.freeze(np.stack([into, into * arriving], axis=1))
    after = checks.freeze(np.stack([out, out * leaving], axis=1))
    for array in (times, values, broken):
        checks.freeze(array)
    starts = [0, *ends.tolist()]
    return [Column(times[a:b], values[a:b], before[a:b], after[a:b], broken[a:b]) for a, b in pairwise(starts)]


def _nodes_with_given_slopes(every: Sequence[Node]) -> list[int]:
    """The nodes whose slopes are not all automatic."""
    numbers = set()
    for k, (_, _, interpolation) in enumerate(every):
        if interpolation.straight:
            numbers |= {k - 1, k}
        if interpolation.broken or interpolation.arriving is not None or interpolation.leaving is not None:
            numbers.add(k)
    return sorted(numbers)


def _set_given_slopes(
    every: Sequence[Node],
    k: int,
    chord: Array,
    length: Array,
    arrival: tuple[Array, Array],
    departure: tuple[Array, Array],
    broken: Array,
) -> None:
    """Set given slopes, corners and straight segments of node k, in place; (handle, slope) for each side."""
    interpolation, (into, arriving), (out, leaving) = every[k].interpolation, arrival, departure
    leaving_line = k < len(chord) and every[k + 1].interpolation.straight
    broken[k] = interpolation.broken or leaving_line or interpolation.straight
    if broken[k]:
        arriving[k] = leaving[k] = 0.0
    given = interpolation.leaving if interpolation.arriving is None else interpolation.arriving
    if interpolation.arriving is not None or (given is not None and not broken[k]):
        arriving[k] = given
    given = interpolation.arriving if interpolation.leaving is None else interpolation.leaving
    if interpolation.leaving is not None or (given is not None and not broken[k]):
        leaving[k] = given
    if interpolation.straight:
        arriving[k], into[k] = chord[k - 1], length[k - 1] / 3
    if leaving_line:
        leaving[k], out[k] = chord[k], length[k] / 3


def _slopes(chord: Array, length: Array, out: Array, into: Array) -> Array:
    """(K,) automatic slopes: zero at both ends and at extremes, harmonic mean between, within reach of the handles."""
    a, b = chord[:-1], chord[1:]
    onward = a * b > 0
    inner = np.where(onward, 2 * a * b / np.where(onward, a + b, 1.0), 0.0)
    # the handle's rise, slope x handle, must not exceed that of its segment
    reach_a = np.abs(a) * length[:-1] / np.maximum(into[1:-1], 1e-9)
    reach_b = np.abs(b) * length[1:] / np.maximum(out[1:-1], 1e-9)
    inner = np.sign(inner) * np.minimum(np.abs(inner), np.minimum(reach_a, reach_b))
    return np.concatenate([[0.0], inner, [0.0]])
