"""Compiled twins of `eye_drives.ControlDrive`: a handful of numbers, on which NumPy mostly spends its time starting."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def read(rows: Array, columns: Array, gains: Array, ranges: Array) -> Array:
    """(M, 4) G (c - rest) of rows (M, C), `ranges` (3, k) being low, rest and high of the controls."""
    result = np.zeros((rows.shape[0], 4))
    for m in range(rows.shape[0]):
        for k in range(columns.shape[0]):
            offset = rows[m, columns[k]] - ranges[1, k]
            for i in range(4):
                result[m, i] += gains[i, k] * offset
    return result


@compiled(fastmath=FAST, error_model="numpy")
def write(
    rows: Array, which: Array, columns: Array, gains: Array, both: Array, single: Array, ranges: Array, angles: Array
) -> None:
    """In the rows `which` (N,), the controls of both eyes take the angles (N, 4) as far as they reach, those of one eye
    what is left over."""
    count = columns.shape[0]
    offsets, left = np.zeros(count), np.zeros(4)
    for n in range(which.shape[0]):
        offsets[:] = 0.0
        left[:] = angles[n]
        for inverse in (both, single):
            for k in range(count):
                for i in range(4):
                    offsets[k] += inverse[k, i] * left[i]
                offsets[k] = min(max(offsets[k], ranges[0, k] - ranges[1, k]), ranges[2, k] - ranges[1, k])
            for i in range(4):
                left[i] = angles[n, i]
                for k in range(count):
                    left[i] -= gains[i, k] * offsets[k]
        for k in range(count):
            rows[which[n], columns[k]] = ranges[1, k] + offsets[k]
