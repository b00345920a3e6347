"""Reading materials: UsdPreviewSurface and its textures, bound to a mesh or to subsets of its faces.

Pictures are read from inside the package (`.usdz`) or from files in the layer's folder, never from elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pxr import Ar, UsdGeom, UsdShade

from understudy import files
from understudy.character import Image, Material, Texture
from understudy.checks import Array
from understudy.errors import FileError
from understudy.formats.usd.context import ReadContext, name_of

MIMES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}

# glTF's numbers, as our materials keep them.
GLTF_WRAP_CODES = {"repeat": 10497, "clamp": 33071, "mirror": 33648, "black": 33071}


def materials_of_mesh(
    reading: ReadContext, mesh: UsdGeom.Mesh, face_of: Array, face_count: int, uv_names: list[str]
) -> tuple[tuple[Material, ...], Array | None]:
    """The materials of a mesh, and (T,) which triangle has which; None where all have the first."""
    prim = mesh.GetPrim()
    double_sided = bool(mesh.GetDoubleSidedAttr().Get())
    binding = UsdShade.MaterialBindingAPI(prim)
    base = binding.ComputeBoundMaterial()[0]
    materials: list[Material] = []
    of_face = np.full(face_count, -1)
    for subset in binding.GetMaterialBindSubsets():
        bound = UsdShade.MaterialBindingAPI(subset.GetPrim()).ComputeBoundMaterial()[0]
        faces = reading.array(subset.GetIndicesAttr(), None, kind="int")
        if not bound or faces is None or str(subset.GetElementTypeAttr().Get()) != "face":
            continue
        if faces.size and (faces.min() < 0 or faces.max() >= face_count):
            raise reading.bad(subset.GetPrim(), f"indices should lie between 0 and {face_count - 1}")
        of_face[faces] = len(materials)
        materials.append(_material(reading, bound, double_sided, uv_names))
    rest = of_face < 0
    if base and (rest.any() or not materials):
        of_face[rest] = len(materials)
        materials.append(_material(reading, base, double_sided, uv_names))
    elif materials and rest.any():
        of_face[rest] = len(materials)
        materials.append(Material(double_sided=double_sided))
    if len(materials) < 2:
        return tuple(materials), None
    return tuple(materials), of_face[face_of]


def _material(reading: ReadContext, material: UsdShade.Material, double_sided: bool, uv_names: list[str]) -> Material:
    key = (str(material.GetPath()), double_sided, tuple(uv_names))
    if key not in reading.materials:
        reading.materials[key] = _preview(reading, material, double_sided, uv_names)
    return reading.materials[key]


def _preview(reading: ReadContext, material: UsdShade.Material, double_sided: bool, uv_names: list[str]) -> Material:
    name = name_of(material.GetPrim())
    shader = material.ComputeSurfaceSource()[0]
    if not shader or shader.GetShaderId() != "UsdPreviewSurface":
        reading.note("of materials that are not a UsdPreviewSurface only the name is read: {}", name)
        return Material(name=name, double_sided=double_sided)
    textures: dict[str, Texture] = {}

    def factor(source: str, default: Any, slot: str | None) -> Any:
        """The value of an input, or the scale of the texture that feeds it; the texture goes into its slot."""
        value, feeder = _source(shader, source)
        if feeder is None:
            return _numbers(value, default)
        texture, scale = _texture(reading, feeder, uv_names)
        if slot is not None and texture is not None and textures.setdefault(slot, texture).image != texture.image:
            reading.note("of separate textures for metallic and roughness one was dropped: {}", name)
        return scale if isinstance(default, tuple) else scale[_channel(shader, source)]

    diffuse = factor("diffuseColor", (0.18, 0.18, 0.18), "colour")
    opacity = float(factor("opacity", 1.0, None))
    threshold = float(_numbers(_source(shader, "opacityThreshold")[0], 0.0))
    see_through = opacity < 1 or _source(shader, "opacity")[1] is not None
    metallic = float(factor("metallic", 0.0, "metallic_roughness"))
    roughness = float(factor("roughness", 0.5, "metallic_roughness"))
    emissive = factor("emissiveColor", (0.0, 0.0, 0.0), "emissive")
    factor("normal", (0.0, 0.0, 1.0), "normal")
    factor("occlusion", 1.0, "occlusion")
    return Material(
        name=name,
        colour=(float(diffuse[0]), float(diffuse[1]), float(diffuse[2]), opacity),
        metallic=metallic,
        roughness=roughness,
        emissive=(float(emissive[0]), float(emissive[1]), float(emissive[2])),
        alpha_mode="MASK" if threshold > 0 else "BLEND" if see_through else "OPAQUE",
        alpha_cutoff=threshold if threshold > 0 else 0.5,
        double_sided=double_sided,
        textures=textures,
    )


def _source(shader: UsdShade.Shader, name: str) -> tuple[Any, UsdShade.Shader | None]:
    """The plain value of an input, or the shader that feeds it."""
    given = shader.GetInput(name)
    if not given:
        return None, None
    for attribute in given.GetValueProducingAttributes():
        if str(attribute.GetName()).startswith("outputs:"):
            return None, UsdShade.Shader(attribute.GetPrim())
        return attribute.Get(), None
    return None, None


def _numbers(value: Any, default: Any) -> Any:
    """A number or a tuple of numbers like the default; the default where the value is something else."""
    try:
        numbers = np.array(value, np.float64)
    except (TypeError, ValueError):
        return default
    if numbers.shape != np.shape(default) or not np.isfinite(numbers).all():
        return default
    return tuple(map(float, numbers)) if numbers.ndim else float(numbers)


def _channel(shader: UsdShade.Shader, name: str) -> int:
    """Which of a texture's channels feeds an input."""
    for attribute in shader.GetInput(name).GetValueProducingAttributes():
        return {"outputs:r": 0, "outputs:g": 1, "outputs:b": 2, "outputs:a": 3}.get(str(attribute.GetName()), 0)
    return 0


def _texture(
    reading: ReadContext, shader: UsdShade.Shader, uv_names: list[str]
) -> tuple[Texture | None, tuple[float, ...]]:
    """The texture of a UsdUVTexture, and the factors (r, g, b, a) by which it is multiplied."""
    white = (1.0, 1.0, 1.0, 1.0)
    if not shader or shader.GetShaderId() != "UsdUVTexture":
        reading.note("a material input that is neither a value nor a UsdUVTexture was dropped")
        return None, white
    file = _source(shader, "file")[0]
    image = load_image(reading, file) if file is not None and hasattr(file, "path") else None
    if image is None:
        return None, white
    scale = _source(shader, "scale")[0]
    wraps = {key: _source(shader, key)[0] for key in ("wrapS", "wrapT")}
    sampler = {key: GLTF_WRAP_CODES[str(value)] for key, value in wraps.items() if str(value) in GLTF_WRAP_CODES}
    uv = _uv_name(shader)
    return (
        Texture(image, uv_names.index(uv) if uv in uv_names else 0, sampler),
        _numbers(scale, white),
    )


def _uv_name(shader: UsdShade.Shader) -> str:
    """The primvar that holds a texture's UVs, followed through a transform of the UVs."""
    feeder = _source(shader, "st")[1]
    if feeder is not None and feeder.GetShaderId() == "UsdTransform2d":
        feeder = _source(feeder, "in")[1]
    return "st" if feeder is None else str(_source(feeder, "varname")[0] or "st")


def load_image(reading: ReadContext, asset: Any) -> Image | None:
    """The picture of an asset path; without bytes where it cannot be read, None where the path is empty."""
    given = str(asset.path)
    if not given:
        return None
    if given not in reading.images:
        reading.images[given] = _read_image(reading, given, str(asset.resolvedPath))
    return reading.images[given]


def _read_image(reading: ReadContext, given: str, resolved: str) -> Image:
    name = given.replace("\\", "/").rsplit("/", 1)[-1].rstrip("]")
    mime = MIMES.get(Path(name).suffix.lower(), "application/octet-stream")
    package, bracket, _ = resolved.partition("[")
    place = Path(package if bracket else resolved)
    folder = reading.path.resolve().parent
    if not resolved or not place.is_file():
        reading.note("pictures were not found: {}", given)
    elif not place.resolve().is_relative_to(folder):
        reading.note(f"picture {given} lies outside the file's folder and was not read")
    else:
        data = _read_packed_file(reading, resolved) if bracket else _read_plain_file(reading, place)
        if data is not None:
            return Image(name, mime, data)
    return Image(given, mime, b"")


def _read_plain_file(reading: ReadContext, place: Path) -> bytes | None:
    try:
        return files.read_bytes(place)
    except FileError as error:
        reading.note(f"picture {place.name} {error.reason}")
        return None


def _read_packed_file(reading: ReadContext, resolved: str) -> bytes | None:
    asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(resolved))
    if not asset:
        reading.note(f"picture {resolved.partition('[')[2].rstrip(']')} cannot be read from the package")
        return None
    return bytes(asset.GetBuffer())
