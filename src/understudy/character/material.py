"""Material: how a surface looks, in the metallic-roughness terms that glTF and USD share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

SLOTS = ("colour", "normal", "metallic_roughness", "occlusion", "emissive")


@dataclass(frozen=True)
class Image:
    """An encoded picture as found in the file: PNG or JPEG bytes, or none where they were not found, only the name."""

    name: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Texture:
    """An image laid on a surface by one of the mesh's UV sets; `sampler` and `extra` are what only the format knows."""

    image: Image
    uv_set: int = 0
    sampler: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Material:
    """Factors and textures of one surface; colours are linear, as in glTF."""

    name: str = "default"
    colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    metallic: float = 0.0
    roughness: float = 0.8
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    alpha_mode: str = "OPAQUE"  # OPAQUE, MASK or BLEND
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    textures: Mapping[str, Texture] = field(default_factory=lambda: MappingProxyType({}))  # by slot, see SLOTS
    # format-specific settings, kept through a round trip
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
