"""Recording: the rows of a live performance as they were shown, until they become a take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array

LONGEST = 600.0  # seconds of one take: ten minutes of the dragon at 60 frames a second are 107 MB
CHUNK = 600  # frames: an array that grows by ten seconds at a time


@dataclass(frozen=True, eq=False)
class Recorded:
    """What was shown: rows (F, C) float32 at `rate`, and the labels in the order in which they came."""

    rows: Array
    rate: float
    labels: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return max(len(self.rows) - 1, 0) / self.rate


class Recording:
    """Collects rows. They are kept as float32, which is what the page was sent and what files hold."""

    def __init__(self, width: int, rate: float) -> None:
        self.width, self.rate, self.frames = width, rate, 0
        self._chunks: list[Array] = []
        self._labels: dict[str, None] = {}

    @property
    def seconds(self) -> float:
        """How long it is by now."""
        return self.frames / self.rate

    @property
    def full(self) -> bool:
        """Whether no more is taken."""
        return self.seconds >= LONGEST

    def add(self, row: Array, label: str) -> None:
        """One more frame; nothing once it is full."""
        if self.full:
            return
        place = self.frames % CHUNK
        if place == 0:
            self._chunks.append(np.empty((CHUNK, self.width), np.float32))
        self._chunks[-1][place] = row
        self._labels[label] = None
        self.frames += 1

    def finished(self) -> Recorded:
        """All that was collected."""
        rows = np.concatenate([np.empty((0, self.width), np.float32), *self._chunks])[: self.frames]
        return Recorded(rows, self.rate, tuple(self._labels))
