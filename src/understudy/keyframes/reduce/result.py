"""Reduced: what comes back from a reduction."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.character import Curves


@dataclass(frozen=True)
class Reduced:
    """Few keys, and how far they are from the animation that they stand for, at all frames and midway between them."""

    curves: Curves
    error_m: float  # metres, the farthest that any joint is off in the world
    error_angle: float  # radians, the farthest that any joint is turned off in the world
    error_weight: float  # the most that a shape weight or another control is off
    keys: int  # counted for each column: a key of a channel with three columns counts three
    frames: int  # frames of the source
    columns: int  # columns of the result
    broken: float  # share of the keys inside that have a corner (per column)
    loop: bool
    notes: tuple[str, ...] = ()

    @property
    def source_keys(self) -> int:
        """What the source has in the same count: a key for each frame and column."""
        return self.frames * self.columns
