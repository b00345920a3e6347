"""Many Bezier curves sampled at once: a face has hundreds, and one by one each costs more in calls than in arithmetic.

Curves that are Bezier throughout, hold beyond their ends and are no rotations are cut into columns and laid end to end;
finding the segment of each time and column is then all that is done one by one. The numbers are those of
`Curve.sample`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character.curve import BEZIER, Curve
from understudy.checks import Array
from understudy.maths import bezier

HELD = ("hold", "hold")


class CurveBatch:
    """`columns` (B,) are sampled together; `others` are the curves to be sampled singly, with their columns."""

    def __init__(self, curves: Sequence[Curve], offsets: Array) -> None:
        together = [_batched(curve) for curve in curves]
        spans = [(curve, int(a), int(b)) for curve, a, b in zip(curves, offsets[:-1], offsets[1:])]
        own = [span for span, yes in zip(spans, together) if yes]
        self.others = [span for span, yes in zip(spans, together) if not yes]
        self.columns = np.concatenate([np.zeros(0, np.int64), *(np.arange(a, b) for _, a, b in own)])
        self._times = [curve.times for curve, _, _ in own]
        self._curve = np.repeat(np.arange(len(own)), [b - a for _, a, b in own])  # (B,) the curve of each column
        if not own:
            return
        # per key and column: (N, 2) points and handles, the keys of one column after those of the other
        points = [
            np.stack([np.broadcast_to(curve.times[:, None], curve.values.shape), curve.values], axis=-1)
            for curve, _, _ in own
        ]
        self._points, self._before, self._after = (
            np.concatenate([block.transpose(1, 0, 2).reshape(-1, 2) for block in blocks])
            for blocks in (points, [curve.before for curve, _, _ in own], [curve.after for curve, _, _ in own])
        )
        counts = np.array([len(times) for times in self._times])[self._curve]
        self._first = np.cumsum(counts) - counts  # (B,) where the keys of each column begin

    def sample(self, times: Array) -> Array:
        """(M, B) values at times (M,)."""
        if not len(self.columns):
            return np.zeros((len(times), 0))
        inside, segment = np.empty((2, len(times), len(self._times)))
        for number, keys in enumerate(self._times):
            inside[:, number] = np.clip(times, keys[0], keys[-1])
            found = np.searchsorted(keys, inside[:, number], side="right") - 1
            segment[:, number] = np.minimum(found, len(keys) - 2)
        k = segment.astype(np.int64)[:, self._curve] + self._first
        x, y = bezier.control_points(self._points[k], self._points[k + 1], self._after[k], self._before[k + 1])
        return bezier.evaluate(x, y, inside[:, self._curve])


def _batched(curve: Curve) -> bool:
    return (
        len(curve) > 1
        and curve.channel.kind != "rotation"
        and curve.extrapolation == HELD
        and bool((curve.segments == BEZIER).all())
    )
