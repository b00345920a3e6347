"""Clip: dense animation at a fixed rate, for learning and playing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.channels import Channel, Channels
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion

MOST_FRAMES = 10_000_000  # a day at 115 frames a second; more is a mistaken rate


@dataclass(frozen=True, eq=False)
class Clip:
    """F frames of C columns. Frame f is at `start + f / rate` seconds of the file's own clock.

    Rotations are made unit length and continuous in time. Only marker columns may hold NaN (not seen).
    """

    name: str
    channels: Channels
    values: Array  # (F, C) float64
    rate: float  # frames a second
    start: float = 0.0  # seconds
    labels: tuple[str, ...] = ()

    def __init__(
        self,
        name: str,
        channels: Channels | Iterable[Channel],
        values: Any,
        rate: float,
        start: float = 0.0,
        labels: Iterable[str] = (),
    ) -> None:
        channels = channels if isinstance(channels, Channels) else Channels(channels)
        what = f"values of clip {name!r}"
        values = np.array(checks.array(values, what, ("F", channels.width), finite=False))
        if len(values) == 0:
            raise InvalidInput(f"clip {name!r} should have at least one frame, but has none")
        holes = ~np.isfinite(values)
        holes[:, channels.columns_of("marker")] = np.isinf(values[:, channels.columns_of("marker")])
        if holes.any():
            frame, column = (int(i) for i in np.argwhere(holes)[0])
            raise InvalidInput(
                f"{what} should be finite, but {channels.names[column]} is {values[frame, column]} at frame {frame}"
            )
        fields = {
            "name": str(name),
            "channels": channels,
            "values": checks.freeze(continuous(channels, values)),
            "rate": checks.positive(rate, f"rate of clip {name!r}"),
            "start": float(start),
            "labels": tuple(labels),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {len(self)} frames at {self.rate:g} fps, {self.channels.width} columns)"

    @property
    def times(self) -> Array:
        """(F,) seconds of the file's own clock."""
        return self.start + np.arange(len(self)) / self.rate

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate

    def get(self, target: str, kind: str) -> Array | None:
        """(F, n) the columns of one channel, or None where the clip has no such channel."""
        columns = self.channels.slice(target, kind)
        return None if columns is None else self.values[:, columns]

    def sample(self, times: Any) -> Array:
        """(M, C) values at any times: linear between frames, rotations by slerp, held beyond the ends."""
        place = np.clip((np.asarray(times, np.float64) - self.start) * self.rate, 0, len(self) - 1)
        left = np.minimum(place.astype(np.int64), max(len(self) - 2, 0))
        right = np.minimum(left + 1, len(self) - 1)
        share = place - left
        a, b = self.values[left], self.values[right]
        result = a + share[:, None] * (b - a)
        # on a frame itself the neighbour does not count, or a marker would vanish a frame too early
        result[share == 0], result[share == 1] = a[share == 0], b[share == 1]
        turns = self.channels.columns_of("rotation")
        if turns.size:
            shape = (len(place), -1, 4)
            turned = quaternion.slerp(a[:, turns].reshape(shape), b[:, turns].reshape(shape), share[:, None])
            result[:, turns] = turned.reshape(len(place), -1)
        return result

    def frame_times(self, rate: float | None = None) -> Array:
        """(F',) the times of the frames at another rate, the last of them still within the clip."""
        return self.times if rate is None else frame_times(self.start, self.duration, rate)

    def resampled(self, rate: float) -> Clip:
        """The same motion at another rate."""
        return Clip(self.name, self.channels, self.sample(self.frame_times(rate)), rate, self.start, self.labels)


def frame_times(start: float, duration: float, rate: float) -> Array:
    """(F,) `start + f / rate` for all frames within the duration.

    A last frame that is missed by a ten-thousandth still counts: files store times as float32, which is off by that
    much at a few minutes and 120 frames a second.
    """
    frames = np.floor(duration * checks.positive(rate, "rate") + 1e-4) + 1
    if frames > MOST_FRAMES:
        raise InvalidInput(
            f"{duration:g} s at {rate:g} frames a second are {frames:.0f} frames; at most {MOST_FRAMES:,}"
        )
    return start + np.arange(int(frames)) / rate


def continuous(channels: Channels, values: Array) -> Array:
    """The same values with rotations of unit length and on one side of the sphere from frame to frame; in place."""
    turns = channels.columns_of("rotation")
    if turns.size:
        rotations = values[:, turns].reshape(len(values), -1, 4)
        rotations = checks.unit_quaternions(rotations, "rotations", ("F", None, 4))
        values[:, turns] = quaternion.unroll(rotations).reshape(len(values), -1)
    return values
