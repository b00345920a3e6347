"""Materials as UsdPreviewSurface, and their pictures as files beside the layer or inside the package."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade

from understudy import files
from understudy.character import Image, Material, Texture
from understudy.formats.usd.notes import Notes
from understudy.formats.usd.read_material import WRAPS
from understudy.formats.usd.write_names import Names, show

ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
FOLDER = "textures"
NAMES_OF_WRAPS = {number: name for name, number in reversed(WRAPS.items()) if name != "black"}
Value = Sdf.ValueTypeNames


class Materials:
    """The materials of one character, each written once, and the pictures of the whole file."""

    def __init__(self, stage: Usd.Stage, scope: Sdf.Path, pictures: Pictures) -> None:
        self._stage, self._scope, self.pictures = stage, scope, pictures
        self._names = Names()
        self._written: list[tuple[Material, UsdShade.Material]] = []

    def material(self, material: Material) -> UsdShade.Material:
        """The prim of a material."""
        for known, prim in self._written:
            if known is material or known == material:
                return prim
        if not self._written:
            UsdGeom.Scope.Define(self._stage, self._scope)
        prim = self._author(material)
        self._written.append((material, prim))
        return prim

    def _author(self, material: Material) -> UsdShade.Material:
        path = self._scope.AppendChild(self._names.new(material.name))
        result = UsdShade.Material.Define(self._stage, path)
        show(result.GetPrim(), material.name)
        shader = _Shader(self, path)
        r, g, b, a = material.colour
        shader.feed("diffuseColor", Value.Color3f, (r, g, b), "colour", (r, g, b, a), "rgb", material)
        if material.alpha_mode != "OPAQUE":
            shader.feed("opacity", Value.Float, a, "colour", (r, g, b, a), "a", material)
        if material.alpha_mode == "MASK":
            shader.surface.CreateInput("opacityThreshold", Value.Float).Set(material.alpha_cutoff)
        both = (1.0, material.roughness, material.metallic, 1.0)
        shader.feed("roughness", Value.Float, material.roughness, "metallic_roughness", both, "g", material)
        shader.feed("metallic", Value.Float, material.metallic, "metallic_roughness", both, "b", material)
        glow = material.emissive
        shader.feed("emissiveColor", Value.Color3f, glow, "emissive", (*glow, 1.0), "rgb", material)
        shader.feed("normal", Value.Normal3f, None, "normal", (2.0, 2.0, 2.0, 1.0), "rgb", material)
        shader.feed("occlusion", Value.Float, None, "occlusion", (1.0, 1.0, 1.0, 1.0), "r", material)
        result.CreateSurfaceOutput().ConnectToSource(shader.surface.ConnectableAPI(), "surface")
        if material.extra:
            self.pictures.notes.add(
                "material settings that only another format knows are not written: {}", material.name
            )
        return result


class _Shader:
    """One UsdPreviewSurface and the shaders that feed it."""

    def __init__(self, materials: Materials, path: Sdf.Path) -> None:
        self._materials, self._path = materials, path
        self._textures: dict[str, UsdShade.Shader] = {}
        self.surface = self._define("surface", "UsdPreviewSurface")
        self.surface.CreateOutput("surface", Value.Token)

    def _define(self, name: str, kind: str) -> UsdShade.Shader:
        shader = UsdShade.Shader.Define(self._materials._stage, self._path.AppendChild(name))
        shader.CreateIdAttr(kind)
        return shader

    def feed(
        self, name: str, kind: Any, value: Any, slot: str, scale: tuple[float, ...], output: str, material: Material
    ) -> None:
        """An input of the surface: a plain value, or the texture of a slot times a scale."""
        texture = material.textures.get(slot)
        if texture is not None and not texture.image.data:
            self._materials.pictures.notes.add("pictures that were not found are not written: {}", texture.image.name)
            texture = None
        if texture is None:
            if value is not None:
                self.surface.CreateInput(name, kind).Set(Gf.Vec3f(*value) if isinstance(value, tuple) else value)
            return
        if slot not in self._textures:
            self._textures[slot] = self._texture(slot, texture, scale)
        source = self._textures[slot]
        source.CreateOutput(output, Value.Float3 if output == "rgb" else Value.Float)
        self.surface.CreateInput(name, kind).ConnectToSource(source.ConnectableAPI(), output)

    def _texture(self, slot: str, texture: Texture, scale: tuple[float, ...]) -> UsdShade.Shader:
        shader = self._define(f"{slot}_texture", "UsdUVTexture")
        shader.CreateInput("file", Value.Asset).Set(Sdf.AssetPath(self._materials.pictures.place(texture.image)))
        shader.CreateInput("st", Value.Float2).ConnectToSource(self._reader(texture.uv_set).ConnectableAPI(), "result")
        shader.CreateInput("scale", Value.Float4).Set(Gf.Vec4f(*scale))
        if slot == "normal":
            shader.CreateInput("bias", Value.Float4).Set(Gf.Vec4f(-1, -1, -1, 0))
        space = "sRGB" if slot in ("colour", "emissive") else "raw"
        shader.CreateInput("sourceColorSpace", Value.Token).Set(space)
        for key in ("wrapS", "wrapT"):
            shader.CreateInput(key, Value.Token).Set(NAMES_OF_WRAPS.get(texture.sampler.get(key, 10497), "repeat"))
        return shader

    def _reader(self, uv_set: int) -> UsdShade.Shader:
        name = "st" if uv_set == 0 else f"st{uv_set}"
        if name not in self._textures:
            reader = self._define(f"read_{name}", "UsdPrimvarReader_float2")
            reader.CreateInput("varname", Value.String).Set(name)
            reader.CreateOutput("result", Value.Float2)
            self._textures[name] = reader
        return self._textures[name]


class Pictures:
    """Pictures to be written under `folder`, by the names that the layer calls them."""

    def __init__(self, folder: Path, notes: Notes) -> None:
        self._folder, self.notes = folder, notes
        self.files: dict[str, bytes] = {}

    def place(self, image: Image) -> str:
        """The path of a picture relative to the layer; part of its hash in the name keeps other files as they are."""
        mark = hashlib.sha256(image.data).hexdigest()[:8]
        stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in Path(image.name).stem) or "picture"
        name = f"{FOLDER}/{stem}-{mark}{ENDINGS.get(image.mime, Path(image.name).suffix)}"
        self.files[name] = image.data
        return f"./{name}"

    def write(self) -> None:
        """Write the pictures, each whole; one that is there already is the same, by its hash."""
        for name, data in self.files.items():
            path = self._folder / name
            path.parent.mkdir(exist_ok=True)
            if not path.exists() or path.stat().st_size != len(data):
                with files.written_whole(path) as temporary:
                    temporary.write_bytes(data)
