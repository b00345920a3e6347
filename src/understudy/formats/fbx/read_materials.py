"""Reading materials and textures: Phong, Lambert and the physically based ones that tools add.

Phong has no roughness and no metalness; Blender writes both into `Shininess` and `ReflectionFactor`, with
shininess = 100 (1 - roughness)^2, and its rule is used for all files. Colours are taken as linear, as Blender does.

Pictures are embedded in the file, or lie in its folder or below; other places are not read.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path, PurePosixPath
from types import MappingProxyType

import numpy as np

from understudy import files
from understudy.character import Image, Material, Texture
from understudy.errors import FileError
from understudy.formats.fbx.document import FbxDocument
from understudy.formats.fbx.scene import FbxObject

# First bytes of a picture -> its media type.
SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"RIFF", "image/webp"))
# The property that a texture is connected to, in lower case and without what a tool puts before it -> our slot.
SLOTS = {
    **{"diffusecolor": "colour", "basecolor": "colour", "base_color_map": "colour", "tex_color_map": "colour"},
    **{"normalmap": "normal", "bump": "normal", "tex_normal_map": "normal", "normalcamera": "normal"},
    **{"norm_map": "normal", "emissivecolor": "emissive", "emissivefactor": "emissive", "emit_color_map": "emissive"},
    **{"tex_emissive_map": "emissive", "tex_ao_map": "occlusion", "ao_map": "occlusion"},
}
ALPHA_PROPERTIES = ("transparentcolor", "transparencyfactor", "opacity")
IGNORED_PROPERTIES = {"ambientcolor", "specularcolor", "specularfactor", "shininess", "shininessexponent"}
GLTF_REPEAT, GLTF_CLAMP = 10497, 33071
DEFAULT_SHININESS = 20.0  # where a Phong material gives none
MAX_PICTURE_BYTES = 1 << 28


class FbxMaterials:
    """The materials of a document, each read once for the UV sets that it meets."""

    def __init__(self, document: FbxDocument) -> None:
        self.document = document
        self._materials: dict[tuple[int, tuple[str, ...]], Material] = {}
        self._images: dict[int, Image | None] = {}

    def material(self, entry: FbxObject, uv_names: list[str]) -> Material:
        """A material on a mesh with UV sets of those names."""
        key = (entry.number, tuple(uv_names))
        if key not in self._materials:
            self._materials[key] = self._read(entry, uv_names)
        return self._materials[key]

    def _read(self, entry: FbxObject, uv_names: list[str]) -> Material:
        textures: dict[str, Texture] = {}
        see_through = False
        for source, place in entry.sources:
            name = place.rpartition("|")[2].lower()
            if name in ALPHA_PROPERTIES and source.kind in ("Texture", "LayeredTexture"):
                see_through = True
            if source.kind not in ("Texture", "LayeredTexture") or not name:
                continue
            slot = SLOTS.get(name)
            texture = self._texture(source, uv_names) if slot else None
            if slot and texture is not None:
                textures.setdefault(slot, texture)
            elif not slot and name not in IGNORED_PROPERTIES and name not in ALPHA_PROPERTIES:
                self.document.count(f"textures on {place[:40]} were left out ({{}})")
        opacity = self._opacity(entry)
        colour = self._colour(entry, "DiffuseColor", "DiffuseFactor", 0.8)
        if "colour" in textures:
            colour = np.ones(3)  # the texture replaces the value
        emissive = self._colour(entry, "EmissiveColor", "EmissiveFactor", 0.0)
        shininess = entry.number_of("Shininess", entry.number_of("ShininessExponent", DEFAULT_SHININESS))
        roughness = float(np.clip(1 - np.sqrt(max(shininess, 0.0)) / 10, 0.0, 1.0))
        metallic = float(np.clip(entry.number_of("ReflectionFactor", 0.0), 0.0, 1.0))
        return Material(
            name=entry.name or "material",
            colour=(*map(float, colour), opacity),  # type: ignore[arg-type]
            metallic=metallic if "ReflectionFactor" in entry.own else 0.0,
            roughness=roughness,
            emissive=tuple(map(float, emissive)),  # type: ignore[arg-type]
            alpha_mode="BLEND" if see_through or opacity < 1 else "OPAQUE",
            textures=MappingProxyType(textures),
        )

    def _colour(self, entry: FbxObject, name: str, factor: str, default: float) -> np.ndarray:
        """(3,) a colour times its factor."""
        value = entry.vector(name, (default,) * 3)
        return np.clip(value * entry.number_of(factor, 1.0), 0.0, 1e6)

    def _opacity(self, entry: FbxObject) -> float:
        """Opacity, or 1 - TransparencyFactor: tools disagree on them, and the one that the file has is taken."""
        if "Opacity" in entry.own:
            return float(np.clip(entry.number_of("Opacity", 1.0), 0.0, 1.0))
        if "TransparencyFactor" in entry.own:
            # Maya writes a factor of 1 beside a transparent colour of black, which means opaque.
            amount = entry.number_of("TransparencyFactor", 0.0) * float(
                entry.vector("TransparentColor", (1.0, 1.0, 1.0)).mean()
            )
            opacity = float(np.clip(1 - amount, 0.0, 1.0))
            return opacity if opacity > 0 else 1.0
        return 1.0

    def _texture(self, source: FbxObject, uv_names: list[str]) -> Texture | None:
        if source.kind == "LayeredTexture":
            layers = source.sources_of("Texture")
            if not layers:
                return None
            self.document.note("of layered textures only the first layer is read")
            source = layers[0]
        image = self._image(source)
        if image is None:
            return None
        name = source.text("UVSet")
        wraps = {
            field: GLTF_CLAMP if source.integer(place, 0) else GLTF_REPEAT
            for field, place in (("wrapS", "WrapModeU"), ("wrapT", "WrapModeV"))
            if place in source.own
        }
        return Texture(image, uv_names.index(name) if name in uv_names else 0, MappingProxyType(wraps))

    def _image(self, texture: FbxObject) -> Image | None:
        if texture.number not in self._images:
            videos = texture.sources_of("Video")
            source = videos[0] if videos else texture
            self._images[texture.number] = self._read_image(source, texture)
        return self._images[texture.number]

    def _read_image(self, source: FbxObject, texture: FbxObject) -> Image | None:
        names = [
            o.node.text(field) for o in (source, texture) for field in ("RelativeFilename", "Filename", "FileName")
        ]
        names = [name.replace("\\", "/") for name in names if name]
        name = PurePosixPath(names[0]).name if names else source.name
        data = self._content(source)
        if not data and names:
            data = self._find(names)
        if not data:
            if not name:
                return None
            self.document.note(f"the picture {name[:80]!r} was not found beside the file")
        kind = next((mime for signature, mime in SIGNATURES if data.startswith(signature)), "application/octet-stream")
        return Image(name or "image", kind, data)

    def _content(self, source: FbxObject) -> bytes:
        """The bytes that are embedded: as such in a binary file, as base64 in an ASCII one."""
        node = source.node.first("Content")
        values = [] if node is None else node.properties
        raw = next((value for value in values if isinstance(value, bytes) and value), b"")
        text = "".join(value for value in values if isinstance(value, str))
        if raw or not text:
            return raw
        try:
            return base64.b64decode(text)
        except (binascii.Error, ValueError):
            self.document.note("an embedded picture is damaged and was left out")
            return b""

    def _find(self, names: list[str]) -> bytes:
        """The bytes of the first of some paths that is found in the folder of the file, or by its name there."""
        folder = self.document.path.resolve().parent
        plain = PurePosixPath(names[0]).name
        places = [*names, plain, f"textures/{plain}", f"Textures/{plain}", f"{self.document.path.stem}.fbm/{plain}"]
        for place in places:
            if "\0" in place or place.startswith("/") or ":" in place:
                continue
            try:
                path = (folder / place).resolve()
                if not path.is_relative_to(folder) or not path.is_file():
                    continue
                return files.read_bytes(Path(path), MAX_PICTURE_BYTES)
            except (OSError, ValueError, RuntimeError, FileError):
                continue
        return b""
