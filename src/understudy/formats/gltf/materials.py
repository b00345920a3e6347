"""Reading materials, textures and pictures; settings that only glTF has are kept in `extra`."""

from __future__ import annotations

from typing import Any

from understudy.character import Image, Material, Texture
from understudy.errors import BadFile, Unsupported
from understudy.formats.gltf.document import PICTURE_EXTENSIONS, GltfBuffers, GltfDocument
from understudy.formats.gltf.json_object import JsonObject, format_value

KTX2_SIGNATURE = b"\xabKTX 20\xbb\r\n\x1a\n"
# First bytes of a picture -> its media type.
SIGNATURES = (
    *((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"RIFF", "image/webp")),
    (KTX2_SIGNATURE, "image/ktx2"),
)
SAMPLER_FIELDS = ("magFilter", "minFilter", "wrapS", "wrapT")
MAX_EXTENSION_DEPTH = 16  # levels of an extension that are searched for textures; ratified extensions have two
ALPHA_MODES = ("OPAQUE", "MASK", "BLEND")


class GltfMaterials:
    """The materials of a document, each read once."""

    def __init__(self, document: GltfDocument, buffers: GltfBuffers) -> None:
        self.document, self.buffers = document, buffers
        self._materials: dict[int, Material] = {}
        self._images: dict[int, Image] = {}

    def material(self, index: int) -> Material:
        """One material; `index` has been checked."""
        if index not in self._materials:
            self._materials[index] = self._read(self.document.list("materials")[index], index)
        return self._materials[index]

    def _read(self, entry: JsonObject, index: int) -> Material:
        surface = entry.child("pbrMetallicRoughness")
        mode = entry.text("alphaMode", "OPAQUE")
        if mode not in ALPHA_MODES:
            raise entry.bad("alphaMode", f"is {format_value(mode)}, but should be OPAQUE, MASK or BLEND")
        infos = {
            "colour": surface.child("baseColorTexture"),
            "metallic_roughness": surface.child("metallicRoughnessTexture"),
            "normal": entry.child("normalTexture"),
            "occlusion": entry.child("occlusionTexture"),
            "emissive": entry.child("emissiveTexture"),
        }
        textures = {slot: self.texture(info) for slot, info in infos.items() if info.value}
        extra = entry.extra()
        if "extensions" in extra:
            extra["extensions"] = self._resolve_textures(extra["extensions"], (*entry.place, "extensions"))
        return Material(
            name=entry.text("name") or f"material_{index}",
            colour=tuple(surface.numbers("baseColorFactor", 4, (1.0, 1.0, 1.0, 1.0))),
            metallic=surface.number("metallicFactor", 1.0),
            roughness=surface.number("roughnessFactor", 1.0),
            emissive=tuple(entry.numbers("emissiveFactor", 3, (0.0, 0.0, 0.0))),
            alpha_mode=mode,
            alpha_cutoff=entry.number("alphaCutoff", 0.5),
            double_sided=entry.flag("doubleSided"),
            textures={slot: texture for slot, texture in textures.items() if texture is not None},
            extra=extra,
        )

    def _resolve_textures(self, value: Any, place: tuple[str | int, ...]) -> Any:
        """Extension settings with each reference to a texture replaced by the `Texture` itself, so that they travel."""
        if not isinstance(value, dict) or len(place) > MAX_EXTENSION_DEPTH:
            return value
        result = {}
        for key, item in value.items():
            if key.endswith("Texture") and isinstance(item, dict) and "index" in item:
                texture = self.texture(JsonObject(self.document.path, item, (*place, key)))
                if texture is not None:
                    result[key] = texture
            else:
                result[key] = self._resolve_textures(item, (*place, key))
        return result

    def texture(self, info: JsonObject) -> Texture | None:
        """The texture that a texture info (`index`, `texCoord`) names; None where its picture is of no known kind."""
        number = self.document.reference(info, "index", "textures")
        if number is None:
            raise info.bad("index", "is missing, but should name a texture")
        entry = self.document.list("textures")[number]
        source = self._source(entry)
        if source is None:
            self.document.count("textures without a picture of a known kind were left out ({})")
            return None
        at = self.document.reference(entry, "sampler", "samplers")
        sampler = {} if at is None else self.document.list("samplers")[at].value
        kept = {key: sampler[key] for key in SAMPLER_FIELDS if type(sampler.get(key)) is int}
        extra = info.extra()
        for key in ("scale", "strength"):
            if key in info:
                extra[key] = info.number(key)
        return Texture(self.image(source), info.integer("texCoord", 0, below=64), kept, extra)

    def _source(self, texture: JsonObject) -> int | None:
        """The picture of a texture: one that every reader knows before one that an extension names."""
        source = self.document.reference(texture, "source", "images")
        extensions = texture.child("extensions")
        for name in PICTURE_EXTENSIONS:
            if name in extensions:
                other = self.document.reference(extensions.child(name), "source", "images")
                if source is not None and other is not None:
                    self.document.count("pictures that are there in a second format were left out ({})")
                source = other if source is None else source
        return source

    def image(self, index: int) -> Image:
        """One picture, read once; `index` has been checked."""
        if index not in self._images:
            self._images[index] = self._read_image(self.document.list("images")[index], index)
        return self._images[index]

    def _read_image(self, entry: JsonObject, index: int) -> Image:
        name, mime = entry.text("name"), entry.text("mimeType")
        uri = entry.text("uri", default=None)
        if uri is None:
            view = self.document.reference(entry, "bufferView", "bufferViews")
            if view is None:
                raise entry.bad("", "should have a uri or a bufferView")
            content = self.buffers.view(view)[0]
            self.document.take(len(content), entry.place)
            data = bytes(content)
        else:
            name = name or ("" if uri.startswith("data:") else uri)
            try:
                data = self.buffers.fetch(uri, entry)
            except (BadFile, Unsupported) as error:
                self.document.note(f"picture {format_value(uri)} was left out: {error.reason}")
                data = b""
        if data.startswith(KTX2_SIGNATURE):
            self.document.count("pictures in KTX2 are kept as they are, but not drawn in pictures and films ({})")
        actual = next((kind for signature, kind in SIGNATURES if data.startswith(signature)), "")
        return Image(name or f"image_{index}", actual or mime or "application/octet-stream", data)
