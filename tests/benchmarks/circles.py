"""Motions around two circles that touch, so that the places to cross over are known."""

from __future__ import annotations

import numpy as np

RATE = 24.0


def circle(centre: float, turns: float = 3.0, period: float = 2.0, backwards: bool = False) -> np.ndarray:
    """(F, 2) around a unit circle at (centre, 0), from its right end, one turn in `period` seconds."""
    angle = 2 * np.pi * np.arange(int(turns * period * RATE)) / (period * RATE)
    return np.stack([centre + np.cos(angle), (-1 if backwards else 1) * np.sin(angle)], axis=1)


def crossing_circles() -> tuple[list[np.ndarray], list[str]]:
    """The left circle goes up where the right one does, at their common point (1, 0); a little noise breaks ties."""
    rng = np.random.default_rng(0)
    clips = [circle(0.0), circle(0.05), circle(2.0, backwards=True), circle(2.05, backwards=True)]
    return [clip + rng.normal(0, 1e-3, clip.shape) for clip in clips], ["left", "left", "right", "right"]
