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
from itertools import pairwise

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
    kernels = jit.kernels("understudy.express.acting.acting_kernels")
    blend = smoothing * smoothing
    if kernels is not None:
        result = np.array(filtered, order="C")
        kernels.blend_towards_sigmoids(
            result, bounds.astype(np.int64), blend, GAUSS_NEWTON_STEPS, MIN_STEEPNESS, MAX_STEEPNESS
        )
        return result
    result = filtered.copy()
    for first, last in pairwise(bounds):
        if last - first >= 3:
            leg = filtered[first : last + 1]
            fitted, fits = nearest_sigmoids(leg)
            result[first : last + 1] = leg + blend * fits * (fitted - leg)
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


def nearest_sigmoids(leg: Array) -> tuple[Array, Array]:
    """(F, C) the sigmoids nearest to the columns of a leg (F, C), and (C,) how well they follow: 1 fully, 0 not at all.

    Gauss-Newton on (b_2, b_3) from where each column passes a quarter and three quarters of its rise.
    """
    u = np.linspace(0.0, 1.0, len(leg))[:, None]
    reach = leg[-1] - leg[0]
    moving = np.abs(reach) > 1e-12
    rise = np.where(moving, (leg - leg[0]) / np.where(moving, reach, 1.0), 0.0)
    early, late = _first_at(rise, 0.25), _first_at(rise, 0.75)
    steep = np.clip(2 * np.log(3.0) / np.maximum(late - early, 1e-3), MIN_STEEPNESS, MAX_STEEPNESS)
    middle = np.clip(0.5 * (early + late), 0.0, 1.0)
    for _ in range(GAUSS_NEWTON_STEPS):
        g, by_steep, by_middle = _sigmoid_derivatives(u, steep, middle)
        r = rise - g
        a, b, d = (by_steep**2).sum(0) + 1e-12, (by_steep * by_middle).sum(0), (by_middle**2).sum(0) + 1e-12
        p, q = (by_steep * r).sum(0), (by_middle * r).sum(0)
        size = a * d - b * b + 1e-15
        steep = np.clip(
            steep + (d * p - b * q) / size, np.maximum(0.5 * steep, MIN_STEEPNESS), np.minimum(2 * steep, MAX_STEEPNESS)
        )
        middle = np.clip(middle + np.clip((a * q - b * p) / size, -0.2, 0.2), 0.0, 1.0)
    g = _sigmoid_derivatives(u, steep, middle)[0]
    left = ((rise - g) ** 2).sum(0) / np.maximum(((rise - rise.mean(0)) ** 2).sum(0), 1e-15)
    return leg[0] + reach * g, np.where(moving, np.clip(1.0 - 10.0 * left, 0.0, 1.0), 0.0)


def _first_at(rise: Array, level: float) -> Array:
    """(C,) time at which each column first reaches a level, as a share of the leg."""
    return np.argmax(rise >= level, axis=0) / (len(rise) - 1)


def _sigmoid_derivatives(u: Array, steep: Array, middle: Array) -> tuple[Array, Array, Array]:
    """(F, C) g and its derivatives by b_2 and b_3."""

    def s(x: Array) -> Array:
        return 1.0 / (1.0 + np.exp(-x))

    start, end, value = s(-steep * middle), s(steep * (1.0 - middle)), s(steep * (u - middle))
    slope = [f * (1.0 - f) for f in (start, end, value)]
    span = end - start
    g = (value - start) / span
    steeps = [-middle * slope[0], (1.0 - middle) * slope[1], (u - middle) * slope[2]]
    middles = [-steep * f for f in slope]
    by_steep = (steeps[2] - steeps[0] - g * (steeps[1] - steeps[0])) / span
    by_middle = (middles[2] - middles[0] - g * (middles[1] - middles[0])) / span
    return g, by_steep, by_middle


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
