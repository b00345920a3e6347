"""Curves: the set of keyframed channels that makes one animation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.channels import Channels
from understudy.character.clip import Clip, checked_moments, continuous
from understudy.character.curve import Curve
from understudy.character.curve_batch import CurveBatch
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import resample

# Tried in this order; the first that puts every key on a frame wins, so 24 is preferred to its multiples.
RATES = (24.0, 30.0, 25.0, 60.0, 50.0, 48.0, 100.0, 120.0, 29.97, 23.976, 59.94, 90.0, 144.0, 240.0)
DEFAULT_RATE = 30.0


@dataclass(frozen=True, eq=False)
class Curves:
    """A named set of curves, no two on the same channel; `rate` is the rate it was keyed in, or is best baked at.

    `about` says in words what happens, `moments` name times of the file's own clock.
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
        object.__setattr__(self, "moments", checked_moments(moments, f"animation {name!r}"))
        if not self.curves:
            raise InvalidInput(f"animation {name!r} should have at least one curve, but has none")
        Channels(curve.channel for curve in self.curves)
        found = natural_rate(curve.times for curve in self.curves) if rate is None else rate
        object.__setattr__(self, "rate", checks.positive(found, f"rate of animation {name!r}"))

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
        """Time of the first key, seconds of the file's own clock."""
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
        """How many frames `frame_times` gives at the animation's own rate."""
        return resample.frame_count(self.start, self.end, self.rate)

    def frame_times(self, rate: float | None = None) -> Array:
        """(F,) the times of the frames from the first key to the last."""
        return resample.frame_times(self.start, self.end, self.rate if rate is None else rate)

    def sample(self, times: Any) -> Array:
        """(M, C) values at any times, columns in the order of `channels`, rotations continuous in time."""
        times = np.atleast_1d(np.asarray(times, np.float64))
        values = np.empty((len(times), self.channels.width))
        batch = self._batch
        values[:, batch.columns] = batch.sample(times)
        for curve, start, stop in batch.others:
            values[:, start:stop] = curve.sample(times)
        return continuous(self.channels, values)

    def with_some(self, new: Mapping[int, Curve]) -> Curves:
        """The same with other curves in the places of some, by number, each on the channel of the one before it."""
        curves = list(self.curves)
        for number, curve in new.items():
            curves[number] = curve
        made = object.__new__(type(self))
        made.__dict__.update({name: getattr(self, name) for name in self.__dataclass_fields__})
        made.__dict__.update(curves=tuple(curves), channels=self.channels)
        return made

    @cached_property
    def _batch(self) -> CurveBatch:
        return CurveBatch(self.curves, self.channels.offsets)

    def clip(self, rate: float | None = None) -> Clip:
        """The dense clip at a rate."""
        rate = self.rate if rate is None else checks.positive(rate, "rate")
        values = self.sample(self.frame_times(rate))
        return Clip(self.name, self.channels, values, rate, self.start, self.labels, self.about, self.moments)


def natural_rate(times: Iterable[Array]) -> float:
    """The frame rate whose frames hold every key; where there is none, that of the shortest usual step.

    Files store times as float32 and exporters round, so a key may lie off its frame by 2 % of a frame.
    """
    keys = np.unique(np.concatenate([np.zeros(0), *times]))
    if len(keys) < 2:
        return DEFAULT_RATE
    for shifted in (keys, keys - keys[0]):
        for rate in RATES:
            if np.abs(shifted * rate - np.round(shifted * rate)).max() < 0.02:
                return rate
    step = float(np.median(np.diff(keys)))
    return min(round(1 / step, 3), 1000.0) if step > 0 and len(keys) > 8 else DEFAULT_RATE
