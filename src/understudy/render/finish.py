"""Finish: how a surface answers light, apart from its colour.

Numbers only, compared by value, so that renderers keep one table of the finishes that are on stage.
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import InvalidInput

UNIT = ("roughness", "metallic", "specular", "softness", "clearcoat", "clearcoat_roughness", "translucency")


@dataclass(frozen=True)
class Finish:
    """The settings of a surface; all in [0, 1], the colours `sheen` and `emissive` linear (3,).

    roughness, metallic: as in glTF; maps of a surface are multiplied with them.
    specular: strength of the highlight of what is not metal (1 is glTF's own, a reflectance of 4 %).
    softness: how far light wraps around the form and warms the terminator, as it does in skin, fur and cloth.
    clearcoat, clearcoat_roughness: a clear wet layer on top, such as the tear film of an eye.
    sheen: light that fibres and down throw back at grazing angles.
    translucency: the part of the light from behind that comes through, as in thin ears and leaves.
    emissive: added to the picture.
    unlit: the colour as it is, whatever the light; neither shaded nor toned, so white stays white.
    """

    roughness: float = 0.6
    metallic: float = 0.0
    specular: float = 1.0
    softness: float = 0.4
    clearcoat: float = 0.0
    clearcoat_roughness: float = 0.0
    sheen: tuple[float, float, float] = (0.0, 0.0, 0.0)
    translucency: float = 0.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    unlit: bool = False

    def __post_init__(self) -> None:
        for name in UNIT:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InvalidInput(f"{name} should lie between 0 and 1, but is {getattr(self, name)}")
        for name in ("sheen", "emissive"):
            value = tuple(float(x) for x in getattr(self, name))
            if len(value) != 3 or not all(0.0 <= x < float("inf") for x in value):
                raise InvalidInput(f"{name} should be three numbers from 0 up, but is {getattr(self, name)}")
            object.__setattr__(self, name, value)
