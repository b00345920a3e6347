"""From a dope sheet to curves: columns of a joint are brought to common key times, exactly; a control has its own."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from understudy.cast import spline
from understudy.cast.keys import Sheet
from understudy.cast.spline import FREE, Column, Range
from understudy.cast.vocabulary import Vocabulary
from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER
from understudy.errors import BadFile


def columns(sheet: Sheet, vocabulary: Vocabulary | None = None) -> dict[str, Column]:
    """Each column of the sheet ("Head.ry") that ever leaves its rest, in the units of the sheet."""
    moving = {}
    for name, keys in sheet.tracks.items():
        within = FREE if vocabulary is None else range_of(vocabulary, name)
        nodes = spline.nodes(keys, sheet.frames, name in sheet.still, sheet.path, within)
        if vocabulary is None or any(node.value != within.rest for node in nodes):
            moving[name] = nodes
    return dict(zip(moving, spline.columns(list(moving.values()), sheet.rate))) if moving else {}


def range_of(vocabulary: Vocabulary, column: str) -> Range:
    """The rest and the range of a column; without one it is free."""
    low, high = vocabulary.ranges.get(column, (-np.inf, np.inf))
    return Range(column, vocabulary.rests[column], low, high, column in vocabulary.yielding)


def curves(sheet: Sheet, skeleton: Skeleton) -> Curves:
    """The animation that a sheet of joints describes, in radians and metres, joints in the order of the skeleton.

    All columns of a curve share their key times. Where one of them has no key of its own, its segment is cut in two
    there, which changes nothing of its shape.
    """
    _check_complete(sheet)
    found, rest = columns(sheet), _resting(sheet)
    result = []
    for joint in skeleton.names:
        keyed = {name.partition(".")[2][0] for name in found if name.partition(".")[0] == joint}
        if "r" in keyed:
            own = [found.get(f"{joint}.r{axis}", rest) for axis in sheet.order]
            result.append(columns_curve(Channel(joint, "euler", tuple(sheet.order)), own, np.radians(1.0)))
        if "t" in keyed:
            own = [found.get(f"{joint}.t{axis}", rest) for axis in "xyz"]
            place = skeleton.translations[skeleton.index(joint)]
            result.append(columns_curve(Channel(joint, "translation"), own, 1.0, place))
    return _named(sheet, result)


def control_curves(sheet: Sheet, vocabulary: Vocabulary) -> Curves:
    """The animation that a sheet of controls describes: a curve for each control that ever leaves its rest."""
    _check_complete(sheet)
    found = columns(sheet, vocabulary)
    if not found:
        raise BadFile(sheet.path, "nothing in this sheet ever leaves its rest")
    order = {name: number for number, name in enumerate(vocabulary.rests)}
    return _named(sheet, [_control_curve(name, found[name]) for name in sorted(found, key=order.__getitem__)])


def _check_complete(sheet: Sheet) -> None:
    if not sheet.name or not sheet.frames or not sheet.tracks:
        raise BadFile(sheet.path, "a sheet should have a clip name, frames and at least one track")


def _named(sheet: Sheet, result: list[Curve]) -> Curves:
    moments = {name: frame / sheet.rate for name, frame in sheet.moments.items()}
    return Curves(sheet.name, result, sheet.labels, sheet.rate, sheet.about, moments)


def _resting(sheet: Sheet) -> Column:
    return spline.column(spline.nodes([], sheet.frames, True, sheet.path), sheet.rate)


def columns_curve(channel: Channel, own: list[Column], unit: float, offset: object = 0.0) -> Curve:
    """One curve of several columns, which get common key times; values become `unit` times theirs, plus `offset`."""
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


@lru_cache(maxsize=4096)
def control_channel(name: str) -> Channel:
    """The channel of one control."""
    return Channel(name, "controls", ("value",))


def _control_curve(name: str, own: Column) -> Curve:
    return Curve.trusted_bezier(
        control_channel(name), own.times, own.values[:, None], own.before[:, None], own.after[:, None]
    )
