"""What stays the same from one edit of a character to the next: its size, units of the columns, states of points.

A gesture begins with a click, and waits for all that it needs: what was worked out for the last one is kept here. It is
of one rig, which never changes, and of the channels that were asked for last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

from understudy.character import Channels
from understudy.checks import Array
from understudy.keyframes import freedom
from understudy.keyframes.goals import Point
from understudy.keyframes.states import States, states_of
from understudy.rig import PosedRig

REMEMBERED = 16  # sets of points; a megabyte of what moves the skin of one at most


class Ground:
    """One rig. For one thread at a time."""

    def __init__(self, rig: PosedRig) -> None:
        self.rig = rig
        self._channels: Channels | None = None
        self._unit: Array | None = None
        self._states: OrderedDict[tuple[Point, ...], States] = OrderedDict()

    @cached_property
    def size(self) -> float:
        """Metres, of the character."""
        return freedom.character_size(self.rig)

    @cached_property
    def loose(self) -> frozenset[str]:
        """The joints that no skinned joint carries."""
        return freedom.loose_joints(self.rig)

    def units(self, channels: Channels) -> Array:
        """(C,) what one unit of each column is."""
        self._turn_to(channels)
        if self._unit is None:
            self._unit = freedom.units(self.rig, channels, self.size)
        return self._unit

    def states(self, channels: Channels, points: Sequence[Point]) -> States:
        """The states of points, moved by the columns of `channels`."""
        self._turn_to(channels)
        key = tuple(points)
        if key not in self._states:
            self._states[key] = states_of(self.rig, channels, key)
        self._states.move_to_end(key)
        while len(self._states) > REMEMBERED:
            self._states.popitem(last=False)
        return self._states[key]

    def _turn_to(self, channels: Channels) -> None:
        if channels is not self._channels and channels != self._channels:
            self._unit = None
            self._states.clear()
        self._channels = channels
