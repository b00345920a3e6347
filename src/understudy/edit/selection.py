"""Which curves, and which of their keys, an operation concerns.

Curves are chosen by `targets`: None for all, a joint's or part's name, or several of: a name, a pair (name, kind), a
`Channel`. Keys are chosen by their time.

Keys inserted without a change of shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from understudy import checks
from understudy.character import Channel, Curve, Curves
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS, insert_curve_key, key_at
from understudy.checks import Array
from understudy.errors import InvalidInput

__all__ = [
    "KEY_TIME_TOLERANCE_SECONDS",
    "Targets",
    "finite_time",
    "key_at",
    "keys_between",
    "replace_curves",
    "select_curves",
    "with_curves",
]

Targets = str | Iterable[str | tuple[str, str] | Channel] | None


def select_curves(curves: Curves, targets: Targets = None) -> Array:
    """(N,) bool: which of the curves `targets` name. A name that no curve has is refused."""
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
    """(K,) bool: which keys lie from `start` to `stop`, both included; None means from or to the end."""
    low, high = (
        -np.inf if start is None else start - KEY_TIME_TOLERANCE_SECONDS,
        np.inf if stop is None else stop + KEY_TIME_TOLERANCE_SECONDS,
    )
    inside: Array = (curve.times >= low) & (curve.times <= high)
    return inside


def finite_time(time: float, what: str = "time") -> float:
    """A time in seconds as a float, refused where it is none."""
    try:
        found = float(time)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise InvalidInput(f"{what} should be a finite number of seconds, but is {time}")
    return found


def replace_curves(curves: Curves, which: Array, change: Callable[[Curve], Curve]) -> Curves:
    """The same animation with `change` made to the curves `which` (N,) bool; all that is said about it is kept."""
    new = (change(curve) if yes else curve for curve, yes in zip(curves.curves, which))
    return with_curves(curves, new)


def with_curves(curves: Curves, new: Iterable[Curve]) -> Curves:
    """Other curves under the same name, labels, rate, words and moments."""
    return Curves(curves.name, new, curves.labels, curves.rate, curves.about, curves.moments)


__all__ = ["insert_curve_key", "insert_key"]


def insert_key(curves: Curves, time: float, targets: Targets = None) -> Curves:
    """A key at a time on each chosen curve that has none there; the shape stays the same at all times, to rounding.

    A quaternion key within a Bezier segment gets the curve's own value, which is not of unit length: sampling
    normalises it, as everywhere on such a segment. Where two handles overlap far (both above 0.8 of the segment), one
    of a piece may reach beyond it by up to a third. Beyond the last key a curve that holds or runs straight gets a key;
    a cycle would change, and is refused.
    """
    time = finite_time(time)
    return replace_curves(curves, select_curves(curves, targets), lambda curve: insert_curve_key(curve, time))
