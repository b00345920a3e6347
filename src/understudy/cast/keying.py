"""From a dope sheet to curves: the columns of each joint are brought to common key times, exactly."""

from __future__ import annotations

import numpy as np

from understudy.cast.keys import Sheet
from understudy.cast.spline import Column, column, nodes
from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER
from understudy.errors import BadFile


def columns(sheet: Sheet) -> dict[str, Column]:
    """Each channel of the sheet ("Head.ry") as one column, in degrees and metres."""
    return {
        channel: column(nodes(keys, sheet.frames, channel in sheet.still, sheet.path), sheet.rate)
        for channel, keys in sheet.tracks.items()
    }


def curves(sheet: Sheet, skeleton: Skeleton) -> Curves:
    """The animation that a sheet describes, in radians and metres, joints in the order of the skeleton.

    All columns of a curve share their key times. Where one of them has no key of its own, its segment is cut in two
    there, which changes nothing of its shape.
    """
    if not sheet.name or not sheet.frames or not sheet.tracks:
        raise BadFile(sheet.path, "a sheet should have a clip name, frames and at least one track")
    found, rest = columns(sheet), _resting(sheet)
    result = []
    for joint in skeleton.names:
        keyed = {channel.partition(".")[2][0] for channel in found if channel.partition(".")[0] == joint}
        if "r" in keyed:
            own = [found.get(f"{joint}.r{axis}", rest) for axis in sheet.order]
            result.append(_curve(Channel(joint, "euler", tuple(sheet.order)), own, np.radians(1.0)))
        if "t" in keyed:
            own = [found.get(f"{joint}.t{axis}", rest) for axis in "xyz"]
            place = skeleton.translations[skeleton.index(joint)]
            result.append(_curve(Channel(joint, "translation"), own, 1.0, place))
    return Curves(sheet.name, result, sheet.labels, sheet.rate)


def _resting(sheet: Sheet) -> Column:
    return column(nodes([], sheet.frames, True, sheet.path), sheet.rate)


def _curve(channel: Channel, own: list[Column], unit: float, offset: object = 0.0) -> Curve:
    times = np.unique(np.concatenate([c.times for c in own]))
    split = [c.split(times) for c in own]
    scale = np.array([1.0, unit])  # a handle's time stays in seconds
    return Curve(
        channel,
        times,
        unit * np.stack([c.values for c in split], axis=1) + np.asarray(offset),
        BEZIER,
        np.stack([c.before for c in split], axis=1) * scale,
        np.stack([c.after for c in split], axis=1) * scale,
    )
