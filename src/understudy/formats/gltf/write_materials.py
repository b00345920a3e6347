"""Writing materials, textures and pictures, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from understudy.character import Image, Material, Texture
from understudy.formats.gltf.builder import Builder
from understudy.formats.gltf.entry import finite_json

PICTURES = ("image/png", "image/jpeg")
STRENGTH = "KHR_materials_emissive_strength"


class MaterialWriter:
    """Writes materials into a builder and remembers which it has written."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._materials: list[tuple[Material, int]] = []
        self._images: list[tuple[Image, int | None]] = []

    def index(self, material: Material, uv_sets: int) -> int:
        """The index of a material, for a mesh with that many UV sets. Textures that need another set are left out."""
        usable = {slot: t for slot, t in material.textures.items() if t.uv_set < uv_sets}
        if len(usable) < len(material.textures):
            self.builder.count("textures on meshes without UVs were lost ({})", len(material.textures) - len(usable))
            material = replace(material, textures=usable)
        for known, index in self._materials:
            if known is material or known == material:
                return index
        index = self.builder.add("materials", self._material(material, uv_sets))
        self._materials.append((material, index))
        return index

    def _material(self, material: Material, uv_sets: int) -> dict[str, Any]:
        infos = {slot: info for slot, t in material.textures.items() if (info := self._info(t)) is not None}
        surface: dict[str, Any] = {
            "baseColorFactor": [_unit(x) for x in material.colour],
            "metallicFactor": _unit(material.metallic),
            "roughnessFactor": _unit(material.roughness),
        }
        for slot, key in (("colour", "baseColorTexture"), ("metallic_roughness", "metallicRoughnessTexture")):
            if slot in infos:
                surface[key] = infos[slot]
        item: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": surface}
        for slot in ("normal", "occlusion", "emissive"):
            if slot in infos:
                item[f"{slot}Texture"] = infos[slot]
        extensions = self._extensions(material.extra.get("extensions"), uv_sets)
        if any(material.emissive):
            strength = max(1.0, *material.emissive)
            item["emissiveFactor"] = [_unit(x / strength) for x in material.emissive]
            if strength > 1:
                extensions.setdefault(STRENGTH, {"emissiveStrength": strength})
        if material.alpha_mode != "OPAQUE":
            item["alphaMode"] = material.alpha_mode
        if material.alpha_mode == "MASK":
            item["alphaCutoff"] = max(0.0, material.alpha_cutoff)
        if material.double_sided:
            item["doubleSided"] = True
        if extensions:
            item["extensions"] = extensions
            self.builder.extensions.update(extensions)
        return item | kept_extras(material.extra)

    def _extensions(self, settings: Any, uv_sets: int) -> dict[str, Any]:
        """Settings of extensions with each `Texture` in them written and referred to by its index."""
        result = {}
        for key, value in settings.items() if isinstance(settings, Mapping) else ():
            if isinstance(value, Texture):
                info = self._info(value) if value.uv_set < uv_sets else None
                if info is not None:
                    result[key] = info
            elif isinstance(value, Mapping):
                result[key] = self._extensions(value, uv_sets)
            elif finite_json(value):
                result[key] = value
        return result

    def _info(self, texture: Texture) -> dict[str, Any] | None:
        source = self._image(texture.image)
        if source is None:
            return None
        item: dict[str, Any] = {"source": source}
        if texture.sampler:
            item["sampler"] = self._once("samplers", dict(texture.sampler))
        info: dict[str, Any] = {"index": self._once("textures", item)}
        if texture.uv_set:
            info["texCoord"] = texture.uv_set
        info |= {key: texture.extra[key] for key in ("scale", "strength") if key in texture.extra}
        extensions = texture.extra.get("extensions")
        if isinstance(extensions, Mapping) and extensions:
            info["extensions"] = dict(extensions)
            self.builder.extensions.update(extensions)
        return info | kept_extras(texture.extra)

    def _once(self, name: str, item: dict[str, Any]) -> int:
        known = self.builder.lists.get(name, [])
        return known.index(item) if item in known else self.builder.add(name, item)

    def _image(self, image: Image) -> int | None:
        for known, index in self._images:
            if known is image or known == image:
                return index
        index = None
        if not image.data:
            self.builder.note(f"picture {image.name!r} was lost: its bytes are not here")
        elif image.mime not in PICTURES:
            self.builder.note(f"picture {image.name!r} was lost: it is {image.mime}, but glTF holds PNG and JPEG")
        else:
            view = self.builder.view(image.data)
            index = self.builder.add("images", {"name": image.name, "mimeType": image.mime, "bufferView": view})
        self._images.append((image, index))
        return index


def kept_extras(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The `extras` that reading kept, where there are any."""
    return {"extras": extra["extras"]} if extra.get("extras") and finite_json(extra["extras"]) else {}


def _unit(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
