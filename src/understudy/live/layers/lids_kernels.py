"""Compiled twin of `lids.Lid.closed`, for many rows."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def closed(rows: Array, column: int, open: float, shut: float, others: Array, gains: Array, rest: Array) -> Array:
    """(M,) how far the eye is shut in each of rows (M, C), 0 to 1: by its blink, and by the controls `others` (n,)."""
    result = np.empty(rows.shape[0])
    for m in range(rows.shape[0]):
        lowered = 0.0
        for k in range(others.shape[0]):
            lowered += gains[k] * (rows[m, others[k]] - rest[k])
        blink = min(max((rows[m, column] - open) / (shut - open), 0.0), 1.0)
        result[m] = 1.0 - (1.0 - blink) * (1.0 - min(max(lowered, 0.0), 1.0))
    return result
