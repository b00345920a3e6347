"""Key insertion and merging of columns, both with the shape of curves kept.

Bezier segments are split by de Casteljau's construction, the others at their value. Columns with keys of their own
become one curve whose columns share their keys: each column gets the keys of the others by such insertions. A stepped
column beside others gets a key just before each of its jumps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from understudy.character.clip import Channel
from understudy.character.curve import BEZIER, LINEAR, STEP, Curve, bezier_segments, fit_handles
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import bezier, quaternion

# A key this near to a time is the key at that time. Files keep times as float32, which resolves 8e-6 s at 100 s; the
# frames of the fastest capture are a hundred times further apart.
KEY_TIME_TOLERANCE_SECONDS = 1e-5
# Time before a jump at which a stepped column beside others gets a key: far enough to be a key of its own.
JUMP_KEY_LEAD_SECONDS = 4 * KEY_TIME_TOLERANCE_SECONDS


def key_at(curve: Curve, time: float) -> int | None:
    """The number of the key at a time, or None where there is none within `KEY_TIME_TOLERANCE_SECONDS`."""
    k = int(np.argmin(np.abs(curve.times - time)))
    return k if abs(curve.times[k] - time) <= KEY_TIME_TOLERANCE_SECONDS else None


def insert_curve_key(curve: Curve, time: float) -> Curve:
    """The curve with a key more at a time, and the same shape; unchanged where it has a key there."""
    if key_at(curve, time) is not None:
        return curve
    if not curve.times[0] < time < curve.times[-1]:
        return _insert_outside(curve, time)
    k = int(np.searchsorted(curve.times, time))  # the new key's number; segment k - 1 is cut
    blank = np.zeros((1, len(curve.channel), 2))
    before, after = np.insert(curve.before, k, blank, axis=0), np.insert(curve.after, k, blank, axis=0)
    if curve.segments[k - 1] == BEZIER:
        value, (after[k - 1], before[k], after[k], before[k + 1]) = _split_segment(curve, k - 1, time)
    else:  # handles are kept for the segment to become Bezier, shortened to what it then allows
        value = curve.sample([time])[0]
        after[k - 1] = fit_handles(after[k - 1], time - curve.times[k - 1])
        before[k + 1] = fit_handles(before[k + 1], curve.times[k] - time)
    return replace(
        curve,
        times=np.insert(curve.times, k, time),
        values=np.insert(curve.values, k, value, axis=0),
        segments=np.insert(curve.segments, k - 1, curve.segments[k - 1]),
        before=before,
        after=after,
        fitted=np.insert(curve.fitted, k, curve.fitted[k - 1] and curve.fitted[k]),
    )


def _split_segment(curve: Curve, k: int, time: float) -> tuple[Array, tuple[Array, Array, Array, Array]]:
    """Value (n,) at a time within Bezier segment k, and the handles (n, 2) from its first key to its last."""
    ends = [np.stack(np.broadcast_arrays(curve.times[i], curve.values[i]), axis=-1) for i in (k, k + 1)]
    x, y = bezier.control_points(ends[0], ends[1], curve.after[k], curve.before[k + 1])
    (left_x, left_y), (right_x, right_y) = bezier.split(x, y, np.full(len(curve.channel), time))
    left, right = bezier.handles(left_x, left_y), bezier.handles(right_x, right_y)
    return left_y[:, 3], (*left, *right)


def _insert_outside(curve: Curve, time: float) -> Curve:
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
    # Handles along the chord, so that the segment is straight whatever its kind.
    rise = (values[segment + 1] - values[segment]) / 3
    chord = np.stack(np.broadcast_arrays((times[segment + 1] - times[segment]) / 3, rise), axis=-1)
    after[segment], before[segment + 1] = chord, chord
    # Rotations extrapolate linearly column by column, as only a Bezier segment does.
    kind = BEZIER if straight and curve.channel.kind == "rotation" else LINEAR
    segments, fitted = np.insert(curve.segments, segment, kind), np.insert(curve.fitted, at, curve.fitted[edge])
    return replace(curve, times=times, values=values, segments=segments, before=before, after=after, fitted=fitted)


def insert_curve_keys(curve: Curve, times: Array) -> Curve:
    """The curve (n columns) with a key at each of the times (M,) between its ends, in order, as by `insert_curve_key`.

    The piece of a cubic between its parameters a and b has the control points p(a, a, a), p(a, a, b), p(a, b, b) and
    p(b, b, b), with p the polar form of the cubic.
    """
    near = np.abs(times[:, None] - curve.times).min(axis=1) <= KEY_TIME_TOLERANCE_SECONDS
    new: list[float] = []
    for time in times[~near].tolist():
        if not new or time - new[-1] > KEY_TIME_TOLERANCE_SECONDS:
            new.append(time)
    if not new:
        return curve
    merged = np.concatenate([curve.times, new])
    order = np.argsort(merged)
    own, merged = order < len(curve), merged[order]
    piece = np.cumsum(own)[:-1] - 1  # (K' - 1,) the segment that each piece is of
    kinds, columns = curve.segments[piece], len(curve.channel)
    values = np.empty((len(merged), columns))
    values[own], values[~own] = curve.values, curve.sample(merged[~own])
    before, after = np.zeros((2, len(merged), columns, 2))
    before[own], after[own] = curve.before, curve.after
    whole = own[:-1] & own[1:]
    # Handles of other kinds are kept for the segment to become Bezier, shortened to what it then allows.
    length = np.diff(merged)[:, None]
    after[:-1] = np.where(whole[:, None, None], after[:-1], fit_handles(after[:-1], length))
    before[1:] = np.where(whole[:, None, None], before[1:], fit_handles(before[1:], length))
    smooth = np.flatnonzero((kinds == BEZIER) & ~whole)
    if smooth.size:
        points = _polygons(curve)[piece[smooth]]  # (m, n, 4, 2)
        x = points[..., 0]
        a = np.where(own[smooth, None], 0.0, bezier.parameter(x, merged[smooth, None]))
        b = np.where(own[smooth + 1, None], 1.0, bezier.parameter(x, merged[smooth + 1, None]))
        start, leave, arrive, end = (_polar(points, *at) for at in ((a, a, a), (a, a, b), (a, b, b), (b, b, b)))
        after[smooth], before[smooth + 1] = leave - start, end - arrive
        values[smooth] = np.where(own[smooth, None], values[smooth], start[..., 1])
    segments = np.asarray(kinds, np.uint8)
    fitted = np.empty(len(merged), bool)
    fitted[own] = curve.fitted
    fitted[~own] = (curve.fitted[:-1] & curve.fitted[1:])[piece[np.flatnonzero(~own) - 1]]
    return replace(curve, times=merged, values=values, segments=segments, before=before, after=after, fitted=fitted)


def _polygons(curve: Curve) -> Array:
    """(K - 1, n, 4, 2) control points of the segments."""
    keys = np.stack(np.broadcast_arrays(curve.times[:, None], curve.values), axis=-1)
    points = keys[:-1], keys[:-1] + curve.after[:-1], keys[1:] - curve.before[1:], keys[1:]
    return np.stack(points, axis=2)


def _polar(points: Array, a: Array, b: Array, c: Array) -> Array:
    """The polar form (..., 2) at parameters a, b, c (...) of cubics with control points (..., 4, 2): a step of de
    Casteljau's construction for each parameter."""
    for share in (a, b, c):
        share = share[..., None, None]
        points = points[..., :-1, :] * (1.0 - share) + points[..., 1:, :] * share
    return points[..., 0, :]


def merge_columns(channel: Channel, columns: Mapping[str, Curve], beyond: tuple[str, str] = ("hold", "hold")) -> Curve:
    """One curve from columns (by name) that have keys of their own; other columns of the channel rest."""
    keys = np.unique(np.concatenate([column.times for column in columns.values()]))
    keys = keys[np.append(True, np.diff(keys) > KEY_TIME_TOLERANCE_SECONDS)]
    kinds = [_segment_kinds(column, keys) for column in columns.values()]
    stepped = np.array([kind == STEP for kind in kinds])
    mixed = stepped.any(axis=0) & ~stepped.all(axis=0)
    jumps = keys[1:][mixed] - np.minimum(JUMP_KEY_LEAD_SECONDS, np.diff(keys)[mixed] / 2)
    keys = np.union1d(keys, jumps)
    parts = {name: _add_keys(column, keys) for name, column in columns.items()}
    segments = np.stack([part.segments for part in parts.values()])
    alike = (segments == segments[0]).all(axis=0)
    shape = np.where(alike, segments[0], BEZIER)
    if channel.kind == "rotation":  # columns interpolated linearly are no slerp
        shape = np.where(shape == LINEAR, BEZIER, shape)
    values, before, after = _rest_columns(channel, len(keys), np.diff(keys))
    for name, part in parts.items():
        part = replace(part, segments=np.where(shape == STEP, STEP, np.maximum(part.segments, LINEAR)))
        part = bezier_segments(part, (shape == BEZIER) & (part.segments == LINEAR))
        place = channel.columns.index(name)
        values[:, place], before[:, place], after[:, place] = part.values[:, 0], part.before[:, 0], part.after[:, 0]
    fitted = np.all([part.fitted for part in parts.values()], axis=0)
    return Curve(channel, keys, values, shape, before, after, beyond, fitted)


def merge_split_curves(curves: Iterable[Curve]) -> list[Curve]:
    """The same curves with one for each target and kind: weights and controls may have several."""
    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        groups.setdefault((curve.channel.target, curve.channel.kind), []).append(curve)
    return [group[0] if len(group) == 1 else _merge_group(*pair, group) for pair, group in groups.items()]


def _merge_group(target: str, kind: str, group: list[Curve]) -> Curve:
    """The curves of one target and kind as one; it holds beyond its keys where their extrapolations differ."""
    columns = {}
    for curve in group:
        for i, name in enumerate(curve.channel.columns):
            handles = (curve.before[:, i : i + 1], curve.after[:, i : i + 1])
            alone, values = Channel(target, kind, (name,)), curve.values[:, i : i + 1]
            columns[name] = Curve(
                alone, curve.times, values, curve.segments, *handles, curve.extrapolation, curve.fitted
            )
    beyond = {curve.extrapolation for curve in group}
    return merge_columns(
        Channel(target, kind, tuple(columns)), columns, beyond.pop() if len(beyond) == 1 else ("hold", "hold")
    )


def _segment_kinds(column: Curve, keys: Array) -> Array:
    """The kind of segment that a column has between each two keys; LINEAR beyond its own keys."""
    if len(column) == 1:
        return np.full(len(keys) - 1, LINEAR)
    at = np.clip(np.searchsorted(column.times, keys[:-1] + KEY_TIME_TOLERANCE_SECONDS) - 1, 0, len(column) - 2)
    outside = (keys[1:] <= column.times[0] + KEY_TIME_TOLERANCE_SECONDS) | (
        keys[:-1] >= column.times[-1] - KEY_TIME_TOLERANCE_SECONDS
    )
    return np.where(outside, LINEAR, column.segments[at])


def _add_keys(column: Curve, keys: Array) -> Curve:
    """A column with keys at exactly these times."""
    first, last = ("hold" if mode.startswith("cycle") else mode for mode in column.extrapolation)
    free = replace(column, extrapolation=(first, last))
    for end in keys[[0, -1]]:  # extrapolated as before
        free = insert_curve_key(free, float(end))
    free = insert_curve_keys(free, keys)
    if len(free) != len(keys):
        raise InvalidInput(
            "keys of columns that become one curve should be at least a hundredth of a millisecond apart"
        )
    # Keys within the tolerance move to the common time; handles keep their share of each segment.
    before, after, ratio = np.array(free.before), np.array(free.after), np.diff(keys) / np.diff(free.times)
    after[:-1] *= ratio[:, None, None]
    before[1:] *= ratio[:, None, None]
    return replace(free, times=keys, before=before, after=after)


def _rest_columns(channel: Channel, count: int, gaps: Array) -> tuple[Array, Array, Array]:
    """Values (K, n) and handles before and after (K, n, 2) of columns at rest."""
    rest = {"rotation": quaternion.IDENTITY, "scale": (1.0, 1.0, 1.0)}.get(channel.kind, (0.0,) * len(channel))
    before, after = np.zeros((2, count, len(channel), 2))
    before[1:, :, 0] = after[:-1, :, 0] = gaps[:, None] / 3
    return np.tile(np.array(rest, float), (count, 1)), before, after
