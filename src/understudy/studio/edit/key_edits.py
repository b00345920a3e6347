"""The changes of keys that the graph editor and the dope sheet make: many at once, curves in, curves out.

Keys are named by their index in the curves before the drag.

Moved keys are sorted by their new times; a moved key that comes to lie on another replaces it. With q the new length of
a segment over the old, a handle that faces it becomes (q dt, q f dv), so that it keeps its share of the segment, and
with f = 1 its slope; f is the scale of its key's values over the scale of its times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP, bezier_segments, fit_handles
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS
from understudy.checks import Array
from understudy.edit import handles, keys
from understudy.edit.keys import is_broken, with_curves
from understudy.errors import InvalidInput
from understudy.studio.messages.edit_keys import ChannelRef, EditKeys, KeyChange, KeyInsert, KeyRef, KeyRuns

SEGMENT_KINDS = {"stepped": STEP, "linear": LINEAR, "bezier": BEZIER}
TANGENT_RULES = {
    "auto": handles.clamp_tangents,
    "smooth": handles.smooth_tangents,
    "flat": handles.flatten_tangents,
    "linear": handles.straighten_tangents,
}
Item = TypeVar("Item", bound=KeyChange | KeyRef | KeyInsert | KeyRuns)


def apply_key_changes(curves: Curves, request: EditKeys, origin: float) -> Curves:
    """The curves after a request; `origin` is the start of the clip on the file's clock, seconds."""
    result = list(curves.curves)
    moved: dict[int, Array] = {}  # the new times of the keys of a curve, by its number
    if request.transform is not None:
        scale = request.transform.time, request.transform.value
        for number, chosen in _key_masks(curves, (), request.transform.keys).items():
            result[number], moved[number] = transform_keys(result[number], chosen, *scale, origin)
    for number, own in _by_curve(curves, request.changes).items():
        result[number], moved[number] = _change_curve(result[number], own, origin)

    def times_of(number: int, chosen: Array) -> list[float]:
        times = moved.get(number, curves.curves[number].times)
        return sorted(set(times[chosen.any(axis=1)].tolist()))

    for number, chosen in _key_masks(curves, request.keys, request.runs).items():
        result[number] = _with_tangents(result[number], times_of(number, chosen), request.broken, request.automatic)
    for number, chosen in _key_masks(curves, request.delete, request.delete_runs).items():
        for time in times_of(number, chosen):
            result[number] = keys.remove_key(Curves("one", [result[number]]), time).curves[0]
    for number, inserts in _by_curve(curves, request.insert).items():
        for insert in inserts:
            result[number] = _insert_key(result[number], insert, origin)
    return with_curves(curves, result)


def channel_numbers(curves: Curves, channels: Sequence[ChannelRef] | None) -> list[int]:
    """The numbers of the named channels; None names all, a target alone all of its channels."""
    if channels is None:
        return list(range(len(curves)))
    known = _names(curves)
    found: dict[int, None] = {}
    for ref in channels:
        own = known.get((ref.target, ref.channel))
        if own is None:
            raise InvalidInput(f"the clip has no channel {ref.channel or 'at all'} of {ref.target!r}")
        found.update(dict.fromkeys(own))
    return list(found)


def transform_keys(
    curve: Curve, chosen: Array, time: tuple[float, float], value: tuple[float, float], origin: float
) -> tuple[Curve, Array]:
    """The curve with `chosen` (K, n) bool keys moved and scaled, and the new times (K,) by the old index.

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
    return rearrange_keys(curve, times, values, np.array(curve.before), np.array(curve.after), given, f), times


def check_times(times: Array, origin: float) -> None:
    """Raise `InvalidInput` for keys before the beginning of the clip."""
    if times.min() < origin - KEY_TIME_TOLERANCE_SECONDS:
        first = times.min() - origin
        raise InvalidInput(f"a key should not lie before the beginning of the clip, but one would be at {first:.4g} s")


def rearrange_keys(
    curve: Curve, times: Array, values: Array, before: Array, after: Array, given: Array, f: Array
) -> Curve:
    """The curve with its keys at other times (K,); `given` (2, K, n) bool handles, before and after, are final."""
    moved, values_given = times != curve.times, values
    order = np.lexsort((moved, times))  # of two keys at one time the moved one comes last, and stays
    order = order[np.append(np.diff(times[order]) > KEY_TIME_TOLERANCE_SECONDS, True)]
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
        new_after[:-1], new_before[1:] = (
            fit_handles(new_after[:-1], new[:, None]),
            fit_handles(new_before[1:], new[:, None]),
        )
    fitted = (curve.fitted & ~moved & (values_given == curve.values).all(axis=1))[order]
    return Curve(curve.channel, times, values, leaving[order][:-1], new_before, new_after, curve.extrapolation, fitted)


def _names(curves: Curves) -> dict[tuple[str, str], list[int]]:
    """Channels by target and kind, by target alone, and by target, kind and number."""
    known: dict[tuple[str, str], list[int]] = {}
    for i, curve in enumerate(curves.curves):
        target, kind = curve.channel.target, curve.channel.kind
        known.setdefault((target, kind), []).append(i)
        known.setdefault((target, ""), []).append(i)
        known[target, f"{kind}:{i}"] = [i]
    return known


def _by_curve(curves: Curves, items: Sequence[Item]) -> dict[int, list[Item]]:
    known = _names(curves)
    result: dict[int, list[Item]] = {}
    for item in items:
        own = known.get((item.target, item.channel)) if item.channel else None
        if own is None:
            raise InvalidInput(f"the clip has no channel {item.channel} of {item.target!r}")
        result.setdefault(own[0], []).append(item)
    return result


def _key_masks(curves: Curves, refs: Sequence[KeyRef], runs: Sequence[KeyRuns]) -> dict[int, Array]:
    """The selected keys and columns (K, n) bool, by the number of their curve."""
    result: dict[int, Array] = {}

    def mask(number: int) -> Array:
        return result.setdefault(number, np.zeros(curves.curves[number].values.shape, bool))

    for number, own in _by_curve(curves, refs).items():
        for ref in own:
            k = _key(curves.curves[number], ref.key)
            mask(number)[k, slice(None) if ref.column is None else _column(curves.curves[number], ref.column)] = True
    for number, many in _by_curve(curves, runs).items():
        curve = curves.curves[number]
        for each in many:
            columns = slice(None) if each.columns is None else [_column(curve, c) for c in each.columns]
            for first, last in each.runs:
                if not first < last:
                    raise InvalidInput(f"a run of keys should end after its first key, but is {first} to {last}")
                _key(curve, last - 1)
                mask(number)[first:last, columns] = True
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


def _change_curve(curve: Curve, changes: Sequence[KeyChange], origin: float) -> tuple[Curve, Array]:
    """The curve after changes, and the new times (K,) of its keys by the old index."""
    curve = _with_segments(curve, changes)
    broken, times = is_broken(curve), np.array(curve.times)
    values, before, after = np.array(curve.values), np.array(curve.before), np.array(curve.after)
    given = np.zeros((2, *values.shape), bool)
    for change in changes:
        k = _key(curve, change.key)
        if change.time is not None:
            times[k] = change.time + origin
        if change.value is None and change.before is None and change.after is None:
            continue
        c = _column(curve, change.column)
        if change.value is not None:
            values[k, c] = change.value
        for side, own, handle in ((0, before, change.before), (1, after, change.after)):
            if handle is not None:
                own[k, c] = max(handle[0], 0.0), handle[1]
                given[side, k, c] = True
        if given[:, k, c].sum() == 1 and not broken[k, c] and 0 < k < len(curve) - 1:
            own, other = (before, after) if given[0, k, c] else (after, before)
            if own[k, c, 0] > 0:
                other[k, c, 1] = own[k, c, 1] / own[k, c, 0] * other[k, c, 0]
    check_times(times, origin)
    return rearrange_keys(curve, times, values, before, after, given, np.ones(values.shape)), times


def _with_segments(curve: Curve, changes: Sequence[KeyChange]) -> Curve:
    """The curve with the requested kinds of segments; those beside a moved handle become Bezier."""
    count = len(curve) - 1
    segments, bezier = np.array(curve.segments), np.zeros(count, bool)
    for change in changes:
        k = _key(curve, change.key)
        if change.interpolation is not None and k < count:
            kind = SEGMENT_KINDS[change.interpolation]
            bezier[k] = kind == BEZIER
            segments[k] = LINEAR if kind == BEZIER and segments[k] == STEP else segments[k] if kind == BEZIER else kind
        if change.after is not None and k < count:
            bezier[k] = True
        if change.before is not None and k > 0:
            bezier[k - 1] = True
    return bezier_segments(replace(curve, segments=segments), bezier & (segments == LINEAR))


def _with_tangents(curve: Curve, times: Sequence[float], broken: bool | None, rule: str | None) -> Curve:
    """The curve with the tangents at some times broken or joined, then set by a rule of graph editors."""
    alone = Curves("one", [curve])
    every = len(times) == len(curve)
    for time in [None] if every else times:
        if broken is not None:
            alone = (handles.break_tangents if broken else handles.join_tangents)(alone, time)
        if rule == "stepped":
            own = alone.curves[0]
            at = np.ones(len(own), bool) if time is None else np.abs(own.times - time) <= KEY_TIME_TOLERANCE_SECONDS
            stepped = np.where(at[:-1], STEP, own.segments)
            alone = with_curves(alone, [replace(own, segments=stepped)])
        elif rule is not None:
            alone = TANGENT_RULES[rule](alone, start=time, stop=time, steps=True)
    return alone.curves[0]


def _insert_key(curve: Curve, insert: KeyInsert, origin: float) -> Curve:
    time = insert.time + origin
    alone = keys.insert_key(Curves("one", [curve]), time)
    if insert.value is None:
        return alone.curves[0]
    own = alone.curves[0]
    values = np.array(own.values)
    values[np.argmin(np.abs(own.times - time)), _column(own, insert.column)] = insert.value
    return replace(own, values=values)
