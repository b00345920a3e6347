"""A Mesh prim: points, polygons as triangles, and what is painted on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom

from understudy.character import Material, Mesh, Shapes
from understudy.checks import Array
from understudy.formats.polygons import fans
from understudy.formats.usd import read_material
from understudy.formats.usd.reading import EARLIEST, Reading, name_of


@dataclass
class Faces:
    """Polygons cut into triangles: `corners` point into the file's list of face vertices."""

    corners: Array  # (T, 3)
    triangles: Array  # (T, 3) vertex numbers
    face_of: Array  # (T,) the polygon each triangle comes from
    face_count: int
    corner_count: int
    vertex_count: int


def read(reading: Reading, prim: Usd.Prim, shapes: Shapes | None, vertices: Array) -> Mesh:
    """The mesh of a prim whose points (`vertices`) and shapes were read already."""
    mesh = UsdGeom.Mesh(prim)
    faces = _faces(reading, mesh, vertices)
    scheme = mesh.GetSubdivisionSchemeAttr().Get()
    if scheme not in (None, "none"):
        reading.note("subdivision surfaces are read as their cages: {}", prim.GetName())
    normals = _painted(reading, faces, *_normals_source(mesh), 3, "normals")
    uvs, uv_names = _uvs(reading, prim, faces)
    materials, material_of = read_material.of_mesh(reading, mesh, faces.face_of, faces.face_count, uv_names)
    colours = _colours(reading, prim, faces)
    if colours is not None and not materials and (colours == colours[:1]).all() and colours.ndim == 2:
        # one colour for the whole mesh and no material says how the surface looks: that is a material
        materials, material_of = (Material(name="displayColor", colour=tuple(map(float, colours[0]))),), None  # type: ignore[arg-type]
        colours = None
    name = prim.GetCustomDataByKey("understudy:mesh")
    return Mesh(
        name if isinstance(name, str) and name else name_of(prim),
        vertices,
        faces.triangles,
        None if normals is None else reading.frame.directions(normals),
        uvs,
        colours,
        materials,
        material_of,
        shapes,
    )


def points(reading: Reading, prim: Usd.Prim) -> Array | None:
    """(V, 3) the points at rest, in metres; None where there are none."""
    attribute = UsdGeom.Mesh(prim).GetPointsAttr()
    found = reading.array(attribute, 3)
    if attribute and attribute.GetNumTimeSamples() > 1:
        reading.note("points that move by themselves are read as they first stand: {}", prim.GetName())
    return None if found is None or not len(found) else reading.frame.points(found)


def _faces(reading: Reading, mesh: UsdGeom.Mesh, points: Array) -> Faces:
    prim, vertex_count = mesh.GetPrim(), len(points)
    counts = reading.array(mesh.GetFaceVertexCountsAttr(), None, kind="int")
    indices = reading.array(mesh.GetFaceVertexIndicesAttr(), None, kind="int")
    counts = np.zeros(0, np.int64) if counts is None else counts
    indices = np.zeros(0, np.int64) if indices is None else indices
    if (counts.size and counts.min() < 0) or counts.sum() != len(indices):
        raise reading.bad(
            prim, f"faceVertexCounts should sum to the {len(indices)} faceVertexIndices, but sum to {counts.sum()}"
        )
    if indices.size and (indices.min() < 0 or indices.max() >= vertex_count):
        wrong = indices[(indices < 0) | (indices >= vertex_count)][0]
        raise reading.bad(prim, f"faceVertexIndices should lie between 0 and {vertex_count - 1}, but hold {wrong}")
    reading.take(prim, 6 * len(indices))
    corners, face_of, folded = fans(points, indices, counts)
    if (counts > 3).any():
        reading.note("polygons were cut into triangles: {}", prim.GetName())
    if folded:
        reading.note("polygons that no fan of triangles covers may show folds: {}", prim.GetName())
    holes = reading.array(mesh.GetHoleIndicesAttr(), None, kind="int")
    if holes is not None and holes.size:
        seen = ~np.isin(face_of, holes)
        corners, face_of = corners[seen], face_of[seen]
        reading.note("faces that are holes were left out: {}", prim.GetName())
    if mesh.GetOrientationAttr().Get() == "leftHanded":
        corners = corners[:, [0, 2, 1]]
    return Faces(corners, indices[corners], face_of, len(counts), len(indices), vertex_count)


def _normals_source(mesh: UsdGeom.Mesh) -> tuple[Any, str, Any]:
    """Attribute, interpolation and indices; a primvar of that name has precedence over the plain attribute."""
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
    if primvar and primvar.HasAuthoredValue():
        return primvar.GetAttr(), primvar.GetInterpolation(), primvar.GetIndicesAttr()
    return mesh.GetNormalsAttr(), mesh.GetNormalsInterpolation(), None


def _painted(
    reading: Reading, faces: Faces, attribute: Any, interpolation: str, index_attribute: Any, width: int, what: str
) -> Array | None:
    """(V, width) or, where corners differ, (T, 3, width); None where absent or of the wrong length (with a note)."""
    values = reading.array(attribute, None if width == 1 else width, finite=False)
    if values is None:
        return None
    values = values.reshape(-1, width)
    indices = reading.array(index_attribute, None, kind="int") if index_attribute else None
    prim = attribute.GetPrim()
    if indices is not None:
        if indices.size and (indices.min() < 0 or indices.max() >= len(values)):
            raise reading.bad(prim, f"the indices of {what} should lie between 0 and {len(values) - 1}")
        reading.take(prim, width * len(indices))
        values = values[indices]
    expected = {
        "constant": 1,
        "uniform": faces.face_count,
        "vertex": faces.vertex_count,
        "varying": faces.vertex_count,
        "faceVarying": faces.corner_count,
    }.get(interpolation)
    if len(values) != expected or not np.isfinite(values).all():
        if len(values):
            reading.note(f"{what} that do not fit their mesh were dropped: {{}}", prim.GetName())
        return None
    reading.take(prim, width * max(len(faces.corners) * 3, faces.vertex_count))
    if interpolation == "constant":
        return np.repeat(values, faces.vertex_count, axis=0)
    if interpolation == "uniform":
        return np.repeat(values[faces.face_of][:, None], 3, axis=1)
    return values[faces.corners] if interpolation == "faceVarying" else values


def _primvar(reading: Reading, prim: Usd.Prim, faces: Faces, name: str, width: int) -> Array | None:
    primvar = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance(name)
    if not primvar or not primvar.HasAuthoredValue():
        return None
    return _painted(
        reading, faces, primvar.GetAttr(), primvar.GetInterpolation(), primvar.GetIndicesAttr(), width, name
    )


def _uvs(reading: Reading, prim: Usd.Prim, faces: Faces) -> tuple[list[Array], list[str]]:
    """The UV sets, `st` first, v turned downwards as in glTF; and the names of their primvars."""
    found = []
    for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithAuthoredValues():
        kind = str(primvar.GetTypeName())
        name = str(primvar.GetPrimvarName())
        if kind.startswith("texCoord2") or (kind == "float2[]" and name.lower().startswith(("st", "uv", "map"))):
            found.append(name)
    found.sort(key=lambda name: (name != "st", name))
    uvs, names = [], []
    for name in found:
        values = _primvar(reading, prim, faces, name, 2)
        if values is not None:
            uvs.append(np.stack([values[..., 0], 1 - values[..., 1]], axis=-1))
            names.append(name)
    return uvs, names


def _colours(reading: Reading, prim: Usd.Prim, faces: Faces) -> Array | None:
    """(V, 4) or (T, 3, 4) of displayColor and displayOpacity; None where neither is given."""
    colour = _primvar(reading, prim, faces, "displayColor", 3)
    opacity = _primvar(reading, prim, faces, "displayOpacity", 1)
    if colour is None:
        return None
    if opacity is None:
        opacity = np.ones((*colour.shape[:-1], 1))
    if opacity.ndim != colour.ndim:
        spread = faces.triangles
        colour = colour[spread] if colour.ndim == 2 else colour
        opacity = opacity[spread] if opacity.ndim == 2 else opacity
    return np.concatenate([colour, opacity], axis=-1)


def is_visible(reading: Reading, prim: Usd.Prim) -> bool:
    """Whether a mesh is meant to be seen; the others are noted."""
    imageable = UsdGeom.Imageable(prim)
    purpose = str(imageable.ComputePurpose())
    if purpose in ("guide", "proxy"):
        reading.note(f"meshes of purpose {purpose} were left out: {{}}", prim.GetName())
        return False
    if imageable.ComputeVisibility(EARLIEST) == "invisible":
        reading.note("invisible meshes were left out: {}", prim.GetName())
        return False
    return True
