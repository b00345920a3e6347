"""When a rising curve passes a level."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def crossing(values: Array, level: float) -> float:
    """The frame, between frames too, at which `values` (F,) first reach `level`; the last frame where they never do."""
    above = values >= level
    first = int(np.argmax(above))
    if not above[first]:
        return float(len(values) - 1)
    if first == 0:
        return 0.0
    before, after = float(values[first - 1]), float(values[first])
    return first - 1 + (level - before) / (after - before)
