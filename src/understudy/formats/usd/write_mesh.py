"""Mesh prims: points, triangles, normals, UVs, colours and the skin that binds them."""

from __future__ import annotations

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt

from understudy.character import Mesh, Skin
from understudy.checks import Array
from understudy.formats.usd.notes import Notes
from understudy.formats.usd.write_joints import Bound, Plan
from understudy.formats.usd.write_material import Materials
from understudy.formats.usd.write_names import Names

METHODS = {"linear": "classicLinear", "dual": "dualQuaternion"}


def author(stage: Usd.Stage, path: str, mesh: Mesh, materials: Materials, notes: Notes) -> UsdGeom.Mesh:
    """The surface itself."""
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


def bind(mesh: UsdGeom.Mesh, skin: Skin, bound: Bound, plan: Plan, skeleton: UsdSkel.Skeleton) -> None:
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
        binding.CreateSkinningMethodAttr(METHODS[skin.method])


def _bind_materials(result: UsdGeom.Mesh, mesh: Mesh, materials: Materials) -> None:
    if not mesh.materials:
        return
    prim = result.GetPrim()
    binding = UsdShade.MaterialBindingAPI.Apply(prim)
    used = np.zeros(1, np.int64) if mesh.material_of is None else np.unique(mesh.material_of)
    if len(used) <= 1:
        binding.Bind(materials.material(mesh.materials[int(used[0]) if len(used) else 0]))
        return
    assert mesh.material_of is not None  # otherwise only the first material is used
    names = Names()
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
