"""Smoothing and limits of an acted motion.

Smoothing [Serra 2018, section 5.1, step 4]. A Savitzky-Golay filter removes corners, a sigmoid fitted to each
coordinate of each leg removes the zigzag that is left. `smoothing` goes from the raw motion (0) to nothing but sigmoids
(1). A coordinate that no sigmoid follows, such as one that goes and comes back within a leg, keeps its filtered values:
that is where faces differ.

The sigmoid of a leg passes through the leg's ends, so that legs join:

    g(u) = y_0 + (y_1 - y_0) (s(u) - s(0)) / (s(1) - s(0)),    s(u) = 1 / (1 + exp(-b_2 (u - b_3))),    0 <= u <= 1

[Serra 2018, eqs. 1 and 2] with the ends fixed in place of b_1.

Limits. The motion stays within the range of the data and below its greatest speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from understudy.checks import Array
from understudy.express.acting.timing import sample_poses
from understudy.maths import jit

MAX_WINDOW_SECONDS = 0.36  # seconds of the filter's window_frames at smoothing 1; an eye blink takes as long
MAX_STEEPNESS, MIN_STEEPNESS = 40.0, 1e-2  # b_2: a rise in one fortieth of the leg; a straight line
GAUSS_NEWTON_STEPS = 8  # from the crossings of 1/4 and 3/4 it is within 1e-3 after four


def smooth_curves(points: Array, bounds: Array, rate: float, smoothing: float) -> Array:
    """(F, C) curves, smoothed by `smoothing`, 0 to 1.

    `bounds` (n + 1,) are the first frames of n legs and the last frame of all; `rate` is in frames a second.
    """
    if smoothing <= 0.0 or len(points) < 3:
        return points
    filtered = savitzky_golay(points, window_frames(rate, smoothing))
    result = np.array(filtered, order="C")
    jit.kernels("understudy.express.acting.acting_kernels").blend_towards_sigmoids(
        result, bounds.astype(np.int64), smoothing * smoothing, GAUSS_NEWTON_STEPS, MIN_STEEPNESS, MAX_STEEPNESS
    )
    return result


def window_frames(rate: float, smoothing: float) -> int:
    """The frames of the filter's window: odd, and 5 or more, since 3 points of a parabola are met exactly."""
    return max(2 * round(0.5 * MAX_WINDOW_SECONDS * smoothing * rate) + 1, 5)


def savitzky_golay(points: Array, width: int) -> Array:
    """(F, C) curves filtered with a window of `width` frames (odd) and parabolas; first and last frames stay.

    Beyond its ends a curve is continued by its point reflection about the end.
    """
    half = min(width // 2, len(points) - 1)
    taps = _taps(2 * half + 1) if half >= 2 else None
    if taps is None:
        return points
    head = 2 * points[0] - points[half:0:-1]
    tail = 2 * points[-1] - points[-2 : -half - 2 : -1]
    longer = np.concatenate([head, points, tail])
    result: Array = sum(tap * longer[k : k + len(points)] for k, tap in enumerate(taps))
    return result


@lru_cache(maxsize=64)
def _taps(width: int) -> Array:
    """(width,) coefficients of the filter: the middle of the least-squares parabola through `width` points."""
    offsets = np.arange(width) - width // 2
    powers = np.stack([np.ones(width), offsets, offsets**2], axis=1)
    return np.linalg.pinv(powers)[0]


def clamp_to_range(displacements: Array, lowest: Array, highest: Array) -> Array:
    """(F, L, D) displacements, none outside the range (L, D) of the data."""
    clamped: Array = np.clip(displacements, lowest, highest)
    return clamped


def limit_speed(displacements: Array, members: Sequence[Array], fastest: Array) -> tuple[Array, Array]:
    """Displacements (F', L, D) with no step of a region's landmarks above `fastest` (R,), and (F,) the new frames of
    the old ones.

    A step that is rho times too long gets rho frames. All regions wait together and stay simultaneous.
    """
    steps = np.diff(displacements, axis=0)
    lengths = np.sqrt(np.einsum("fld,fld->fl", steps, steps))
    rho = np.ones(len(steps))
    for rows, limit in zip(members, fastest):
        if limit > 0:
            np.maximum(rho, lengths[:, rows].max(axis=1) / limit, out=rho)
    places = np.concatenate([[0.0], np.cumsum(rho)])
    if places[-1] <= len(steps) * (1 + 1e-12):
        return displacements, np.arange(len(displacements), dtype=np.float64)
    frames = np.arange(int(np.ceil(places[-1] - 1e-9)) + 1)
    at = np.interp(frames, places, np.arange(len(places)))
    return sample_poses(displacements, at), places
