"""Smoothing of sampled values over time."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def gaussian_smooth(values: Array, deviation: float) -> Array:
    """Values (F, n) convolved with a Gaussian of `deviation` frames; the ends are extended by point reflection."""
    reach = int(np.ceil(4 * deviation))
    if reach < 1 or len(values) < 2:
        return values.copy()
    weights = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) / deviation))
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
    return np.stack([np.convolve(column, weights / weights.sum(), "valid") for column in padded.T], axis=1)
