"""Ranging: what is shown stays within what the clips show, or nearly.

A blend keeps the velocity of what it leaves, which carries an arm on beyond all that it does in either motion, and
between its training frames a pose space may guess such poses as well. So what a feature is beyond the clips' own range,
by e, is shown as less, and never as more than a part m of that range:

    e / sqrt(1 + (e / m)^2).

Within the range nothing changes, so a clip is played as it is; just beyond it hardly anything does, so a swing ends
softly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.posespace import Model

BEYOND = 0.15  # of a feature's range: a swing that ends at once looks like a blow, and one that goes on like a break


@dataclass(frozen=True, eq=False)
class Range:
    """What every feature is at least and at most in the clips, and how far beyond it may be shown."""

    low: Array  # (E,)
    high: Array  # (E,)
    beyond: Array  # (E,)

    @classmethod
    def of(cls, model: Model) -> Range:
        """That of all clips of a model."""
        low = np.min([space.features.min(axis=0) for space in model.spaces.values()], axis=0).astype(float)
        high = np.max([space.features.max(axis=0) for space in model.spaces.values()], axis=0).astype(float)
        return cls(low, high, np.maximum(BEYOND * (high - low), 1e-9))

    def within(self, features: Array) -> Array:
        """Features (M, E), as they are shown."""
        nearest = np.minimum(np.maximum(features, self.low), self.high)
        e = features - nearest
        return np.asarray(nearest + e / np.sqrt(1 + (e / self.beyond) ** 2)) if e.any() else features
