"""Choose the curves and keys that an operation changes, change them, and insert keys without a change of shape.

Curves are chosen by `targets`: None for all, the name of a joint or part, or several of: a name, a pair (name, kind),
a `Channel`. Keys are chosen by their time in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from understudy import checks
from understudy.character import Channel, Curve, Curves
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS, insert_curve_key, key_at
from understudy.checks import Array
from understudy.errors import InvalidInput

Targets = str | Iterable[str | tuple[str, str] | Channel] | None


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
