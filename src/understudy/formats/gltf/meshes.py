"""Meshes: one `Mesh` a primitive; primitives that share all their vertices become one mesh with several materials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Material, Mesh, Shapes
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats.distinct import unique
from understudy.formats.gltf.accessors import Accessors
from understudy.formats.gltf.document import Document
from understudy.formats.gltf.entry import Entry, printable, written
from understudy.formats.gltf.extensions import refused
from understudy.formats.gltf.materials import Materials
from understudy.formats.gltf.primitives import attribute, surface, triangles_of
from understudy.formats.gltf.skins import Binding, read_binding

DRACO = "KHR_draco_mesh_compression"


@dataclass
class Piece:
    """One mesh with what is needed to hang it on a skin."""

    mesh: Mesh
    binding: Binding | None
    attributes: Entry


class Meshes:
    """The meshes of a document. Each is read once, and once more for each node with default weights of its own."""

    def __init__(self, document: Document, accessors: Accessors, materials: Materials) -> None:
        self.document, self.accessors, self.materials = document, accessors, materials
        self._pieces: dict[tuple[int, tuple[float, ...] | None], list[Piece]] = {}
        self._shape_names: dict[int, list[str]] = {}

    def pieces(self, index: int, node: Entry) -> list[Piece]:
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
            extras = entry.value.get("extras")
            given = extras.get("targetNames") if isinstance(extras, dict) else None
            given = given if isinstance(given, list) else []
            found = [printable(given[i]) if i < len(given) and isinstance(given[i], str) else "" for i in range(count)]
            self._shape_names[index] = unique(name or f"shape_{i}" for i, name in enumerate(found))
        return self._shape_names[index]

    def _read(self, index: int, weights: list[float] | None, node: Entry) -> list[Piece]:
        entry = self.document.list("meshes")[index]
        names = self.shape_names(index)
        giver = entry if weights is None else node
        defaults = giver.numbers("weights") or [0.0] * len(names)
        if len(defaults) != len(names):
            raise giver.bad("weights", f"has {len(defaults)} values, but the mesh has {len(names)} morph targets")
        groups: dict[object, list[Entry]] = {}
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
        self, name: str, entry: Entry, group: list[Entry], names: list[str], defaults: list[float]
    ) -> Piece | None:
        attributes = group[0].child("attributes")
        self._refuse_draco(group[0], attributes)
        if "POSITION" not in attributes:
            self.document.count("primitives without positions were left out ({})")
            return None
        vertices = attribute(self.document, self.accessors, attributes, "POSITION", None, exact=True)
        assert vertices is not None  # it was just found there
        blocks, materials, material_of = self._triangles(group, len(vertices))
        if not blocks:
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
            **surface(self.document, self.accessors, attributes, len(vertices)),
        )
        binding = read_binding(self.document, self.accessors, attributes, len(vertices))
        return Piece(mesh, binding, attributes)

    def _refuse_draco(self, primitive: Entry, attributes: Entry) -> None:
        """Draco that is not required still is the only source of vertices where the accessors are empty."""
        position = self.document.reference(attributes, "POSITION", "accessors")
        compressed = DRACO in primitive.child("extensions")
        if compressed and position is not None and not self.accessors.has_data(position):
            raise refused(self.document, DRACO, written(primitive.place))

    def _triangles(self, group: list[Entry], vertices: int) -> tuple[list[Array], list[Material], list[Array]]:
        """The triangles of each primitive that has any, the materials in use, and the material of each triangle."""
        blocks, used, material_of = [], [], []
        for primitive in group:
            triangles = triangles_of(self.document, self.accessors, primitive, vertices)
            number = self.document.reference(primitive, "material", "materials")
            if triangles is None:
                continue
            if number not in used:
                used.append(number)
            blocks.append(triangles)
            material_of.append(np.full(len(triangles), used.index(number), np.int32))
        if used == [None]:
            used = []
        return blocks, [Material() if n is None else self.materials.material(n) for n in used], material_of

    def _shapes(self, primitive: Entry, names: list[str], defaults: list[float], vertices: int) -> Shapes | None:
        targets = primitive.children("targets")
        if not targets:
            return None
        size = len(targets) * vertices * 12
        with_normals = any("NORMAL" in target for target in targets)
        self.document.take((4 if with_normals else 2) * size, primitive.place)
        deltas = np.zeros((len(targets), vertices, 3), np.float32)
        normals = np.zeros(deltas.shape, np.float32) if with_normals else None
        for i, target in enumerate(targets):
            moved = attribute(self.document, self.accessors, target, "POSITION", vertices, exact=True)
            turned = attribute(self.document, self.accessors, target, "NORMAL", vertices)
            if moved is not None:
                deltas[i] = moved
            if turned is not None and normals is not None:
                normals[i] = turned
            for key in target.value:
                if key not in ("POSITION", "NORMAL"):
                    self.document.note(f"morph targets of {key[:40]} were left out")
        return Shapes(names, deltas, normals, defaults)


def _signature(attributes: Entry) -> tuple[tuple[str, int], ...]:
    for key, value in attributes.value.items():
        if type(value) is not int:
            raise BadFile(attributes.file, "should be the index of an accessor", written((*attributes.place, key)))
    return tuple(sorted(attributes.value.items()))
