"""Tangents of whole curves: converted to Bezier, measured, broken, joined, and set automatically.

A curve stores no flag for a broken key: a key is broken where the handles of its two sides do not lie on one line, so
that the curve has a kink, and unbroken where they do (before = r after, r > 0).

Automatic tangents, as in graph editors, set the handles of keys from the keys alone, a third of each segment long in
time, so that the curves are Hermite splines. With d and m the lengths and slopes of the segments before and after a
key,

    smooth   s = (v[k+1] - v[k-1]) / (t[k+1] - t[k-1]), the chord of the neighbours (Catmull-Rom; Maya's spline)
    clamped  0 where the key is an extreme, else s cut to 3 m of the flatter side (Maya's auto, Blender's auto clamped)
    flat     0
    linear   m of each side on its own, which breaks the key

At the ends smooth follows the only chord and clamped is flat; where the curve cycles on that side, the neighbour is
the one across the seam. `start` and `stop` (seconds) choose the keys; a linear segment beside a chosen key becomes
Bezier, a stepped one stays unless `steps` is set, as when blocking turns into spline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP, align_quaternion_signs, bezier_segments
from understudy.character.key_insertion import key_at
from understudy.checks import Array
from understudy.edit.keys import (
    KINK_SLOPE_RATIO,
    Targets,
    is_broken,
    key_slopes,
    keys_between,
    replace_curves,
    select_curves,
)

BREAK_SLOPE_RATIO = 4 * KINK_SLOPE_RATIO
"""How far `break_tangents` opens a smooth key, as a share of its slope: just enough to differ from rounding."""

Rule = Callable[[Curve], tuple[Array, Array]]  # slopes (K, n) on arriving at and on leaving each key


def to_bezier(curves: Curves, targets: Targets = None, start: float | None = None, stop: float | None = None) -> Curves:
    """Convert linear segments to Bezier segments of the same shape, with handles a third of their segment long.

    Stepped segments stay. With `start` and `stop` only the segments that reach into that range change. Plain columns
    and Euler angles stay exactly the same. A slerp cannot be a Bezier curve exactly: see `maths.bezier.slerp_handles`,
    whose error is below 1.2e-5 radians for a half turn, 1e-7 for 90 degrees and 1e-8 for 60.
    """
    low, high = -np.inf if start is None else start, np.inf if stop is None else stop

    def change(curve: Curve) -> Curve:
        within = (curve.times[1:] > low) & (curve.times[:-1] < high)
        return bezier_segments(curve, within & (curve.segments == LINEAR))

    return replace_curves(curves, select_curves(curves, targets), change)


def break_tangents(curves: Curves, time: float | None = None, targets: Targets = None) -> Curves:
    """Break the tangents of keys at one time, or of all, so that later edits may change each side alone.

    Since a key is broken by its shape alone, the leaving handle of a smooth one is turned by BREAK_SLOPE_RATIO of its
    slope.
    """

    def change(curve: Curve) -> Curve:
        curve = align_quaternion_signs(curve)
        _, leaving = key_slopes(curve)
        to_open = ~is_broken(curve) & _keys_at(curve, time)[:, None]
        to_open[[0, -1]] = False
        curve = bezier_segments(curve, (curve.segments == LINEAR) & to_open[:-1].any(axis=1))
        after = np.array(curve.after)
        turned = leaving + BREAK_SLOPE_RATIO * np.maximum(np.abs(leaving), 1.0)
        after[..., 1] = np.where(to_open, turned * after[..., 0], after[..., 1])
        return replace(curve, after=after)

    return replace_curves(curves, select_curves(curves, targets), change)


def join_tangents(curves: Curves, time: float | None = None, targets: Targets = None) -> Curves:
    """Lay both handles of the keys at one time, or of all keys, on one line. Each keeps its length in time.

    The line is that of the sum of both handles, so the longer one counts more; a handle without length becomes a third
    of its segment. Linear segments beside a key become Bezier; beside a step there is nothing to join.
    """

    def change(curve: Curve) -> Curve:
        curve, wanted = align_quaternion_signs(curve), _keys_at(curve, time)
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

    return replace_curves(curves, select_curves(curves, targets), change)


def _give_length(handles: Array, which: Array, third: Array) -> None:
    """Make handles without length a third of their segment long and flat, in place."""
    empty = which & ~(handles[..., 0] > 0)
    handles[..., 1] = np.where(empty, 0.0, handles[..., 1])
    handles[..., 0] = np.where(empty, third, handles[..., 0])


def _keys_at(curve: Curve, time: float | None) -> Array:
    """(K,) bool: the key at a time, or all keys."""
    if time is None:
        return np.ones(len(curve), bool)
    k = key_at(curve, time)
    return np.zeros(len(curve), bool) if k is None else np.arange(len(curve)) == k


def smooth_tangents(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Catmull-Rom tangents: the velocity is continuous, and values may overshoot their keys."""
    return _set_tangents(curves, _smooth_slopes, targets, start, stop, steps)


def clamp_tangents(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Smooth tangents that never overshoot: between two keys every column stays between their values.

    |s| <= 3 |m| on both sides keeps a Hermite cubic monotonic [Fritsch and Carlson 1980].
    """
    return _set_tangents(curves, _monotone_slopes, targets, start, stop, steps)


def flatten_tangents(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Horizontal tangents: every chosen key is a stop."""
    return _set_tangents(curves, lambda curve: _both(np.zeros_like(curve.values)), targets, start, stop, steps)


def straighten_tangents(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Tangents along the chords; a segment between two chosen keys becomes linear (for quaternions: a slerp)."""
    return _set_tangents(curves, _chord_slopes, targets, start, stop, steps, LINEAR)


def _set_tangents(
    curves: Curves,
    rule: Rule,
    targets: Targets,
    start: float | None,
    stop: float | None,
    steps: bool,
    between: int = BEZIER,
) -> Curves:
    """Set the slopes of a rule at the chosen keys; segments between two chosen keys get the kind `between`."""

    def change(curve: Curve) -> Curve:
        keys = keys_between(curve, start, stop)
        if len(curve) == 1 or not keys.any():
            return curve
        beside = keys[:-1] | keys[1:]
        if not steps:
            beside &= curve.segments != STEP
        if steps:
            curve = replace(curve, segments=np.where(beside & (curve.segments == STEP), LINEAR, curve.segments))
        curve = bezier_segments(align_quaternion_signs(curve, beside), beside & (curve.segments == LINEAR))
        before, after = np.array(curve.before), np.array(curve.after)
        third = np.diff(curve.times)[:, None] / 3
        arriving, leaving = rule(curve)
        for handles, slopes, at in ((after, leaving, slice(None, -1)), (before, arriving, slice(1, None))):
            new = np.stack(np.broadcast_arrays(third, third * slopes[at]), axis=-1)
            handles[at] = np.where((keys[at] & beside)[:, None, None], new, handles[at])
        inner = beside & keys[:-1] & keys[1:]
        return replace(curve, segments=np.where(inner, between, curve.segments), before=before, after=after)

    return replace_curves(curves, select_curves(curves, targets), change)


def _smooth_slopes(curve: Curve) -> tuple[Array, Array]:
    before_d, after_d, before_m, after_m = _chords(curve)
    both = (before_d * before_m + after_d * after_m) / (before_d + after_d)
    return _both(np.where(np.isnan(both), np.where(np.isnan(before_m), after_m, before_m), both))


def _monotone_slopes(curve: Curve) -> tuple[Array, Array]:
    _, _, before_m, after_m = _chords(curve)
    slopes, _ = _smooth_slopes(curve)
    most = 3.0 * np.minimum(np.abs(before_m), np.abs(after_m))
    monotonic = before_m * after_m > 0  # False at the ends, where one is NaN
    return _both(np.where(monotonic, np.sign(slopes) * np.minimum(np.abs(slopes), np.nan_to_num(most)), 0.0))


def _chord_slopes(curve: Curve) -> tuple[Array, Array]:
    _, _, before_m, after_m = _chords(curve)
    return np.nan_to_num(before_m), np.nan_to_num(after_m)


def _both(slopes: Array) -> tuple[Array, Array]:
    return slopes, slopes


def _chords(curve: Curve) -> tuple[Array, Array, Array, Array]:
    """Lengths d (K, 1) and slopes m (K, n) of the segments before and after each key; NaN where there is none.

    A curve that cycles on a side continues there with its other end.
    """
    lengths = np.diff(curve.times)[:, None]
    slopes = np.diff(curve.values, axis=0) / lengths
    nothing = np.full((1, slopes.shape[1]), np.nan)
    outer = [side.startswith("cycle") for side in curve.extrapolation]
    seam = [(lengths[-1:], slopes[-1:]), (lengths[:1], slopes[:1])]
    (before_d, before_m), (after_d, after_m) = (
        seam[side] if outer[side] else (nothing[:, :1], nothing) for side in (0, 1)
    )
    return (
        np.concatenate([before_d, lengths]),
        np.concatenate([lengths, after_d]),
        np.concatenate([before_m, slopes]),
        np.concatenate([slopes, after_m]),
    )
