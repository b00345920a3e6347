"""The curves that stand beside a baked animation, in place of the samples that were baked from them.

The samples are what USD plays. A spline is believed only where it passes through them; where another program has
changed one and not the other, the samples are kept.
"""

from __future__ import annotations

import numpy as np
from pxr import Usd

from understudy.character import Channel, Curve
from understudy.checks import Array
from understudy.formats.usd import splines
from understudy.formats.usd.frame import Frame
from understudy.formats.usd.reading import Reading
from understudy.maths import euler, quaternion

SAME = 1e-5  # radians, or parts of a value: samples are float32, which leaves 1e-7, scales half floats at times


def kept(reading: Reading, prim: Usd.Prim, baked: list[Curve]) -> list[Curve]:
    """The curves of a SkelAnimation, each spline that agrees with the baked curves in their place."""
    found = splines.read(reading, prim)
    if found and reading.frame != Frame():
        reading.note("splines beside animations are in metres with Y up, which the file is not, and were left out")
        return baked
    for spline in found:
        weights = spline.channel.kind == "weights"
        replaced = _with_weights(baked, spline) if weights else _with_joint(baked, spline)
        if replaced is None:
            name = f"{spline.channel.target}.{spline.channel.kind}"
            reading.note("splines that do not pass through the samples beside them were left out: {}", name)
        else:
            baked = replaced
    return baked


def _with_joint(baked: list[Curve], spline: Curve) -> list[Curve] | None:
    """The curves with that of a joint replaced; None where they disagree. What only repeats the rest was not read."""
    kind = "rotation" if spline.channel.kind == "euler" else spline.channel.kind
    places = [i for i, c in enumerate(baked) if (c.channel.target, c.channel.kind) == (spline.channel.target, kind)]
    if not places:
        return [*baked, spline] if (spline.sample(_closely(spline)) == spline.values[0]).all() else None
    other = baked[places[0]]
    values = spline.sample(other.times)
    if kind == "rotation":
        values = euler.from_euler(values, "".join(spline.channel.columns)) if spline.channel.kind == "euler" else values
        apart = quaternion.angle_between(quaternion.normalise(values), quaternion.normalise(other.values))
        if apart.max() > SAME:
            return None
    elif not _same(values, other.values, 100 * SAME if kind == "scale" else SAME):
        return None
    return [*baked[: places[0]], spline, *baked[places[0] + 1 :]]


def _with_weights(baked: list[Curve], spline: Curve) -> list[Curve] | None:
    """The curves with some columns of weights taken out and the spline in their place; None where they disagree."""
    wanted = spline.channel
    result: list[Curve] = []
    places = []
    for curve in baked:
        channel = curve.channel
        shared = set(wanted.columns) & set(channel.columns)
        if channel.kind != "weights" or wanted.target not in ("", channel.target) or not shared:
            result.append(curve)
            continue
        values = spline.sample(curve.times)
        for name in shared:
            if not _same(values[:, wanted.columns.index(name)], curve.values[:, channel.columns.index(name)], SAME):
                return None
        left = [i for i, name in enumerate(channel.columns) if name not in shared]
        if left:
            rest = Channel(channel.target, "weights", tuple(channel.columns[i] for i in left))
            result.append(Curve(rest, curve.times, curve.values[:, left], curve.segments))
        places.append(len(result))
    return [*result[: places[0]], spline, *result[places[0] :]] if places else None


def _same(one: Array, other: Array, tolerance: float) -> bool:
    return bool((np.abs(one - other) <= tolerance * np.maximum(1.0, np.abs(other))).all())


def _closely(curve: Curve) -> Array:
    return np.linspace(curve.times[0], curve.times[-1], 8 * len(curve))
