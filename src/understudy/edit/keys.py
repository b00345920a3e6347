"""Choose, insert, remove, move and set keys, as in a graph editor: curves in, curves out, nothing else changed.

Curves are chosen by `targets`: None for all, the name of a joint or part, or several of: a name, a pair (name, kind),
a `Channel`. Keys are chosen by their time in seconds. The name, labels, rate, description, moments and extrapolation of
an animation are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, align_quaternion_signs, bezier_segments, fit_handles
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS, insert_curve_key, key_at
from understudy.checks import Array
from understudy.errors import InvalidInput

Targets = str | Iterable[str | tuple[str, str] | Channel] | None

KINK_SLOPE_RATIO = 1e-6
"""Slopes of two sides that differ by less than this share of the larger (at least of one a second) count as equal.
Files keep slopes as float32, which leaves 1e-7; at walking pace a kink of 1e-6 is a micrometre a second."""


def select_curves(curves: Curves, targets: Targets = None) -> Array:
    """(N,) bool: the curves that `targets` name. A name that no curve has is refused."""
    if targets is None:
        return np.ones(len(curves), bool)
    items = [targets] if isinstance(targets, str) else list(targets)
    names = [curve.channel.target for curve in curves.curves]
    pairs = [(curve.channel.target, curve.channel.kind) for curve in curves.curves]
    result = np.zeros(len(curves), bool)
    for item in items:
        if isinstance(item, str):
            checks.one_of(item, "curve of", dict.fromkeys(names))
            result |= [name == item for name in names]
            continue
        pair = (item.target, item.kind) if isinstance(item, Channel) else tuple(item)
        if pair not in pairs:
            listed = ", ".join(f"{target!r} ({kind})" for target, kind in pairs[:40])
            raise InvalidInput(f"there is no curve {pair[0]!r} ({pair[-1]}); available: {listed}")
        result |= [other == pair for other in pairs]
    return result


def keys_between(curve: Curve, start: float | None, stop: float | None) -> Array:
    """(K,) bool: the keys from `start` to `stop` seconds, both included; None means from or to the end."""
    low, high = (
        -np.inf if start is None else start - KEY_TIME_TOLERANCE_SECONDS,
        np.inf if stop is None else stop + KEY_TIME_TOLERANCE_SECONDS,
    )
    inside: Array = (curve.times >= low) & (curve.times <= high)
    return inside


def finite_time(time: float, what: str = "time") -> float:
    """A time in seconds as a float; refused where it is not a finite number."""
    try:
        seconds = float(time)
    except (TypeError, ValueError):
        seconds = np.nan
    if not np.isfinite(seconds):
        raise InvalidInput(f"{what} should be a finite number of seconds, but is {time}")
    return seconds


def key_slopes(curve: Curve) -> tuple[Array, Array]:
    """Value per second on arriving at and on leaving each key, (K, n) each.

    NaN where there is no segment, a step, or a Bezier handle without length in time.
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
    """(K, n) bool: the keys where a column has a kink, a jump or a handle without length; never the first and last."""
    arriving, leaving = key_slopes(curve)
    size = np.maximum(np.maximum(np.abs(arriving), np.abs(leaving)), 1.0)
    broken = ~(np.abs(arriving - leaving) <= KINK_SLOPE_RATIO * size)
    broken[[0, -1]] = False
    return broken


def replace_curves(curves: Curves, which: Array, change: Callable[[Curve], Curve]) -> Curves:
    """The animation with `change` applied to the curves `which` (N,) bool; its metadata is kept."""
    new = (change(curve) if yes else curve for curve, yes in zip(curves.curves, which))
    return with_curves(curves, new)


def with_curves(curves: Curves, new: Iterable[Curve]) -> Curves:
    """The animation with other curves and the same name, labels, rate, description and moments."""
    return Curves(curves.name, new, curves.labels, curves.rate, curves.about, curves.moments)


def insert_key(curves: Curves, time: float, targets: Targets = None) -> Curves:
    """Insert a key at a time on each chosen curve that has none there; the shape stays the same, to rounding.

    A quaternion key within a Bezier segment gets the value of the curve, which is not of unit length: sampling
    normalises it, as everywhere on such a segment. Where two handles overlap far (both above 0.8 of the segment), a
    handle of a new segment may reach beyond it by up to a third. Beyond the last key a curve that holds or runs
    straight gets a key; a cycle would change, and is refused.
    """
    time = finite_time(time)

    def insert(curve: Curve) -> Curve:
        inserted = insert_curve_key(curve, time)
        k = key_at(inserted, time)
        return inserted if k is None else mark_posed(inserted, k)

    return replace_curves(curves, select_curves(curves, targets), insert)


def mark_posed(curve: Curve, k: int) -> Curve:
    """The curve with key k as a person's pose, whose value edits keep."""
    return replace(curve, fitted=curve.fitted & (np.arange(len(curve)) != k)) if curve.fitted[k] else curve


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
