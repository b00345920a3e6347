"""The values of an animation at all its frames, kept up while its curves change.

During a drag a few dozen curves differ from those before it, and only around one moment. So what is compared is which
curves are others than before, then which of their segments; only those columns and frames are computed anew, all curves
at once (`flat`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Curves
from understudy.checks import Array
from understudy.keyframes.flat import Flat, span_of


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
        self.curves = curves
        self._flat = Flat(curves.curves)
        self._where = self._flat.where(self.times)
        self.values = self._flat.sample(self.times, self._where)  # (F + E + 1, C)

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
            self._where[-1:] = self._flat.where(self.times[-1:])
            self.values[-1:] = self._flat.sample(self.times[-1:], self._where[-1:])

    def rows(self, times: Array) -> Array:
        """(M, C) values at any times."""
        return self._flat.sample(times, self._flat.where(times))

    def update(self, curves: Curves) -> Change:
        """Other curves of the same channels."""
        pairs = enumerate(zip(self.curves.curves, curves.curves))
        changed = {i: new for i, (old, new) in pairs if old is not new}
        if not changed:
            return NOTHING
        span = self._flat.update(changed)
        if span is None:
            spans = [span_of(self.curves.curves[i], new) for i, new in changed.items()]
            span = min(a for a, _ in spans), max(b for _, b in spans)
            self._flat = Flat(curves.curves)
            self._where = self._flat.where(self.times)
        self.curves = curves
        rows = np.flatnonzero((self.times >= span[0]) & (self.times <= span[1]))
        if not len(rows):
            return NOTHING
        columns = self._flat.columns_of(tuple(changed))
        place = np.ix_(rows, columns)
        self.values[place] = self._flat.sample(self.times[rows], self._where[place], columns)
        own = rows[rows < self.frames]
        first, last = (int(own[0]), int(own[-1]) + 1) if len(own) else (0, 0)
        return Change(first, last, rows)
