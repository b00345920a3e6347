"""Binary frames of motion curves and of the graph editor. Words have 4 bytes, little-endian, after the frame's header.

Graph editor (stream 3, form 5; a = N columns, b = S samples): keys, handles, and the sampled curve.

    S times (s)
    for each column: u32 channel, u32 column, u32 K, u32 0, then K each of: times, values, before dt, before dv,
        after dt, after dv, u32 flags (bits 0 and 1 the segment that leaves: 0 stepped, 1 linear, 2 Bezier; bit 2
        broken), then S values

Motion curves (stream 2, form 4; a = N curves, b = F frames): the paths of the shown points.

    u32 first, u32 total, u32 0, u32 0      these are the frames first ... first + F - 1 of total
    F times (s)
    for each curve: u32 number, u32 K, then 3 F positions, 4 F turns (x y z w), K times of keys, 3 K their positions

During a drag only the frames that can change are sent; the page replaces that part of what it has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Curve, Curves
from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.edit.handles import is_broken
from understudy.edit.solver.segments import PackedCurves

BROKEN_TANGENT_FLAG = 4  # bit 2 of a key's flags


def pack_graph(curves: Curves, channels: Sequence[int], times: Array, origin: float) -> tuple[int, bytes]:
    """N and the payload of some channels, by number, at times (S,) of the file's own clock."""
    chosen = [curves.curves[i] for i in channels]
    flat = PackedCurves(chosen)
    values = flat.sample(times, flat.where(times))
    parts: list[Array] = [(times - origin).astype("<f4")]
    column = 0
    for number, curve in zip(channels, chosen):
        for c, rows in enumerate(_keys(curve, origin)):
            parts += [np.array([number, c, len(curve), 0], "<u4"), *rows, values[:, column].astype("<f4")]
            column += 1
    return column, b"".join(part.tobytes() for part in parts)


def _keys(curve: Curve, origin: float) -> list[list[Array]]:
    """The arrays of the keys of each column."""
    leaving = np.append(curve.segments, curve.segments[-1:] if len(curve) > 1 else [0]).astype("<u4")
    flags = leaving[:, None] + BROKEN_TANGENT_FLAG * is_broken(curve).astype("<u4")  # (K, n)
    handles = np.concatenate([curve.before, curve.after], axis=2).astype("<f4")  # (K, n, 4)
    times, values = (curve.times - origin).astype("<f4"), curve.values.astype("<f4")
    return [
        [times, values[:, c], *(handles[:, c, i] for i in range(4)), flags[:, c].astype("<u4")]
        for c in range(values.shape[1])
    ]


class MotionCurves:
    """The shown motion curves, as last computed."""

    def __init__(self, numbers: list[int], points: list[Point], times: Array) -> None:
        self.numbers, self.points = numbers, points
        self.times = times.astype("<f4")  # (F,) seconds from the beginning
        self.places = np.zeros((len(points), len(times), 3), "<f4")
        self.turns = np.zeros((len(points), len(times), 4), "<f4")
        self.key_times: list[Array] = [np.zeros(0, "<f4")] * len(points)
        self.key_places: list[Array] = [np.zeros((0, 3), "<f4")] * len(points)
        self._keys = np.zeros((0, 3), "<f4")  # positions of all keys; `key_places` are views of it

    def set_keys(self, times: list[Array]) -> None:
        """Set the times (K,) of the keys of each curve, seconds from the beginning; `put_keys` sets their positions."""
        self.key_times = [each.astype("<f4") for each in times]
        ends = np.cumsum([len(each) for each in times])
        self._keys = np.zeros((int(ends[-1]) if len(ends) else 0, 3), "<f4")
        self.key_places = np.split(self._keys, ends[:-1])

    def put_keys(self, which: Array, places: Array) -> None:
        """Set the positions (M, 3) of keys (M,), numbered over all curves."""
        self._keys[which] = places

    def put(self, first: int, places: Array, turns: Array) -> None:
        """Set positions (P, M, 3) and orientations (P, M, 4) of the frames from `first` on."""
        last = first + places.shape[1]
        self.places[:, first:last], self.turns[:, first:last] = places, turns

    def pack_frames(self, first: int, last: int) -> bytes:
        """The payload with the frames from `first` to before `last`."""
        parts = [np.array([first, len(self.times), 0, 0], "<u4"), self.times[first:last]]
        for p, number in enumerate(self.numbers):
            parts += [
                np.array([number, len(self.key_times[p])], "<u4"),
                self.places[p, first:last],
                self.turns[p, first:last],
                self.key_times[p],
                self.key_places[p],
            ]
        return b"".join(part.tobytes() for part in parts)
