"""FBX animation curves as our curves: key times, values, interpolation and tangents.

A key is at `KeyTime` ticks with `KeyValueFloat`. Its flags and four numbers are shared by runs of keys
(`KeyAttrRefCount`): the slope that leaves it, the slope that arrives at the next key, two weights packed into the bits
of the third, and velocities, which nothing uses. A tangent spans the weight times the length of its segment (a third
where it is not weighted) and rises by the slope times that, which is our handle (dt, dv).

**Automatic tangents** are not stored. At a key between two others with slopes l and r of the chords to the left and
right and d = (t - t_before) / (t_after - t_before), the slope is that of the chord between the neighbours where the key
is time-independent, and otherwise the mean of that and of (1 - d) l + d r, which a bias of b percent then moves towards
r (b > 0) or l. The clamp makes it 0 beside a neighbour of the same value; the progressive clamp keeps the tangents
within the values of the neighbours. The end keys take the slope of their only chord.

**TCB** keys have tension, continuity and bias in place of slopes [Kochanek and Bartels 1984].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Channel, Curve
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS
from understudy.checks import Array, freeze
from understudy.formats.fbx.document import FbxDocument, FbxNode
from understudy.formats.fbx.scene import TICKS_PER_SECOND

CONSTANT, CUBIC = 0x2, 0x8
TANGENT_TCB, TANGENT_USER = 0x200, 0x400
CONSTANT_NEXT = 0x100
CLAMP, TIME_INDEPENDENT, CLAMP_PROGRESSIVE = 0x1000, 0x2000, 0x4000
WEIGHTED_RIGHT, WEIGHTED_NEXT_LEFT = 0x1000000, 0x2000000
DEFAULT_WEIGHT = 1 / 3
WEIGHT_UNIT = 1e-4
MAX_ABSOLUTE_BIAS = 5.0  # above, the SDK adds an absolute slope, which no tool lets a person set
MAX_SECONDS = 1e6  # eleven days; keys beyond it are damage
EXTRAPOLATIONS = {"C": "hold", "R": "cycle", "A": "cycle_offset", "K": "linear"}
HOLD = ("hold", "hold")
COLUMN = Channel("", "controls", ("value",))


@dataclass(frozen=True)
class _Keys:
    """What the file says of K keys: everything (K,)."""

    times: Array  # seconds
    values: Array
    flags: Array
    right: Array  # slope leaving the key
    next_left: Array  # slope arriving at the next key
    third: Array  # the third number, for TCB keys
    right_weight: Array
    next_left_weight: Array


def read_curve(document: FbxDocument, node: FbxNode) -> Curve | None:
    """The curve of an `AnimationCurve`, with one column of the file's own unit; None where it has no keys."""
    keys = _read_keys(document, node)
    if keys is None:
        return None
    count = len(keys.times)
    beyond = tuple(_extrapolation(document, node, side) for side in ("Pre-Extrapolation", "Post-Extrapolation"))
    if count == 1:
        return make_curve(COLUMN, keys.times, keys.values[:, None], np.zeros(0, np.uint8))
    segments = np.where(keys.flags & CONSTANT, STEP, np.where(keys.flags & CUBIC, BEZIER, LINEAR))[:-1]
    values = keys.values.copy()
    jump = (segments == STEP) & ((keys.flags & CONSTANT_NEXT) != 0)[:-1]
    values[:-1][jump] = keys.values[1:][jump]  # a key that already has the value of the next
    if not (segments == BEZIER).any():
        return make_curve(COLUMN, keys.times, values[:, None], segments, beyond=(beyond[0], beyond[1]))
    left, right = _slopes(keys)
    lengths = np.diff(keys.times)
    before, after = np.zeros((count, 1, 2)), np.zeros((count, 1, 2))
    after[:-1, 0, 0] = np.clip(keys.right_weight[:-1], 0.0, 1.0) * lengths
    before[1:, 0, 0] = np.clip(keys.next_left_weight[:-1], 0.0, 1.0) * lengths
    after[:-1, 0, 1], before[1:, 0, 1] = after[:-1, 0, 0] * right[:-1], before[1:, 0, 0] * left[1:]
    smooth = segments == BEZIER
    after[:-1][~smooth], before[1:][~smooth] = 0.0, 0.0
    return make_curve(COLUMN, keys.times, values[:, None], segments, before, after, (beyond[0], beyond[1]))


def make_curve(
    channel: Channel,
    times: Array,
    values: Array,
    segments: Array,
    before: Array | None = None,
    after: Array | None = None,
    beyond: tuple[str, str] = HOLD,
) -> Curve:
    """A curve from arrays that are sound already. Files hold thousands, and most are of one kind throughout."""
    if beyond == HOLD and (segments == LINEAR).all():
        return Curve.from_checked_arrays(channel, freeze(times), freeze(np.ascontiguousarray(values)), LINEAR)
    if beyond == HOLD and before is not None and after is not None and (segments == BEZIER).all():
        arrays = (freeze(np.ascontiguousarray(array, np.float64)) for array in (times, values, before, after))
        return Curve.bezier_from_checked_arrays(channel, *arrays)
    return Curve(channel, times, values, segments, before, after, beyond)


def keys_and_frames(keys: Array, rate: float) -> Array:
    """(M,) key times (K,), increasing, and the frames of a rate between the first and the last of them."""
    frames = np.arange(np.ceil(keys[0] * rate), np.floor(keys[-1] * rate) + 1) / rate
    at = np.searchsorted(keys, frames)
    gap = np.minimum(np.abs(keys[np.maximum(at - 1, 0)] - frames), np.abs(keys[np.minimum(at, len(keys) - 1)] - frames))
    return np.union1d(keys, frames[gap > KEY_TIME_TOLERANCE_SECONDS])


def _read_keys(document: FbxDocument, node: FbxNode) -> _Keys | None:
    ticks, values = document.array(node, "KeyTime"), document.array(node, "KeyValueFloat")
    if ticks is None or values is None or not len(ticks):
        return None
    if len(ticks) != len(values):
        raise document.bad(node, f"has {len(ticks)} key times, but {len(values)} key values")
    count = len(ticks)
    document.take(200 * count)
    times, values = np.asarray(ticks, np.float64) / TICKS_PER_SECOND, np.asarray(values, np.float64)
    flags, attributes = _attributes(document, node, count)
    usable = np.isfinite(times) & (np.abs(times) < MAX_SECONDS) & (np.abs(values) < 1e30)
    usable[1:] &= times[1:] > np.maximum.accumulate(np.where(usable, times, -np.inf))[:-1]
    if not usable.all():
        document.count("keys that are not finite, or not later than the one before, were left out ({})", sum(~usable))
        times, values, flags, attributes = times[usable], values[usable], flags[usable], attributes[usable]
        if not len(times):
            return None
    bits = np.ascontiguousarray(attributes[:, 2]).view(np.uint32)
    slopes = np.clip(np.nan_to_num(attributes.astype(np.float64), nan=0.0), -1e30, 1e30)
    plain = (flags & CONSTANT) != 0
    right_weight = np.where(flags & WEIGHTED_RIGHT, (bits & 0xFFFF) * WEIGHT_UNIT, DEFAULT_WEIGHT)
    left_weight = np.where(flags & WEIGHTED_NEXT_LEFT, (bits >> 16) * WEIGHT_UNIT, DEFAULT_WEIGHT)
    return _Keys(
        times,
        values,
        flags,
        np.where(plain, 0.0, slopes[:, 0]),
        np.where(plain, 0.0, slopes[:, 1]),
        slopes[:, 2],
        right_weight,
        left_weight,
    )


def _attributes(document: FbxDocument, node: FbxNode, count: int) -> tuple[Array, Array]:
    """(K,) flags and (K, 4) float32 numbers of the keys; linear keys where the file gives none that fit."""
    flags, runs = document.integers(node, "KeyAttrFlags"), document.integers(node, "KeyAttrRefCount")
    data = document.float_bits(node, "KeyAttrDataFloat")
    if (
        flags is None
        or runs is None
        or data is None
        or len(flags) != len(runs)
        or len(data) != 4 * len(runs)
        or runs.min() < 0
        or runs.max() > count
        or runs.sum() != count
    ):
        document.count("curves without usable tangents were read as linear ({})")
        return np.zeros(count, np.int64), np.zeros((count, 4), np.float32)
    return np.repeat(flags, runs), np.repeat(data.reshape(-1, 4), runs, axis=0)


def _extrapolation(document: FbxDocument, node: FbxNode, name: str) -> str:
    child = node.first(name)
    kind = child.value("Type") if child is not None else None
    letter = chr(kind) if type(kind) is int and 0 < kind < 128 else kind if isinstance(kind, str) else "C"
    if letter == "M":
        document.count("curves that are mirrored beyond their ends hold there ({})")
    return EXTRAPOLATIONS.get(letter, "hold")


def _slopes(keys: _Keys) -> tuple[Array, Array]:
    """(K,) slopes arriving at and leaving each key."""
    count = len(keys.times)
    chords = np.diff(keys.values) / np.diff(keys.times)
    cubic = (keys.flags & CUBIC) != 0
    tcb = cubic & ((keys.flags & TANGENT_TCB) != 0)
    automatic = cubic & ~tcb & ((keys.flags & TANGENT_USER) == 0)
    straight = ~cubic & ((keys.flags & CONSTANT) == 0)
    right, next_left = keys.right.copy(), keys.next_left.copy()
    right[:-1][straight[:-1]] = next_left[:-1][straight[:-1]] = chords[straight[:-1]]
    next_left[tcb] = 0.0
    left = np.concatenate([[0.0], next_left[:-1]])
    chord_left, chord_right = np.concatenate([[0.0], chords]), np.concatenate([chords, [0.0]])
    if tcb.any():
        tension, continuity, bias = keys.right, keys.next_left, keys.third
        ends = np.isin(np.arange(count), (0, count - 1))
        slack = np.where(ends, 1.0, 0.5) * (1 - tension)
        arriving = slack * ((1 + bias) * (1 - continuity) * chord_left + (1 - bias) * (1 + continuity) * chord_right)
        leaving = slack * ((1 + bias) * (1 + continuity) * chord_left + (1 - bias) * (1 - continuity) * chord_right)
        left, right = np.where(tcb, arriving, left), np.where(tcb, leaving, right)
    if automatic.any():
        same = np.abs(left + right) <= 1e-4
        arriving = _automatic(keys, chord_left, chord_right, np.where(same, right, -left))
        leaving = _automatic(keys, chord_left, chord_right, right)
        left, right = np.where(automatic, arriving, left), np.where(automatic, leaving, right)
    return left, right


def _automatic(keys: _Keys, chord_left: Array, chord_right: Array, bias: Array) -> Array:
    """(K,) automatic slopes; `bias` in percent."""
    times, values, flags = keys.times, keys.values, keys.flags
    count = len(times)
    slope = chord_left + chord_right  # at the ends the only chord
    inner = np.arange(1, count - 1)
    if len(inner):
        whole = (values[2:] - values[:-2]) / (times[2:] - times[:-2])
        share = (times[1:-1] - times[:-2]) / (times[2:] - times[:-2])
        mean = 0.5 * whole + 0.5 * ((1 - share) * chord_left[inner] + share * chord_right[inner])
        weight = np.minimum(np.abs(bias[inner]) / 100, MAX_ABSOLUTE_BIAS)
        target = np.where(bias[inner] > 0, chord_right[inner], chord_left[inner])
        mean = np.where(weight > 1e-4, (1 - weight) * mean + weight * target, mean)
        slope[inner] = np.where(flags[inner] & TIME_INDEPENDENT, whole, mean)
    rises = np.diff(values)
    rise_left, rise_right = np.concatenate([[np.inf], rises]), np.concatenate([rises, [np.inf]])
    equal = np.minimum(np.abs(rise_left), np.abs(rise_right)) <= 0
    slope = np.where(((flags & CLAMP) != 0) & equal, 0.0, slope)
    sign = np.where(slope >= 0, 1.0, -1.0)
    lengths = np.diff(times)
    limits = []
    weights = (np.concatenate([[DEFAULT_WEIGHT], keys.next_left_weight[:-1]]), keys.right_weight)
    sides = (np.concatenate([[0.0], lengths]), np.concatenate([lengths, [0.0]]))
    for weight, length, rise in zip(weights, sides, (rise_left, rise_right)):
        reach = weight * length
        limit = np.where(reach > 0, sign * np.where(np.isfinite(rise), rise, 0.0) / np.where(reach > 0, reach, 1), 0.0)
        limits.append(np.maximum(limit, 0.0))
    clamped = sign * np.minimum(np.abs(slope), np.minimum(*limits))
    return np.where((flags & CLAMP_PROGRESSIVE) != 0, clamped, slope)
