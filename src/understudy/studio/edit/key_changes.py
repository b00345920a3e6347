"""What the graph editor and the dope sheet do to keys: many changes at once, curves in, curves out.

Keys are named by their place in the curves before the gesture. Those that are moved in time take their handles along,
each with its share of the segment; a key that comes to lie on another replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes import automatic, keys
from understudy.keyframes.handles import bezier_segments, fitted, is_broken
from understudy.keyframes.selection import TOUCH, with_curves
from understudy.studio.messages.edit import ChannelRef, EditKeys, KeyChange, KeyInsert, KeyRef

SEGMENTS = {"stepped": STEP, "linear": LINEAR, "bezier": BEZIER}
RULES = {
    "auto": automatic.clamped,
    "smooth": automatic.smooth,
    "flat": automatic.flat,
    "linear": automatic.linear,
}

Item = TypeVar("Item", bound=KeyChange | KeyRef | KeyInsert)


def changed(curves: Curves, request: EditKeys, origin: float) -> Curves:
    """The curves after a request; `origin` is the time of the file's own clock at which the clip begins."""
    made = list(curves.curves)
    moved: dict[int, Array] = {}  # the new times of the keys of a curve, by its number
    for number, own in _by_curve(curves, request.changes).items():
        made[number], moved[number] = _changed(made[number], own, origin)

    def time_of(ref: KeyRef, number: int) -> float:
        times = moved.get(number, curves.curves[number].times)
        return float(times[_key(curves.curves[number], ref.key)])

    for number, refs in _by_curve(curves, request.keys).items():
        times = sorted({time_of(ref, number) for ref in refs})
        made[number] = _with_tangents(made[number], times, request.broken, request.automatic)
    for number, refs in _by_curve(curves, request.delete).items():
        for time in sorted({time_of(ref, number) for ref in refs}):
            made[number] = keys.remove_key(Curves("one", [made[number]]), time).curves[0]
    for number, inserts in _by_curve(curves, request.insert).items():
        for insert in inserts:
            made[number] = _inserted(made[number], insert, origin)
    return with_curves(curves, made)


def numbers_of(curves: Curves, channels: Sequence[ChannelRef] | None) -> list[int]:
    """The numbers of channels that are named; all where None is given, and those of a target where only that is."""
    if channels is None:
        return list(range(len(curves)))
    known: dict[tuple[str, str], list[int]] = {}
    for i, curve in enumerate(curves.curves):
        known.setdefault((curve.channel.target, curve.channel.kind), []).append(i)
        known.setdefault((curve.channel.target, ""), []).append(i)
    found: dict[int, None] = {}
    for ref in channels:
        own = known.get((ref.target, ref.channel))
        if own is None:
            raise InvalidInput(f"the clip has no channel {ref.channel or 'at all'} of {ref.target!r}")
        found.update(dict.fromkeys(own))
    return list(found)


def _by_curve(curves: Curves, items: Sequence[Item]) -> dict[int, list[Item]]:
    number = {(c.channel.target, c.channel.kind): i for i, c in enumerate(curves.curves)}
    result: dict[int, list[Item]] = {}
    for item in items:
        own = number.get((item.target, item.channel))
        if own is None:
            raise InvalidInput(f"the clip has no channel {item.channel} of {item.target!r}")
        result.setdefault(own, []).append(item)
    return result


def _key(curve: Curve, key: int) -> int:
    if key >= len(curve):
        name = f"{curve.channel.target!r} ({curve.channel.kind})"
        raise InvalidInput(f"{name} has {len(curve)} keys, so there is no key {key}")
    return key


def _column(curve: Curve, column: int | None) -> int:
    count = len(curve.channel)
    if column is None and count == 1:
        return 0
    if column is None or column >= count:
        raise InvalidInput(f"{curve.channel.target!r} ({curve.channel.kind}) has columns 0 to {count - 1}: name one")
    return column


def _changed(curve: Curve, changes: Sequence[KeyChange], origin: float) -> tuple[Curve, Array]:
    """The curve after changes, and the new times (K,) of its keys as they were numbered."""
    curve = _with_segments(curve, changes)
    broken = is_broken(curve)
    values, before, after = np.array(curve.values), np.array(curve.before), np.array(curve.after)
    times = np.array(curve.times)
    for change in changes:
        k = _key(curve, change.key)
        if change.time is not None:
            if change.time < -TOUCH:
                raise InvalidInput(f"a key should not lie before the beginning of the clip, but {change.time:g} s does")
            times[k] = max(change.time, 0.0) + origin
        if change.value is None and change.before is None and change.after is None:
            continue
        c = _column(curve, change.column)
        if change.value is not None:
            values[k, c] = change.value
        for own, other, handle, also in (
            (before, after, change.before, change.after),
            (after, before, change.after, change.before),
        ):
            if handle is not None:
                own[k, c] = max(handle[0], 0.0), handle[1]
                if also is None and not broken[k, c] and 0 < k < len(curve) - 1 and own[k, c, 0] > 0:
                    other[k, c, 1] = own[k, c, 1] / own[k, c, 0] * other[k, c, 0]
    return _retimed(curve, times, values, before, after), times


def _with_segments(curve: Curve, changes: Sequence[KeyChange]) -> Curve:
    """The curve with segments of the kinds that are asked for; those beside a handle that moves become Bezier."""
    count = len(curve) - 1
    segments, bezier = np.array(curve.segments), np.zeros(count, bool)
    for change in changes:
        k = _key(curve, change.key)
        if change.interpolation is not None and k < count:
            kind = SEGMENTS[change.interpolation]
            bezier[k] = kind == BEZIER
            segments[k] = LINEAR if kind == BEZIER and segments[k] == STEP else segments[k] if kind == BEZIER else kind
        if change.after is not None and k < count:
            bezier[k] = True
        if change.before is not None and k > 0:
            bezier[k - 1] = True
    return bezier_segments(replace(curve, segments=segments), bezier & (segments == LINEAR))


def _retimed(curve: Curve, times: Array, values: Array, before: Array, after: Array) -> Curve:
    """Keys (K,) at other times, in the order of these; one that lies on another takes its place."""
    moved = times != curve.times
    order = np.lexsort((moved, times))  # of two at one time the one that was moved comes last, and stays
    keep = np.append(np.diff(times[order]) > TOUCH, True)
    order = order[keep]
    leaving = np.append(curve.segments, curve.segments[-1:]) if len(curve) > 1 else np.zeros(1, np.uint8)
    if moved.any() and len(curve) > 1:
        old = np.diff(curve.times)
        share_after = after[..., 0] / np.append(old, old[-1])[:, None]
        share_before = before[..., 0] / np.append(old[0], old)[:, None]
        new = np.diff(times[order])
        ends = np.append(new, new[-1:]), np.append(new[:1], new)
        for handles, share, length in ((after, share_after, ends[0]), (before, share_before, ends[1])):
            if not len(length):
                continue
            own = handles[order]
            longer = share[order] * length[:, None]
            ratio = np.where(own[..., 0] > 0, longer / np.where(own[..., 0] > 0, own[..., 0], 1.0), 1.0)
            handles[order] = own * ratio[..., None]
    times, values, before, after = times[order], values[order], before[order], after[order]
    if len(times) > 1:
        length = np.diff(times)[:, None]
        after[:-1], before[1:] = fitted(after[:-1], length), fitted(before[1:], length)
    return Curve(curve.channel, times, values, leaving[order][:-1], before, after, curve.extrapolation)


def _with_tangents(curve: Curve, times: Sequence[float], broken: bool | None, rule: str | None) -> Curve:
    """The keys at some times with their tangents broken or joined, and by a rule of graph editors."""
    alone = Curves("one", [curve])
    every = len(times) == len(curve)
    for time in [None] if every else times:
        if broken is not None:
            alone = (keys.break_tangents if broken else keys.join_tangents)(alone, time)
        if rule == "stepped":
            own = alone.curves[0]
            at = np.ones(len(own), bool) if time is None else np.abs(own.times - time) <= TOUCH
            stepped = np.where(at[:-1], STEP, own.segments)
            alone = with_curves(alone, [replace(own, segments=stepped)])
        elif rule is not None:
            alone = RULES[rule](alone, start=time, stop=time, steps=True)
    return alone.curves[0]


def _inserted(curve: Curve, insert: KeyInsert, origin: float) -> Curve:
    time = insert.time + origin
    alone = keys.insert_key(Curves("one", [curve]), time)
    if insert.value is None:
        return alone.curves[0]
    own = alone.curves[0]
    values = np.array(own.values)
    values[np.argmin(np.abs(own.times - time)), _column(own, insert.column)] = insert.value
    return replace(own, values=values)
