"""Motion curves as one binary frame (stream 2, form 4): the paths of the points that are shown.

After the frame's header (a = N curves, b = F frames in it), 4-byte words, little-endian:

    u32 first, u32 total, u32 0, u32 0      these are the frames first ... first + F - 1 of total
    F times (s)
    for each curve: u32 number, u32 K, then 3 F positions, 4 F turns (x y z w), K times of keys, 3 K their positions

While something is dragged only the frames that can change are sent; the page lays them over what it has.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.keyframes.goals import Point


class Paths:
    """The motion curves that are shown, as they were last computed."""

    def __init__(self, numbers: list[int], points: list[Point], times: Array) -> None:
        self.numbers, self.points = numbers, points
        self.times = times.astype("<f4")  # (F,) seconds from the beginning
        self.places = np.zeros((len(points), len(times), 3), "<f4")
        self.turns = np.zeros((len(points), len(times), 4), "<f4")
        self.key_times: list[Array] = [np.zeros(0, "<f4")] * len(points)
        self.key_places: list[Array] = [np.zeros((0, 3), "<f4")] * len(points)
        self._keys = np.zeros((0, 3), "<f4")  # the places of all, which those of each are parts of

    def set_keys(self, times: list[Array]) -> None:
        """The times (K,) of the keys of each curve, seconds from the beginning; `put_keys` tells where they are."""
        self.key_times = [each.astype("<f4") for each in times]
        ends = np.cumsum([len(each) for each in times])
        self._keys = np.zeros((int(ends[-1]) if len(ends) else 0, 3), "<f4")
        self.key_places = np.split(self._keys, ends[:-1])

    def put_keys(self, which: Array, places: Array) -> None:
        """New places (M, 3) of keys (M,), counted through all curves."""
        self._keys[which] = places

    def put(self, first: int, places: Array, turns: Array) -> None:
        """New positions (P, M, 3) and turns (P, M, 4) of the frames from `first` on."""
        last = first + places.shape[1]
        self.places[:, first:last], self.turns[:, first:last] = places, turns

    def packed(self, first: int, last: int) -> bytes:
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
