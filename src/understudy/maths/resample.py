"""Uniformly sampled channels at another rate, at any times, or smoothed.

Values are (F, C) at `rate` frames a second, the first at time 0. Unit quaternions are given by the index of their x
column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array, one_of, positive
from understudy.errors import InvalidInput
from understudy.maths import quaternion

METHODS = ("linear", "cubic", "monotone")

FRAME_COUNT_TOLERANCE = 1e-4
"""Frames. Files store times as float32, which is off by that much at a few minutes and 120 frames a second, and
must not cost the last frame; a slack that could be seen would invent a frame that the clip does not reach."""

MAX_FRAMES = 10_000_000  # a day at 115 frames a second; more is a mistaken rate

CUTOFF_NYQUIST_RATIO = 0.8
BUTTERWORTH_ORDER = 6
"""Low pass before down-sampling: a Butterworth filter of this order, run forwards and backwards (no delay), at this
fraction of the new Nyquist frequency. There half the amplitude is left; at the new Nyquist itself 6 %, so that
little folds back, and at half of it 99.6 %. A sharper filter rings at foot contacts, a softer one dulls them."""


def frame_count(start: float, end: float, rate: float) -> int:
    """How many frames fit from start to end, both included: floor((end - start) rate + slack) + 1."""
    return max(int(np.floor((end - start) * positive(rate, "rate") + FRAME_COUNT_TOLERANCE)) + 1, 0)


def frame_times(start: float, end: float, rate: float) -> Array:
    """(F,) seconds of each frame: start + i / rate, not beyond end. More than `MAX_FRAMES` are refused."""
    count = frame_count(start, end, rate)
    if count > MAX_FRAMES:
        raise InvalidInput(f"{end - start:g} s at {rate:g} frames a second are {count} frames; at most {MAX_FRAMES:,}")
    return start + np.arange(count) / rate


def resample(
    values: ArrayLike,
    rate: float,
    new_rate: float,
    method: str = "linear",
    quaternions: Sequence[int] | Array = (),
    low_pass: bool = False,
) -> Array:
    """Values (F, C) at `new_rate`: (F', C), from time 0 up to the last new frame that the clip reaches.

    `low_pass` removes beforehand what the new rate cannot hold; it does nothing where the new rate is not lower.
    """
    values = _table(values)
    rate, new_rate = positive(rate, "rate"), positive(new_rate, "new_rate")
    if low_pass and new_rate < rate:
        values = limit_band(values, rate, 0.5 * CUTOFF_NYQUIST_RATIO * new_rate, quaternions)
    return sample(values, rate, frame_times(0.0, (len(values) - 1) / rate, new_rate), method, quaternions)


def sample(
    values: ArrayLike,
    rate: float,
    times: ArrayLike,
    method: str = "linear",
    quaternions: Sequence[int] | Array = (),
) -> Array:
    """Values (F, C) at `times` (M,) seconds: (M, C). Beyond the ends the first and last frames hold.

    "linear", with slerp for quaternions; "cubic", Catmull-Rom and its like for rotations (smooth velocity, may
    overshoot by an eighth of a step); "monotone", which never leaves the range of its two frames (Fritsch and
    Carlson), and slerp.
    """
    values = _table(values)
    one_of(method, "method", METHODS)
    last = len(values) - 1
    position = np.clip(np.asarray(times, dtype=float) * rate, 0.0, last)
    # A time that means frame i must give frame i, not a mixture with 1e-13 of its neighbour: 1e-9 of a frame is far
    # above rounding, and far below anything that can be seen.
    nearest = np.round(position)
    position = np.where(np.abs(position - nearest) < 1e-9, nearest, position)
    i = np.minimum(position.astype(int), max(last - 1, 0))
    j, s = np.minimum(i + 1, last), position - i
    if method == "linear":
        out = values[i] + s[:, None] * (values[j] - values[i])
        # on a frame itself its neighbour does not count, not even where it is NaN
        out[s == 0.0], out[s == 1.0] = values[i[s == 0.0]], values[j[s == 1.0]]
    else:
        slopes = _catmull_rom(values) if method == "cubic" else _monotone(values)
        out = _hermite(values[i], values[j], slopes[i], slopes[j], s[:, None])
    if len(quaternions):
        columns = np.asarray(quaternions)[:, None] + np.arange(4)  # (Q, 4)
        key = quaternion.unroll(values[:, columns])
        if method == "cubic":
            out[:, columns] = quaternion.spline(np.arange(len(values)), key, position)
        else:
            out[:, columns] = quaternion.slerp(key[i], key[j], s[:, None])
    return out


def limit_band(values: ArrayLike, rate: float, cutoff: float, quaternions: Sequence[int] | Array = ()) -> Array:
    """Values (F, C) low-pass filtered at `cutoff` hertz, without delay. Quaternions come out unrolled."""
    from scipy.signal import butter, sosfiltfilt

    values = _table(values).copy()
    if len(values) < 3 or cutoff >= 0.5 * rate:
        return values
    for column in quaternions:
        values[:, column : column + 4] = quaternion.unroll(quaternion.normalise(values[:, column : column + 4]))
    sections = butter(BUTTERWORTH_ORDER, cutoff, fs=rate, output="sos")
    # Ends are continued by point reflection, for as long as the filter remembers (three cutoff periods) or the clip
    # lasts.
    padding = min(int(np.ceil(3.0 * rate / cutoff)), len(values) - 1)
    out = sosfiltfilt(sections, values, axis=0, padlen=padding)
    for column in quaternions:
        out[:, column : column + 4] = quaternion.normalise(out[:, column : column + 4])
    return out


def _table(values: ArrayLike) -> Array:
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or len(table) == 0:
        raise InvalidInput(f"values should have shape (F, C) with at least one frame, but have shape {table.shape}")
    return table


def _catmull_rom(values: Array) -> Array:
    """Slopes per frame (F, C): half the step over both neighbours; at the ends the nearest step."""
    return np.gradient(values, axis=0) if len(values) > 1 else np.zeros_like(values)


def _monotone(values: Array) -> Array:
    """Slopes per frame (F, C) of Fritsch and Carlson: the harmonic mean of both steps, zero where they turn round."""
    slopes = np.zeros_like(values)
    if len(values) < 2:
        return slopes
    step = np.diff(values, axis=0)
    before, after = step[:-1], step[1:]
    rising = np.sign(before) * np.sign(after) > 0
    total = np.where(rising, before + after, 1.0)
    slopes[1:-1] = np.where(rising, 2.0 * before * (after / total), 0.0)
    slopes[0], slopes[-1] = step[0], step[-1]
    return slopes


def _hermite(a: Array, b: Array, slope_a: Array, slope_b: Array, s: Array) -> Array:
    m = 1.0 - s
    return m * m * (1.0 + 2.0 * s) * a + s * s * (3.0 - 2.0 * s) * b + s * m * (m * slope_a - s * slope_b)


def gaussian_smooth(values: Array, deviation: float) -> Array:
    """Values (F, n) convolved with a Gaussian of `deviation` frames; the ends are extended by point reflection."""
    reach = int(np.ceil(4 * deviation))
    if reach < 1 or len(values) < 2:
        return values.copy()
    weights = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) / deviation))
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
    return np.stack([np.convolve(column, weights / weights.sum(), "valid") for column in padded.T], axis=1)


def smoothstep(low: float, high: float, x: Array) -> Array:
    """0 below `low`, 1 above `high`, smooth between; `low` may be the larger one. (...) -> (...)"""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))
