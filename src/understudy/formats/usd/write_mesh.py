"""Writing Mesh prims, the BlendShape prims below them, and their materials.

**Meshes.** Points, triangles, normals, UVs, colours and the skin that binds them.

**Blend shapes.** One prim for each shape of a mesh, sparse, with in-betweens.

**Materials** become UsdPreviewSurface, their pictures files beside the layer or inside the package.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt

from understudy import files
from understudy.character import Image, Material, Mesh, Shapes, SkinBinding, Texture
from understudy.checks import Array
from understudy.formats.conventions import Notes
from understudy.formats.usd.read_material import GLTF_WRAP_CODES
from understudy.formats.usd.splines import PrimNames, set_display_name
from understudy.formats.usd.write_joints import BindPose, JointPlan

ENDING_PER_IMAGE_TYPE = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
TEXTURE_FOLDER = "textures"
WRAP_NAMES = {number: name for name, number in reversed(GLTF_WRAP_CODES.items()) if name != "black"}

SKINNING_TOKENS = {"linear": "classicLinear", "dual": "dualQuaternion"}
Value = Sdf.ValueTypeNames


def author_mesh(stage: Usd.Stage, path: str, mesh: Mesh, materials: UsdMaterials, notes: Notes) -> UsdGeom.Mesh:
    """A Mesh prim with points, triangles, normals, UVs, colours and materials; `bind_mesh` adds the skin."""
    result = UsdGeom.Mesh.Define(stage, path)
    points = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(mesh.vertices))
    result.CreatePointsAttr(points)
    result.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(points))
    result.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(mesh.triangles), 3, np.int32)))
    result.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.triangles.reshape(-1))))
    result.CreateSubdivisionSchemeAttr("none")
    result.CreateDoubleSidedAttr(any(material.double_sided for material in mesh.materials))
    if mesh.normals is not None:
        result.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(_rows(mesh.normals)))
        result.SetNormalsInterpolation(_interpolation(mesh.normals))
    primvars = UsdGeom.PrimvarsAPI(result)
    for number, uv in enumerate(mesh.uvs):
        name = "st" if number == 0 else f"st{number}"
        primvar = primvars.CreatePrimvar(name, Sdf.ValueTypeNames.TexCoord2fArray, _interpolation(uv))
        primvar.Set(Vt.Vec2fArray.FromNumpy(_rows(np.stack([uv[..., 0], 1 - uv[..., 1]], axis=-1))))
    if mesh.colours is not None:
        colour = result.CreateDisplayColorPrimvar(_interpolation(mesh.colours))
        colour.Set(Vt.Vec3fArray.FromNumpy(_rows(mesh.colours[..., :3])))
        if (mesh.colours[..., 3] != 1).any():
            opacity = result.CreateDisplayOpacityPrimvar(_interpolation(mesh.colours))
            opacity.Set(Vt.FloatArray.FromNumpy(np.ascontiguousarray(mesh.colours[..., 3].reshape(-1))))
    if mesh.tangents is not None:
        notes.add("tangents of meshes are not written: USD computes them from the UVs")
    _bind_materials(result, mesh, materials)
    return result


def bind_mesh(
    mesh: UsdGeom.Mesh, skin: SkinBinding, bound: BindPose, plan: JointPlan, skeleton: UsdSkel.Skeleton
) -> None:
    """The skin: influences, weights and the joints that they refer to."""
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointsAttr(Vt.TokenArray([plan.paths[place] for place in bound.places]))
    influences = skin.weights.shape[1]
    indices, weights = skin.influences, skin.weights
    if skin.is_rigid:
        indices, weights = np.zeros((1, 1), np.int32), np.ones((1, 1), np.float32)
    binding.CreateJointIndicesPrimvar(skin.is_rigid, influences).Set(Vt.IntArray.FromNumpy(_rows(indices).reshape(-1)))
    shares = binding.CreateJointWeightsPrimvar(skin.is_rigid, influences)
    shares.Set(Vt.FloatArray.FromNumpy(_rows(weights).reshape(-1)))
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(*(float(x) for x in bound.geometry.T.reshape(-1))))
    if skin.method != "linear":
        binding.CreateSkinningMethodAttr(SKINNING_TOKENS[skin.method])


def _bind_materials(result: UsdGeom.Mesh, mesh: Mesh, materials: UsdMaterials) -> None:
    if not mesh.materials:
        return
    prim = result.GetPrim()
    binding = UsdShade.MaterialBindingAPI.Apply(prim)
    used = np.zeros(1, np.int64) if mesh.material_of is None else np.unique(mesh.material_of)
    if len(used) <= 1:
        binding.Bind(materials.material(mesh.materials[int(used[0]) if len(used) else 0]))
        return
    assert mesh.material_of is not None  # otherwise only the first material is used
    names = PrimNames()
    for number in used:
        material = mesh.materials[int(number)]
        faces = np.flatnonzero(mesh.material_of == number).astype(np.int32)
        subset = binding.CreateMaterialBindSubset(names.new(material.name), Vt.IntArray.FromNumpy(faces), "face")
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(materials.material(material))
    binding.SetMaterialBindSubsetsFamilyType("partition")


def _interpolation(value: Array) -> str:
    return str(UsdGeom.Tokens.faceVarying if value.ndim == 3 else UsdGeom.Tokens.vertex)


def _rows(value: Array) -> Array:
    """(N, width), one row for each vertex or corner."""
    return np.ascontiguousarray(value.reshape(-1, value.shape[-1]))


def name_tokens(shapes: dict[str, tuple[str, ...]]) -> dict[tuple[str, str], str]:
    """For each (part, shape) a name of its own: the shape's, and with the part's before it where two parts share it."""
    owners: dict[str, int] = {}
    for names in shapes.values():
        for name in names:
            owners[name] = owners.get(name, 0) + 1
    result: dict[tuple[str, str], str] = {}
    used = {name for name, count in owners.items() if count == 1}
    for part, names in shapes.items():
        for name in names:
            token = name
            while owners[name] > 1 and (token == name or token in used):
                token = f"{part}_{name}" if token == name else f"{token}_"
            used.add(token)
            result[part, name] = token
    return result


def author_shapes(stage: Usd.Stage, mesh: Usd.Prim, shapes: Shapes, tokens: list[str]) -> None:
    """Write the shapes below a mesh and bind them; `tokens` (S,) are the names by which animations drive them."""
    names, paths = PrimNames(), []
    for number, name in enumerate(shapes.names):
        shape = UsdSkel.BlendShape.Define(stage, mesh.GetPath().AppendChild(names.new(name)))
        if tokens[number] != name:
            shape.GetPrim().SetDisplayName(name)
        _author_shape(shape, shapes, number)
        paths.append(shape.GetPath())
    binding = UsdSkel.BindingAPI(mesh)
    binding.CreateBlendShapesAttr(Vt.TokenArray(tokens))
    binding.CreateBlendShapeTargetsRel().SetTargets(paths)
    if shapes.defaults.any():
        mesh.SetCustomDataByKey("understudy:defaultWeights", Vt.DoubleArray([float(w) for w in shapes.defaults]))


def _author_shape(shape: UsdSkel.BlendShape, shapes: Shapes, number: int) -> None:
    targets = np.flatnonzero(shapes.shape_of == number)
    moved = (shapes.deltas[targets] != 0).any(axis=(0, 2))
    if shapes.normals is not None:
        moved |= (shapes.normals[targets] != 0).any(axis=(0, 2))
    where = np.flatnonzero(moved)
    if not where.size:
        where = np.zeros(1, np.int64)  # without indices, USD expects an offset for every point
    shape.CreatePointIndicesAttr(Vt.IntArray.FromNumpy(where.astype(np.int32)))
    shape.CreateOffsetsAttr(_vectors(_offsets_at_one(shapes, number, shapes.deltas), where))
    if shapes.normals is not None:
        shape.CreateNormalOffsetsAttr(_vectors(_offsets_at_one(shapes, number, shapes.normals), where))
    names = PrimNames()
    for target in targets[shapes.stop_of[targets] != 1]:
        between = shape.CreateInbetween(names.new(f"at_{shapes.stop_of[target]:g}"))
        between.SetOffsets(_vectors(shapes.deltas[target], where))
        between.SetWeight(float(shapes.stop_of[target]))
        if shapes.normals is not None:
            between.CreateNormalOffsetsAttr(_vectors(shapes.normals[target], where))


def _offsets_at_one(shapes: Shapes, number: int, deltas: Array) -> Array:
    """(V, 3) the shape at weight 1, which USD requires: its target, or interpolated between its neighbours."""
    weights = np.zeros((1, len(shapes)))
    weights[0, number] = 1.0
    share = shapes.target_weights(weights)[0]
    used = np.flatnonzero(share)
    return np.einsum("p,pvc->vc", share[used], deltas[used])


def _vectors(value: Array, where: Array) -> Vt.Vec3fArray:
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(value[where], np.float32))


class UsdMaterials:
    """The materials of one character, each written once, and the pictures of the whole file."""

    def __init__(self, stage: Usd.Stage, scope: Sdf.Path, pictures: Pictures) -> None:
        self._stage, self._scope, self.pictures = stage, scope, pictures
        self._names = PrimNames()
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
        set_display_name(result.GetPrim(), material.name)
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

    def __init__(self, materials: UsdMaterials, path: Sdf.Path) -> None:
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
            shader.CreateInput(key, Value.Token).Set(WRAP_NAMES.get(texture.sampler.get(key, 10497), "repeat"))
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
        """The path of a picture relative to the layer; part of its hash in the name avoids overwriting other files."""
        mark = hashlib.sha256(image.data).hexdigest()[:8]
        stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in Path(image.name).stem) or "picture"
        name = f"{TEXTURE_FOLDER}/{stem}-{mark}{ENDING_PER_IMAGE_TYPE.get(image.mime, Path(image.name).suffix)}"
        self.files[name] = image.data
        return f"./{name}"

    def write(self) -> None:
        """Write the pictures, each whole; an existing file of that name and size has the same hash and is kept."""
        for name, data in self.files.items():
            path = self._folder / name
            path.parent.mkdir(exist_ok=True)
            if not path.exists() or path.stat().st_size != len(data):
                with files.write_atomically(path) as temporary:
                    temporary.write_bytes(data)
