"""Performance: what was acted."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from understudy import checks
from understudy.checks import Array


@dataclass(frozen=True, eq=False)
class Performance:
    """F frames of L landmarks or weights in D dimensions, and what goes with them on the same clock."""

    points: Array  # (F, L, D)
    rate: float  # frames a second
    names: tuple[str, ...]  # (L,)
    cues: tuple[str, ...]  # (n,) what was asked for: "fear", "fear:0.5+surprise:0.5"
    peaks: Array  # (n,) int, the frame of the apex of each cue
    legs: (
        Array  # (n + 1,) or (n + 2,) int, the first frame of the way to each cue (and back), and the last frame of all
    )
    base: Array  # (L, D) the neutral pose
    blink: Array  # (F,) 0 open, 1 shut
    gaze: Array  # (F, 2) radians to the left and up
    head: Array  # (F, 3) radians: turn to the left, nod down, roll to the left

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                checks.freeze(value)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def displacements(self) -> Array:
        """(F, L, D) from the neutral pose."""
        return self.points - self.base

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate

    @property
    def times(self) -> Array:
        """(F,) seconds."""
        return np.arange(len(self)) / self.rate

    @property
    def moments(self) -> dict[str, float]:
        """When each cue has its apex, in seconds; the second `fear` is `fear 2`."""
        found: dict[str, float] = {}
        for cue, frame in zip(self.cues, self.peaks.tolist()):
            names = (cue if number == 1 else f"{cue} {number}" for number in range(1, len(self.cues) + 2))
            found[next(name for name in names if name not in found)] = frame / self.rate
        return found
