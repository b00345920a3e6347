"""Keys of one curve brought to other times and values, with their handles.

The keys are put in the order of their new times; one that comes to lie on another replaces it. With q the new length of
a segment over the old, a handle that faces it becomes (q dt, q f dv), so that it keeps its share of the segment, and
with f = 1 its slope; f is what its key's values are stretched by over what its times are.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Curve
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.handles import fitted
from understudy.keyframes.selection import TOUCH


def transformed(
    curve: Curve, chosen: Array, time: tuple[float, float], value: tuple[float, float], origin: float
) -> tuple[Curve, Array]:
    """Keys moved and scaled, `chosen` (K, n) bool; and the new times (K,) of the keys as they were numbered.

    t' = s t + o with t from `origin` on, v' = r v + p.
    """
    (s, o), (r, p) = time, value
    moved = np.asarray(chosen.any(axis=1))
    times = np.where(moved, s * (curve.times - origin) + o + origin, curve.times)
    check_times(times, origin)
    values = np.where(chosen, r * curve.values + p, curve.values)
    f = np.where(chosen, r / s, np.where(moved[:, None], 1 / s, 1.0))
    shape = curve.values.shape
    given = np.zeros((2, *shape), bool)
    return rearranged(curve, times, values, np.array(curve.before), np.array(curve.after), given, f), times


def check_times(times: Array, origin: float) -> None:
    """Refuses keys before the beginning of the clip."""
    if times.min() < origin - TOUCH:
        first = times.min() - origin
        raise InvalidInput(f"a key should not lie before the beginning of the clip, but one would be at {first:.4g} s")


def rearranged(curve: Curve, times: Array, values: Array, before: Array, after: Array, given: Array, f: Array) -> Curve:
    """The curve with its keys (K,) at other times; handles `given` (2, K, n) bool, before and after, are final."""
    moved = times != curve.times
    order = np.lexsort((moved, times))  # of two at one time the one that was moved comes last, and stays
    order = order[np.append(np.diff(times[order]) > TOUCH, True)]
    leaving = np.append(curve.segments, curve.segments[-1:]) if len(curve) > 1 else np.zeros(1, np.uint8)
    times, values, new_before, new_after = times[order], values[order], before[order], after[order]
    if len(times) > 1:
        old, new = np.diff(curve.times), np.diff(times)
        sides = (
            (new_before, np.append(old[:1], old), np.append(new[:1], new), given[0]),
            (new_after, np.append(old, old[-1:]), np.append(new, new[-1:]), given[1]),
        )
        for handles, was, now, fixed in sides:
            q = np.where(fixed[order], 1.0, (now / was[order])[:, None])
            handles[..., 0] *= q
            handles[..., 1] *= np.where(fixed[order], 1.0, q * f[order])
        new_after[:-1], new_before[1:] = fitted(new_after[:-1], new[:, None]), fitted(new_before[1:], new[:, None])
    return Curve(curve.channel, times, values, leaving[order][:-1], new_before, new_after, curve.extrapolation)
