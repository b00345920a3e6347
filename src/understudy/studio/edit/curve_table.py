"""The values of an animation at all its frames, kept up while its curves change.

During a drag a few dozen curves differ from those before it, and only around one moment. So what is compared is which
curves are others than before, then which of their segments; only those columns and frames are computed anew, all curves
at once. The numbers are those of `Curve.sample`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Curve, Curves
from understudy.checks import Array
from understudy.studio.edit.blocks import Block, sampled


@dataclass(frozen=True, eq=False)
class Change:
    """What an update changed: rows of the table, of which the frames are those from `first` to before `last`."""

    first: int
    last: int
    rows: Array  # (M,) int


NOTHING = Change(0, 0, np.zeros(0, np.int64))


class CurveTable:
    """Values of curves at F frames, at E moments besides (keys that lie between frames), and at the one looked at."""

    def __init__(self, curves: Curves, frames: Array, besides: Array, moment: float) -> None:
        self.frames = len(frames)  # F
        self.times = np.concatenate([frames, besides, [moment]])  # (F + E + 1,)
        self.curves, self._offsets = curves, curves.channels.offsets
        self._blocks = [Block(curve) for curve in curves.curves]
        self.values = self.rows(self.times)  # (F + E + 1, C)

    @property
    def moment(self) -> float:
        """The time of the last row."""
        return float(self.times[-1])

    @property
    def now(self) -> Array:
        """(C,) the values at the moment."""
        row: Array = self.values[-1]
        return row

    def look_at(self, moment: float) -> None:
        """Another moment."""
        if moment != self.moment:
            self.times[-1] = moment
            self.values[-1] = self.rows(self.times[-1:])[0]

    def rows(self, times: Array) -> Array:
        """(M, C) values at any times."""
        return sampled(self._blocks, times)

    def update(self, curves: Curves) -> Change:
        """Other curves of the same channels."""
        pairs = zip(self.curves.curves, curves.curves)
        changed = [i for i, (old, new) in enumerate(pairs) if old is not new]
        spans = [span_of(self.curves.curves[i], curves.curves[i]) for i in changed]
        self.curves = curves
        for i in changed:
            self._blocks[i] = Block(curves.curves[i], self._blocks[i])
        low, high = min((a for a, _ in spans), default=np.inf), max((b for _, b in spans), default=-np.inf)
        rows = np.flatnonzero((self.times >= low) & (self.times <= high))
        if not len(rows):
            return NOTHING
        offsets = self._offsets
        columns = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in changed])
        self.values[np.ix_(rows, columns)] = sampled([self._blocks[i] for i in changed], self.times[rows])
        own = rows[rows < self.frames]
        first, last = (int(own[0]), int(own[-1]) + 1) if len(own) else (0, 0)
        return Change(first, last, rows)


def span_of(old: Curve, new: Curve) -> tuple[float, float]:
    """The stretch of time in which two curves of one channel differ; one that is never ends before it begins.

    Beyond the first and the last key nothing differs as long as the keys there and their extrapolation do not.
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
