"""Keys inserted without a change of shape."""

from __future__ import annotations

from understudy.character import Curves
from understudy.character.cutting import inserted
from understudy.keyframes.selection import Targets, changed, chosen, finite_time

__all__ = ["insert_key", "inserted"]


def insert_key(curves: Curves, time: float, targets: Targets = None) -> Curves:
    """A key at a time on each chosen curve that has none there; the shape stays the same at all times, to rounding.

    A quaternion key within a Bezier segment gets the curve's own value, which is not of unit length: sampling
    normalises it, as everywhere on such a segment. Where two handles overlap far (both above 0.8 of the segment), one
    of a piece may reach beyond it by up to a third. Beyond the last key a curve that holds or runs straight gets a key;
    a cycle would change, and is refused.
    """
    time = finite_time(time)
    return changed(curves, chosen(curves, targets), lambda curve: inserted(curve, time))
