"""The layers over a performance that a character has controls for, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from understudy.character.rig import PosedRig
from understudy.perform.layers.blinks import Blinks
from understudy.perform.layers.breathing import Breathing
from understudy.perform.layers.feet import Feet
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.head import HeadLook
from understudy.perform.layers.layer import Layer
from understudy.perform.model import PerformanceModel


def layers_of(
    rig: PosedRig, points: Mapping[str, Sequence[float]] | None = None, model: PerformanceModel | None = None
) -> tuple[Layer, ...]:
    """Breathing, feet, gaze, blinks and what swings, without those that the rig has no controls for.

    Characters without eyes look by turning the head. Breathing moves the body, so it comes before the planted feet and
    the eyes that hold a point; eyelids follow the eyes. `points` (metres in the world) are the names that may be looked
    at. The feet layer needs the `model`, whose clips say when a foot is in contact. Hair and skirts of an avatar swing
    behind all of it, unless the clips move them.
    """
    looks: Layer | None = Gaze.from_rig(rig, points) or HeadLook.from_rig(rig, points)
    layers: tuple[Layer | None, ...] = (
        Breathing.from_rig(rig),
        Feet.from_model(rig, model),
        looks,
        Blinks.from_rig(rig),
        _secondary_motion(rig, model),
    )
    return tuple(layer for layer in layers if layer is not None)


def _secondary_motion(rig: PosedRig, model: PerformanceModel | None) -> Layer | None:
    """What swings on an avatar, unless the clips move it."""
    if rig.character.avatar is None:
        return None
    from understudy.character.body.spring_bones import SecondaryMotion

    return SecondaryMotion.from_rig(rig, frozenset() if model is None else model.encoder.turned_joints)
