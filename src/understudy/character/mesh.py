"""Mesh: vertices, triangles, UVs, colours and materials; and polygons cut into triangles.

Materials are in the metallic-roughness terms that glTF and USD share.

`Shapes` are the named blend shapes of one mesh, with in-betweens.

`SkinBinding` has the joints, weights and inverse bind matrices of a mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Shapes:
    """S named shapes of P targets. A shape without in-betweens is one target at weight 1 (P = S).

    Target p belongs to shape `shape_of[p]` and is met exactly when that shape's weight is `stop_of[p]`; between two
    stops, and between a stop and the rest at weight 0, the weight is shared linearly (as in UsdSkel's in-betweens).
    """

    names: tuple[str, ...]  # S
    deltas: Array  # (P, V, 3) float32, added to the vertices
    normals: Array | None  # (P, V, 3) float32, added to the normals, or None
    defaults: Array  # (S,) the weights at rest
    shape_of: Array  # (P,) int
    stop_of: Array  # (P,)

    def __init__(
        self,
        names: Iterable[str],
        deltas: Any,
        normals: Any = None,
        defaults: Any = None,
        shape_of: Any = None,
        stop_of: Any = None,
    ) -> None:
        names = checks.unique_names(names, "shape names")
        deltas = checks.array(deltas, "shape deltas", ("P", "V", 3), np.float32)
        targets = len(deltas)
        shape_of = np.arange(len(names)) if shape_of is None else shape_of
        stop_of = np.ones(targets) if stop_of is None else stop_of
        defaults = np.zeros(len(names)) if defaults is None else defaults
        fields = {
            "names": names,
            "deltas": deltas,
            "normals": None
            if normals is None
            else checks.array(normals, "shape normal deltas", deltas.shape, np.float32),
            "defaults": checks.array(defaults, "default shape weights", (len(names),)),
            "shape_of": checks.array(shape_of, "the shapes of the targets", (targets,), np.int64),
            "stop_of": checks.array(stop_of, "the stops of the targets", (targets,)),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        checks.indices(self.shape_of, "the shapes of the targets", len(names))
        missing = np.setdiff1d(np.arange(len(names)), self.shape_of)
        if missing.size:
            raise InvalidInput(f"shape {names[missing[0]]!r} has no target")
        if np.any(self.stop_of == 0):
            raise InvalidInput("a shape's target should have a weight other than 0, which is the rest")

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Shapes({len(self)} shapes, {self.deltas.shape[1]} vertices)"

    @property
    def plain(self) -> bool:
        """Whether no shape has in-betweens, so that targets and shapes are the same."""
        return len(self.deltas) == len(self) and bool(
            (self.shape_of == np.arange(len(self))).all() and (self.stop_of == 1).all()
        )

    def target_weights(self, weights: Array) -> Array:
        """(F, P) weights of the targets for (F, S) weights of the shapes."""
        if self.plain:
            return weights
        result = np.zeros((len(weights), len(self.deltas)))
        for shape in range(len(self)):
            targets = np.flatnonzero(self.shape_of == shape)
            targets = targets[np.argsort(self.stop_of[targets])]
            stops = self.stop_of[targets]
            at_rest = int(np.searchsorted(stops, 0.0))
            knots = np.insert(stops, at_rest, 0.0)
            columns = np.insert(targets, at_rest, -1)
            weight = weights[:, shape]
            left = np.clip(np.searchsorted(knots, weight, side="right") - 1, 0, len(knots) - 2)
            share = (weight - knots[left]) / (knots[left + 1] - knots[left])
            rows = np.arange(len(weights))
            for knot, part in ((left, 1 - share), (left + 1, share)):
                moves = columns[knot] >= 0
                result[rows[moves], columns[knot[moves]]] += part[moves]
        return result


SLOTS = ("colour", "normal", "metallic_roughness", "occlusion", "emissive")
MAX_FAN_STARTS = 8  # corners from which a fan is tried; more rarely help


@dataclass(frozen=True)
class Image:
    """An encoded picture from the file: PNG or JPEG bytes, empty where only the name is known."""

    name: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Texture:
    """An image mapped to a surface by one of the mesh's UV sets; `sampler` and `extra` are specific to the format."""

    image: Image
    uv_set: int = 0
    sampler: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Material:
    """Factors and textures of one surface; colours are linear, as in glTF."""

    name: str = "default"
    colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    metallic: float = 0.0
    roughness: float = 0.8
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    alpha_mode: str = "OPAQUE"  # OPAQUE, MASK or BLEND
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    textures: Mapping[str, Texture] = field(default_factory=lambda: MappingProxyType({}))  # by slot, see SLOTS
    # format-specific settings, kept through a round trip
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh. Vertices keep the file's own order and number, so an index means the same everywhere.

    Normals, UVs and colours are given per vertex (V, n) or, where a vertex has several of them (a seam), per triangle
    corner (T, 3, n). `per_vertex()` splits such vertices for formats and graphics cards that take only the first form.
    """

    name: str
    vertices: Array  # (V, 3) float32
    triangles: Array  # (T, 3) int32
    normals: Array | None = None  # (V, 3) or (T, 3, 3) float32
    uvs: tuple[Array, ...] = ()  # each (V, 2) or (T, 3, 2) float32, v downwards as in glTF
    colours: Array | None = None  # (V, 4) or (T, 3, 4) float32, linear
    materials: tuple[Material, ...] = ()
    material_of: Array | None = None  # (T,) int32 into materials; None: all the first
    shapes: Shapes | None = None
    tangents: Array | None = None  # (V, 4) float32, kept for normal maps
    extra: dict[str, Any] = field(default_factory=dict, repr=False)

    def __init__(
        self,
        name: str,
        vertices: Any,
        triangles: Any,
        normals: Any = None,
        uvs: Iterable[Any] = (),
        colours: Any = None,
        materials: Iterable[Material] = (),
        material_of: Any = None,
        shapes: Shapes | None = None,
        tangents: Any = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        vertices = checks.array(vertices, f"vertices of mesh {name!r}", ("V", 3), np.float32)
        triangles = checks.array(triangles, f"triangles of mesh {name!r}", ("T", 3), np.int32)
        checks.indices(triangles, f"triangles of mesh {name!r}", len(vertices))
        materials = tuple(materials)
        size = (len(vertices), len(triangles))
        fields = {
            "name": str(name),
            "vertices": vertices,
            "triangles": triangles,
            "normals": _attribute(normals, f"normals of mesh {name!r}", 3, *size),
            "uvs": tuple(_attribute(uv, f"UVs of mesh {name!r}", 2, *size) for uv in uvs),
            "colours": _attribute(colours, f"colours of mesh {name!r}", 4, *size),
            "materials": materials,
            "material_of": _material_of(material_of, name, len(triangles), len(materials)),
            "shapes": shapes,
            "tangents": None
            if tangents is None
            else checks.array(tangents, f"tangents of mesh {name!r}", (len(vertices), 4), np.float32),
            "extra": dict(extra or {}),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)
        if shapes is not None and shapes.deltas.shape[1] != len(vertices):
            raise InvalidInput(
                f"the shapes of mesh {name!r} should move {len(vertices)} vertices, but move {shapes.deltas.shape[1]}"
            )

    def __repr__(self) -> str:
        shapes = len(self.shapes) if self.shapes else 0
        return f"Mesh({self.name!r}, {len(self.vertices)} vertices, {len(self.triangles)} triangles, {shapes} shapes)"

    def material(self, triangle: int = 0) -> Material:
        """The material of one triangle, or the default material."""
        if not self.materials:
            return Material()
        return self.materials[0 if self.material_of is None else int(self.material_of[triangle])]

    def per_vertex(self) -> tuple[Mesh, Array]:
        """The same surface with every attribute per vertex, and (V',) the vertex that each new one came from.

        Vertices that need no split keep their number; the others' copies follow at the end.
        """
        corner_attributes = [a for a in (self.normals, *self.uvs, self.colours) if a is not None and a.ndim == 3]
        count = len(self.vertices)
        if not corner_attributes:
            return self, np.arange(count)
        corners = np.concatenate([a.reshape(-1, a.shape[-1]) for a in corner_attributes], axis=1)
        key = np.concatenate([self.triangles.reshape(-1, 1).astype(np.float32), corners], axis=1)
        # float32 holds vertex numbers exactly below 2**24, far above the bound on vertices that readers accept
        _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
        vertex_of = self.triangles.reshape(-1)[first]
        lead = np.full(count, -1)
        lead[vertex_of[::-1]] = np.arange(len(first))[::-1]  # the first variant of each vertex keeps its number
        number = np.empty(len(first), np.int64)
        is_lead = lead[vertex_of] == np.arange(len(first))
        number[is_lead] = vertex_of[is_lead]
        number[~is_lead] = count + np.arange((~is_lead).sum())
        origin = np.concatenate([np.arange(count), vertex_of[~is_lead]])
        corner_vertex = number[inverse]

        def spread(attribute: Array | None) -> Array | None:
            if attribute is None or attribute.ndim == 2:
                return None if attribute is None else attribute[origin]
            result = np.zeros((len(origin), attribute.shape[-1]), np.float32)
            result[corner_vertex] = attribute.reshape(-1, attribute.shape[-1])
            return result

        shapes = self.shapes
        if shapes is not None:
            shape_normals = None if shapes.normals is None else shapes.normals[:, origin]
            shapes = Shapes(
                shapes.names, shapes.deltas[:, origin], shape_normals, shapes.defaults, shapes.shape_of, shapes.stop_of
            )
        mesh = Mesh(
            self.name,
            self.vertices[origin],
            corner_vertex.reshape(-1, 3),
            spread(self.normals),
            [spread(uv) for uv in self.uvs],
            spread(self.colours),
            self.materials,
            self.material_of,
            shapes,
            None if self.tangents is None else self.tangents[origin],
            self.extra,
        )
        return mesh, origin


def _attribute(value: Any, name: str, width: int, vertices: int, triangles: int) -> Array | None:
    if value is None:
        return None
    per_corner = np.ndim(value) == 3
    return checks.array(value, name, (triangles, 3, width) if per_corner else (vertices, width), np.float32)


def _material_of(value: Any, name: str, triangles: int, materials: int) -> Array | None:
    if value is None:
        return None
    result = checks.array(value, f"materials of mesh {name!r}", (triangles,), np.int32)
    checks.indices(result, f"materials of mesh {name!r}", materials)
    return result


def fans(points: Array, corners: Array, sizes: Array) -> tuple[Array, Array, int]:
    """Triangles of polygons: (T, 3) indices into `corners`, (T,) their polygons, and how many polygons stay folded.

    `corners` (C,) are the polygons' vertices in turn, into `points` (V, 3), and `sizes` (P,) their numbers of corners.
    A polygon becomes the fan 0 1 2, 0 2 3, ... of its first corner. Where it is concave, so that a triangle of the fan
    faces the other way, the fan of the next corner is tried. Polygons of fewer than three corners give nothing.
    """
    starts = np.cumsum(sizes) - sizes
    pieces = np.maximum(sizes - 2, 0)
    first = np.cumsum(pieces) - pieces
    triangles = np.empty((int(pieces.sum()), 3), np.int64)
    folded = 0
    for size in np.unique(sizes[sizes >= 3]).tolist():
        members = np.flatnonzero(sizes == size)
        ring = starts[members, None] + np.arange(size)  # (m, size) indices into corners
        if size > 3:
            ring, bad = _convex_start(points, corners, ring)
            folded += bad
        steps = np.arange(1, size - 1)
        cut = np.stack(
            [np.broadcast_to(ring[:, :1], (len(ring), size - 2)), ring[:, steps], ring[:, steps + 1]], axis=2
        )
        triangles[first[members, None] + np.arange(size - 2)] = cut
    return triangles, np.repeat(np.arange(len(sizes)), pieces), folded


def _convex_start(points: Array, corners: Array, ring: Array) -> tuple[Array, int]:
    """The same polygons, each begun at a corner whose fan is not folded, and the number of those without one."""
    ring = ring.copy()
    todo = np.arange(len(ring))
    original = ring.copy()
    for _ in range(min(ring.shape[1], MAX_FAN_STARTS)):
        p = points[corners[ring[todo]]]  # (n, size, 3)
        arms = p[:, 1:] - p[:, :1]
        areas = np.cross(arms[:, :-1], arms[:, 1:])  # (n, size - 2, 3): twice the area, along the normal
        facing = np.einsum("nti,ni->nt", areas, areas.sum(axis=1))
        todo = todo[facing.min(axis=1) < -1e-9 * np.abs(facing).max(axis=1)]
        if not todo.size:
            return ring, 0
        ring[todo] = np.roll(ring[todo], -1, axis=1)
    ring[todo] = original[todo]
    return ring, len(todo)


METHODS = ("linear", "dual")


@dataclass(frozen=True, eq=False)
class SkinBinding:
    """Weights of vertices on B joints, K influences a vertex.

    vertex(t) = sum_k weights[v, k] * world_from_joint(t)[joints[b]] @ inverse_binds[b] @ vertex,  b = influences[v, k]

    A mesh that is rigid on one joint has a skin as well (`SkinBinding.rigid`): one joint, weight 1, identity bind.
    """

    joints: Array  # (B,) int, numbers in the skeleton
    inverse_binds: Array  # (B, 4, 4) joint_from_mesh in the bind pose
    influences: Array  # (V, K) int32, into joints
    weights: Array  # (V, K) float32, rows sum to 1
    method: str = "linear"

    def __init__(self, joints: Any, inverse_binds: Any, influences: Any, weights: Any, method: str = "linear") -> None:
        joints = checks.array(joints, "skin joints", ("B",), np.int64)
        influences = checks.array(influences, "skin influences", ("V", "K"), np.int32)
        weights = checks.array(weights, "skin weights", influences.shape, np.float32)
        checks.indices(influences, "skin influences", len(joints))
        fields = {
            "joints": joints,
            "inverse_binds": checks.array(inverse_binds, "inverse bind matrices", (len(joints), 4, 4)),
            "influences": influences,
            "weights": weights,
            "method": checks.one_of(method, "skinning method", METHODS),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        total = np.einsum("vk->v", weights, dtype=np.float64, casting="same_kind")
        # 1e-3: 8-bit weights, each rounded by up to 1/510, are still accepted; a missing influence is not.
        off = np.abs(total - 1) > 1e-3 * max(4, weights.shape[1])
        if off.any():
            wrong = np.flatnonzero(off)
            raise InvalidInput(
                f"skin weights should sum to 1, but those of vertex {wrong[0]} sum to {total[wrong[0]]:.4g}; "
                "see SkinBinding.normalise"
            )

    @classmethod
    def rigid(cls, joint: int, vertices: int) -> SkinBinding:
        """The skin of a mesh that is rigid on one joint."""
        skin = cls([joint], np.eye(4)[None], np.zeros((0, 1)), np.ones((0, 1)))
        # Correct by construction: checking them would take longer than all else in a scene with many large parts.
        object.__setattr__(skin, "influences", checks.freeze(np.zeros((vertices, 1), np.int32)))
        object.__setattr__(skin, "weights", checks.freeze(np.ones((vertices, 1), np.float32)))
        return skin

    @staticmethod
    def normalise(weights: Any) -> tuple[Array, int]:
        """(V, K) weights whose rows sum to 1, and how many rows had to change by more than rounding.

        A row of zeros becomes all weight on its first influence, as three.js does.
        """
        weights = np.array(weights, np.float64)
        total = weights.sum(axis=1, keepdims=True)
        empty = total[:, 0] <= 0
        changed = int(np.sum(np.abs(total - 1) > 1e-3))
        result = weights / np.where(total > 0, total, 1)
        if weights.shape[1]:
            result[empty] = 0
            result[empty, 0] = 1
        return result.astype(np.float32), changed

    @property
    def is_rigid(self) -> bool:
        """Whether the mesh is rigid on one joint."""
        return (
            len(self.joints) == 1
            and self.weights.shape[1] == 1
            and self.method == "linear"
            and bool((self.inverse_binds[0] == np.eye(4)).all())
        )

    def __repr__(self) -> str:
        vertices, influences = self.weights.shape
        return f"SkinBinding({len(self.joints)} joints, {vertices} vertices, {influences} influences)"


def nearest_sound_vertices(vertices: Array, triangles: Array, broken: Array) -> Array:
    """The sound vertex nearest to each broken one, along the edges of the mesh, or in space where no edge leads.

    The way along the edges keeps a finger from borrowing from the next one. Vertices at one place, which a seam has
    split, count as one.

    Args:
        vertices: (V, 3) positions.
        triangles: (T, 3) vertex numbers.
        broken: (V,) bool, the vertices that need a donor. At least one vertex must be sound.

    Returns:
        (N,) vertex numbers, one for each broken vertex.
    """
    from scipy.sparse import csr_matrix  # few files need them
    from scipy.sparse.csgraph import dijkstra
    from scipy.spatial import cKDTree

    places, place_of = np.unique(np.asarray(vertices, np.float64), axis=0, return_inverse=True)
    place_of = place_of.reshape(-1)
    sound = np.flatnonzero(~broken)
    donor_at = np.full(len(places), -1)
    donor_at[place_of[sound[::-1]]] = sound[::-1]
    corners = place_of[triangles]
    starts, ends = (np.concatenate([corners[:, i] for i in order]) for order in ((0, 1, 2), (1, 2, 0)))
    lengths = np.linalg.norm(places[starts] - places[ends], axis=1)
    distinct = lengths > 0  # a sparse matrix takes 0 for no edge
    graph = csr_matrix((lengths[distinct], (starts[distinct], ends[distinct])), (len(places), len(places)))
    donors_at = np.flatnonzero(donor_at >= 0)
    _, _, nearest = dijkstra(graph, directed=False, indices=donors_at, return_predecessors=True, min_only=True)
    reached = nearest[place_of[broken]]
    donors = np.where(reached >= 0, donor_at[np.maximum(reached, 0)], -1)
    lost = donors < 0
    if lost.any():
        donors[lost] = sound[cKDTree(vertices[sound]).query(vertices[broken][lost])[1]]
    return donors
