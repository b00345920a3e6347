"""Cuts: frames between which an animation jumps, such as the T-pose that CMU's files begin with.

No smooth curve follows a jump of 90 degrees from one frame to the next, and trying spoils the frames around it. A clip
is reduced piece by piece between its cuts; across each, the curves run straight, as the frames do.
"""

from __future__ import annotations

import itertools

import numpy as np

from understudy.character import Clip, Curve, Curves
from understudy.character.curve import LINEAR
from understudy.character.joining import unsplit
from understudy.checks import Array
from understudy.keyframes.reduce.result import Reduced
from understudy.maths import euler, quaternion

JUMP = np.radians(40.0)  # in a frame: 4,800 degrees a second at 120 fps, 960 at 24
BEYOND = 4.0  # times what 99 frames of 100 stay below: fast motion is no cut


def pieces(clip: Clip) -> list[Clip]:
    """The clip between its cuts, in order; one piece where it has none."""
    turned = _turns(clip)
    if len(turned) < 2:
        return [clip]
    cut = np.flatnonzero((turned > JUMP) & (turned > BEYOND * np.percentile(turned, 99)))
    edges = [0, *(cut + 1).tolist(), len(clip.values)]
    if len(edges) == 2:
        return [clip]
    return [
        Clip(clip.name, clip.channels, clip.values[a:b], clip.rate, clip.start + a / clip.rate)
        for a, b in itertools.pairwise(edges)
    ]


def _turns(clip: Clip) -> Array:
    """(F - 1,) the largest turn of any joint from each frame to the next, radians."""
    largest = np.zeros(max(len(clip.values) - 1, 0))
    for i, channel in enumerate(clip.channels):
        values = clip.values[:, int(clip.channels.offsets[i]) : int(clip.channels.offsets[i + 1])]
        if channel.kind == "euler":
            values = euler.from_euler(values, "".join(channel.columns))
        if channel.kind in ("euler", "rotation"):
            largest = np.maximum(largest, quaternion.angle_between(values[:-1], values[1:]))
    return largest


def joined(clip: Clip, parts: list[Reduced]) -> Reduced:
    """The pieces as one, straight across the cuts."""
    curves = [_one(list(each)) for each in zip(*(unsplit(part.curves.curves) for part in parts), strict=True)]
    count = len(parts) - 1
    told = (clip.labels, clip.rate, clip.about, clip.moments)
    inside = np.array([part.keys for part in parts], float)
    return Reduced(
        Curves(clip.name, curves, *told),
        max(part.error_m for part in parts),
        max(part.error_angle for part in parts),
        max(part.error_weight for part in parts),
        sum(len(curve) * len(curve.channel) for curve in curves),
        sum(part.frames for part in parts),
        parts[0].columns,
        float(np.average([part.broken for part in parts], weights=inside)),
        False,
        (f"it jumps from one frame to the next {'once' if count == 1 else f'{count} times'}; there it runs straight",),
    )


def _one(parts: list[Curve]) -> Curve:
    def both(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    segments = np.concatenate([np.append(part.segments, LINEAR) for part in parts])[:-1]
    values = both("values")
    if parts[0].channel.kind == "rotation":  # straight across, the short way
        for k in np.cumsum([len(part) for part in parts])[:-1]:
            if values[k - 1] @ values[k] < 0:
                return _turned_over(parts)
    return Curve(parts[0].channel, both("times"), values, segments, both("before"), both("after"))


def _turned_over(parts: list[Curve]) -> Curve:
    """The same with each piece's quaternions on the side of the piece before it."""
    turned, last = [parts[0]], parts[0].values[-1]
    for part in parts[1:]:
        sign = -1.0 if last @ part.values[0] < 0 else 1.0
        scale = np.array([1.0, sign])
        part = Curve(
            part.channel, part.times, sign * part.values, part.segments, scale * part.before, scale * part.after
        )
        turned.append(part)
        last = part.values[-1]
    return _one(turned)
