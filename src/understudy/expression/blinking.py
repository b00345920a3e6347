"""Blinking: short blinks are taken out of takes, since a graph would stretch them to slow ones.

A node that holds a lid half shut may be passed slowly. Blinks come back on a layer of their own, at their own pace
(`acting.life`). What stays shut for longer, as eyes that are pressed together in pain, is expression and stays.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.formats.arkit_names import canonical

LONGEST = 0.5  # seconds from open to open; with slow lids that is a blink of 0.3 s and its ends
LIDS = ("eyeBlinkLeft", "eyeBlinkRight")
CONTROLS = ("lids.blink.L", "lids.blink.R")
LEAST = 0.25  # of shut: less than that is the round top of an expression, which the opening cuts off as well
SMOOTHED = 0.1  # seconds: what is left where a blink was has corners


def lid_columns(channels: Channels) -> Array:
    """(n,) the columns that shut eyes."""
    found = []
    for number, channel in enumerate(channels):
        start = int(channels.offsets[number])
        if channel.kind == "controls" and channel.target in CONTROLS:
            found.append(start)
        if channel.kind == "weights":
            found += [start + i for i, column in enumerate(channel.columns) if canonical(column) in LIDS]
    return np.array(found, np.int64)


def without_blinks(values: Array, rate: float) -> Array:
    """(F, n) lids with everything gone that shuts and opens within `LONGEST` seconds.

    A morphological opening, the greatest curve below each that has no peak narrower than a window, takes the place of
    each peak that is higher by `LEAST`. A blink that the take begins or ends with goes too.
    """
    width = max(round(LONGEST * rate), 2)
    if len(values) < 2 * width or not values.size:
        return values
    half = width // 2
    padded = np.pad(values, ((half, half), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0)
    lowest = np.pad(windows.min(axis=2), ((half, half), (0, 0)), mode="edge")
    opened = np.lib.stride_tricks.sliding_window_view(lowest, 2 * half + 1, axis=0).max(axis=2)
    box = 2 * max(round(0.5 * SMOOTHED * rate), 1) + 1
    spread = np.pad(opened, ((box // 2, box // 2), (0, 0)), mode="edge")
    rounded = np.lib.stride_tricks.sliding_window_view(spread, box, axis=0).mean(axis=2)
    result = np.array(values)
    for column in range(values.shape[1]):
        above = values[:, column] - opened[:, column]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], (above > 1e-3).astype(np.int8), [0]])))
        for first, last in edges.reshape(-1, 2):
            if above[first:last].max() > LEAST:
                result[first:last, column] = np.minimum(rounded[first:last, column], values[first:last, column])
    return result
