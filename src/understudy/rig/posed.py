"""PosedRig: what the rigs of characters share, which is laying an animation over the rest pose."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from understudy.character import Channel, Channels, Character, Clip, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput, listed


class PosedRig(ABC):
    """A rig of a character that animations are laid over by channel.

    `pose` makes rows of an animation, `joints` and `vertices` evaluate rows.
    """

    character: Character

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.character.name!r}, {self.channels.width} columns)"

    @property
    @abstractmethod
    def channels(self) -> Channels:
        """The meaning of the columns."""

    @property
    @abstractmethod
    def rest(self) -> Array:
        """(C,) the row of the rest pose."""

    @abstractmethod
    def joints(self, values: Array) -> Array:
        """world_from_joint (F, J, 4, 4) for (F, C) rows."""

    @abstractmethod
    def vertices(self, values: Array) -> Array:
        """(F, V, 3) float32 vertices of all parts in the world for (F, C) rows."""

    def points(self, values: Array, vertices: Sequence[int]) -> Array:
        """(F, N, 3) float32 some vertices in the world for (F, C) rows."""
        return self.vertices(values)[:, list(vertices)]

    @abstractmethod
    def _lay(self, channel: Channel, source: Array, values: Array) -> int:
        """Write one channel's columns into the rows; returns how many of the rig's channels it drove."""

    @abstractmethod
    def _targets(self) -> Iterable[str]:
        """What an animation can move here, for a sentence."""

    def pose(self, animation: Clip | Curves, times: Any = None) -> Array:
        """(M, C) rows of the rig for an animation, at given times or at its own frames; what it does not move rests.

        Channels that this character does not have are left out (see `unmatched`); an animation that has none of its
        channels is refused.
        """
        if times is None:
            times = animation.frame_times()
        sampled = animation.sample(np.atleast_1d(np.asarray(times, np.float64)))
        if not self.is_moved_by(animation):
            raise InvalidInput(
                f"animation {animation.name!r} moves nothing of character {self.character.name!r}: "
                f"it drives {listed(c.target for c in animation.channels)}, "
                f"the character has {listed(self._targets())}"
            )
        return self.lay(animation.channels, sampled)

    def lay(self, channels: Channels, sampled: Array) -> Array:
        """(M, C) rows of the rig for columns (M, n) of any channels; what they do not move rests."""
        values = np.tile(self.rest, (len(sampled), 1))
        for i, channel in enumerate(channels):
            self._lay(channel, sampled[:, int(channels.offsets[i]) : int(channels.offsets[i + 1])], values)
        return values

    def unmatched(self, channels: Channels) -> list[Channel]:
        """The channels that this rig has no place for."""
        scratch = self.rest[None].copy()
        return [c for c in channels if not self._lay(c, np.zeros((1, len(c))), scratch)]

    def is_moved_by(self, animation: Clip | Curves) -> bool:
        """Whether an animation has any channel of this rig, so that `pose` will not refuse it."""
        return len(self.unmatched(animation.channels)) < len(animation.channels)

    def _rows(self, values: Array) -> Array:
        values = np.asarray(values, np.float64)
        if values.ndim != 2 or values.shape[1] != self.channels.width:
            raise InvalidInput(
                f"rows of this rig should have shape (F, {self.channels.width}), but have {values.shape}"
            )
        return values
