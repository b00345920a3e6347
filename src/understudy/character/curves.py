"""Curves: the set of keyframed channels that makes one animation, and batch sampling of its Bezier curves.

A face has hundreds of curves, and sampled one by one each costs more in calls than in arithmetic. `CurveBatch` takes
those that are Bezier throughout, hold beyond their ends and are no rotations: it concatenates their columns, and only
the search for the segment of each time is done curve by curve. The numbers are those of `Curve.sample`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.clip import Channels, Clip, check_moments, continuous
from understudy.character.curve import BEZIER, LINEAR, Curve
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import bezier, resample

HOLD_BOTH_ENDS = ("hold", "hold")
# Tried in this order; the first that puts every key on a frame is taken, so 24 is preferred to its multiples.
COMMON_RATES_FPS = (24.0, 30.0, 25.0, 60.0, 50.0, 48.0, 100.0, 120.0, 29.97, 23.976, 59.94, 90.0, 144.0, 240.0)
DEFAULT_RATE_FPS = 30.0


@dataclass(frozen=True, eq=False)
class Curves:
    """Keyframed animation: a named set of curves, no two of them on the same channel.

    Args:
        name: Name of the animation.
        curves: The curves, each with its channel, keys and tangents.
        labels: What the animation shows, such as `happy`.
        rate: Frames a second that it was keyed in, or is best baked at; None finds it from the times of the keys.
        about: The animation in words.
        moments: Named times, in seconds of the file's own clock.

    Raises:
        InvalidInput: If there is no curve, or two are on the same channel.

    Example:
        >>> curves = us.load("lamp").animation("curious")
        >>> curves.sample([0.0, 0.5]).shape == (2, curves.channels.width), curves.clip(rate=12).rate
        (True, 12.0)
    """

    name: str
    curves: tuple[Curve, ...]
    labels: tuple[str, ...]
    rate: float
    about: str
    moments: Mapping[str, float]  # name -> seconds

    def __init__(
        self,
        name: str,
        curves: Iterable[Curve],
        labels: Iterable[str] = (),
        rate: float | None = None,
        about: str = "",
        moments: Mapping[str, float] | None = None,
    ) -> None:
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "curves", tuple(curves))
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "about", str(about))
        object.__setattr__(self, "moments", check_moments(moments, f"animation {name!r}"))
        if not self.curves:
            raise InvalidInput(f"animation {name!r} should have at least one curve, but has none")
        Channels(curve.channel for curve in self.curves)
        rate = natural_rate(curve.times for curve in self.curves) if rate is None else rate
        object.__setattr__(self, "rate", checks.positive(rate, f"rate of animation {name!r}"))

    @classmethod
    def from_clip(cls, clip: Clip) -> Curves:
        """A clip as curves with a key on every frame, linear between them; markers are left out.

        Args:
            clip: The clip.

        Returns:
            The same animation as curves: edits of it are offsets over its frames.

        Raises:
            InvalidInput: If the clip has no channels but markers.

        Example:
            >>> clip = us.load("lamp").clip("hop", rate=12)
            >>> us.Curves.from_clip(clip).key_count == len(clip) * len(clip.channels)
            True
        """
        times, offsets = checks.freeze(np.array(clip.times)), clip.channels.offsets
        frames = [clip.values[:, a:b] for a, b in pairwise(offsets)]
        curves = [
            Curve.from_checked_arrays(channel, times, checks.freeze(np.array(values)), LINEAR)
            for channel, values in zip(clip.channels, frames)
            if channel.kind != "marker"
        ]
        return cls(clip.name, curves, clip.labels, clip.rate, clip.about, clip.moments)

    def __len__(self) -> int:
        return len(self.curves)

    def __repr__(self) -> str:
        return f"Curves({self.name!r}, {len(self)} curves, {self.key_count} keys)"

    @cached_property
    def channels(self) -> Channels:
        """The channels in the order of the curves."""
        return Channels(curve.channel for curve in self.curves)

    @property
    def key_count(self) -> int:
        """Keys over all curves."""
        return sum(len(curve) for curve in self.curves)

    @property
    def start(self) -> float:
        """Time of the first key, seconds of the file's clock."""
        return float(min(curve.times[0] for curve in self.curves))

    @property
    def end(self) -> float:
        """Time of the last key."""
        return float(max(curve.times[-1] for curve in self.curves))

    @property
    def duration(self) -> float:
        """Seconds from the first key to the last."""
        return self.end - self.start

    @property
    def frame_count(self) -> int:
        """Number of frames that `frame_times` gives at the animation's own rate."""
        return resample.frame_count(self.start, self.end, self.rate)

    def frame_times(self, rate: float | None = None) -> Array:
        """Times of the frames from the first key to the last.

        Args:
            rate: Frames a second; None takes that of the animation.

        Returns:
            Times (F,), in seconds.
        """
        return resample.frame_times(self.start, self.end, self.rate if rate is None else rate)

    def sample(self, times: Any) -> Array:
        """Values at any times.

        Args:
            times: Times (M,), in seconds of the file's own clock.

        Returns:
            Values (M, C), columns in the order of `channels`, rotations continuous in time.
        """
        times = np.atleast_1d(np.asarray(times, np.float64))
        values = np.empty((len(times), self.channels.width))
        batch = self._batch
        values[:, batch.columns] = batch.sample(times)
        for curve, start, stop in batch.others:
            values[:, start:stop] = curve.sample(times)
        return continuous(self.channels, values)

    def with_curves(self, new: Mapping[int, Curve]) -> Curves:
        """The same animation with some curves replaced.

        Args:
            new: Curves by the number of the curve that they replace, each on the same channel.

        Returns:
            The new animation.
        """
        curves = list(self.curves)
        for number, curve in new.items():
            curves[number] = curve
        result = object.__new__(type(self))
        result.__dict__.update({name: getattr(self, name) for name in self.__dataclass_fields__})
        result.__dict__.update(curves=tuple(curves), channels=self.channels)
        return result

    @cached_property
    def _batch(self) -> CurveBatch:
        return CurveBatch(self.curves, self.channels.offsets)

    def clip(self, rate: float | None = None) -> Clip:
        """The animation as a dense clip.

        Args:
            rate: Frames a second; None takes that of the animation.

        Returns:
            The clip.
        """
        rate = self.rate if rate is None else checks.positive(rate, "rate")
        values = self.sample(self.frame_times(rate))
        return Clip(self.name, self.channels, values, rate, self.start, self.labels, self.about, self.moments)


def natural_rate(times: Iterable[Array]) -> float:
    """The common frame rate that has a frame at every key; where there is none, that of the median step between keys.

    Files store times as float32 and exporters round, so a key may lie off its frame by 2 % of a frame.
    """
    keys = np.unique(np.concatenate([np.zeros(0), *times]))
    if len(keys) < 2:
        return DEFAULT_RATE_FPS
    for shifted in (keys, keys - keys[0]):
        for rate in COMMON_RATES_FPS:
            if np.abs(shifted * rate - np.round(shifted * rate)).max() < 0.02:
                return rate
    step = float(np.median(np.diff(keys)))
    return min(round(1 / step, 3), 1000.0) if step > 0 and len(keys) > 8 else DEFAULT_RATE_FPS


class CurveBatch:
    """Curves sampled together: `columns` (B,) are in the batch, `others` are left to be sampled one by one."""

    def __init__(self, curves: Sequence[Curve], offsets: Array) -> None:
        together = [_is_batchable(curve) for curve in curves]
        spans = [(curve, int(a), int(b)) for curve, a, b in zip(curves, offsets[:-1], offsets[1:])]
        batch = [span for span, yes in zip(spans, together) if yes]
        self.others = [span for span, yes in zip(spans, together) if not yes]
        self.columns = np.concatenate([np.zeros(0, np.int64), *(np.arange(a, b) for _, a, b in batch)])
        self._times = [curve.times for curve, _, _ in batch]
        self._curve = np.repeat(np.arange(len(batch)), [b - a for _, a, b in batch])  # (B,) the curve of each column
        if not batch:
            return
        # per key and column: (N, 2) points and handles, the keys of one column after those of the other
        points = [
            np.stack([np.broadcast_to(curve.times[:, None], curve.values.shape), curve.values], axis=-1)
            for curve, _, _ in batch
        ]
        self._points, self._before, self._after = (
            np.concatenate([block.transpose(1, 0, 2).reshape(-1, 2) for block in blocks])
            for blocks in (points, [curve.before for curve, _, _ in batch], [curve.after for curve, _, _ in batch])
        )
        counts = np.array([len(times) for times in self._times])[self._curve]
        self._first = np.cumsum(counts) - counts  # (B,) where the keys of each column begin

    def sample(self, times: Array) -> Array:
        """(M, B) values at times (M,)."""
        if not len(self.columns):
            return np.zeros((len(times), 0))
        inside, segment = np.empty((2, len(times), len(self._times)))
        for number, keys in enumerate(self._times):
            inside[:, number] = np.clip(times, keys[0], keys[-1])
            before = np.searchsorted(keys, inside[:, number], side="right") - 1
            segment[:, number] = np.minimum(before, len(keys) - 2)
        k = segment.astype(np.int64)[:, self._curve] + self._first
        x, y = bezier.control_points(self._points[k], self._points[k + 1], self._after[k], self._before[k + 1])
        return bezier.evaluate(x, y, inside[:, self._curve])


def _is_batchable(curve: Curve) -> bool:
    return (
        len(curve) > 1
        and curve.channel.kind != "rotation"
        and curve.extrapolation == HOLD_BOTH_ENDS
        and bool((curve.segments == BEZIER).all())
    )
