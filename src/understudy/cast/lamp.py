"""The lamp: a desk lamp that hops. The first of the cast, and the smallest.

Seven joints carry it (Base, Swivel, LowerArm, UpperArm, Neck, Head, Bulb) and one its tail (Cord). Above them stand
joints that carry nothing and make walking about clean: Root (place and heading on the ground), Lift (height in a hop)
and four Rims. A Rim tips the base over one point of its underside; turn only one of the four at a time and that point
stays exactly where it is.

At rest every joint has the axes of the world: a turn about +X nods forwards, about +Y looks to the lamp's left, about
+Z raises its left side.
"""

from __future__ import annotations

import numpy as np

from understudy.cast import lamp_clips, lamp_pieces
from understudy.cast.pieces import assemble
from understudy.character import Asset, Character, Material, Skeleton

# Degrees about x, y, z in which the arms neither fold through each other nor bend their springs; Root turns freely.
LIMITS: dict[str, dict[str, tuple[float, float]]] = {
    "RimFront": {"x": (0.0, 20.0)},
    "RimBack": {"x": (-20.0, 0.0)},
    "RimLeft": {"z": (-20.0, 0.0)},
    "RimRight": {"z": (0.0, 20.0)},
    "Lift": {"x": (-25.0, 25.0), "y": (-40.0, 40.0), "z": (-20.0, 20.0)},
    "Cord": {"y": (-35.0, 35.0)},
    "Swivel": {"y": (-90.0, 90.0)},
    "LowerArm": {"x": (-45.0, 45.0), "z": (-12.0, 12.0)},
    "UpperArm": {"x": (-75.0, 75.0), "z": (-20.0, 20.0)},
    "Neck": {"x": (-60.0, 60.0), "y": (-30.0, 30.0), "z": (-30.0, 30.0)},
    "Head": {"x": (-45.0, 50.0), "y": (-55.0, 55.0), "z": (-40.0, 40.0)},
    "Bulb": {"x": (-12.0, 12.0), "y": (-12.0, 12.0), "z": (-12.0, 12.0)},
}

MATERIALS = {
    "Enamel": Material("enamel", metallic=0.0, roughness=0.32),
    "Brass": Material("brass", metallic=0.75, roughness=0.33),
    "Steel": Material("painted steel", metallic=0.3, roughness=0.38),
    "Spring": Material("spring steel", metallic=0.9, roughness=0.28),
    "Glow": Material("lit enamel", roughness=0.6, emissive=(1.0, 0.64, 0.18)),
    "Glass": Material("bulb", roughness=0.3, emissive=(1.0, 0.92, 0.62)),
    "Cable": Material("cable", roughness=0.65),
}


def skeleton() -> Skeleton:
    """The joints, each with the axes of the world."""
    names = tuple(lamp_pieces.JOINTS)
    parents = [names.index(parent) if parent else -1 for parent, _ in lamp_pieces.JOINTS.values()]
    places = np.array([place for _, place in lamp_pieces.JOINTS.values()])
    above = np.where(np.array(parents)[:, None] < 0, 0.0, places[parents])
    return Skeleton(names, parents, places - above)


def character() -> Character:
    """The lamp's body."""
    return assemble("lamp", skeleton(), lamp_pieces.all_pieces(), MATERIALS)


def lamp() -> Asset:
    """The lamp and its animation."""
    body = character()
    return Asset([body], curves=lamp_clips.clips(body.skeleton), format="cast")
