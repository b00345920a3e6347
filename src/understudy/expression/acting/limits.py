"""Limits: what is acted stays within the range of the data and below its greatest speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.timing import sampled


def within_range(displacements: Array, lowest: Array, highest: Array) -> Array:
    """(F, L, D) displacements, none outside the range (L, D) of the data."""
    held: Array = np.clip(displacements, lowest, highest)
    return held


def slowed(displacements: Array, members: Sequence[Array], fastest: Array) -> tuple[Array, Array]:
    """Displacements (F', L, D) in which no landmark of a region goes farther in a frame than `fastest` (R,), and the
    new places (F,) of the old frames.

    A step that is rho times too long gets rho frames. All regions wait together, so what was simultaneous still is.
    """
    steps = np.diff(displacements, axis=0)
    lengths = np.sqrt(np.einsum("fld,fld->fl", steps, steps))
    rho = np.ones(len(steps))
    for each, limit in zip(members, fastest):
        if limit > 0:
            np.maximum(rho, lengths[:, each].max(axis=1) / limit, out=rho)
    places = np.concatenate([[0.0], np.cumsum(rho)])
    if places[-1] <= len(steps) * (1 + 1e-12):
        return displacements, np.arange(len(displacements), dtype=np.float64)
    frames = np.arange(int(np.ceil(places[-1] - 1e-9)) + 1)
    at = np.interp(frames, places, np.arange(len(places)))
    return sampled(displacements, at), places
