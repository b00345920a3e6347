"""Bezier segments as flat arrays: the segments whose handles an edit may change, and all curves packed end to end.

A piece is one column of one segment. It has a key (t0, y0), the next key at t0 + d with value y3, and four handle
numbers: after dt, after dv, before dt, before dv [Ciccone 2019, appendix A]. Values at samples (S,) of columns (n,)
come from the piece that `piece` (S, n) names, or where that is -1 from `fixed` (S, n), which no handle changes.

`PackedCurves` lays many curves end to end, so that one kernel samples all of them. Straight and Bezier segments alike
are pieces: a curve with K keys and n columns has (K - 1) n, those of a segment together. What is no cubic (a slerp, a
step, the values beyond the keys of a curve that does not hold) is sampled by its curve. A drag changes handles only,
and those are overwritten. The numbers are those of `Curve.sample`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.character import Curve
from understudy.character.curve import BEZIER, LINEAR
from understudy.checks import Array
from understudy.maths import jit, quaternion

TIME_ROUNDING_SECONDS = 1e-9  # a time this far beyond the last key is still at it
HOLD_BOTH_ENDS = ("hold", "hold")


class FreeSegments(NamedTuple):
    """G pieces."""

    t0: Array  # (G,)
    d: Array  # (G,)
    y0: Array  # (G,)
    y3: Array  # (G,)


class SampleGrid(NamedTuple):
    """The sources of S samples of n columns."""

    times: Array  # (S,) seconds
    piece: Array  # (S, n) int, -1 where no handle matters
    fixed: Array  # (S, n) the values there


class OffsetGrid(NamedTuple):
    """S samples of n columns: their values before the edit, and what N variables add to them."""

    times: Array  # (S,) seconds
    phi: Array  # (S, N)
    fixed: Array  # (S, n)


Grid = SampleGrid | OffsetGrid


def sample_segments(pieces: FreeSegments, handles: Array, grid: SampleGrid) -> tuple[Array, Array]:
    """Values (S, n), and their derivatives by the four handles of their piece (S, n, 4), for handles (G, 4)."""
    kernels = jit.kernels("understudy.edit.solver.target_kernels")
    values, slopes = np.empty(grid.fixed.shape), np.empty((*grid.fixed.shape, 4))
    kernels.sample_segments(pieces, handles, grid, values, slopes)
    return values, slopes


def sample_values(pieces: FreeSegments, handles: Array, grid: SampleGrid) -> Array:
    """The values (S, n) alone."""
    kernels = jit.kernels("understudy.edit.solver.target_kernels")
    values = np.empty(grid.fixed.shape)
    kernels.sample_values(pieces, handles, grid, values)
    return values


class PackedCurves:
    """The columns of several curves, one after the other."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.curves = list(curves)
        widths = np.array([curve.values.shape[1] for curve in curves], np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(widths)])  # (N + 1,) where the columns of each curve begin
        self._owner = np.repeat(np.arange(len(widths)), widths)  # (C,)
        self._within = np.arange(self.offsets[-1]) - self.offsets[self._owner]
        self._cubic = [_is_cubic(curve) for curve in curves]
        counts = [curve.values[:-1].size if cubic else 0 for curve, cubic in zip(curves, self._cubic)]
        self._first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)  # (N + 1,) pieces of each curve
        self._chosen: tuple[tuple[int, ...], Array] = (), np.zeros(0, np.int64)  # `_slots` of the last
        cubics = [(curve, i) for i, (curve, cubic) in enumerate(zip(curves, self._cubic)) if cubic]
        n = {i: int(widths[i]) for _, i in cubics}
        self._straight = [bool((curve.segments == LINEAR).any()) for curve in curves]
        self._handles = self._handles_of([i for _, i in cubics])
        self._pieces = FreeSegments(
            np.concatenate([np.zeros(0), *(curve.times[:-1].repeat(n[i]) for curve, i in cubics)]),
            np.concatenate([np.zeros(0), *(np.diff(curve.times).repeat(n[i]) for curve, i in cubics)]),
            *_ends([curve for curve, _ in cubics]),
        )
        # (G,) the time span of each piece; the first and the last extend beyond the keys
        low = [np.append(-np.inf, curve.times[1:-1]).repeat(n[i]) for curve, i in cubics]
        high = [np.append(curve.times[1:-1], np.inf).repeat(n[i]) for curve, i in cubics]
        self._low, self._high = np.concatenate([np.zeros(0), *low]), np.concatenate([np.zeros(0), *high])

    def columns_of(self, numbers: Sequence[int]) -> Array:
        """(n,) the columns of some curves."""
        return np.concatenate([np.arange(self.offsets[i], self.offsets[i + 1]) for i in numbers])

    def where(self, times: Array) -> Array:
        """(M, C) the piece of each column at times (M,), -1 where its curve has to be sampled itself."""
        result = np.full((len(times), len(self._owner)), -1, np.int64)
        for i, curve in enumerate(self.curves):
            if not self._cubic[i]:
                continue
            segment = curve.times.searchsorted(times, side="right") - 1
            width = int(self.offsets[i + 1] - self.offsets[i])
            segment = np.minimum(np.maximum(segment, 0), len(curve) - 2)
            pieces = self._first[i] + width * segment[:, None] + np.arange(width)
            if curve.extrapolation != HOLD_BOTH_ENDS:
                pieces[(times < curve.times[0]) | (times > curve.times[-1] + TIME_ROUNDING_SECONDS)] = -1
            result[:, self.offsets[i] : self.offsets[i + 1]] = pieces
        return result

    def sample(self, times: Array, where: Array, columns: Array | None = None) -> Array:
        """(M, n) values at times (M,) from pieces (M, n), of columns (n,) of whole curves, or of all."""
        columns = np.arange(len(self._owner)) if columns is None else columns
        if not where.size:
            return np.zeros(where.shape)
        grid = SampleGrid(np.ascontiguousarray(times, np.float64), np.ascontiguousarray(where), np.zeros(where.shape))
        values = sample_values(self._pieces, self._handles, grid)
        owner = self._owner[columns]
        turning = np.flatnonzero([self.curves[i].channel.kind == "rotation" for i in owner]).reshape(-1, 4)
        if len(turning):
            values[:, turning] = quaternion.normalise(values[:, turning])
        alone = where < 0
        for i in np.unique(owner[alone.any(axis=0)]):
            places = np.flatnonzero(owner == i)
            rows = np.flatnonzero(alone[:, places[0]])
            values[np.ix_(rows, places)] = self.curves[i].sample(times[rows])[:, self._within[columns[places]]]
        return values

    def update(self, changed: Mapping[int, Curve]) -> tuple[float, float] | None:
        """Replace some curves, by number; returns the time span in which they differ from those before.

        A span without a difference ends before it begins. None where keys were added, removed or moved: then everything
        has to be packed anew, and nothing was replaced.
        """
        old = self.curves
        if not all(_fits(old[i], curve) for i, curve in changed.items()):
            return None
        alone = [span_of(old[i], curve) for i, curve in changed.items() if not self._cubic[i]]
        numbers = tuple(i for i in changed if self._cubic[i])
        slots = self._slots(numbers)
        lifted = any(changed[i].values is not old[i].values for i in numbers)
        for i, curve in changed.items():
            self.curves[i] = curve
        handles = self._handles_of(numbers)
        other = (handles != self._handles[slots]).any(axis=1)
        self._handles[slots] = handles
        if lifted:
            y0, y3 = _ends([changed[i] for i in numbers])
            other |= (y0 != self._pieces.y0[slots]) | (y3 != self._pieces.y3[slots])
            self._pieces.y0[slots], self._pieces.y3[slots] = y0, y3
        low = self._low[slots[other]].min(initial=np.inf)
        high = self._high[slots[other]].max(initial=-np.inf)
        return min([float(low), *(a for a, _ in alone)]), max([float(high), *(b for _, b in alone)])

    def _slots(self, numbers: tuple[int, ...]) -> Array:
        """The pieces of some curves; the last answer is kept, as a drag asks for the same ones again."""
        if self._chosen[0] != numbers:
            ranges = [np.arange(self._first[i], self._first[i + 1]) for i in numbers]
            self._chosen = numbers, np.concatenate([np.zeros(0, np.int64), *ranges])
        return self._chosen[1]

    def _handles_of(self, numbers: Sequence[int]) -> Array:
        """(G, 4) the handles of the pieces of some curves, one after the other."""
        curves = [self.curves[i] for i in numbers]
        handles, first = np.empty((sum(curve.values[:-1].size for curve in curves), 4)), 0
        for i, curve in zip(numbers, curves):
            keys, width = curve.values.shape
            last = first + (keys - 1) * width
            block = handles[first:last].reshape(keys - 1, width, 4)  # a view
            block[..., :2], block[..., 2:] = curve.after[:-1], curve.before[1:]
            if self._straight[i]:
                straight = curve.segments == LINEAR
                block[straight, :, 0] = block[straight, :, 2] = (np.diff(curve.times)[straight] / 3)[:, None]
                block[straight, :, 1] = block[straight, :, 3] = np.diff(curve.values, axis=0)[straight] / 3
            first = last
        return handles


def span_of(old: Curve, new: Curve) -> tuple[float, float]:
    """The time span in which two curves of one channel differ; where they are equal it ends before it begins.

    Beyond the first and the last key nothing differs as long as the keys there and the extrapolation do not.
    """
    everywhere = (-np.inf, np.inf)
    if old.extrapolation != new.extrapolation or not np.array_equal(old.times, new.times):
        return everywhere
    if len(new) == 1:
        return everywhere if not np.array_equal(old.values, new.values) else (np.inf, -np.inf)
    values = old.values is not new.values and (old.values != new.values).any(axis=1)
    other: Array = (old.after[:-1] != new.after[:-1]).any(axis=(1, 2))
    other |= (old.before[1:] != new.before[1:]).any(axis=(1, 2))
    other |= old.segments != new.segments
    if values is not False:
        other |= values[:-1] | values[1:]
    which = np.flatnonzero(other)
    if not len(which):
        return np.inf, -np.inf
    low = -np.inf if which[0] == 0 else float(new.times[which[0]])
    high = np.inf if which[-1] == len(other) - 1 else float(new.times[which[-1] + 1])
    return low, high


def _is_cubic(curve: Curve) -> bool:
    least = BEZIER if curve.channel.kind == "rotation" else LINEAR  # a slerp is no cubic
    return len(curve) > 1 and bool(curve.segments.min() >= least)


def _fits(old: Curve, new: Curve) -> bool:
    """Whether two curves have the same key times, kinds of segments and extrapolation."""
    if old.extrapolation != new.extrapolation:
        return False
    times = old.times is new.times or np.array_equal(old.times, new.times)
    return times and (old.segments is new.segments or np.array_equal(old.segments, new.segments))


def _ends(curves: Sequence[Curve]) -> tuple[Array, Array]:
    """(G,), (G,) the values at both ends of the pieces of some curves."""
    y0 = np.concatenate([np.zeros(0), *(curve.values[:-1].reshape(-1) for curve in curves)])
    return y0, np.concatenate([np.zeros(0), *(curve.values[1:].reshape(-1) for curve in curves)])
