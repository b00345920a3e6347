"""BlendShape prims: one for each shape of a mesh, sparse, with in-betweens."""

from __future__ import annotations

import numpy as np
from pxr import Usd, UsdSkel, Vt

from understudy.character import Shapes
from understudy.checks import Array
from understudy.formats.usd.write_names import Names


def author(stage: Usd.Stage, mesh: Usd.Prim, shapes: Shapes, tokens: list[str]) -> None:
    """Write the shapes below a mesh and bind them; `tokens` (S,) are the names by which animations drive them."""
    names, paths = Names(), []
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
        where = np.zeros(1, np.int64)  # no indices at all would mean that every point is given
    shape.CreatePointIndicesAttr(Vt.IntArray.FromNumpy(where.astype(np.int32)))
    shape.CreateOffsetsAttr(_vectors(_at_one(shapes, number, shapes.deltas), where))
    if shapes.normals is not None:
        shape.CreateNormalOffsetsAttr(_vectors(_at_one(shapes, number, shapes.normals), where))
    names = Names()
    for target in targets[shapes.stop_of[targets] != 1]:
        between = shape.CreateInbetween(names.new(f"at_{shapes.stop_of[target]:g}"))
        between.SetOffsets(_vectors(shapes.deltas[target], where))
        between.SetWeight(float(shapes.stop_of[target]))
        if shapes.normals is not None:
            between.CreateNormalOffsetsAttr(_vectors(shapes.normals[target], where))


def _at_one(shapes: Shapes, number: int, deltas: Array) -> Array:
    """(V, 3) the shape at weight 1, which USD always has: its target, or a point on the line between its neighbours."""
    weights = np.zeros((1, len(shapes)))
    weights[0, number] = 1.0
    share = shapes.target_weights(weights)[0]
    used = np.flatnonzero(share)
    return np.einsum("p,pvc->vc", share[used], deltas[used])


def _vectors(value: Array, where: Array) -> Vt.Vec3fArray:
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(value[where], np.float32))


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
