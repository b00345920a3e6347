"""Poses between curves: copied, pasted as keys, mixed from the neighbouring keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.character.cutting import key_at
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.inserting import insert_key
from understudy.keyframes.selection import TOUCH, changed
from understudy.maths import quaternion


@dataclass(frozen=True, eq=False)
class Pose:
    """The values of channels at one time."""

    values: dict[tuple[str, str], Array]  # (n,) by target and kind
    columns: dict[tuple[str, str], tuple[str, ...]]


def copied(curves: Curves, time: float) -> Pose:
    """The pose of curves at a time."""
    row, offsets = curves.sample([time])[0], curves.channels.offsets
    values, columns = {}, {}
    for i, channel in enumerate(curves.channels):
        values[channel.target, channel.kind] = row[offsets[i] : offsets[i + 1]]
        columns[channel.target, channel.kind] = channel.columns
    return Pose(values, columns)


def pasted(curves: Curves, time: float, pose: Pose, numbers: Sequence[int]) -> Curves:
    """The pose as keys at a time, of those channels that both have."""

    def value(curve: Curve) -> Array | None:
        name = curve.channel.target, curve.channel.kind
        return pose.values.get(name) if pose.columns.get(name) == curve.channel.columns else None

    keyed = _with_keys(curves, time, numbers, value)
    if keyed is None:
        raise InvalidInput("the copied pose has none of these channels; copy it from an animation of this character")
    return keyed


def tweened(curves: Curves, time: float, share: float, numbers: Sequence[int]) -> Curves:
    """Keys at a time that are so far on the way from the key before to the one after; below 0 and above 1 beyond."""

    def value(curve: Curve) -> Array | None:
        a = int(np.searchsorted(curve.times, time - TOUCH)) - 1
        b = int(np.searchsorted(curve.times, time + TOUCH, side="right"))
        if a < 0 or b >= len(curve):
            return None
        one, other = curve.values[a], curve.values[b]
        if curve.channel.kind == "rotation":
            return quaternion.slerp(one, other, np.float64(share))
        mixed: Array = one + share * (other - one)
        return mixed

    keyed = _with_keys(curves, time, numbers, value)
    if keyed is None:
        raise InvalidInput(f"there are no keys on both sides of {time:g} s to make a pose between")
    return keyed


def _with_keys(
    curves: Curves, time: float, numbers: Sequence[int], value: Callable[[Curve], Array | None]
) -> Curves | None:
    """Keys at a time with other values, where there is one; None where there is none at all."""
    found = {i: own for i in numbers if (own := value(curves.curves[i])) is not None}
    if not found:
        return None
    channels: list[Channel] = [curves.curves[i].channel for i in found]
    keyed = insert_key(curves, time, channels)
    which = np.isin(np.arange(len(curves)), list(found))
    by_channel = {curves.curves[i].channel: own for i, own in found.items()}

    def put(curve: Curve) -> Curve:
        k, new = key_at(curve, time), by_channel[curve.channel]
        assert k is not None  # it was inserted
        values, before, after = np.array(curve.values), np.array(curve.before), np.array(curve.after)
        if curve.channel.kind == "rotation":
            old = quaternion.normalise(values[k])
            new = new if new @ old >= 0 else -new
            turn = quaternion.multiply(new, quaternion.inverse(old))
            for handles in (before, after):  # they turn along, as those of a posed key do
                handles[k, :, 1] = quaternion.multiply(turn, handles[k, :, 1])
        values[k] = new
        return replace(curve, values=values, before=before, after=after)

    return changed(keyed, which, put)
