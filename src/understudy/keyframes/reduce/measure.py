"""Measure: how far an animation is from its source, in the world."""

from __future__ import annotations

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.reduce.bones import Bones, turn_between
from understudy.keyframes.reduce.source import Source
from understudy.rig.direct import DirectRig
from understudy.rig.layered import LayeredRig
from understudy.rig.posed import PosedRig


class Measure:
    """Places and orientations of the source's joints, and the errors of other values of the same columns."""

    def __init__(self, given: Source, rig: PosedRig | None) -> None:
        self.given, self.rig = given, rig
        direct = isinstance(rig, DirectRig)
        if rig is not None and not rig.is_moved_by(given.animation):
            raise InvalidInput(
                f"animation {given.animation.name!r} moves nothing of character {rig.character.name!r}: reduce it "
                "without a rig, or with the character that it belongs to"
            )
        self.bones = Bones.of(given.channels, rig.character.skeleton if rig is not None and direct else None)
        self.places, self.turns = self.bones.placed(given.values)

    def errors(self, values: Array) -> tuple[Array, Array]:
        """Offsets (M, J, 3) in metres and turns (M, J, 3) in radians of values (M, C)."""
        places, turns = self.bones.placed(values)
        return places - self.places, turn_between(self.turns, turns)

    def bands(self, tolerance: float, weight: float) -> Array:
        """(C,) 1 / tolerance of the columns that move no joint of `bones`, 0 for the others.

        Scales count by the size of what they scale (a metre); controls of a layered rig by their range.
        """
        channels: Channels = self.given.channels
        band = np.zeros(channels.width)
        for i, channel in enumerate(channels):
            own = slice(int(channels.offsets[i]), int(channels.offsets[i + 1]))
            if channel.kind == "scale":
                band[own] = 1 / tolerance
            elif (channel.target, channel.kind) not in self.bones.joints:
                band[own] = 1 / weight
                if isinstance(self.rig, LayeredRig) and channel.target in self.rig.controls:
                    c = self.rig.controls.index(channel.target)
                    band[own] /= max(float(self.rig.controls.high[c] - self.rig.controls.low[c]), 1e-9)
        return band
