"""BlendShape prims: sparse offsets, in-betweens and normal offsets to the dense shapes of a mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdSkel

from understudy.character import Shapes
from understudy.checks import Array
from understudy.formats.usd.reading import Reading


@dataclass
class Targets:
    """The shapes of a mesh, and the names by which animations drive them."""

    shapes: Shapes
    tokens: tuple[str, ...]  # (S,)


def read(reading: Reading, prim: Usd.Prim, vertex_count: int) -> Targets | None:
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


def _defaults(reading: Reading, prim: Usd.Prim, tokens: int, shapes: int) -> Array | None:
    """The weights at rest, which USD itself does not have; our writer leaves them beside the mesh."""
    found = reading.custom(prim, "defaultWeights", np.float64)
    return found if found is not None and tokens == shapes and len(found) == shapes else None


def _targets(reading: Reading, shape: UsdSkel.BlendShape, vertex_count: int) -> list[tuple[float, Array, Array | None]]:
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
