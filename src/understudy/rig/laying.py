"""Laying values of an animation onto rows of a rig, prepared once for a set of channels.

`PosedRig.lay` goes from channel to channel, which for hundreds of controls takes longer than evaluating them.
Here columns that are copied are found out once, by laying numbers that are nowhere else, and Euler angles of one order
are turned into quaternions all at once.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.maths import euler
from understudy.rig.posed import PosedRig

FIRST = 1e15  # beyond all values of a rest pose; whole numbers up to 9e15 are exact


class Laying:
    """Rows of one rig for columns of one set of channels."""

    def __init__(self, rig: PosedRig, channels: Channels) -> None:
        self.rig = rig
        angles = [channel for channel in channels if channel.kind == "euler"]
        marked = FIRST + np.arange(channels.width, dtype=float)
        scratch = rig.rest[None].copy()
        for i, channel in enumerate(channels):
            if channel.kind != "euler":
                rig._lay(channel, marked[None, channels.offsets[i] : channels.offsets[i + 1]], scratch)
        self._to = np.flatnonzero(scratch[0] >= FIRST)
        self._from = (scratch[0, self._to] - FIRST).astype(np.int64)
        self._turns: list[tuple[str, Array, Array]] = []  # order, columns (J, 3), places (J, 4)
        for order in dict.fromkeys("".join(channel.columns) for channel in angles):
            pairs = [
                (channels.slice(channel.target, "euler"), rig.channels.slice(channel.target, "rotation"))
                for channel in angles
                if "".join(channel.columns) == order
            ]
            known = [(np.r_[a], np.r_[b]) for a, b in pairs if a is not None and b is not None]
            if known:
                self._turns.append((order, np.stack([a for a, _ in known]), np.stack([b for _, b in known])))

    def rows(self, values: Array) -> Array:
        """(M, C) rows of the rig for values (M, n)."""
        rows = np.tile(self.rig.rest, (len(values), 1))
        rows[:, self._to] = values[:, self._from]
        for order, columns, places in self._turns:
            rows[:, places] = euler.from_euler(values[:, columns], order)
        return rows
