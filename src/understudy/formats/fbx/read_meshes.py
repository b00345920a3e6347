"""Reading meshes: polygons, normals, UVs, colours, blend shapes and skins.

Layer elements say how their values are spread (`MappingInformationType`: by polygon vertex, vertex, polygon, or all the
same) and whether by an index (`ReferenceInformationType`). A blend shape channel has one target or, with in-betweens,
several, each met at its full weight in percent. A skin has a cluster for each bone, with weights and with the matrix
from the mesh to the bone when they were bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Mesh, Shapes, SkinBinding
from understudy.character.mesh import fans, nearest_sound_vertices
from understudy.checks import Array
from understudy.formats.conventions import make_distinct
from understudy.formats.fbx.document import FbxDocument, FbxNode
from understudy.formats.fbx.nodes import geometric_transform
from understudy.formats.fbx.read_materials import FbxMaterials
from understudy.formats.fbx.scene import FbxObject
from understudy.maths import colour, transform

MAX_INFLUENCES = 32  # a vertex; the weakest of more are dropped
TARGET_BYTES = 1 << 14  # charged for each shape target besides its numbers: the time that it takes to make


@dataclass
class ShapeChannels:
    """The shapes of a mesh and the blend shape channels that drive them, in the same order."""

    shapes: Shapes
    channels: list[FbxObject]


@dataclass
class FbxFaces:
    """Polygons cut into triangles: `corners` point into the file's list of polygon vertices."""

    corners: Array  # (T, 3)
    triangles: Array  # (T, 3) vertex numbers
    polygon_of: Array  # (T,)
    polygon_count: int
    corner_count: int
    vertex_count: int


@dataclass
class Cluster:
    """The vertices (n,) of one bone, their weights, and bone_from_mesh (4, 4)."""

    bone: FbxObject
    vertices: Array
    weights: Array
    bind: Array

    def within(self, vertices: int) -> Array:
        """(n,) which of its vertices exist in a mesh of that many."""
        return (self.vertices >= 0) & (self.vertices < vertices)


class MeshReader:
    """Reads geometries as meshes, and the skins on them."""

    def __init__(self, document: FbxDocument, materials: FbxMaterials) -> None:
        self.document, self.materials = document, materials
        self._clusters: dict[int, list[Cluster]] = {}

    def mesh(
        self, model: FbxObject, geometry: FbxObject, name: str, unit: float
    ) -> tuple[Mesh, list[FbxObject]] | None:
        """The mesh that a model shows, lengths times `unit`, and its blend shape channels; None where it is empty."""
        node = geometry.node
        points = self.document.floats(node, "Vertices", 3)
        if points is None:
            return None
        faces = self._faces(node, points)
        normals = self._layer(node.first("LayerElementNormal"), "Normals", "NormalsIndex", 3, faces)
        channels = self._shapes(geometry, len(points))
        placed = geometric_transform(model)
        if placed is not None:
            points = transform.apply(placed, points)
            if normals is not None:
                normals = _turn_normals(placed, normals)
        shapes = None if channels is None else channels.shapes
        if shapes is not None and (placed is not None or unit != 1):
            linear = np.eye(3) if placed is None else placed[:3, :3]
            deltas = shapes.deltas @ (linear.T * unit).astype(np.float32)
            turned = None if shapes.normals is None else shapes.normals @ linear.T.astype(np.float32)
            shapes = Shapes(shapes.names, deltas, turned, shapes.defaults, shapes.shape_of, shapes.stop_of)
        uvs, uv_names = self._uvs(node, faces)
        chosen, material_of = self._material_of(model, node, faces, uv_names)
        mesh = Mesh(
            name,
            points * unit,
            faces.triangles,
            normals,
            uvs,
            self._colours(node, faces),
            chosen,
            material_of,
            shapes,
        )
        return mesh, [] if channels is None else channels.channels

    def _faces(self, node: FbxNode, points: Array) -> FbxFaces:
        index = self.document.integers(node, "PolygonVertexIndex")
        index = np.zeros(0, np.int64) if index is None else index
        self.document.take(64 * len(index))
        ends = np.flatnonzero(index < 0)
        corners = np.where(index < 0, ~index, index)
        whole = int(ends[-1]) + 1 if len(ends) else 0
        if whole < len(index):
            self.document.count("polygons without an end were left out ({})")
        if corners[:whole].size and corners[:whole].max() >= len(points):
            worst = int(corners[:whole].max())
            raise self.document.bad(node, f"a polygon holds vertex {worst}, but there are {len(points)} vertices")
        sizes = np.diff(np.concatenate([[-1], ends]))
        triangles, polygon_of, folded = fans(points, corners[:whole], sizes)
        self.document.count("polygons that no fan of triangles covers may show folds ({})", folded)
        return FbxFaces(triangles, corners[triangles], polygon_of, len(sizes), len(index), len(points))

    def _layer(self, layer: FbxNode | None, data: str, index: str, width: int, faces: FbxFaces) -> Array | None:
        """(V, width) or, where corners differ, (T, 3, width) of a layer element; None where there is none that fits."""
        if layer is None:
            return None
        values = self.document.array(layer, data)
        if values is None or len(values) % width:
            return None
        self.document.take(16 * len(values))
        values = np.asarray(values, np.float64).reshape(-1, width)
        values = np.where(np.abs(values) < 1e30, values, 0.0)
        mapping = layer.text("MappingInformationType")
        if layer.text("ReferenceInformationType") in ("IndexToDirect", "Index"):
            order = self.document.integers(layer, index)
            if order is not None and len(values):
                if order.max() >= len(values) or order.min() < -1:
                    self.document.note(f"{data} with an index beyond their number were left out")
                    return None
                self.document.take(8 * width * len(order))
                values = values[order]
        expected = {
            "ByPolygonVertex": faces.corner_count,
            "ByVertice": faces.vertex_count,
            "ByVertex": faces.vertex_count,
            "ByPolygon": faces.polygon_count,
            "AllSame": 1,
        }.get(mapping)
        if expected is None or len(values) < expected:
            self.document.note(f"{data} that do not fit their mesh were left out")
            return None
        self.document.take(12 * width * len(faces.corners) + 4 * width * faces.vertex_count)
        if mapping == "ByPolygonVertex":
            return values[faces.corners]
        if mapping == "ByPolygon":
            return np.repeat(values[faces.polygon_of][:, None], 3, axis=1)
        return np.repeat(values[:1], faces.vertex_count, axis=0) if expected == 1 else values[: faces.vertex_count]

    def _uvs(self, node: FbxNode, faces: FbxFaces) -> tuple[list[Array], list[str]]:
        """The UV sets, v turned downwards as in glTF, and their names."""
        uvs, names = [], []
        for layer in node.all("LayerElementUV"):
            values = self._layer(layer, "UV", "UVIndex", 2, faces)
            if values is not None:
                uvs.append(np.stack([values[..., 0], 1 - values[..., 1]], axis=-1))
                names.append(layer.text("Name"))
        return uvs, names

    def _colours(self, node: FbxNode, faces: FbxFaces) -> Array | None:
        """Colours of the first set, linear: tools write what the screen shows (sRGB)."""
        values = self._layer(node.first("LayerElementColor"), "Colors", "ColorIndex", 4, faces)
        if values is None:
            return None
        values = np.clip(values, 0.0, 1.0)
        return np.concatenate([colour.to_linear(values[..., :3]), values[..., 3:]], axis=-1)

    def _material_of(
        self, model: FbxObject, node: FbxNode, faces: FbxFaces, uv_names: list[str]
    ) -> tuple[list, Array | None]:
        materials = [self.materials.material(o, uv_names) for o in model.sources_of("Material")]
        layer = node.first("LayerElementMaterial")
        index = None if layer is None else self.document.integers(layer, "Materials")
        if len(materials) < 2 or index is None:
            return materials, None
        if layer is not None and layer.text("MappingInformationType") == "AllSame":
            index = np.full(faces.polygon_count, index[0])
        if len(index) < faces.polygon_count:
            self.document.note("materials of polygons that do not fit their mesh were left out")
            return materials[:1], None
        index = index[: faces.polygon_count]
        wrong = (index < 0) | (index >= len(materials))
        self.document.count("polygons with a material that does not exist got the first ({})", int(wrong.sum()))
        return materials, np.where(wrong, 0, index)[faces.polygon_of]

    def _shapes(self, geometry: FbxObject, vertices: int) -> ShapeChannels | None:
        channels = [
            channel
            for deformer in geometry.sources_of("Deformer", "BlendShape")
            for channel in deformer.sources_of("Deformer", "BlendShapeChannel")
            if channel.sources_of("Geometry", "Shape")
        ]
        if not channels:
            return None
        deltas: list[Array] = []
        normals: list[Array | None] = []
        shape_of: list[int] = []
        stop_of: list[float] = []
        for number, channel in enumerate(channels):
            targets = channel.sources_of("Geometry", "Shape")
            for target, stop in zip(targets, self._stops(channel, len(targets))):
                offsets, turns = self._offsets(target, vertices)
                deltas.append(offsets)
                normals.append(turns)
                shape_of.append(number)
                stop_of.append(stop)
        labels: list[str] = []
        names = make_distinct(_short_names([channel.name for channel in channels]), "shape", labels)
        for label in labels:
            self.document.note(label)
        with_normals = any(turns is not None for turns in normals)
        zero = np.zeros((vertices, 3), np.float32)
        shapes = Shapes(
            names,
            np.stack(deltas),
            np.stack([zero if turns is None else turns for turns in normals]) if with_normals else None,
            [channel.number_of("DeformPercent", 0.0) / 100 for channel in channels],
            shape_of,
            stop_of,
        )
        return ShapeChannels(shapes, channels)

    def _stops(self, channel: FbxObject, targets: int) -> list[float]:
        """The weight at which each target of a channel is met; in equal steps where the file gives none that fit."""
        weights = self.document.array(channel.node, "FullWeights")
        if weights is not None and len(weights) >= targets:
            stops = np.asarray(weights[:targets], np.float64) / 100
            if np.isfinite(stops).all() and (stops != 0).all() and len(np.unique(stops)) == targets:
                return [float(stop) for stop in stops]
        return [(i + 1) / targets for i in range(targets)]

    def _offsets(self, target: FbxObject, vertices: int) -> tuple[Array, Array | None]:
        """(V, 3) offsets of positions and normals of a target."""
        index = self.document.integers(target.node, "Indexes")
        offsets = self.document.floats(target.node, "Vertices", 3)
        self.document.take(24 * vertices + TARGET_BYTES)
        result = np.zeros((vertices, 3), np.float32)
        if index is None or offsets is None:
            return result, None
        if len(index) != len(offsets) or index.min() < 0 or index.max() >= vertices:
            raise self.document.bad(
                target.node, f"has {len(index)} indexes and {len(offsets)} offsets for a mesh of {vertices} vertices"
            )
        result[index] = offsets
        turns = self.document.floats(target.node, "Normals", 3)
        if turns is None or len(turns) != len(index) or not turns.any():
            return result, None
        self.document.take(12 * vertices)
        normals = np.zeros((vertices, 3), np.float32)
        normals[index] = turns
        return result, normals

    def clusters(self, geometry: FbxObject) -> list[Cluster]:
        """The clusters of a geometry's skin that name a bone."""
        if geometry.number not in self._clusters:
            self._clusters[geometry.number] = self._read_clusters(geometry)
        return self._clusters[geometry.number]

    def _read_clusters(self, geometry: FbxObject) -> list[Cluster]:
        skins = geometry.sources_of("Deformer", "Skin")
        if len(skins) > 1:
            self.document.note("of several skins on one mesh only the first is read")
        clusters = []
        for entry in skins[0].sources_of("Deformer", "Cluster") if skins else ():
            bones = entry.sources_of("Model")
            bind = self.document.matrix(entry.node, "Transform")
            if not bones or bind is None:
                self.document.count("clusters without a bone or a matrix were left out ({})")
                continue
            bind[3] = (0, 0, 0, 1)
            index, weights = self.document.integers(entry.node, "Indexes"), self.document.array(entry.node, "Weights")
            index = np.zeros(0, np.int64) if index is None else index
            weights = np.zeros(0) if weights is None else np.asarray(weights, np.float64)
            if len(index) != len(weights):
                raise self.document.bad(entry.node, f"has {len(index)} indexes, but {len(weights)} weights")
            clusters.append(Cluster(bones[0], index, weights, bind))
        return clusters

    def method(self, geometry: FbxObject) -> str:
        """The skinning method of a geometry."""
        skins = geometry.sources_of("Deformer", "Skin")
        kind = skins[0].node.text("SkinningType") if skins else ""
        if kind == "Blend":
            self.document.note("skins that blend two methods are read as linear")
        return "dual" if kind == "DualQuaternion" else "linear"

    def covers(self, geometry: FbxObject) -> bool:
        """Whether the skin of a geometry moves all of its vertices, so that its own node has no effect."""
        clusters = self.clusters(geometry)
        points = self.document.floats(geometry.node, "Vertices", 3)
        if not clusters or points is None:
            return False
        total = np.zeros(len(points))
        for cluster in clusters:
            fits = cluster.within(len(points)) & ((cluster.weights > 0) | ~np.isfinite(cluster.weights))
            total[cluster.vertices[fits]] = 1
        return bool(total.all())

    def skin(
        self,
        geometry: FbxObject,
        mesh: Mesh,
        number: dict[int, int],
        own: int | None,
        units: list[float],
        unit: float,
    ) -> SkinBinding | None:
        """The skin of a mesh of which lengths are multiplied by `unit`; None where it has none.

        `number` are the joints by model, `units` their lengths' factors; vertices without weights hang on the joint
        `own`, which is that of the mesh's node. Vertices whose weights are all unusable get those of a neighbour.
        """
        vertices = len(mesh.vertices)
        clusters = [cluster for cluster in self.clusters(geometry) if cluster.bone.number in number]
        if not clusters:
            return None
        column, vertex, weight, lost = _influences(self.document, clusters, vertices)
        binds = [_convert_bind(c.bind, units[number[c.bone.number]], unit) for c in clusters]
        joints = [number[cluster.bone.number] for cluster in clusters]
        bare = np.setdiff1d(np.arange(vertices), [*vertex, *lost])
        if len(bare) and own is not None:
            self.document.count("vertices without weights hang on the node of their mesh ({})", len(bare))
            column = np.concatenate([column, np.full(len(bare), len(joints))])
            vertex, weight = np.concatenate([vertex, bare]), np.concatenate([weight, np.ones(len(bare))])
            joints.append(own)
            binds.append(np.eye(4))
        order = np.lexsort((-weight, vertex))
        column, vertex, weight = column[order], vertex[order], weight[order]
        rank = np.arange(len(vertex)) - np.searchsorted(vertex, vertex)
        most = int(rank.max(initial=0)) + 1
        if most > MAX_INFLUENCES:
            self.document.note(f"of more than {MAX_INFLUENCES} influences on a vertex the weakest were left out")
            kept = rank < MAX_INFLUENCES
            column, vertex, weight, rank = column[kept], vertex[kept], weight[kept], rank[kept]
            most = MAX_INFLUENCES
        self.document.take(32 * vertices * most)
        influences, weights = np.zeros((vertices, most), np.int32), np.zeros((vertices, most))
        influences[vertex, rank], weights[vertex, rank] = column, weight
        if len(lost) and len(lost) < vertices:
            self.document.take(32 * (3 * len(mesh.triangles) + 4 * vertices))
            broken = np.isin(np.arange(vertices), lost)
            donors = nearest_sound_vertices(mesh.vertices, mesh.triangles, broken)
            influences[broken], weights[broken] = influences[donors], weights[donors]
            self.document.count("vertices without sound weights got those of their neighbours ({})", len(lost))
        weights, changed = SkinBinding.normalise(weights)
        self.document.count("vertices whose skin weights did not sum to 1 were normalised ({})", changed)
        return SkinBinding(joints, np.stack(binds), influences, weights, self.method(geometry))


def _influences(document: FbxDocument, clusters: list[Cluster], vertices: int) -> tuple[Array, Array, Array, Array]:
    """(I,) the cluster, the vertex and the weight of every influence that counts, and the vertices that lost all."""
    column = np.concatenate([np.full(len(c.vertices), i) for i, c in enumerate(clusters)])
    vertex = np.concatenate([c.vertices for c in clusters])
    weight = np.concatenate([c.weights for c in clusters])
    within = (vertex >= 0) & (vertex < vertices)
    sound = np.isfinite(weight) & (weight >= 0) & within & (weight < 1e30)
    document.count("skin weights that are not usable were left out ({})", int((~sound).sum()))
    counts = sound & (weight > 0)
    lost = np.setdiff1d(vertex[~sound & within], vertex[counts])
    return column[counts], vertex[counts], weight[counts], lost


def _convert_bind(bind: Array, bone_unit: float, mesh_unit: float) -> Array:
    """bone_from_mesh with the lengths of the bone's space and of the mesh in their own units."""
    result = bind.copy()
    result[:3, :3] *= bone_unit / mesh_unit
    result[:3, 3] *= bone_unit
    return result


def _turn_normals(placed: Array, normals: Array) -> Array:
    """Normals (..., 3) under a transform (4, 4): by its inverse transpose, of unit length."""
    linear = placed[:3, :3]
    turned = normals @ np.linalg.inv(linear) if abs(np.linalg.det(linear)) > 1e-30 else normals
    length = np.sqrt(np.einsum("...i,...i->...", turned, turned))[..., None]
    return turned / np.where(length > 0, length, 1.0)


def _short_names(names: list[str]) -> list[str]:
    """Shape names without the name of their deformer, which Maya puts before a point, where all have the same."""
    heads = {name.rpartition(".")[0] for name in names}
    return [name.rpartition(".")[2] for name in names] if len(heads) == 1 else names
