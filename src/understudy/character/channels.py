"""Channels: the meaning of a clip's columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

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
