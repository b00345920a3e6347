"""Tangents of whole curves: made explicit, measured, broken apart and joined.

A curve stores no word for a broken key: it is broken where the handles of its two sides do not lie on one line, so
that the curve has a kink, and unbroken where they do (before = r after, r > 0).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.segments import bezier_segments, fitted, same_side
from understudy.checks import Array
from understudy.keyframes.selection import Targets, changed, chosen, key_at

__all__ = [
    "bezier_segments",
    "break_tangents",
    "fitted",
    "is_broken",
    "join_tangents",
    "same_side",
    "slopes",
    "to_bezier",
]

KINK = 1e-6
"""Slopes of two sides that differ by less than this part of them (of one a second, where they are lower) are one
slope. Files keep slopes as float32, which leaves 1e-7; at walking pace a kink of 1e-6 is a micrometre a second."""

OPENED = 4 * KINK
"""How far `break_tangents` opens a key that was smooth: enough to be told from rounding, and no more."""


def to_bezier(curves: Curves, targets: Targets = None, start: float | None = None, stop: float | None = None) -> Curves:
    """Linear segments as Bezier segments of the same shape; stepped ones stay. Handles are a third of their segment.

    With `start` and `stop` only the segments that reach into that range change. Plain columns and Euler angles stay
    exactly the same. A slerp cannot be a Bezier curve exactly: see `maths.slerp_bezier`, whose error is below 1.2e-5
    radians for a half turn, 1e-7 for 90 degrees and 1e-8 for 60.
    """
    low, high = -np.inf if start is None else start, np.inf if stop is None else stop

    def change(curve: Curve) -> Curve:
        within = (curve.times[1:] > low) & (curve.times[:-1] < high)
        return bezier_segments(curve, within & (curve.segments == LINEAR))

    return changed(curves, chosen(curves, targets), change)


def slopes(curve: Curve) -> tuple[Array, Array]:
    """Value per second on arriving at and on leaving each key, (K, n) each; NaN where there is nothing or a step.

    A Bezier handle without length in time has no slope of its own: NaN as well.
    """
    keys, columns = curve.values.shape
    arriving, leaving = np.full((2, keys, columns), np.nan)
    if keys == 1:
        return arriving, leaving
    curve = bezier_segments(curve, curve.segments == LINEAR)
    smooth = (curve.segments == BEZIER)[:, None]
    for out, handles, at in ((leaving, curve.after, slice(None, -1)), (arriving, curve.before, slice(1, None))):
        dt, dv = handles[at, :, 0], handles[at, :, 1]
        out[at] = np.where(smooth & (dt > 0), dv / np.where(dt > 0, dt, 1.0), np.nan)
    return arriving, leaving


def is_broken(curve: Curve) -> Array:
    """(K, n) bool: where a column has a kink, a jump, or a handle without length. The first and last key have none."""
    arriving, leaving = slopes(curve)
    size = np.maximum(np.maximum(np.abs(arriving), np.abs(leaving)), 1.0)
    broken = ~(np.abs(arriving - leaving) <= KINK * size)
    broken[[0, -1]] = False
    return broken


def break_tangents(curves: Curves, time: float | None = None, targets: Targets = None) -> Curves:
    """Let the two sides of keys go their own ways from now on: at one time, or at all.

    Since a key is broken by its shape alone, the leaving handle of a smooth one is turned by `OPENED` of its slope.
    """

    def change(curve: Curve) -> Curve:
        curve = same_side(curve)
        _, leaving = slopes(curve)
        to_open = ~is_broken(curve) & _at(curve, time)[:, None]
        to_open[[0, -1]] = False
        curve = bezier_segments(curve, (curve.segments == LINEAR) & to_open[:-1].any(axis=1))
        after = np.array(curve.after)
        turned = leaving + OPENED * np.maximum(np.abs(leaving), 1.0)
        after[..., 1] = np.where(to_open, turned * after[..., 0], after[..., 1])
        return replace(curve, after=after)

    return changed(curves, chosen(curves, targets), change)


def join_tangents(curves: Curves, time: float | None = None, targets: Targets = None) -> Curves:
    """Lay both handles of keys on one line: at one time, or at all. Each keeps its length in time.

    The line is that of the sum of both handles, so the longer one has more to say; a handle without length becomes a
    third of its segment. Linear segments beside a key become Bezier; beside a step there is nothing to join.
    """

    def change(curve: Curve) -> Curve:
        curve, wanted = same_side(curve), _at(curve, time)
        wanted[[0, -1]] = False
        stepped = curve.segments == STEP
        wanted[:-1] &= ~stepped
        wanted[1:] &= ~stepped
        broken = is_broken(curve) & wanted[:, None]
        beside = np.asarray(broken.any(axis=1))
        curve = bezier_segments(curve, (curve.segments == LINEAR) & (beside[:-1] | beside[1:]))
        before, after = np.array(curve.before), np.array(curve.after)
        third = np.diff(curve.times)[:, None] / 3
        _give_length(after[:-1], broken[:-1], third)
        _give_length(before[1:], broken[1:], third)
        total = before + after
        slope = total[..., 1] / np.where(broken, total[..., 0], 1.0)
        for handles in (before, after):
            handles[..., 1] = np.where(broken, slope * handles[..., 0], handles[..., 1])
        return replace(curve, before=before, after=after)

    return changed(curves, chosen(curves, targets), change)


def _give_length(handles: Array, which: Array, third: Array) -> None:
    """Handles without length become a third of their segment, flat, in place."""
    empty = which & ~(handles[..., 0] > 0)
    handles[..., 1] = np.where(empty, 0.0, handles[..., 1])
    handles[..., 0] = np.where(empty, third, handles[..., 0])


def _at(curve: Curve, time: float | None) -> Array:
    """(K,) bool: the key at a time, or all."""
    if time is None:
        return np.ones(len(curve), bool)
    k = key_at(curve, time)
    return np.zeros(len(curve), bool) if k is None else np.arange(len(curve)) == k
