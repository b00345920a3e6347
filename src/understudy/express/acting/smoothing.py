"""Limits: what is acted stays within the range of the data and below its greatest speed.

Smoothing: corners and zigzag out, the person in [Serra 2018, section 5.1, step 4].

A Savitzky-Golay filter removes what is drastic, a sigmoid fitted to each coordinate of each leg what is left. The dial
goes from the raw motion (0) to nothing but sigmoids (1). A coordinate that no sigmoid follows, such as one that goes
and comes back within a leg, keeps its filtered self: that is where faces differ.

The sigmoid of a leg passes through the leg's ends, so that legs join:

    g(u) = y_0 + (y_1 - y_0) (s(u) - s(0)) / (s(1) - s(0)),    s(u) = 1 / (1 + exp(-b_2 (u - b_3))),    0 <= u <= 1

[Serra 2018, eqs. 1 and 2] with the ends fixed in place of b_1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from understudy.checks import Array
from understudy.express.acting.timing import sample_poses
from understudy.maths import jit

MAX_WINDOW_SECONDS = 0.36  # seconds of the filter's window at dial 1; an eye blink takes as long
MAX_STEEPNESS, MIN_STEEPNESS = 40.0, 1e-2  # of b_2: a leg in one fortieth of its time; a straight line
GAUSS_NEWTON_STEPS = 8  # Gauss-Newton steps; from the crossings of 1/4 and 3/4 it is within 1e-3 after four


def clamp_to_range(displacements: Array, lowest: Array, highest: Array) -> Array:
    """(F, L, D) displacements, none outside the range (L, D) of the data."""
    held: Array = np.clip(displacements, lowest, highest)
    return held


def limit_speed(displacements: Array, members: Sequence[Array], fastest: Array) -> tuple[Array, Array]:
    """Displacements (F', L, D) in which no landmark of a region goes farther in a frame than `fastest` (R,), and the
    new places (F,) of the old frames.

    A step that is rho times too long gets rho frames. All regions wait together, so what was simultaneous still is.
    """
    steps = np.diff(displacements, axis=0)
    lengths = np.sqrt(np.einsum("fld,fld->fl", steps, steps))
    rho = np.ones(len(steps))
    for each, limit in zip(members, fastest):
        if limit > 0:
            np.maximum(rho, lengths[:, each].max(axis=1) / limit, out=rho)
    places = np.concatenate([[0.0], np.cumsum(rho)])
    if places[-1] <= len(steps) * (1 + 1e-12):
        return displacements, np.arange(len(displacements), dtype=np.float64)
    frames = np.arange(int(np.ceil(places[-1] - 1e-9)) + 1)
    at = np.interp(frames, places, np.arange(len(places)))
    return sample_poses(displacements, at), places


def smooth_curves(points: Array, bounds: Array, rate: float, dial: float) -> Array:
    """(F, C) curves, smoothed as far as `dial` says, 0 to 1; `bounds` (n + 1,) are the first frames of n legs and the
    last frame of all."""
    if dial <= 0.0 or len(points) < 3:
        return points
    filtered = savitzky_golay(points, window(rate, dial))
    kernels = jit.kernels("understudy.express.acting.acting_kernels")
    blend = dial * dial
    if kernels is not None:
        result = np.array(filtered, order="C")
        kernels.towards_sigmoids(
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


def window(rate: float, dial: float) -> int:
    """The frames of the filter's window: odd, and 5 or more, since 3 points of a parabola are met exactly."""
    return max(2 * round(0.5 * MAX_WINDOW_SECONDS * dial * rate) + 1, 5)


@lru_cache(maxsize=64)
def _taps(width: int) -> Array:
    """(width,) of the filter: the middle of the parabola through `width` points in the least squares' sense."""
    offsets = np.arange(width) - width // 2
    powers = np.stack([np.ones(width), offsets, offsets**2], axis=1)
    return np.linalg.pinv(powers)[0]


def savitzky_golay(points: Array, width: int) -> Array:
    """(F, C) curves filtered with a window of `width` frames (odd) and parabolas; first and last frames stay.

    Beyond its ends a curve goes on as its image turned about the end point.
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


def nearest_sigmoids(leg: Array) -> tuple[Array, Array]:
    """(F, C) the sigmoids nearest to the columns of a leg (F, C), and (C,) how well they follow: 1 fully, 0 not at all.

    Gauss-Newton on (b_2, b_3) from where each column passes a quarter and three quarters of its way.
    """
    u = np.linspace(0.0, 1.0, len(leg))[:, None]
    reach = leg[-1] - leg[0]
    moving = np.abs(reach) > 1e-12
    way = np.where(moving, (leg - leg[0]) / np.where(moving, reach, 1.0), 0.0)
    early, late = _first_at(way, 0.25), _first_at(way, 0.75)
    steep = np.clip(2 * np.log(3.0) / np.maximum(late - early, 1e-3), MIN_STEEPNESS, MAX_STEEPNESS)
    middle = np.clip(0.5 * (early + late), 0.0, 1.0)
    for _ in range(GAUSS_NEWTON_STEPS):
        g, by_steep, by_middle = _sigmoid_derivatives(u, steep, middle)
        r = way - g
        a, b, d = (by_steep**2).sum(0) + 1e-12, (by_steep * by_middle).sum(0), (by_middle**2).sum(0) + 1e-12
        p, q = (by_steep * r).sum(0), (by_middle * r).sum(0)
        size = a * d - b * b + 1e-15
        steep = np.clip(
            steep + (d * p - b * q) / size, np.maximum(0.5 * steep, MIN_STEEPNESS), np.minimum(2 * steep, MAX_STEEPNESS)
        )
        middle = np.clip(middle + np.clip((a * q - b * p) / size, -0.2, 0.2), 0.0, 1.0)
    g = _sigmoid_derivatives(u, steep, middle)[0]
    left = ((way - g) ** 2).sum(0) / np.maximum(((way - way.mean(0)) ** 2).sum(0), 1e-15)
    return leg[0] + reach * g, np.where(moving, np.clip(1.0 - 10.0 * left, 0.0, 1.0), 0.0)


def _first_at(way: Array, level: float) -> Array:
    """(C,) where each column first reaches a level, as a share of the leg."""
    return np.argmax(way >= level, axis=0) / (len(way) - 1)


def _sigmoid_derivatives(u: Array, steep: Array, middle: Array) -> tuple[Array, Array, Array]:
    """(F, C) g and its derivatives by b_2 and b_3."""

    def s(x: Array) -> Array:
        return 1.0 / (1.0 + np.exp(-x))

    start, end, here = s(-steep * middle), s(steep * (1.0 - middle)), s(steep * (u - middle))
    slope = [f * (1.0 - f) for f in (start, end, here)]
    span = end - start
    g = (here - start) / span
    steeps = [-middle * slope[0], (1.0 - middle) * slope[1], (u - middle) * slope[2]]
    middles = [-steep * each for each in slope]
    by_steep = (steeps[2] - steeps[0] - g * (steeps[1] - steeps[0])) / span
    by_middle = (middles[2] - middles[0] - g * (middles[1] - middles[0])) / span
    return g, by_steep, by_middle
