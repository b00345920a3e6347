"""Clip: dense animation at a fixed rate, for training and playback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.channels import Channel, Channels
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion, resample


@dataclass(frozen=True, eq=False)
class Clip:
    """Dense animation: F frames of C columns at a fixed rate. Frame f is at `start + f / rate` seconds.

    Rotations are made continuous in time, and unit where they are not near it (`checks.NEAR_UNIT`). Only marker columns
    may hold NaN, where a marker is not seen.

    Args:
        name: Name of the clip.
        channels: What the columns mean: joints, shape weights, controls or markers.
        values: Values (F, C): metres, quaternions x, y, z, w, weights, or what the channels say.
        rate: Frames a second.
        start: Time of the first frame, in seconds of the file's own clock.
        labels: What the clip shows, such as `happy`.
        about: The clip in words.
        moments: Named times, in seconds of the same clock.

    Raises:
        InvalidInput: If there is no frame, the width does not fit the channels, or a value is not finite.

    Example:
        >>> clip = us.load("lamp").clip("hop", rate=12)
        >>> clip.values.shape == (len(clip), clip.channels.width), clip.duration
        (True, 6.0)
    """

    name: str
    channels: Channels
    values: Array  # (F, C) float64
    rate: float  # frames a second
    start: float = 0.0  # seconds
    labels: tuple[str, ...] = ()
    about: str = ""
    moments: Mapping[str, float] = field(default_factory=dict)  # name -> seconds

    def __init__(
        self,
        name: str,
        channels: Channels | Iterable[Channel],
        values: Any,
        rate: float,
        start: float = 0.0,
        labels: Iterable[str] = (),
        about: str = "",
        moments: Mapping[str, float] | None = None,
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
            "about": str(about),
            "moments": check_moments(moments, f"clip {name!r}"),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {len(self)} frames at {self.rate:g} fps, {self.channels.width} columns)"

    @property
    def times(self) -> Array:
        """(F,) seconds of the file's clock."""
        return self.start + np.arange(len(self)) / self.rate

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate

    def get(self, target: str, kind: str) -> Array | None:
        """The columns of one channel.

        Args:
            target: Name of the joint, part, control or marker.
            kind: Kind of the channel, such as `rotation` or `translation`.

        Returns:
            The columns (F, n), or None where the clip has no such channel.
        """
        columns = self.channels.slice(target, kind)
        return None if columns is None else self.values[:, columns]

    def sample(self, times: Any, method: str = "linear") -> Array:
        """Values at any times, held beyond the ends.

        Args:
            times: Times (M,), in seconds of the file's own clock.
            method: `"linear"` between frames, with slerp for rotations; `"cubic"` or `"monotone"` as in
                `maths.resample`.

        Returns:
            Values (M, C).
        """
        rotations = self.channels.columns_of("rotation")[::4]
        return resample.sample(self.values, self.rate, np.asarray(times) - self.start, method, rotations)

    @property
    def frame_count(self) -> int:
        """F, as `len`."""
        return len(self)

    def frame_times(self, rate: float | None = None) -> Array:
        """Times of the frames at another rate.

        Args:
            rate: Frames a second; None takes that of the clip.

        Returns:
            Times (F',), in seconds; the last of them is still within the clip.
        """
        return self.times if rate is None else resample.frame_times(self.start, self.start + self.duration, rate)

    def resample(self, rate: float, method: str = "linear") -> Clip:
        """The same motion at another rate.

        Args:
            rate: Frames a second.
            method: As in `sample`.

        Returns:
            The new clip.
        """
        values = self.sample(self.frame_times(rate), method)
        return Clip(self.name, self.channels, values, rate, self.start, self.labels, self.about, self.moments)


def check_moments(moments: Mapping[str, float] | None, what: str) -> Mapping[str, float]:
    """A read-only mapping of moments, each a name and a finite time in seconds."""
    checked = {str(name): float(time) for name, time in (moments or {}).items()}
    for name, time in checked.items():
        if not name or not np.isfinite(time):
            raise InvalidInput(f"a moment of {what} should be a name and a finite time, but is {name!r} at {time}")
    return MappingProxyType(checked)


def continuous(channels: Channels, values: Array) -> Array:
    """The same values, changed in place: rotations near unit length, their signs continuous from frame to frame."""
    turns = channels.columns_of("rotation")
    if turns.size:
        rotations = values[:, turns].reshape(len(values), len(turns) // 4, 4)
        rotations = checks.unit_quaternions(rotations, "rotations", ("F", None, 4))
        values[:, turns] = quaternion.unroll(rotations).reshape(len(values), len(turns))
    return values
