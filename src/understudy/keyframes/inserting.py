"""Keys inserted without a change of shape."""

from __future__ import annotations

from understudy.character import Curves
from understudy.character.cutting import inserted
from understudy.keyframes.selection import Targets, changed, chosen, finite_time

__all__ = ["insert_key", "inserted"]


def insert_key(curves: Curves, time: float, targets: Targets = None) -> Curves:
    """A key at a time on each chosen curve that has none there; the shape stays the same at all times, to rounding.

    A quaternion key within a Bezier segment gets the curve's own value, which is not of unit length: sampling
    normalises it, as everywhere on such a segment. Handles that overlap so far that a piece would need one longer than
    itself (both above 2/3 of the segment) are shortened, and only then the shape departs. Beyond the last key a curve
    that holds or runs straight gets one; a cycle would change, and is refused.
    """
    time = finite_time(time)
    return changed(curves, chosen(curves, targets), lambda curve: inserted(curve, time))
