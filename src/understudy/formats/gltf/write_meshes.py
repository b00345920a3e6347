"""Writing meshes and materials, and the `Builder` that collects the JSON lists and the bytes of the file.

Meshes are written with the attributes of their vertices, morph targets, and the influences of a skin; materials,
textures and pictures each once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from understudy.character import Image, Material, Mesh, Part, Shapes, Texture
from understudy.checks import Array
from understudy.formats.conventions import CountedNotes
from understudy.formats.gltf.document import PICTURE_EXTENSIONS
from understudy.formats.gltf.json_object import finite_json

VERTEX_BUFFER_TARGET, INDEX_BUFFER_TARGET = 34962, 34963
COMPONENT_CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}

IMAGE_TYPES = ("image/png", "image/jpeg")
EMISSIVE_STRENGTH_EXTENSION = "KHR_materials_emissive_strength"

# Stored sparse, a row takes 12 bytes and its index; below this share of rows that is clearly smaller.
MAX_SPARSE_ROW_RATIO = 0.6
# Validators accept directions within 5e-4 to 8e-3 of unit length; float32 rounding stays below 2e-7.
UNIT_LENGTH_TOLERANCE = 5e-4
# Validators accept sums of weights within 2e-7 of 1 for each joint that counts.
WEIGHT_SUM_TOLERANCE = 2e-7


class Builder(CountedNotes):
    """The JSON lists and the one buffer of a file that is being written.

    Buffer views begin at multiples of four bytes, as every component type needs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.extensions: set[str] = set()
        self.root_extensions: dict[str, Any] = {}
        self.required: set[str] = set()  # those of them without which a reader cannot show the file
        self._content: list[list[bytes]] = []  # of each buffer view
        self._pools: dict[str, int] = {}
        self._pooled: dict[tuple[str, str, bytes], int] = {}

    def add(self, name: str, item: dict[str, Any]) -> int:
        """Append to one of the lists at the top, such as "nodes"; returns the index."""
        items = self.lists.setdefault(name, [])
        items.append(item)
        return len(items) - 1

    def view(self, data: bytes, target: int | None = None) -> int:
        """A buffer view of its own."""
        self._content.append([_pad_bytes(data)])
        return self.add("bufferViews", {"byteLength": len(data)} | ({"target": target} if target else {}))

    def accessor(self, values: Array, kind: str, target: int | None = None, bounds: bool = False) -> int:
        """An accessor for (count, n) or (count,) values with a buffer view of its own."""
        values = np.ascontiguousarray(values)
        view = self.view(values.tobytes(), target)
        return self.add("accessors", _describe_accessor(values, kind, bounds) | {"bufferView": view})

    def pool_accessor(self, values: Array, kind: str, pool: str, bounds: bool = False) -> int:
        """An accessor in a view shared by all data of one use; equal data of one kind are stored once."""
        values = np.ascontiguousarray(values)
        data = values.tobytes()
        key = (pool, kind, data)
        if key not in self._pooled:
            view, start = self._append(pool, data)
            item = _describe_accessor(values, kind, bounds) | {"bufferView": view, "byteOffset": start}
            self._pooled[key] = self.add("accessors", item)
        return self._pooled[key]

    def sparse(self, values: Array, kind: str) -> int:
        """An accessor that stores only the rows of (V, n) float32 values that are not zero."""
        rows = np.flatnonzero((values != 0).any(axis=1))
        item = _describe_accessor(values, kind, bounds=True)
        if rows.size:
            indices = rows.astype(np.uint16 if len(values) <= 65536 else np.uint32)
            where, where_start = self._append("sparse indices", indices.tobytes())
            what, what_start = self._append("sparse values", np.ascontiguousarray(values[rows]).tobytes())
            code = COMPONENT_CODES[indices.dtype.str[1:]]
            item["sparse"] = {
                "count": len(rows),
                "indices": {"bufferView": where, "byteOffset": where_start, "componentType": code},
                "values": {"bufferView": what, "byteOffset": what_start},
            }
        return self.add("accessors", item)

    def _append(self, pool: str, data: bytes) -> tuple[int, int]:
        """Put bytes at the end of a shared view: the view and where they begin in it."""
        if pool not in self._pools:
            self._content.append([])
            self._pools[pool] = self.add("bufferViews", {"byteLength": 0})
        view = self._pools[pool]
        entry = self.lists["bufferViews"][view]
        start = (entry["byteLength"] + 3) // 4 * 4
        self._content[view].append(_pad_bytes(data))
        entry["byteLength"] = start + len(data)
        return view, start

    def buffer(self) -> bytes:
        """All bytes in order; fills in where each view begins."""
        start, whole = 0, []
        for entry, content in zip(self.lists.get("bufferViews", []), self._content):
            entry["buffer"], entry["byteOffset"] = 0, start
            whole.extend(content)
            start += sum(map(len, content))
        return b"".join(whole)


def _pad_bytes(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _describe_accessor(values: Array, kind: str, bounds: bool) -> dict[str, Any]:
    item: dict[str, Any] = {"componentType": COMPONENT_CODES[values.dtype.str[1:]], "count": len(values), "type": kind}
    if bounds:
        table = values.reshape(len(values), -1)
        item["min"], item["max"] = table.min(axis=0).tolist(), table.max(axis=0).tolist()
    return item


def mesh_item(builder: Builder, materials: MaterialWriter, parts: list[Part], skinned: bool) -> dict[str, Any]:
    """One glTF mesh for parts that share name, joints and shapes; a primitive for each part and material."""
    shapes = next((part.mesh.shapes for part in parts if part.mesh.shapes is not None), None)
    primitives = [item for part in parts for item in _primitives(builder, materials, part, shapes, skinned)]
    item: dict[str, Any] = {"name": parts[0].mesh.name, "primitives": primitives} | extras_item(parts[0].mesh.extra)
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
        primitive = {**common, "indices": builder.accessor(corners, "SCALAR", INDEX_BUFFER_TARGET)}
        if mesh.materials:
            primitive["material"] = materials.index(mesh.materials[number], len(mesh.uvs))
        result.append(primitive)
    return result


def _attributes(builder: Builder, mesh: Mesh) -> dict[str, int]:
    result = {"POSITION": builder.accessor(mesh.vertices, "VEC3", VERTEX_BUFFER_TARGET, bounds=True)}
    if mesh.normals is not None:
        result["NORMAL"] = builder.accessor(
            _normalise_directions(builder, mesh.normals, "normals"), "VEC3", VERTEX_BUFFER_TARGET
        )
    if mesh.tangents is not None:
        tangents = mesh.tangents.copy()
        tangents[:, :3] = _normalise_directions(builder, tangents[:, :3], "tangents")
        tangents[:, 3] = np.where(tangents[:, 3] < 0, -1, 1)
        result["TANGENT"] = builder.accessor(tangents, "VEC4", VERTEX_BUFFER_TARGET)
    for i, uv in enumerate(mesh.uvs):
        result[f"TEXCOORD_{i}"] = builder.accessor(uv, "VEC2", VERTEX_BUFFER_TARGET)
    if mesh.colours is not None:
        builder.count("colours beyond 0 to 1 were cut off ({})", int(((mesh.colours < 0) | (mesh.colours > 1)).sum()))
        result["COLOR_0"] = builder.accessor(np.clip(mesh.colours, 0, 1), "VEC4", VERTEX_BUFFER_TARGET)
    return result


def _normalise_directions(builder: Builder, directions: Array, what: str) -> Array:
    """(V, 3) float32 directions of unit length; those without a direction point up."""
    length = np.sqrt(np.sum(np.square(directions, dtype=np.float64), axis=1))
    off = np.abs(length - 1) > UNIT_LENGTH_TOLERANCE
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
    stored = np.where(np.abs(total - 1) <= WEIGHT_SUM_TOLERANCE, weights, weights / total).astype(np.float32)
    spare = -columns % 4
    joints, stored = np.pad(joints, ((0, 0), (0, spare))), np.pad(stored, ((0, 0), (0, spare)))
    kind = np.uint8 if joints.max(initial=0) < 256 else np.uint16
    result = {}
    for n in range(joints.shape[1] // 4):
        part = slice(4 * n, 4 * n + 4)
        result[f"JOINTS_{n}"] = builder.accessor(joints[:, part].astype(kind), "VEC4", VERTEX_BUFFER_TARGET)
        result[f"WEIGHTS_{n}"] = builder.accessor(stored[:, part], "VEC4", VERTEX_BUFFER_TARGET)
    return result


def _targets(builder: Builder, mesh: Mesh, count: int) -> list[dict[str, int]]:
    """Morph targets of a mesh; all zero where the parts beside it have shapes and this one has none."""
    shapes = mesh.shapes
    if shapes is None:
        empty = np.zeros((len(mesh.vertices), 3), np.float32)
        return [{"POSITION": _delta(builder, empty)} for _ in range(count)]
    chosen, scale = _full_weight_targets(builder, shapes)
    result = []
    for target, factor in zip(chosen, scale):
        item = {"POSITION": _delta(builder, shapes.deltas[target] * factor)}
        if shapes.normals is not None and mesh.normals is not None:
            item["NORMAL"] = _delta(builder, shapes.normals[target] * factor)
        result.append(item)
    if shapes.normals is not None and mesh.normals is None:
        builder.note("normals of morph targets were lost: the mesh itself has none")
    return result


def _full_weight_targets(builder: Builder, shapes: Shapes) -> tuple[list[int], list[np.float32]]:
    """The target and factor of each shape at weight 1: its own target, or the furthest one scaled; others are lost."""
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
    if moved < MAX_SPARSE_ROW_RATIO * len(values):
        return builder.sparse(values, "VEC3")
    return builder.accessor(values, "VEC3", VERTEX_BUFFER_TARGET, bounds=True)


class MaterialWriter:
    """Writes materials into a builder and remembers which it has written."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._materials: list[tuple[Material, int]] = []
        self._images: list[tuple[Image, int | None]] = []

    def index(self, material: Material, uv_sets: int) -> int:
        """The index of a material, for a mesh with that many UV sets. Textures that need another set are left out."""
        usable = {slot: t for slot, t in material.textures.items() if t.uv_set < uv_sets}
        if len(usable) < len(material.textures):
            self.builder.count("textures on meshes without UVs were lost ({})", len(material.textures) - len(usable))
            material = replace(material, textures=usable)
        for known, index in self._materials:
            if known is material or known == material:
                return index
        index = self.builder.add("materials", self._material(material, uv_sets))
        self._materials.append((material, index))
        return index

    def _material(self, material: Material, uv_sets: int) -> dict[str, Any]:
        infos = {slot: info for slot, t in material.textures.items() if (info := self.info(t)) is not None}
        surface: dict[str, Any] = {
            "baseColorFactor": [_clamp_to_unit(x) for x in material.colour],
            "metallicFactor": _clamp_to_unit(material.metallic),
            "roughnessFactor": _clamp_to_unit(material.roughness),
        }
        for slot, key in (("colour", "baseColorTexture"), ("metallic_roughness", "metallicRoughnessTexture")):
            if slot in infos:
                surface[key] = infos[slot]
        item: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": surface}
        for slot in ("normal", "occlusion", "emissive"):
            if slot in infos:
                item[f"{slot}Texture"] = infos[slot]
        extensions = self._extensions(material.extra.get("extensions"), uv_sets)
        if any(material.emissive):
            strength = max(1.0, *material.emissive)
            item["emissiveFactor"] = [_clamp_to_unit(x / strength) for x in material.emissive]
            if strength > 1:
                extensions.setdefault(EMISSIVE_STRENGTH_EXTENSION, {"emissiveStrength": strength})
        if material.alpha_mode != "OPAQUE":
            item["alphaMode"] = material.alpha_mode
        if material.alpha_mode == "MASK":
            item["alphaCutoff"] = max(0.0, material.alpha_cutoff)
        if material.double_sided:
            item["doubleSided"] = True
        if extensions:
            item["extensions"] = extensions
            self.builder.extensions.update(extensions)
        return item | extras_item(material.extra)

    def _extensions(self, settings: Any, uv_sets: int) -> dict[str, Any]:
        """Settings of extensions with each `Texture` in them written and referred to by its index."""
        result = {}
        for key, value in settings.items() if isinstance(settings, Mapping) else ():
            if isinstance(value, Texture):
                info = self.info(value) if value.uv_set < uv_sets else None
                if info is not None:
                    result[key] = info
            elif isinstance(value, Mapping):
                result[key] = self._extensions(value, uv_sets)
            elif finite_json(value):
                result[key] = value
        return result

    def info(self, texture: Texture) -> dict[str, Any] | None:
        """The reference to a texture, written once; None where its picture cannot be written."""
        source = self.image(texture.image)
        if source is None:
            return None
        item: dict[str, Any] = {"source": source}
        if texture.image.mime not in IMAGE_TYPES:
            extension = next(name for name, mime in PICTURE_EXTENSIONS.items() if mime == texture.image.mime)
            item = {"extensions": {extension: {"source": source}}}
            self.builder.extensions.add(extension)
            self.builder.required.add(extension)
        if texture.sampler:
            item["sampler"] = self._add_once("samplers", dict(texture.sampler))
        info: dict[str, Any] = {"index": self._add_once("textures", item)}
        if texture.uv_set:
            info["texCoord"] = texture.uv_set
        info |= {key: texture.extra[key] for key in ("scale", "strength") if key in texture.extra}
        extensions = texture.extra.get("extensions")
        if isinstance(extensions, Mapping) and extensions:
            info["extensions"] = dict(extensions)
            self.builder.extensions.update(extensions)
        return info | extras_item(texture.extra)

    def _add_once(self, name: str, item: dict[str, Any]) -> int:
        known = self.builder.lists.get(name, [])
        return known.index(item) if item in known else self.builder.add(name, item)

    def image(self, image: Image) -> int | None:
        """The number of a picture, written once; None where it cannot be written."""
        for known, index in self._images:
            if known is image or known == image:
                return index
        index = None
        if not image.data:
            self.builder.note(f"picture {image.name!r} was lost: its bytes are missing")
        elif image.mime not in (*IMAGE_TYPES, *PICTURE_EXTENSIONS.values()):
            kinds = "PNG, JPEG, WebP and KTX2"
            self.builder.note(f"picture {image.name!r} was lost: it is {image.mime}, but glTF holds {kinds}")
        else:
            view = self.builder.view(image.data)
            index = self.builder.add("images", {"name": image.name, "mimeType": image.mime, "bufferView": view})
        self._images.append((image, index))
        return index


def extras_item(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The `extras` that the reader kept, where there are any."""
    return {"extras": extra["extras"]} if extra.get("extras") and finite_json(extra["extras"]) else {}


def _clamp_to_unit(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
