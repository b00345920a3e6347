"""Pictures that lie on surfaces: decoding them, and packing those that glTF keeps apart."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from understudy.character import Material, Texture
from understudy.checks import Array, freeze

LARGEST_TEXTURE = 4096  # pixels a side; larger ones are reduced, since no picture here shows more of them


class Maps:
    """The pictures of one character, each decoded once, so that surfaces that share one share its array."""

    def __init__(self) -> None:
        self._decoded: dict[int, tuple[bytes, Array | None]] = {}
        self._packed: dict[tuple[int, int, float], Array] = {}

    def of(self, material: Material, uv_sets: int) -> tuple[int, dict[str, Array]]:
        """The UV set that the material's maps use, and those that it has of `texture`, `normal_map`, `detail_map`.

        All maps of a surface share one UV set here: that of the colour, or else of the first that there is.
        """
        usable = {slot: t for slot, t in material.textures.items() if t.uv_set < uv_sets}
        order = [usable[slot] for slot in ("colour", "normal", "metallic_roughness", "occlusion") if slot in usable]
        if not order:
            return 0, {}
        uv_set = order[0].uv_set
        same = {slot: t for slot, t in usable.items() if t.uv_set == uv_set}
        found = {
            "texture": self._picture(same.get("colour")),
            "normal_map": self._picture(same.get("normal")),
            "detail_map": self._detail(same.get("occlusion"), same.get("metallic_roughness")),
        }
        return uv_set, {name: picture for name, picture in found.items() if picture is not None}

    def _picture(self, texture: Texture | None) -> Array | None:
        """(H, W, 4) uint8; None where there is none, or none that can be decoded: the surface is drawn without it."""
        if texture is None:
            return None
        data = texture.image.data
        if id(data) not in self._decoded:
            self._decoded[id(data)] = (data, decoded(data))  # the bytes are kept, so an identity is never used again
        return self._decoded[id(data)][1]

    def _detail(self, occlusion: Texture | None, surface: Texture | None) -> Array | None:
        """Occlusion in red, roughness in green, metallic in blue; 1 where a map is missing."""
        hollow, rough = self._picture(occlusion), self._picture(surface)
        if hollow is None and rough is None:
            return None
        strength = _number(occlusion.extra.get("strength"), 1.0) if occlusion is not None else 1.0
        key = (id(hollow), id(rough), strength)
        if key not in self._packed:
            larger = max((p for p in (hollow, rough) if p is not None), key=lambda p: p.size)
            packed = np.full((*larger.shape[:2], 4), 255, np.uint8)
            if hollow is not None:
                shade = _resized(hollow, larger)[..., 0].astype(np.float32)
                packed[..., 0] = np.round(255.0 + strength * (shade - 255.0))
            if rough is not None:
                packed[..., 1:3] = _resized(rough, larger)[..., 1:3]
            self._packed[key] = freeze(packed)
        return self._packed[key]


def decoded(data: bytes) -> Array | None:
    """(H, W, 4) uint8 of an encoded picture; None where it cannot be decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            image.thumbnail((LARGEST_TEXTURE, LARGEST_TEXTURE))
            return freeze(np.array(image.convert("RGBA")))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return None


def _resized(picture: Array, like: Array) -> Array:
    if picture.shape == like.shape:
        return picture
    from PIL import Image

    return np.asarray(Image.fromarray(picture).resize((like.shape[1], like.shape[0]), Image.Resampling.BILINEAR))


def _number(value: Any, default: float) -> float:
    ok = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
    return float(np.clip(value, 0.0, 1.0)) if ok else default
