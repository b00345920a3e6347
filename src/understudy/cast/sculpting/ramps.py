"""The soft step that masks, paint and weights are made with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array


def ramp(low: ArrayLike, high: ArrayLike, x: ArrayLike) -> Array:
    """Smoothstep 3 u^2 - 2 u^3, u = (x - low) / (high - low) held in [0, 1]; low may be above high."""
    start, end = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    u = np.clip((np.asarray(x, dtype=float) - start) / (end - start), 0.0, 1.0)
    return u * u * (3 - 2 * u)
