"""Materials and textures of a character, as the page's description tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.character import Image, Material, Part
from understudy.render.surfaces import finish_of

DRAWABLE = ("image/png", "image/jpeg", "image/webp")
PLAIN = Material()  # of a mesh that has none
WHITEST = 0.6  # linear; a material that says nothing is pure white, which leaves light and form no room


class Palette:
    """The different materials and images of some parts, numbered."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.images: list[Image] = []
        self.entries: list[dict[str, Any]] = []
        self._images: dict[bytes, int] = {}
        self._materials: dict[tuple[int, bool], int] = {}
        self._parts = parts  # keeps the materials alive, so that each has a number of its own
        for part in parts:
            for material in part.mesh.materials or (PLAIN,):
                self.number(material, part.mesh.colours is not None)

    def number(self, material: Material, painted: bool) -> int:
        """The number of a material, for a mesh with or without vertex colours."""
        key = id(material), painted
        if key not in self._materials:
            self._materials[key] = len(self.entries)
            self.entries.append(self._entry(material, painted))
        return self._materials[key]

    def _entry(self, material: Material, painted: bool) -> dict[str, Any]:
        finish = finish_of(material)
        textures = {slot: self._texture(texture) for slot, texture in material.textures.items()}
        textures = {slot: entry for slot, entry in textures.items() if entry is not None}
        colour = [float(x) for x in material.colour]
        if "colour" not in textures and not finish.unlit and not painted:
            colour[:3] = [min(x, WHITEST) for x in colour[:3]]
        return {
            "name": material.name,
            "colour": colour,
            "metallic": finish.metallic,
            "roughness": finish.roughness,
            "emissive": list(finish.emissive),
            "alphaMode": material.alpha_mode,
            "alphaCutoff": float(np.clip(material.alpha_cutoff, 0, 1)),
            "doubleSided": material.double_sided,
            "unlit": finish.unlit,
            "specular": finish.specular,
            "softness": finish.softness,
            "clearcoat": finish.clearcoat,
            "clearcoatRoughness": finish.clearcoat_roughness,
            "sheen": list(finish.sheen),
            "translucency": finish.translucency,
            "castsShadow": _mapping(material.extra.get("extras")).get("casts_shadow") is not False,
            "textures": textures,
        }

    def _texture(self, texture: Any) -> dict[str, Any] | None:
        image: Image = texture.image
        if not image.data or image.mime not in DRAWABLE:
            return None
        if image.data not in self._images:
            self._images[image.data] = len(self.images)
            self.images.append(image)
        moved = _mapping(_mapping(texture.extra.get("extensions")).get("KHR_texture_transform"))
        return {
            "image": self._images[image.data],
            "uv": int(texture.uv_set),
            "wrap": [int(texture.sampler.get(key, 10497)) for key in ("wrapS", "wrapT")],
            "nearest": texture.sampler.get("magFilter") == 9728,
            "scale": _number(texture.extra.get("scale", texture.extra.get("strength")), 1.0),
            "offset": _pair(moved.get("offset"), 0.0),
            "stretch": _pair(moved.get("scale"), 1.0),
            "turn": _number(moved.get("rotation"), 0.0),
        }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any, default: float) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
    return float(value) if known else default


def _pair(value: Any, default: float) -> list[float]:
    pair = value if isinstance(value, list | tuple) and len(value) == 2 else (default, default)
    return [_number(each, default) for each in pair]
