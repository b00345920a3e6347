"""Curve: one keyframed channel, sparse and editable; and other kinds and handles of its segments with the same shape.

Between two keys a curve is stepped, linear, or a cubic Bezier with free tangents. A tangent is an offset (dt, dv) for
each column [Ciccone 2019, appendix A]: leaving key k the inner control point is P1 = P0 + after[k], arriving at key k+1
it is P2 = P3 - before[k+1], so both offsets point forward in time. A Hermite spline with derivatives m (glTF's
CUBICSPLINE) is the special case dt = d/3, dv = m d/3, with d the length of the segment.

A key is a person's pose, or it was placed by a fitter (`fitted`): edits keep the values of the former and may move
those of the latter.

Rotation channels (quaternions) interpolate by slerp on linear segments; on Bezier segments each column is evaluated and
the result normalised, as glTF prescribes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.clip import Channel
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import bezier, quaternion
from understudy.maths.bezier import slerp_handles

STEP, LINEAR, BEZIER = 0, 1, 2  # kinds of segments
EXTRAPOLATIONS = ("hold", "linear", "cycle", "cycle_offset")


@dataclass(frozen=True, eq=False)
class Curve:
    """K keys of one channel with n columns."""

    channel: Channel
    times: Array  # (K,) seconds, increasing
    values: Array  # (K, n)
    segments: Array  # (K - 1,) uint8: STEP, LINEAR or BEZIER
    before: Array  # (K, n, 2) tangent arriving at each key: dt >= 0, dv
    after: Array  # (K, n, 2) tangent leaving each key
    extrapolation: tuple[str, str]  # before the first key, after the last
    fitted: Array  # (K,) bool: placed by a fitter, such as `reduce_keys`, and not by a person

    def __init__(
        self,
        channel: Channel,
        times: Any,
        values: Any,
        segments: Any = LINEAR,
        before: Any = None,
        after: Any = None,
        extrapolation: tuple[str, str] = ("hold", "hold"),
        fitted: Any = False,
    ) -> None:
        what = f"curve {channel.target!r} ({channel.kind})"
        times = checks.array(times, f"key times of {what}", ("K",))
        keys, columns = len(times), len(channel)
        if keys == 0:
            raise InvalidInput(f"{what} should have at least one key, but has none")
        if np.any(np.diff(times) <= 0):
            k = int(np.argmax(np.diff(times) <= 0))
            raise InvalidInput(
                f"key times of {what} should increase, but key {k + 1} at {times[k + 1]} s follows {times[k]} s"
            )
        segments = checks.array(np.broadcast_to(segments, (keys - 1,)), f"segments of {what}", (keys - 1,), np.uint8)
        checks.indices(segments, f"segments of {what}", 3)
        empty = np.zeros((keys, columns, 2))
        fields = {
            "channel": channel,
            "times": times,
            "values": checks.array(values, f"key values of {what}", (keys, columns)),
            "segments": segments,
            "before": checks.array(empty if before is None else before, f"tangents of {what}", (keys, columns, 2)),
            "after": checks.array(empty if after is None else after, f"tangents of {what}", (keys, columns, 2)),
            "extrapolation": tuple(checks.one_of(e, "extrapolation", EXTRAPOLATIONS) for e in extrapolation),
            "fitted": checks.array(np.broadcast_to(fitted, (keys,)), f"fitted keys of {what}", (keys,), np.bool_),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._check_handles(what)

    def _check_handles(self, what: str) -> None:
        """With a and b the time handles over the segment's length, time never runs backwards where a, b >= 0 and a + b
        <= 1 + sqrt(a b): up to the whole segment each, and a little further where a longer pair was cut in two."""
        lengths = np.diff(self.times)[:, None]
        a, b = self.after[:-1, :, 0] / lengths, self.before[1:, :, 0] / lengths
        # One part in a million: key times from float32 files are no more exact than that.
        backwards = a + b > 1 + np.sqrt(np.maximum(a, 0.0) * np.maximum(b, 0.0)) + 1e-6
        if np.any((a < -1e-6) | (b < -1e-6) | backwards):
            raise InvalidInput(f"tangents of {what} should not reach beyond the neighbouring key in time")

    @classmethod
    def from_checked_arrays(cls, channel: Channel, times: Array, values: Array, segment: int) -> Curve:
        """A stepped or linear curve from frozen float64 arrays that a reader has checked already.

        That is: increasing times (K,) and finite values (K, n). Files hold thousands of curves, and checking each again
        takes longer than reading them.
        """
        curve = object.__new__(cls)
        segments, handles = _default_segments(segment, *values.shape)
        fields = (channel, times, values, segments, handles, handles, ("hold", "hold"), _no_keys(len(times)))
        curve.__dict__.update(zip(cls.__dataclass_fields__, fields))
        return curve

    @classmethod
    def bezier_from_checked_arrays(
        cls, channel: Channel, times: Array, values: Array, before: Array, after: Array, fitted: Array | None = None
    ) -> Curve:
        """A Bezier curve throughout, from frozen float64 arrays that the caller has checked.

        That is: increasing times (K,), finite values (K, n), tangents (K, n, 2) no longer than their segments.
        """
        curve = object.__new__(cls)
        segments = _default_segments(BEZIER, *values.shape)[0]
        fitted = _no_keys(len(times)) if fitted is None else fitted
        fields = (channel, times, values, segments, before, after, ("hold", "hold"), fitted)
        curve.__dict__.update(zip(cls.__dataclass_fields__, fields))
        return curve

    @classmethod
    def hermite(cls, channel: Channel, times: Any, values: Any, arriving: Any, leaving: Any) -> Curve:
        """A curve from derivatives (value per second) on both sides of each key, as glTF's CUBICSPLINE gives them."""
        times = checks.array(times, "key times", ("K",))
        values = checks.array(values, "key values", (len(times), len(channel)))
        m_in, m_out = (checks.array(slopes, "tangents", values.shape) for slopes in (arriving, leaving))
        before, after = np.zeros((*values.shape, 2)), np.zeros((*values.shape, 2))
        after[:-1], before[1:] = bezier.from_hermite(np.diff(times)[:, None], m_out[:-1], m_in[1:])
        return cls(channel, times, values, BEZIER, before, after)

    def with_handles(self, before: Array, after: Array) -> Curve:
        """The same keys with other tangents, frozen float64 (K, n, 2), which the caller has checked."""
        curve = object.__new__(type(self))
        curve.__dict__.update({name: getattr(self, name) for name in self.__dataclass_fields__})
        curve.__dict__.update(before=before, after=after)
        return curve

    def with_values(self, values: Array, before: Array, after: Array) -> Curve:
        """The same key times with other values (K, n) and tangents, frozen float64, which the caller has checked."""
        curve = self.with_handles(before, after)
        curve.__dict__.update(values=values)
        return curve

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"Curve({self.channel.target!r}, {self.channel.kind}, {len(self)} keys)"

    @property
    def is_hermite(self) -> bool:
        """Whether every Bezier segment has its time handles at a third, so that a Hermite spline is the same."""
        third = np.diff(self.times)[:, None] / 3
        smooth = self.segments == BEZIER
        off = np.maximum(np.abs(self.after[:-1, :, 0] - third), np.abs(self.before[1:, :, 0] - third))
        return bool((off[smooth] <= 1e-9 + 1e-6 * third[smooth]).all())

    def sample(self, times: Any) -> Array:
        """(M, n) values at any times."""
        times = np.asarray(times, np.float64)
        inside, cycles = self._fold(times)
        segment = np.clip(np.searchsorted(self.times, inside, side="right") - 1, 0, max(len(self) - 2, 0))
        result = self._sample_segments(inside, segment)
        if cycles is not None:
            result = result + cycles[:, None] * (self.values[-1] - self.values[0])
        for side, outside in ((0, times < self.times[0]), (1, times > self.times[-1])):
            if self.extrapolation[side] == "linear" and outside.any():
                edge = 0 if side == 0 else len(self) - 1
                slope = self.end_slope(side)
                result[outside] = self.values[edge] + (times[outside] - self.times[edge])[:, None] * slope
        if self.channel.kind == "rotation":
            loose = self._needs_normalisation(times, segment)
            result[loose] = quaternion.normalise(result[loose])
        return result

    def _needs_normalisation(self, times: Array, segment: Array) -> Array:
        """(M,) where a rotation was computed column by column, and need not have unit length."""
        loose = self.segments[segment] == BEZIER if len(self) > 1 else np.zeros(len(times), bool)
        for mode, outside in zip(self.extrapolation, (times < self.times[0], times > self.times[-1])):
            if mode in ("linear", "cycle_offset"):
                loose = loose | outside
        return loose

    def _fold(self, times: Array) -> tuple[Array, Array | None]:
        """Times brought between the first and the last key, and how many cycles away they were (for cycle_offset)."""
        first, last = self.times[0], self.times[-1]
        inside, length = np.clip(times, first, last), last - first
        cycles = np.zeros(len(times))
        for side, outside in ((0, times < first), (1, times > last)):
            if length > 0 and self.extrapolation[side].startswith("cycle") and outside.any():
                turns = np.floor((times[outside] - first) / length)
                inside[outside] = times[outside] - turns * length
                if self.extrapolation[side] == "cycle_offset":
                    cycles[outside] = turns
        return inside, cycles if cycles.any() else None

    def _sample_segments(self, times: Array, segment: Array) -> Array:
        if len(self) == 1:
            return np.repeat(self.values, len(times), axis=0)
        t0, t1 = self.times[segment], self.times[segment + 1]
        a, b = self.values[segment], self.values[segment + 1]
        share = (times - t0) / (t1 - t0)
        shape = self.segments[segment]
        if self.channel.kind == "rotation":
            result = quaternion.slerp(a, b, share)
        else:
            result = a + share[:, None] * (b - a)
        stepped = shape == STEP
        result[stepped] = np.where(share[stepped, None] >= 1, b[stepped], a[stepped])
        smooth = np.flatnonzero(shape == BEZIER)
        if smooth.size:
            k = segment[smooth]
            columns = self.values.shape[1]
            keys = np.stack([np.repeat(self.times[:, None], columns, axis=1), self.values], axis=-1)
            x, y = bezier.control_points(keys[k], keys[k + 1], self.after[k], self.before[k + 1])
            result[smooth] = bezier.evaluate(x, y, times[smooth][:, None])
        return result

    def end_slope(self, side: int) -> Array:
        """(n,) value per second of the straight continuation: 0 before the first key, 1 after the last."""
        if len(self) == 1:
            return np.zeros(len(self.channel))
        k = 0 if side == 0 else len(self) - 2
        if self.segments[k] == STEP:
            return np.zeros(len(self.channel))
        handle = self.after[0] if side == 0 else self.before[-1]
        chord = (self.values[k + 1] - self.values[k]) / (self.times[k + 1] - self.times[k])
        usable = (self.segments[k] == BEZIER) & (handle[:, 0] > 0)
        return np.where(usable, handle[:, 1] / np.where(handle[:, 0] > 0, handle[:, 0], 1), chord)


@lru_cache(maxsize=256)
def _default_segments(segment: int, keys: int, columns: int) -> tuple[Array, Array]:
    """Segments (K - 1,) of one kind, and handles (K, n, 2) that are all zero and take no memory."""
    return (
        checks.freeze(np.full(max(keys - 1, 0), segment, np.uint8)),
        checks.freeze(np.broadcast_to(np.zeros(1), (keys, columns, 2))),
    )


@lru_cache(maxsize=256)
def _no_keys(keys: int) -> Array:
    """(K,) bool, all False."""
    return checks.freeze(np.zeros(keys, bool))


def bezier_segments(curve: Curve, which: Array) -> Curve:
    """The curve with the linear segments `which` (K - 1,) bool as Bezier segments."""
    if not which.any():
        return curve
    curve = align_quaternion_signs(curve)
    before, after = np.array(curve.before), np.array(curve.after)
    third = np.diff(curve.times)[:, None] / 3
    if curve.channel.kind == "rotation":
        leave, arrive = slerp_handles(curve.values[:-1], curve.values[1:])
    else:
        leave = arrive = np.diff(curve.values, axis=0) / 3
    for handles, rise, at in ((after, leave, slice(None, -1)), (before, arrive, slice(1, None))):
        both = np.stack(np.broadcast_arrays(third, rise), axis=-1)
        handles[at] = np.where(which[:, None, None], both, handles[at])
    return replace(curve, segments=np.where(which, BEZIER, curve.segments), before=before, after=after)


def align_quaternion_signs(curve: Curve, which: Array | None = None) -> Curve:
    """The same rotations with signs such that the segments `which` (K - 1,) bool do not change sign.

    By default those are the linear ones, which take the shorter arc anyway, so that nothing else changes.
    """
    if curve.channel.kind != "rotation":
        return curve
    which = curve.segments == LINEAR if which is None else which
    dots = np.einsum("ki,ki->k", curve.values[1:], curve.values[:-1])
    sign = np.concatenate([[1.0], np.cumprod(np.where(which & (dots < 0), -1.0, 1.0))])
    if (sign > 0).all():
        return curve
    scale = np.stack([np.ones_like(sign), sign], axis=-1)[:, None]  # times of handles keep their sign
    return replace(curve, values=curve.values * sign[:, None], before=curve.before * scale, after=curve.after * scale)


def fit_handles(handle: Array, length: Array) -> Array:
    """Handles (..., 2) shortened along their own direction where they are longer in time than `length` (...)."""
    dt = handle[..., 0]
    share = np.where(dt > length, length / np.where(dt > 0, dt, 1.0), 1.0)
    shortened: Array = handle * share[..., None]
    return shortened
