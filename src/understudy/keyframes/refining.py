"""Curves expressed anew, key by key, and cut where that is not near enough.

A conversion that mixes columns (quaternions to angles, one frame to another) keeps keys and their slopes, and gives the
handles of all columns one length in time. Between keys it is an approximation, whose error falls quickly as keys come
closer together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.character import Curve
from understudy.character.curve import STEP
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.inserting import inserted

PROBES = np.arange(1, 8) / 8  # of a segment; the error of two cubics has at most a few bumps in it
DEEPEST = 10  # halvings of one segment

Error = Callable[[Curve, Curve, Array], Array]
"""How far a curve and its conversion are apart at times (M,) -> (M,)."""


def refined(curve: Curve, convert: Callable[[Curve], Curve], error: Error, tolerance: float | None) -> Curve:
    """The converted curve; with a tolerance, of the curve cut in the middle of each segment that errs more."""
    result = convert(curve)
    if tolerance is None:
        return result
    if not tolerance > 0:
        raise InvalidInput(f"tolerance should be above zero, but is {tolerance}")
    for _ in range(DEEPEST):
        starts, lengths = curve.times[:-1], np.diff(curve.times)
        times = starts[:, None] + lengths[:, None] * PROBES
        found = error(curve, result, times.ravel()).reshape(times.shape).max(axis=1, initial=0.0)
        bad = np.flatnonzero((found > tolerance) & (curve.segments != STEP))
        if not bad.size:
            break
        for time in starts[bad] + 0.5 * lengths[bad]:
            curve = inserted(curve, float(time))
        result = convert(curve)
    return result


def common_run(handles: Array, lengths: Array) -> Array:
    """(N,) one length in time for the handles (N, n, 2) of all columns: their mean, by how far each goes in value."""
    weight = np.abs(handles[..., 1]) + 1e-9
    run = (weight * handles[..., 0]).sum(axis=1) / weight.sum(axis=1)
    return np.where(run > 1e-6 * lengths, np.minimum(run, lengths), lengths / 3)
