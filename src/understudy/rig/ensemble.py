"""Several characters of one file, posed by one animation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Character, Clip, Curves
from understudy.checks import Array
from understudy.rig.direct import DirectRig
from understudy.rig.layered import LayeredRig
from understudy.rig.posed import PosedRig


def of(character: Character) -> PosedRig:
    """The rig of a character: by its controls where it has layers, else by its joints and shape weights."""
    return DirectRig(character) if character.layers is None else LayeredRig(character)


def pose_all(
    characters: Sequence[Character], animation: Clip | Curves | None, times: Array
) -> list[tuple[PosedRig, Array]]:
    """The rig of each character and its rows (M, C) at `times` (M,); those that the animation does not move rest.

    An animation that moves none of them is refused; without one all rest.
    """
    rigs = [of(character) for character in characters]
    if animation is None or not rigs:
        return [(rig, np.tile(rig.rest, (len(times), 1))) for rig in rigs]
    moved = [rig.is_moved_by(animation) for rig in rigs]
    if not any(moved):
        moved[0] = True  # and `pose` says why it cannot
    return [
        (rig, rig.pose(animation, times) if moves else np.tile(rig.rest, (len(times), 1)))
        for rig, moves in zip(rigs, moved)
    ]
