"""Reading Mesh prims and the BlendShape prims bound to them.

**Meshes.** Points, polygons as triangles, normals, UVs and colours.

**Blend shapes.** Sparse offsets, in-betweens and normal offsets to the dense shapes of a mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from understudy.character import Material, Mesh, Shapes
from understudy.character.mesh import fans
from understudy.checks import Array
from understudy.formats.usd import read_material
from understudy.formats.usd.context import EARLIEST, ReadContext, name_of


@dataclass
class Faces:
    """Polygons cut into triangles: `corners` point into the file's list of face vertices."""

    corners: Array  # (T, 3)
    triangles: Array  # (T, 3) vertex numbers
    face_of: Array  # (T,) the polygon each triangle comes from
    face_count: int
    corner_count: int
    vertex_count: int


@dataclass
class Targets:
    """The shapes of a mesh, and the names by which animations refer to them."""

    shapes: Shapes
    tokens: tuple[str, ...]  # (S,)


def is_visible(reading: ReadContext, prim: Usd.Prim) -> bool:
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


def points(reading: ReadContext, prim: Usd.Prim) -> Array | None:
    """(V, 3) the points at rest, in metres; None where there are none."""
    attribute = UsdGeom.Mesh(prim).GetPointsAttr()
    values = reading.array(attribute, 3)
    if attribute and attribute.GetNumTimeSamples() > 1:
        reading.note("points that move by themselves are read as they first stand: {}", prim.GetName())
    return None if values is None or not len(values) else reading.frame.points(values)


def load_mesh(reading: ReadContext, prim: Usd.Prim, shapes: Shapes | None, vertices: Array) -> Mesh:
    """The mesh of a prim whose points (`vertices`) and shapes were read already."""
    mesh = UsdGeom.Mesh(prim)
    faces = _faces(reading, mesh, vertices)
    scheme = mesh.GetSubdivisionSchemeAttr().Get()
    if scheme not in (None, "none"):
        reading.note("subdivision surfaces are read as their cages: {}", prim.GetName())
    normals = _expand_values(reading, faces, *_normals_source(mesh), 3, "normals")
    uvs, uv_names = _uvs(reading, prim, faces)
    materials, material_of = read_material.materials_of_mesh(reading, mesh, faces.face_of, faces.face_count, uv_names)
    colours = _colours(reading, prim, faces)
    if colours is not None and not materials and (colours == colours[:1]).all() and colours.ndim == 2:
        # one colour for the whole mesh and no material: the colour is the material
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


def _faces(reading: ReadContext, mesh: UsdGeom.Mesh, points: Array) -> Faces:
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


def _expand_values(
    reading: ReadContext, faces: Faces, attribute: Any, interpolation: str, index_attribute: Any, width: int, what: str
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


def _primvar(reading: ReadContext, prim: Usd.Prim, faces: Faces, name: str, width: int) -> Array | None:
    primvar = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance(name)
    if not primvar or not primvar.HasAuthoredValue():
        return None
    return _expand_values(
        reading, faces, primvar.GetAttr(), primvar.GetInterpolation(), primvar.GetIndicesAttr(), width, name
    )


def _uvs(reading: ReadContext, prim: Usd.Prim, faces: Faces) -> tuple[list[Array], list[str]]:
    """The UV sets, `st` first, v turned downwards as in glTF; and the names of their primvars."""
    candidates = []
    for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithAuthoredValues():
        kind = str(primvar.GetTypeName())
        name = str(primvar.GetPrimvarName())
        if kind.startswith("texCoord2") or (kind == "float2[]" and name.lower().startswith(("st", "uv", "map"))):
            candidates.append(name)
    candidates.sort(key=lambda name: (name != "st", name))
    uvs, names = [], []
    for name in candidates:
        values = _primvar(reading, prim, faces, name, 2)
        if values is not None:
            uvs.append(np.stack([values[..., 0], 1 - values[..., 1]], axis=-1))
            names.append(name)
    return uvs, names


def _colours(reading: ReadContext, prim: Usd.Prim, faces: Faces) -> Array | None:
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


def load_targets(reading: ReadContext, prim: Usd.Prim, vertex_count: int) -> Targets | None:
    """The blend shapes bound to a mesh; None where there are none."""
    binding = UsdSkel.BindingAPI(prim)
    tokens = reading.tokens(binding.GetBlendShapesAttr()) or ()
    relation = binding.GetBlendShapeTargetsRel()
    paths = relation.GetTargets() if relation else []
    if len(tokens) != len(paths):
        raise reading.bad(prim, f"has {len(tokens)} blendShapes but {len(paths)} blendShapeTargets; expected one each")
    names: list[str] = []
    used: list[str] = []
    deltas, normals, shape_of, stop_of = [], [], [], []
    for token, path in zip(tokens, paths):
        shape = UsdSkel.BlendShape(prim.GetStage().GetPrimAtPath(path))
        if not shape:
            reading.note(f"blend shape {token} of mesh {prim.GetName()} is missing")
            continue
        for stop, offsets, normal in _targets(reading, shape, vertex_count):
            shape_of.append(len(names))
            stop_of.append(stop)
            deltas.append(offsets)
            normals.append(normal)
        names.append(str(shape.GetPrim().GetDisplayName() or token))
        used.append(token)
    if not names:
        return None
    with_normals = any(normal is not None for normal in normals)
    if with_normals:
        reading.take(prim, 3 * vertex_count * len(normals))
    zero = np.zeros((vertex_count, 3), np.float32)
    shapes = Shapes(
        reading.distinct(names, "shape"),
        np.stack(deltas),
        np.stack([zero if normal is None else normal for normal in normals]) if with_normals else None,
        _defaults(reading, prim, len(tokens), len(names)),
        shape_of,
        stop_of,
    )
    return Targets(shapes, tuple(used))


def _defaults(reading: ReadContext, prim: Usd.Prim, tokens: int, shapes: int) -> Array | None:
    """The default weights, which USD itself does not have; our writer keeps them in the mesh's customData."""
    weights = reading.custom(prim, "defaultWeights", np.float64)
    return weights if weights is not None and tokens == shapes and len(weights) == shapes else None


def _targets(
    reading: ReadContext, shape: UsdSkel.BlendShape, vertex_count: int
) -> list[tuple[float, Array, Array | None]]:
    """(stop, offsets (V, 3), normal offsets (V, 3) or None) of the shape itself at 1 and of each in-between."""
    prim = shape.GetPrim()
    where = reading.array(shape.GetPointIndicesAttr(), None, kind="int")
    if where is not None and not len(where):
        where = None
    if where is not None and (where.min() < 0 or where.max() >= vertex_count):
        wrong = where[(where < 0) | (where >= vertex_count)][0]
        raise reading.bad(prim, f"pointIndices should lie between 0 and {vertex_count - 1}, but hold {wrong}")

    def dense(attribute: Usd.Attribute, is_direction: bool) -> Array | None:
        values = reading.array(attribute, 3)
        if values is None or not len(values):
            return None
        expected = vertex_count if where is None else len(where)
        if len(values) != expected:
            raise reading.bad(prim, f"{attribute.GetName()} should hold {expected} vectors, but holds {len(values)}")
        reading.take(prim, 3 * vertex_count)
        values = reading.frame.directions(values) if is_direction else reading.frame.points(values)
        result = np.zeros((vertex_count, 3), np.float32)
        result[slice(None) if where is None else where] = values
        return result

    offsets = dense(shape.GetOffsetsAttr(), False)
    if offsets is None:
        offsets = np.zeros((vertex_count, 3), np.float32)
    result = [(1.0, offsets, dense(shape.GetNormalOffsetsAttr(), True))]
    stops = {0.0, 1.0}
    for between in shape.GetInbetweens():
        weight = between.GetWeight()
        offsets = dense(between.GetAttr(), False)
        if weight is None or offsets is None or float(weight) in stops or not np.isfinite(weight):
            reading.note(
                f"in-between {between.GetAttr().GetName()} of {prim.GetName()} has no weight of its own and was dropped"
            )
            continue
        stops.add(float(weight))
        result.append((float(weight), offsets, dense(between.GetNormalOffsetsAttr(), True)))
    return result
