"""Channels: the meaning of the columns of an animation. Clip: dense animation at a fixed rate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion, resample

# The columns that each kind has; None where the columns are named by the channel itself.
KINDS: dict[str, tuple[str, ...] | None] = {
    "translation": ("x", "y", "z"),  # metres, parent_from_joint
    "rotation": ("x", "y", "z", "w"),  # quaternion of unit length, or as near to it as `checks.NEAR_UNIT`
    "euler": None,  # radians; the order of the columns is the order of the factors: z, x, y means Rz Rx Ry
    "scale": ("x", "y", "z"),
    "weights": None,  # shape weights, a column a shape
    "controls": None,  # any other rig control, a column a control
    "marker": ("x", "y", "z"),  # metres, world; NaN where the marker was not seen
}

SPLITTABLE_KINDS = ("weights", "controls")  # kinds of which a target may have several channels


@dataclass(frozen=True, slots=True)
class Channel:
    """What one group of columns drives: `target` is a joint, a part (weights) or a marker; "" means any match."""

    target: str
    kind: str
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.one_of(self.kind, "channel kind", KINDS)
        fixed = KINDS[self.kind]
        if fixed is not None and not self.columns:
            object.__setattr__(self, "columns", fixed)
        columns = checks.unique_names(self.columns, f"columns of channel {self.target!r}")
        if fixed is not None and columns != fixed:
            raise InvalidInput(f"a {self.kind} channel should have columns {fixed}, but has {columns}")
        if self.kind == "euler" and sorted(columns) != ["x", "y", "z"]:
            raise InvalidInput(f"an euler channel should have the columns x, y and z in some order, but has {columns}")
        if not columns:
            raise InvalidInput(f"channel {self.target!r} ({self.kind}) should have at least one column")
        object.__setattr__(self, "columns", columns)

    def __len__(self) -> int:
        return len(self.columns)


class Channels(Sequence[Channel]):
    """An ordered set of channels; no two share target and kind.

    Weights and controls, which name their own columns, may have several channels of one target and kind, one after the
    other and with different columns, so that each may have keys of its own.
    """

    __slots__ = ("__dict__", "_channels")

    def __init__(self, channels: Iterable[Channel]) -> None:
        self._channels = tuple(channels)
        if len(self._index) != len(self._channels):
            self._check_repeated()

    def _check_repeated(self) -> None:
        seen: dict[tuple[str, str], set[str]] = {}
        last = None
        for c in self._channels:
            pair = (c.target, c.kind)
            known = seen.setdefault(pair, set())
            if known and (c.kind not in SPLITTABLE_KINDS or pair != last or known & set(c.columns)):
                raise InvalidInput(f"channel {c.target!r} ({c.kind}) appears twice")
            known.update(c.columns)
            last = pair

    @overload
    def __getitem__(self, index: int) -> Channel: ...
    @overload
    def __getitem__(self, index: slice) -> Channels: ...
    def __getitem__(self, index: int | slice) -> Channel | Channels:
        return Channels(self._channels[index]) if isinstance(index, slice) else self._channels[index]

    def __len__(self) -> int:
        return len(self._channels)

    def __iter__(self) -> Iterator[Channel]:
        return iter(self._channels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Channels) and self._channels == other._channels

    def __hash__(self) -> int:
        return hash(self._channels)

    def __repr__(self) -> str:
        return f"Channels({len(self)} channels, {self.width} columns)"

    @cached_property
    def _index(self) -> dict[tuple[str, str], tuple[int, int]]:
        """The first channel of each target and kind, and the one after its last."""
        spans: dict[tuple[str, str], tuple[int, int]] = {}
        for i, channel in enumerate(self._channels):
            pair = (channel.target, channel.kind)
            spans[pair] = (spans.get(pair, (i, i))[0], i + 1)
        return spans

    @cached_property
    def offsets(self) -> Array:
        """(len + 1,) where each channel's columns begin."""
        return checks.freeze(np.concatenate([[0], np.cumsum([len(c) for c in self._channels], dtype=np.int64)]))

    @property
    def width(self) -> int:
        """C, the number of columns."""
        return int(self.offsets[-1])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(C,) a name for every column, as in `LeftArm.rotation.x`."""
        return tuple(f"{c.target}.{c.kind}.{column}" for c in self._channels for column in c.columns)

    def slice(self, target: str, kind: str) -> slice | None:
        """The columns of one target and kind, or None where it is absent."""
        span = self._index.get((target, kind))
        return None if span is None else slice(int(self.offsets[span[0]]), int(self.offsets[span[1]]))

    def columns_of(self, kind: str) -> Array:
        """(n,) the numbers of all columns of one kind; reshape to (-1, 4) for rotations."""
        parts = [np.arange(self.offsets[i], self.offsets[i + 1]) for i, c in enumerate(self) if c.kind == kind]
        return np.concatenate([np.zeros(0, np.int64), *parts])


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
