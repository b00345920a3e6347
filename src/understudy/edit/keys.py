"""Insert, remove, move and set keys, as in a graph editor: curves in, curves out, nothing else changed.

The name, labels, rate, description, moments and extrapolation of an animation are kept. The operations on handles
(`handles`) and on rotation channels (`rotation_curves`) are also exported here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, align_quaternion_signs, bezier_segments, fit_handles
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS, key_at
from understudy.checks import Array
from understudy.edit.handles import break_tangents, is_broken, join_tangents, to_bezier
from understudy.edit.rotation_curves import to_euler, to_quaternion
from understudy.edit.selection import Targets, finite_time, insert_key, mark_posed, replace_curves, select_curves
from understudy.errors import InvalidInput

__all__ = [
    "break_tangents",
    "insert_key",
    "is_broken",
    "join_tangents",
    "move_key",
    "remove_key",
    "set_key",
    "to_bezier",
    "to_euler",
    "to_quaternion",
]


def remove_key(curves: Curves, time: float, targets: Targets = None) -> Curves:
    """Remove the keys at a time from the chosen curves that have one; the only key of a curve is refused.

    The outer handles grow so that they reach as far as those of both segments did: `insert_key` is undone, to
    rounding. Two segments of different kinds become one of the kind of the first.
    """
    which, numbers = _find_keys(curves, finite_time(time), targets)
    for curve, yes in zip(curves.curves, which):
        if yes and len(curve) == 1:
            name = f"{curve.channel.target!r} ({curve.channel.kind})"
            raise InvalidInput(f"the key of {name} at {time:g} s is its only one and cannot be removed")
    return replace_curves(curves, which, lambda curve: _remove_from_curve(curve, numbers[curve.channel]))


def move_key(curves: Curves, time: float, to: float, targets: Targets = None) -> Curves:
    """Move the keys at `time` to another time between their neighbours (seconds).

    Slopes stay, and every handle keeps its share of its segment, so a smooth key stays smooth and a Hermite spline
    stays one.
    """
    to = finite_time(to, "the time to move a key to")
    which, numbers = _find_keys(curves, finite_time(time), targets)

    def change(curve: Curve) -> Curve:
        k = numbers[curve.channel]
        low = curve.times[k - 1] if k > 0 else -np.inf
        high = curve.times[k + 1] if k + 1 < len(curve) else np.inf
        if not low + KEY_TIME_TOLERANCE_SECONDS < to < high - KEY_TIME_TOLERANCE_SECONDS:
            name = f"{curve.channel.target!r} ({curve.channel.kind})"
            bounds = f"{low:g} s and {high:g} s"
            raise InvalidInput(
                f"the key of {name} at {time:g} s should stay between {bounds}, but should go to {to:g} s"
            )
        times = np.array(curve.times)
        times[k] = to
        ratio = (np.diff(times) / np.diff(curve.times))[:, None, None]
        before, after = np.array(curve.before), np.array(curve.after)
        after[:-1] *= ratio
        before[1:] *= ratio
        return replace(curve, times=times, before=before, after=after, fitted=curve.fitted & (times == curve.times))

    return replace_curves(curves, which, change)


def set_key(curves: Curves, target: str, kind: str, time: float, value: Any) -> Curves:
    """Set the key of one channel at a time to a value (n,); where there is none, one is inserted first.

    The handles move along with the key.
    """
    which = select_curves(curves, [(target, kind)])
    curves = insert_key(curves, time, [(target, kind)])

    def change(curve: Curve) -> Curve:
        k = key_at(curve, time)
        assert k is not None  # it was inserted
        values = np.array(curve.values)
        values[k] = checks.array(value, f"the value of {target!r} ({kind}) at {time:g} s", (len(curve.channel),))
        return mark_posed(replace(curve, values=values), k)

    return replace_curves(curves, which, change)


def _find_keys(curves: Curves, time: float, targets: Targets) -> tuple[Array, dict[Channel, int]]:
    """(N,) bool: the chosen curves that have a key at a time, and its number in each."""
    numbers = {}
    which = select_curves(curves, targets)
    for i, curve in enumerate(curves.curves):
        k = key_at(curve, time) if which[i] else None
        which[i] = k is not None
        if k is not None:
            numbers[curve.channel] = k
    if not which.any():
        all_times = np.concatenate([c.times for c, yes in zip(curves.curves, select_curves(curves, targets)) if yes])
        nearest = all_times[np.argmin(np.abs(all_times - time))]
        raise InvalidInput(f"there is no key at {time:g} s; the nearest is at {nearest:g} s")
    return which, numbers


def _remove_from_curve(curve: Curve, k: int) -> Curve:
    last = len(curve) - 1
    curve = align_quaternion_signs(curve)
    before, after = np.array(curve.before), np.array(curve.after)
    if 0 < k < last and curve.segments[k - 1] == BEZIER:
        curve = bezier_segments(curve, (curve.segments == LINEAR) & (np.arange(last) == k))
        before, after = np.array(curve.before), np.array(curve.after)
        after[k - 1], before[k + 1] = _handles_before_cut(curve, k)
    keep = np.arange(last + 1) != k
    return replace(
        curve,
        times=curve.times[keep],
        values=curve.values[keep],
        segments=np.delete(curve.segments, min(k, last - 1)),
        before=before[keep],
        after=after[keep],
        fitted=curve.fitted[keep],
    )


def _handles_before_cut(curve: Curve, k: int) -> tuple[Array, Array]:
    """The outer handles (n, 2) of the segments around key k, leaving and arriving, as they were before a cut there.

    De Casteljau's cut at s leaves after' = s after and before' = (1 - s) before outside, and at the key handles whose
    times are in the ratio s : 1 - s. Where these handles are broken or empty, s is the ratio of the segment lengths.
    """
    length = curve.times[k + 1] - curve.times[k - 1]
    inner, outer = curve.before[k, :, 0], curve.after[k, :, 0]
    usable = ~is_broken(curve)[k] & (inner > 0) & (outer > 0)
    share = (curve.times[k] - curve.times[k - 1]) / length
    s = np.where(usable, inner / np.where(usable, inner + outer, 1.0), share)[:, None]
    after, before = curve.after[k - 1] / s, curve.before[k + 1] / (1.0 - s)
    a, b = after[:, 0] / length, before[:, 0] / length
    backwards = (a + b > 1 + np.sqrt(a * b) + 1e-9)[:, None]  # in time, which no cut leaves behind
    return np.where(backwards, fit_handles(after, length), after), np.where(
        backwards, fit_handles(before, length), before
    )
