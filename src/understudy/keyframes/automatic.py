"""Automatic tangents, as graph editors give them: smooth, clamped, flat, linear.

All set the handles of keys from the keys alone, a third of each segment long in time, so that the curves are Hermite
splines. With d and m the lengths and slopes of the segments before and after a key,

    smooth   s = (v[k+1] - v[k-1]) / (t[k+1] - t[k-1]), the chord of the neighbours (Catmull-Rom; Maya's spline)
    clamped  0 where the key is an extreme, else s cut to 3 m of the flatter side (Maya's auto, Blender's auto clamped)
    flat     0
    linear   m of each side on its own, which breaks the key

At the ends smooth follows the only chord and clamped is flat; where the curve cycles on that side, the neighbour is
the one across the seam. `start` and `stop` choose the keys; a linear segment beside a chosen key becomes Bezier, a
stepped one stays unless `steps` is set, as when blocking turns into spline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import Array
from understudy.keyframes.handles import bezier_segments, same_side
from understudy.keyframes.selection import Targets, changed, chosen, keys_between

Rule = Callable[[Curve], tuple[Array, Array]]


def smooth(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Catmull-Rom tangents: the velocity is continuous, and values may overshoot their keys."""
    return _set(curves, _smooth_slopes, targets, start, stop, steps)


def clamped(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Smooth tangents that never overshoot: between two keys every column stays between their values.

    |s| <= 3 |m| on both sides keeps a Hermite cubic monotonic [Fritsch and Carlson 1980].
    """
    return _set(curves, _clamped_slopes, targets, start, stop, steps)


def flat(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Horizontal tangents: every chosen key is a stop."""
    return _set(curves, lambda curve: _both(np.zeros_like(curve.values)), targets, start, stop, steps)


def linear(
    curves: Curves,
    targets: Targets = None,
    start: float | None = None,
    stop: float | None = None,
    steps: bool = False,
) -> Curves:
    """Tangents along the chords; a segment between two chosen keys becomes linear (for quaternions: a slerp)."""
    return _set(curves, _chord_slopes, targets, start, stop, steps, LINEAR)


def _set(
    curves: Curves,
    rule: Rule,
    targets: Targets,
    start: float | None,
    stop: float | None,
    steps: bool,
    between: int = BEZIER,
) -> Curves:
    def change(curve: Curve) -> Curve:
        keys = keys_between(curve, start, stop)
        if len(curve) == 1 or not keys.any():
            return curve
        beside = keys[:-1] | keys[1:]
        if not steps:
            beside &= curve.segments != STEP
        if steps:
            curve = replace(curve, segments=np.where(beside & (curve.segments == STEP), LINEAR, curve.segments))
        curve = bezier_segments(same_side(curve, beside), beside & (curve.segments == LINEAR))
        before, after = np.array(curve.before), np.array(curve.after)
        third = np.diff(curve.times)[:, None] / 3
        arriving, leaving = rule(curve)
        for handles, slopes, at in ((after, leaving, slice(None, -1)), (before, arriving, slice(1, None))):
            new = np.stack(np.broadcast_arrays(third, third * slopes[at]), axis=-1)
            handles[at] = np.where((keys[at] & beside)[:, None, None], new, handles[at])
        inner = beside & keys[:-1] & keys[1:]
        return replace(curve, segments=np.where(inner, between, curve.segments), before=before, after=after)

    return changed(curves, chosen(curves, targets), change)


def _both(slopes: Array) -> tuple[Array, Array]:
    return slopes, slopes


def _chords(curve: Curve) -> tuple[Array, Array, Array, Array]:
    """Lengths d (K, 1) and slopes m (K, n) of the segments before and after each key; NaN where there is none.

    A curve that cycles on a side goes on with its other end there.
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


def _smooth_slopes(curve: Curve) -> tuple[Array, Array]:
    before_d, after_d, before_m, after_m = _chords(curve)
    both = (before_d * before_m + after_d * after_m) / (before_d + after_d)
    return _both(np.where(np.isnan(both), np.where(np.isnan(before_m), after_m, before_m), both))


def _clamped_slopes(curve: Curve) -> tuple[Array, Array]:
    _, _, before_m, after_m = _chords(curve)
    slopes, _ = _smooth_slopes(curve)
    most = 3.0 * np.minimum(np.abs(before_m), np.abs(after_m))
    monotonic = before_m * after_m > 0  # False at the ends, where one is NaN
    return _both(np.where(monotonic, np.sign(slopes) * np.minimum(np.abs(slopes), np.nan_to_num(most)), 0.0))


def _chord_slopes(curve: Curve) -> tuple[Array, Array]:
    _, _, before_m, after_m = _chords(curve)
    return np.nan_to_num(before_m), np.nan_to_num(after_m)
