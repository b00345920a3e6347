"""A key more, and the same shape: Bezier segments are cut by de Casteljau's construction, the others where they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.character.curve import BEZIER, LINEAR, Curve
from understudy.character.segments import fitted
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import bezier

TOUCH = 1e-5
"""Seconds; a key this near to a time is the key at that time. Files keep times as float32, which tells 8e-6 apart at
100 s; the frames of the fastest capture are a hundred times further apart."""


def key_at(curve: Curve, time: float) -> int | None:
    """The number of the key at a time, or None where there is none within `TOUCH`."""
    k = int(np.argmin(np.abs(curve.times - time)))
    return k if abs(curve.times[k] - time) <= TOUCH else None


def inserted(curve: Curve, time: float) -> Curve:
    """`insert_key` on one curve."""
    if key_at(curve, time) is not None:
        return curve
    if not curve.times[0] < time < curve.times[-1]:
        return _beyond(curve, time)
    k = int(np.searchsorted(curve.times, time))  # the new key's number; segment k - 1 is cut
    blank = np.zeros((1, len(curve.channel), 2))
    before, after = np.insert(curve.before, k, blank, axis=0), np.insert(curve.after, k, blank, axis=0)
    if curve.segments[k - 1] == BEZIER:
        value, (after[k - 1], before[k], after[k], before[k + 1]) = _cut(curve, k - 1, time)
    else:  # handles wait for the segment to become Bezier, and are as long as it then lets them
        value = curve.sample([time])[0]
        after[k - 1] = fitted(after[k - 1], time - curve.times[k - 1])
        before[k + 1] = fitted(before[k + 1], curve.times[k] - time)
    return replace(
        curve,
        times=np.insert(curve.times, k, time),
        values=np.insert(curve.values, k, value, axis=0),
        segments=np.insert(curve.segments, k - 1, curve.segments[k - 1]),
        before=before,
        after=after,
    )


def _cut(curve: Curve, k: int, time: float) -> tuple[Array, tuple[Array, Array, Array, Array]]:
    """Value (n,) at a time within Bezier segment k, and the handles (n, 2) from its first key to its last."""
    ends = [np.stack(np.broadcast_arrays(curve.times[i], curve.values[i]), axis=-1) for i in (k, k + 1)]
    x, y = bezier.control_points(ends[0], ends[1], curve.after[k], curve.before[k + 1])
    (left_x, left_y), (right_x, right_y) = bezier.split(x, y, np.full(len(curve.channel), time))
    left, right = bezier.handles(left_x, left_y), bezier.handles(right_x, right_y)
    return left_y[:, 3], (*left, *right)


def _beyond(curve: Curve, time: float) -> Curve:
    side = 0 if time < curve.times[0] else 1
    if curve.extrapolation[side].startswith("cycle") and len(curve) > 1:
        name = f"{curve.channel.target!r} ({curve.channel.kind})"
        span = f"{curve.times[0]:g} s and {curve.times[-1]:g} s"
        raise InvalidInput(f"a key of the cycling curve {name} should lie between {span}, but {time:g} s does not")
    at, segment = (0, 0) if side == 0 else (len(curve), len(curve) - 1)
    edge = 0 if side == 0 else len(curve) - 1
    straight = curve.extrapolation[side] == "linear"
    value = curve.values[edge] + (curve.end_slope(side) * (time - curve.times[edge]) if straight else 0.0)
    times, values = np.insert(curve.times, at, time), np.insert(curve.values, at, value, axis=0)
    before, after = np.insert(curve.before, at, 0.0, axis=0), np.insert(curve.after, at, 0.0, axis=0)
    # handles along the chord, so that the segment is straight whatever its kind
    rise = (values[segment + 1] - values[segment]) / 3
    chord = np.stack(np.broadcast_arrays((times[segment + 1] - times[segment]) / 3, rise), axis=-1)
    after[segment], before[segment + 1] = chord, chord
    # rotations that run straight on do so column by column, which only a Bezier segment does
    kind = BEZIER if straight and curve.channel.kind == "rotation" else LINEAR
    segments = np.insert(curve.segments, segment, kind)
    return replace(curve, times=times, values=values, segments=segments, before=before, after=after)
