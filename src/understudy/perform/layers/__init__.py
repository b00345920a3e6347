"""All the layers that a character has controls for, in the order in which they are laid over a performance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from understudy.character.rig import PosedRig
from understudy.perform import PoseModel
from understudy.perform.layers.blinks import Blinks
from understudy.perform.layers.breathing import Breathing
from understudy.perform.layers.feet import Feet
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.head import HeadLook
from understudy.perform.layers.layer import Layer


def layers_of(
    rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None, model: PoseModel | None = None
) -> tuple[Layer, ...]:
    """Breath, feet, gaze and blinks, without those that the character cannot show; who has no eyes looks by its head.

    Breath moves the body, so it comes before the feet that stand and the eyes that hold a point; lids follow what the
    eyes do. `points` are names that may be looked at, in metres of the world; feet are known from a `model` alone.
    """
    looks: Layer | None = Gaze.from_rig(rig, points) or HeadLook.from_rig(rig, points)
    found: tuple[Layer | None, ...] = (
        Breathing.from_rig(rig),
        Feet.from_model(rig, model),
        looks,
        Blinks.from_rig(rig),
    )
    return tuple(layer for layer in found if layer is not None)
