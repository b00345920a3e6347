"""Compiled twins of `eye_drives.ControlDrive`: a handful of numbers, on which NumPy mostly spends its time starting."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def read(row: Array, columns: Array, gains: Array, ranges: Array) -> tuple[float, float, float, float]:
    """G (c - rest), `ranges` (3, k) being low, rest and high of the controls."""
    total = np.zeros(4)
    for k in range(columns.shape[0]):
        offset = row[columns[k]] - ranges[1, k]
        for i in range(4):
            total[i] += gains[i, k] * offset
    return total[0], total[1], total[2], total[3]


@compiled(fastmath=FAST, error_model="numpy")
def write(
    row: Array,
    columns: Array,
    gains: Array,
    both: Array,
    single: Array,
    ranges: Array,
    a: float,
    b: float,
    c: float,
    d: float,
) -> None:
    """The controls of both eyes take the angles a, b, c, d as far as they reach, those of one eye what is left over."""
    wanted = np.array((a, b, c, d))
    count = columns.shape[0]
    offsets, left = np.zeros(count), wanted.copy()
    for inverse in (both, single):
        for k in range(count):
            for i in range(4):
                offsets[k] += inverse[k, i] * left[i]
            offsets[k] = min(max(offsets[k], ranges[0, k] - ranges[1, k]), ranges[2, k] - ranges[1, k])
        for i in range(4):
            left[i] = wanted[i]
            for k in range(count):
                left[i] -= gains[i, k] * offsets[k]
    for k in range(count):
        row[columns[k]] = ranges[1, k] + offsets[k]
