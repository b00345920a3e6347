"""Writing meshes: the attributes of their vertices, morph targets, and the influences of a skin."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.character import Mesh, Part, Shapes
from understudy.checks import Array
from understudy.formats.gltf.builder import INDICES, VERTICES, Builder
from understudy.formats.gltf.write_materials import MaterialWriter, kept_extras

# Stored sparse, a row takes 12 bytes and its index; below this share of rows that is clearly smaller.
SPARSE = 0.6
# Validators accept directions within 5e-4 to 8e-3 of unit length; float32 rounding stays below 2e-7.
OFF_UNIT = 5e-4
# Validators accept sums of weights within 2e-7 of 1 for each joint that counts.
ROUNDING = 2e-7


def mesh_item(builder: Builder, materials: MaterialWriter, parts: list[Part], skinned: bool) -> dict[str, Any]:
    """One glTF mesh for parts that share name, joints and shapes; a primitive for each part and material."""
    shapes = next((part.mesh.shapes for part in parts if part.mesh.shapes is not None), None)
    primitives = [item for part in parts for item in _primitives(builder, materials, part, shapes, skinned)]
    item: dict[str, Any] = {"name": parts[0].mesh.name, "primitives": primitives} | kept_extras(parts[0].mesh.extra)
    if shapes is not None:
        item["weights"] = shapes.defaults.tolist()
        item["extras"] = {**item.get("extras", {}), "targetNames": list(shapes.names)}
    return item


def _primitives(
    builder: Builder, materials: MaterialWriter, part: Part, shapes: Shapes | None, skinned: bool
) -> list[dict[str, Any]]:
    mesh, origin = part.mesh.per_vertex()
    builder.count(
        "vertices were split where UVs, normals or colours differ by corner ({})", len(origin) - len(part.mesh.vertices)
    )
    common: dict[str, Any] = {"attributes": _attributes(builder, mesh)}
    if skinned:
        common["attributes"] |= _influences(builder, part.skin.influences[origin], part.skin.weights[origin])
    if shapes is not None:
        common["targets"] = _targets(builder, mesh, len(shapes))
    result = []
    kind = np.uint16 if len(mesh.vertices) < 65536 else np.uint32
    material_of = np.zeros(len(mesh.triangles), np.int32) if mesh.material_of is None else mesh.material_of
    for number in dict.fromkeys(material_of.tolist()):
        corners = mesh.triangles[material_of == number].reshape(-1).astype(kind)
        primitive = {**common, "indices": builder.accessor(corners, "SCALAR", INDICES)}
        if mesh.materials:
            primitive["material"] = materials.index(mesh.materials[number], len(mesh.uvs))
        result.append(primitive)
    return result


def _attributes(builder: Builder, mesh: Mesh) -> dict[str, int]:
    result = {"POSITION": builder.accessor(mesh.vertices, "VEC3", VERTICES, bounds=True)}
    if mesh.normals is not None:
        result["NORMAL"] = builder.accessor(_unit(builder, mesh.normals, "normals"), "VEC3", VERTICES)
    if mesh.tangents is not None:
        tangents = mesh.tangents.copy()
        tangents[:, :3] = _unit(builder, tangents[:, :3], "tangents")
        tangents[:, 3] = np.where(tangents[:, 3] < 0, -1, 1)
        result["TANGENT"] = builder.accessor(tangents, "VEC4", VERTICES)
    for i, uv in enumerate(mesh.uvs):
        result[f"TEXCOORD_{i}"] = builder.accessor(uv, "VEC2", VERTICES)
    if mesh.colours is not None:
        builder.count("colours beyond 0 to 1 were cut off ({})", int(((mesh.colours < 0) | (mesh.colours > 1)).sum()))
        result["COLOR_0"] = builder.accessor(np.clip(mesh.colours, 0, 1), "VEC4", VERTICES)
    return result


def _unit(builder: Builder, directions: Array, what: str) -> Array:
    """(V, 3) float32 directions of unit length; those without a direction point up."""
    length = np.sqrt(np.sum(np.square(directions, dtype=np.float64), axis=1))
    off = np.abs(length - 1) > OFF_UNIT
    if not off.any():
        return directions
    builder.count(f"{what} that were not of unit length were normalised ({{}})", int(off.sum()))
    result = directions.astype(np.float64)
    result[off] /= np.maximum(length[off], 1e-300)[:, None]
    result[length < 1e-30] = (0, 1, 0)
    return result.astype(np.float32)


def _influences(builder: Builder, influences: Array, weights: Array) -> dict[str, int]:
    """JOINTS_n and WEIGHTS_n of (V, K) influences, four to a set, the largest first where there are more than four."""
    joints, weights = influences.astype(np.int64), weights.astype(np.float64)
    columns = weights.shape[1]
    for k in range(1, columns):  # a joint may appear only once for a vertex
        for first in range(k):
            again = (joints[:, k] == joints[:, first]) & (weights[:, k] > 0) & (weights[:, first] > 0)
            weights[again, first] += weights[again, k]
            weights[again, k] = 0
    joints[weights == 0] = 0
    if columns > 4:
        builder.note(
            f"{columns} influences a vertex were written in sets of four; many viewers read only the first set"
        )
        order = np.argsort(-weights, axis=1, kind="stable")
        joints, weights = np.take_along_axis(joints, order, 1), np.take_along_axis(weights, order, 1)
    total = weights.sum(axis=1, keepdims=True)
    stored = np.where(np.abs(total - 1) <= ROUNDING, weights, weights / total).astype(np.float32)
    spare = -columns % 4
    joints, stored = np.pad(joints, ((0, 0), (0, spare))), np.pad(stored, ((0, 0), (0, spare)))
    kind = np.uint8 if joints.max(initial=0) < 256 else np.uint16
    result = {}
    for n in range(joints.shape[1] // 4):
        part = slice(4 * n, 4 * n + 4)
        result[f"JOINTS_{n}"] = builder.accessor(joints[:, part].astype(kind), "VEC4", VERTICES)
        result[f"WEIGHTS_{n}"] = builder.accessor(stored[:, part], "VEC4", VERTICES)
    return result


def _targets(builder: Builder, mesh: Mesh, count: int) -> list[dict[str, int]]:
    """Morph targets of a mesh; all zero where the parts beside it have shapes and this one has none."""
    shapes = mesh.shapes
    if shapes is None:
        empty = np.zeros((len(mesh.vertices), 3), np.float32)
        return [{"POSITION": _delta(builder, empty)} for _ in range(count)]
    chosen, scale = _primary(builder, shapes)
    result = []
    for target, factor in zip(chosen, scale):
        item = {"POSITION": _delta(builder, shapes.deltas[target] * factor)}
        if shapes.normals is not None and mesh.normals is not None:
            item["NORMAL"] = _delta(builder, shapes.normals[target] * factor)
        result.append(item)
    if shapes.normals is not None and mesh.normals is None:
        builder.note("normals of morph targets were lost: the mesh itself has none")
    return result


def _primary(builder: Builder, shapes: Shapes) -> tuple[list[int], list[np.float32]]:
    """The target that stands for each shape: the one at weight 1, or the furthest scaled to it; the rest is lost."""
    if shapes.plain:
        return list(range(len(shapes))), [np.float32(1)] * len(shapes)
    builder.count("in-between shapes were lost ({})", len(shapes.deltas) - len(shapes))
    chosen = []
    for shape in range(len(shapes)):
        targets = np.flatnonzero(shapes.shape_of == shape)
        stops = shapes.stop_of[targets]
        chosen.append(int(targets[np.argmax(np.where(stops == 1, np.inf, np.abs(stops)))]))
    return chosen, [np.float32(1 / shapes.stop_of[target]) for target in chosen]


def _delta(builder: Builder, values: Array) -> int:
    moved = np.count_nonzero((values != 0).any(axis=1))
    if moved < SPARSE * len(values):
        return builder.sparse(values, "VEC3")
    return builder.accessor(values, "VEC3", VERTICES, bounds=True)
