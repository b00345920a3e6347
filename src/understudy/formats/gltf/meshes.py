"""Reading meshes, their primitives, and the skins that they hang on.

**Meshes.** One `Mesh` a primitive; primitives that share all their vertices become one mesh with several materials.

**Primitives.** Triangles out of lists, strips and fans, and the attributes of their vertices.

**Skins.** Joints and inverse bind matrices, and the influences and weights of the vertices that hang on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.character import Material, Mesh, Shapes, SkinBinding
from understudy.character.mesh import nearest_sound_vertices
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats.conventions import number_duplicates
from understudy.formats.gltf.accessors import FLOAT_COMPONENT, Accessors, decode_draco
from understudy.formats.gltf.document import DRACO_EXTENSION, GltfDocument
from understudy.formats.gltf.json_object import JsonObject, format_place, printable
from understudy.formats.gltf.materials import GltfMaterials

TRIANGLES_MODE, STRIP_MODE, FAN_MODE = 4, 5, 6
INDEX_COMPONENTS = (5125, 5123, 5121)
# Quantised files (KHR_mesh_quantization) may use every integer type; floats are the rule.
SMALL_COMPONENTS = (FLOAT_COMPONENT, 5120, 5121, 5122, 5123)
FRACTION_COMPONENTS = (FLOAT_COMPONENT, 5121, 5123)

JOINT_COMPONENTS = (5121, 5123)
WEIGHT_COMPONENTS = (5126, 5121, 5123)
# Sums this close to 1 are float32 rounding: such rows are kept bit by bit, through any number of round trips.
WEIGHT_SUM_TOLERANCE = 5e-7

MIN_DETERMINANT = 1e-30  # of the rest pose of a joint that has a size


@dataclass
class Binding:
    """Influences and weights of one primitive, as stored: (V, K) int, (V, K) float64 whose rows need not sum to one."""

    influences: Array
    weights: Array
    broken: Array  # (V,) bool, the rows that held weights that are no numbers; they are zero now


@dataclass
class PrimitiveMesh:
    """One mesh, and the binding of its vertices to a skin."""

    mesh: Mesh
    binding: Binding | None
    attributes: JsonObject


class Meshes:
    """The meshes of a document. Each is read once, and once more for each node with default weights of its own."""

    def __init__(self, document: GltfDocument, accessors: Accessors, materials: GltfMaterials) -> None:
        self.document, self.accessors, self.materials = document, accessors, materials
        self._pieces: dict[tuple[int, tuple[float, ...] | None], list[PrimitiveMesh]] = {}
        self._shape_names: dict[int, list[str]] = {}

    def pieces(self, index: int, node: JsonObject) -> list[PrimitiveMesh]:
        """The meshes that one node shows."""
        weights = node.numbers("weights")
        key = (index, None if weights is None else tuple(weights))
        if key not in self._pieces:
            self._pieces[key] = self._read(index, weights, node)
        return self._pieces[key]

    def shape_names(self, index: int) -> list[str]:
        """Distinct names of the morph targets of a mesh: those in `extras.targetNames`, or shape_0, shape_1, ..."""
        if index not in self._shape_names:
            entry = self.document.list("meshes")[index]
            lengths = [len(primitive.children("targets")) for primitive in entry.children("primitives")]
            count = max(lengths, default=0)
            for i, length in enumerate(lengths):
                if length != count and length:
                    raise entry.bad(
                        ("primitives", i, "targets"), f"holds {length} targets, but another primitive holds {count}"
                    )
            # the convention of the specification, then that of files of VRM 0
            extras = [item.value.get("extras") for item in (entry, *entry.children("primitives"))]
            lists = [item.get("targetNames") for item in extras if isinstance(item, dict)]
            given = next((names for names in lists if isinstance(names, list)), [])
            names = [printable(given[i]) if i < len(given) and isinstance(given[i], str) else "" for i in range(count)]
            self._shape_names[index] = number_duplicates(name or f"shape_{i}" for i, name in enumerate(names))
        return self._shape_names[index]

    def _read(self, index: int, weights: list[float] | None, node: JsonObject) -> list[PrimitiveMesh]:
        entry = self.document.list("meshes")[index]
        names = self.shape_names(index)
        giver = entry if weights is None else node
        defaults = giver.numbers("weights") or [0.0] * len(names)
        if len(defaults) != len(names):
            place = format_place((*giver.place, "weights"))
            self.document.note(f"{place} has {len(defaults)} values for {len(names)} morph targets; the rest are 0")
            defaults = (defaults + [0.0] * len(names))[: len(names)]
        groups: dict[object, list[JsonObject]] = {}
        for primitive in entry.children("primitives"):
            attributes, targets = primitive.child("attributes"), primitive.children("targets")
            same = (_signature(attributes), tuple(_signature(target) for target in targets))
            groups.setdefault(same, []).append(primitive)
        if not groups:
            raise entry.bad("primitives", "is missing or empty, but a mesh needs at least one")
        name = entry.text("name") or f"mesh_{index}"
        pieces = [self._piece(name, entry, group, names, defaults) for group in groups.values()]
        return [piece for piece in pieces if piece is not None]

    def _piece(
        self, name: str, entry: JsonObject, group: list[JsonObject], names: list[str], defaults: list[float]
    ) -> PrimitiveMesh | None:
        attributes = group[0].child("attributes")
        for primitive in group:
            self._decompress(primitive)
        if "POSITION" not in attributes:
            self.document.count("primitives without positions were left out ({})")
            return None
        vertices, broken = self._positions(attributes)
        blocks, materials, material_of = self._triangles(group, len(vertices), broken)
        if not blocks:
            if broken is not None:
                number = self.document.reference(attributes, "POSITION", "accessors")
                raise self.accessors.entries[number or 0].bad(
                    "", "leaves no triangle without positions that are no numbers"
                )
            return None
        self.document.take(2 * vertices.nbytes, attributes.place)
        kept = entry.extra().get("extras")
        kept = kept if isinstance(kept, dict) else {}  # names of shapes are added to it, so it has to be an object
        extras = {key: value for key, value in kept.items() if key != "targetNames"}
        mesh = Mesh(
            name,
            vertices,
            np.concatenate(blocks),
            materials=materials,
            material_of=np.concatenate(material_of) if len(materials) > 1 else None,
            shapes=self._shapes(group[0], names, defaults, len(vertices)),
            extra={"extras": extras} if extras else None,
            **surface_attributes(self.document, self.accessors, attributes, len(vertices)),
        )
        binding = read_binding(self.document, self.accessors, attributes, len(vertices))
        return PrimitiveMesh(mesh, binding, attributes)

    def _decompress(self, primitive: JsonObject) -> None:
        """Decode Draco compression where the accessors hold no vertices without it; all of the file at once."""
        if self.accessors.decoded or not self._needs_draco(primitive):
            return
        primitives = [item for mesh in self.document.list("meshes") for item in mesh.children("primitives")]
        compressed = [item for item in primitives if self._needs_draco(item)]
        self.accessors.decoded = decode_draco(self.document, self.accessors.buffers, compressed)

    def _needs_draco(self, primitive: JsonObject) -> bool:
        position = self.document.reference(primitive.child("attributes"), "POSITION", "accessors")
        compressed = DRACO_EXTENSION in primitive.child("extensions")
        return compressed and position is not None and not self.accessors.has_data(position)

    def _positions(self, attributes: JsonObject) -> tuple[Array, Array | None]:
        """(V, 3) positions, all finite, and (V,) which of them were not; None where all were."""
        number = self.document.reference(attributes, "POSITION", "accessors")
        assert number is not None  # `_piece` has found it there
        place = (*attributes.place, "POSITION")
        vertices = self.accessors.loose_floats(number, ("VEC3",), place, SMALL_COMPONENTS)
        broken: Array = np.logical_not(np.isfinite(vertices).all(axis=1))
        if not broken.any():
            return vertices, None
        if broken.all():
            raise self.accessors.entries[number].bad("", "holds no position that is a number")
        vertices[broken] = vertices[~broken][0]
        where = format_place(self.accessors.entries[number].place)
        self.document.count(f"vertices of {where} whose position is no number were hidden ({{}})", int(broken.sum()))
        return vertices, broken

    def _triangles(
        self, group: list[JsonObject], vertices: int, broken: Array | None
    ) -> tuple[list[Array], list[Material], list[Array]]:
        """The triangles of each primitive that has any, the materials in use, and the material of each triangle."""
        blocks, used, material_of = [], [], []
        for primitive in group:
            triangles = triangles_of(self.document, self.accessors, primitive, vertices)
            number = self.document.reference(primitive, "material", "materials")
            if triangles is None:
                continue
            if broken is not None:
                triangles = triangles[~broken[triangles].any(axis=1)]
                if not len(triangles):
                    continue
            if number not in used:
                used.append(number)
            blocks.append(triangles)
            material_of.append(np.full(len(triangles), used.index(number), np.int32))
        if used == [None]:
            used = []
        return blocks, [Material() if n is None else self._material(n) for n in used], material_of

    def _material(self, number: int) -> Material:
        try:
            return self.materials.material(number)
        except BadFile as error:
            self.document.leave_out("materials", error)
            return Material()

    def _shapes(self, primitive: JsonObject, names: list[str], defaults: list[float], vertices: int) -> Shapes | None:
        targets = primitive.children("targets")
        if not targets:
            return None
        size = len(targets) * vertices * 12
        with_normals = any("NORMAL" in target for target in targets)
        self.document.take((4 if with_normals else 2) * size, primitive.place)
        deltas = np.zeros((len(targets), vertices, 3), np.float32)
        normals = np.zeros(deltas.shape, np.float32) if with_normals else None
        for i, target in enumerate(targets):
            moved = attribute(self.document, self.accessors, target, "POSITION", vertices)
            turned = attribute(self.document, self.accessors, target, "NORMAL", vertices)
            if moved is not None:
                deltas[i] = moved
            if turned is not None and normals is not None:
                normals[i] = turned
            for key in target.value:
                if key not in ("POSITION", "NORMAL"):
                    self.document.note(f"morph targets of {key[:40]} were left out")
        return Shapes(names, deltas, normals, defaults)


def _signature(attributes: JsonObject) -> tuple[tuple[str, int], ...]:
    for key, value in attributes.value.items():
        if type(value) is not int:
            raise BadFile(attributes.file, "should be the index of an accessor", format_place((*attributes.place, key)))
    return tuple(sorted(attributes.value.items()))


def triangles_of(document: GltfDocument, accessors: Accessors, primitive: JsonObject, vertices: int) -> Array | None:
    """(T, 3) int32 vertex numbers, or None for points and lines."""
    mode = primitive.integer("mode", default=TRIANGLES_MODE, below=7)
    if mode < TRIANGLES_MODE:
        document.count("primitives of points or lines were left out ({})")
        return None
    number = document.reference(primitive, "indices", "accessors")
    if number is None:
        document.take(16 * vertices, primitive.place)
        corners = np.arange(vertices, dtype=np.int32)
    else:
        place = (*primitive.place, "indices")
        stored, _ = accessors.raw(number, ("SCALAR",), INDEX_COMPONENTS, place)
        mode = TRIANGLES_MODE if number in accessors.decoded else mode  # a compressed strip is stored as triangles
        document.take(16 * len(stored), place)
        corners = np.minimum(stored[:, 0], vertices).astype(np.int32)  # `vertices` stands for all that do not exist
    triangles = assemble_triangles(document, corners, mode)
    inside = (triangles < vertices).all(axis=1)
    if inside.all():
        return triangles
    if not inside.any():
        raise primitive.bad("indices", f"hold vertex {stored.max()}, but there are {vertices} vertices")
    where = format_place((*primitive.place, "indices"))
    document.count(f"triangles of {where} with vertices that do not exist were left out ({{}})", int((~inside).sum()))
    return triangles[inside]


def assemble_triangles(document: GltfDocument, corners: Array, mode: int) -> Array:
    """(T, 3) triangles from a list of corners [glTF 2.0, 3.7.2.1].

    Strip: {v_i, v_(i+1+i%2), v_(i+2-i%2)}; fan: {v_(i+1), v_(i+2), v_0}. Strips contain triangles of no area,
    which are left out.
    """
    if mode == TRIANGLES_MODE:
        spare = len(corners) % 3
        if spare:
            document.count("triangles with fewer than three corners were left out ({})")
        return corners[: len(corners) - spare].reshape(-1, 3)
    i = np.arange(max(len(corners) - 2, 0))
    document.take(64 * len(i), ())
    if mode == FAN_MODE:
        return np.stack([corners[i + 1], corners[i + 2], corners[np.zeros_like(i)]], axis=1)
    odd = i % 2
    result = np.stack([corners[i], corners[i + 1 + odd], corners[i + 2 - odd]], axis=1)
    a, b, c = result.T
    return result[(a != b) & (b != c) & (c != a)]


def attribute(
    document: GltfDocument,
    accessors: Accessors,
    attributes: JsonObject,
    key: str,
    vertices: int,
    kinds: tuple[str, ...] = ("VEC3",),
    components: tuple[int, ...] = SMALL_COMPONENTS,
) -> Array | None:
    """(V, n) float32 of one vertex attribute besides the positions, or None where it is absent or cannot be read.

    NaN and infinity, which exporters write for normals and UVs of triangles without area, become zero with a note.
    """
    try:
        number = document.reference(attributes, key, "accessors")
        if number is None:
            return None
        values = accessors.loose_floats(number, kinds, (*attributes.place, key), components)
        if len(values) != vertices:
            raise attributes.bad(key, f"has {len(values)} elements, but there are {vertices} vertices")
    except BadFile as error:
        document.leave_out("vertex attributes", error)
        return None
    broken = ~np.isfinite(values)
    if broken.any():
        document.count(f"values of {key} that are not finite were set to zero ({{}})", int(broken.sum()))
        values[broken] = 0
    return values


def surface_attributes(
    document: GltfDocument, accessors: Accessors, attributes: JsonObject, vertices: int
) -> dict[str, Any]:
    """Normals, tangents, UVs and colours of a primitive, as arguments of `Mesh`; the rest is noted."""

    def get(
        key: str, kinds: tuple[str, ...] = ("VEC3",), components: tuple[int, ...] = SMALL_COMPONENTS
    ) -> Array | None:
        return attribute(document, accessors, attributes, key, vertices, kinds, components)

    uvs: list[Array] = []
    while (uv := get(f"TEXCOORD_{len(uvs)}", ("VEC2",))) is not None:
        uvs.append(uv)
    colours = get("COLOR_0", ("VEC3", "VEC4"), FRACTION_COMPONENTS)
    if colours is not None and colours.shape[1] == 3:
        colours = np.concatenate([colours, np.ones((vertices, 1), np.float32)], axis=1)
    known = {"POSITION", "NORMAL", "TANGENT", "COLOR_0", *(f"TEXCOORD_{i}" for i in range(len(uvs)))}
    for key in attributes.value:
        if key not in known and not key.startswith(("JOINTS_", "WEIGHTS_")):
            document.note(f"the vertex attribute {key[:40]} was left out")
    return {"normals": get("NORMAL"), "tangents": get("TANGENT", ("VEC4",)), "uvs": uvs, "colours": colours}


def skin_joints(document: GltfDocument) -> list[list[int]]:
    """The nodes that each skin of the file names as its joints."""
    result = []
    for entry in document.list("skins"):
        joints = entry.indices("joints", len(document.list("nodes")))
        if not joints:
            raise entry.bad("joints", "is missing or empty, but a skin needs at least one joint")
        if len(set(joints)) < len(joints):
            place = format_place((*entry.place, "joints"))
            document.note(f"{place} names a node twice; its first bind matrix counts")
        result.append(joints)
    return result


def inverse_binds(
    document: GltfDocument, accessors: Accessors, index: int, count: int, rest: Callable[[int], Array]
) -> Array:
    """(B, 4, 4) joint_from_mesh of the B joints of a skin; the identity where the file gives none.

    Where single matrices are missing or are no numbers, the rest pose of the joint, `rest(b)` (4, 4), is its bind pose.
    """
    entry = document.list("skins")[index]
    number = document.reference(entry, "inverseBindMatrices", "accessors")
    if number is None:
        return np.tile(np.eye(4), (count, 1, 1))
    place = (*entry.place, "inverseBindMatrices")
    flat = accessors.loose_floats(number, ("MAT4",), place, (FLOAT_COMPONENT,), np.float64)[:count]
    flat = np.pad(flat, ((0, count - len(flat)), (0, 0)), constant_values=np.nan)
    matrices = flat.reshape(-1, 4, 4).swapaxes(1, 2)
    missing = np.flatnonzero(~np.isfinite(matrices).all(axis=(1, 2)))
    for joint in missing.tolist():
        world = rest(joint)
        # a joint without size has no inverse; its vertices are then bound where they are
        matrices[joint] = np.linalg.inv(world) if abs(np.linalg.det(world)) > MIN_DETERMINANT else np.eye(4)
    if missing.size:
        text = format_place(place)
        document.note(f"{text}: matrices that are missing or no numbers were taken from the rest pose ({len(missing)})")
    # 1e-5: float32 products of exporters; a larger last row would be a projection, which a skin cannot be
    if np.abs(matrices[:, 3] - (0, 0, 0, 1)).max() > 1e-5:
        document.note("inverse bind matrices with a last row other than 0 0 0 1 were made affine")
    matrices[:, 3] = (0, 0, 0, 1)
    return matrices


def read_binding(document: GltfDocument, accessors: Accessors, attributes: JsonObject, vertices: int) -> Binding | None:
    """All JOINTS_n and WEIGHTS_n of a primitive, or None where it has none."""
    sets: list[tuple[Array, Array]] = []
    while f"JOINTS_{len(sets)}" in attributes and f"WEIGHTS_{len(sets)}" in attributes:
        n = len(sets)
        joints_at = document.reference(attributes, f"JOINTS_{n}", "accessors")
        weights_at = document.reference(attributes, f"WEIGHTS_{n}", "accessors")
        assert joints_at is not None and weights_at is not None  # both were just found there
        joints, _ = accessors.raw(joints_at, ("VEC4",), JOINT_COMPONENTS, (*attributes.place, f"JOINTS_{n}"))
        place = (*attributes.place, f"WEIGHTS_{n}")
        weights = accessors.loose_floats(weights_at, ("VEC4",), place, WEIGHT_COMPONENTS, np.float64)
        for key, values in ((f"JOINTS_{n}", joints), (f"WEIGHTS_{n}", weights)):
            if len(values) != vertices:
                raise attributes.bad(key, f"has {len(values)} elements, but POSITION has {vertices}")
        sets.append((joints, weights))
    if not sets:
        return None
    document.take(48 * vertices * len(sets), attributes.place)
    influences = np.concatenate([joints for joints, _ in sets], axis=1).astype(np.int64)
    weights = np.concatenate([weights for _, weights in sets], axis=1)
    broken: Array = np.logical_not(np.isfinite(weights).all(axis=1))
    weights[broken] = 0
    if weights.min() < 0:
        document.count("negative skin weights were set to zero ({})", int(np.sum(weights < 0)))
        weights = np.maximum(weights, 0)
    influences[weights == 0] = 0
    used = np.flatnonzero((weights > 0).any(axis=0))
    needed = int(used[-1]) + 1 if used.size else 1
    return Binding(influences[:, :needed], weights[:, :needed], broken)


def make_skin(
    document: GltfDocument, piece: PrimitiveMesh, binding: Binding, joints: Array, binds: Array
) -> tuple[SkinBinding, int, float]:
    """A skin on skeleton joints (B,), how many vertices had to be normalised, and the largest sum of weights."""
    binding = _mend_binding(document, piece, binding, len(joints))
    weights, changed = SkinBinding.normalise(binding.weights)
    total = binding.weights.sum(axis=1)
    rounded = np.abs(total - 1) <= WEIGHT_SUM_TOLERANCE
    weights[rounded] = binding.weights[rounded]
    document.take(2 * weights.nbytes + 2 * binds.nbytes, piece.attributes.place)
    distinct, first, same = np.unique(joints, return_index=True, return_inverse=True)
    if len(distinct) < len(joints):
        return SkinBinding(distinct, binds[first], same[binding.influences], weights), changed, float(total.max())
    return SkinBinding(joints, binds, binding.influences, weights), changed, float(total.max())


def _mend_binding(document: GltfDocument, piece: PrimitiveMesh, binding: Binding, joints: int) -> Binding:
    """The binding with weights for every vertex.

    Weights on joints that do not exist are dropped. Vertices without any weight left, or whose weights were no
    numbers, get those of the nearest sound vertex.
    """
    influences, weights, broken = binding.influences, binding.weights, binding.broken
    outside = influences >= joints
    if outside.any():
        if (outside | (weights == 0)).all():
            raise piece.attributes.bad(
                "JOINTS_0", f"holds joint {int(influences.max())}, but its skin has {joints} joints"
            )
        influences, weights = np.where(outside, 0, influences), np.where(outside, 0.0, weights)
        place = format_place((*piece.attributes.place, "JOINTS_0"))
        document.count(f"weights of {place} on joints that do not exist were left out ({{}})", int(outside.sum()))
        broken = broken | (outside.any(axis=1) & (weights.sum(axis=1) <= 0))
    if not broken.any():
        return Binding(influences, weights, broken)
    place = format_place((*piece.attributes.place, "WEIGHTS_0"))
    if broken.all():
        document.note(f"{place} holds no weight that is a number; `understudy skin auto` finds new ones")
        return Binding(influences, weights, broken)
    mesh = piece.mesh
    document.take(32 * (3 * len(mesh.triangles) + 4 * len(mesh.vertices)), piece.attributes.place)
    donors = nearest_sound_vertices(mesh.vertices, mesh.triangles, broken)
    influences, weights = influences.copy(), weights.copy()
    influences[broken], weights[broken] = influences[donors], weights[donors]
    document.count(f"vertices of {place} without sound weights got those of their neighbours ({{}})", int(broken.sum()))
    return Binding(influences, weights, broken)
