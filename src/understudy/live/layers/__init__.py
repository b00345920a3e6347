"""All the layers that a character has controls for, in the order in which they are laid over a performance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from understudy.live.layers.blinks import Blinks
from understudy.live.layers.breathing import Breathing
from understudy.live.layers.feet import Feet
from understudy.live.layers.gaze import Gaze
from understudy.live.layers.head_look import HeadLook
from understudy.live.layers.layer import Layer
from understudy.posespace import Model
from understudy.rig import PosedRig


def layers_of(
    rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None, model: Model | None = None
) -> tuple[Layer, ...]:
    """Breath, feet, gaze and blinks, without those that the character cannot show; who has no eyes looks by its head.

    Breath moves the body, so it comes before the feet that stand and the eyes that hold a point; lids follow what the
    eyes do. `points` are names that may be looked at, in metres of the world; feet are known from a `model` alone.
    """
    looks: Layer | None = Gaze.of(rig, points) or HeadLook.of(rig, points)
    found: tuple[Layer | None, ...] = (Breathing.of(rig), Feet.of(rig, model), looks, Blinks.of(rig))
    return tuple(layer for layer in found if layer is not None)
