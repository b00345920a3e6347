"""The surface of a character as the page skins it: drawn parts, bones, lists of influences and shapes, and frames.

`SkinMatrices`: a skin needs world_from_joint @ joint_from_mesh of each of its joints. Parts often share joints and
inverse binds (a body cut up by materials), so a frame has each distinct pair once.

`drawable_character`: a character without a mesh is drawn as a stick figure. The tip of a bone follows the child's
joint, the rest the parent's, so that a joint that slides stretches its bone.

Seams are split (`Mesh.per_vertex`), every vertex has a normal, and influences and shapes are lists of variable length:
entries `first[v]:first[v + 1]` belong to vertex v.

`FramePacker` makes a row of a rig the payload of one frame. A character whose controls are its joints and shape weights
is sent as those (form 1), and the page skins it: a few kilobytes a frame. A rig with layers or a deformer is sent as
vertices (form 2): a quarter of a megabyte a frame for the dragon, which costs less than any compression would. The page
computes the normals of the frames that it draws; the triangles and seams for that are sent once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.character import Character, Material, Mesh, Part, Shapes, SkinBinding
from understudy.character.rig import PosedRig
from understudy.character.skinning.linear import smooth_normals, vertex_normals
from understudy.checks import Array
from understudy.maths import transform
from understudy.render.stick_figure import bone_mesh

CORNERS_PER_BONE = 24  # eight triangles without shared corners
# Corners of a bone that follow the child's joint; see `render.stick_figure`.
TIP_CORNERS = np.array([face % 2 == 1 and corner == 0 for face in range(8) for corner in range(3)])
MIN_MOVE_RATIO = 2e-7  # of a mesh's size: the resolution of single precision
MIN_NORMAL_CHANGE = 0.02  # of a unit normal, about a degree: smaller changes are left out


class SkinMatrices:
    """B distinct pairs of joint and inverse bind, and for each part the pair number (b,) of each joint of its skin."""

    def __init__(self, parts: Sequence[Part]) -> None:
        known: dict[tuple[int, bytes], int] = {}
        binds: list[Array] = []
        self.of_part: list[Array] = []
        for part in parts:
            numbers = []
            for joint, bind in zip(part.skin.joints.tolist(), part.skin.inverse_binds):
                key = joint, bind.tobytes()
                if key not in known:
                    known[key] = len(known)
                    binds.append(bind)
                numbers.append(known[key])
            self.of_part.append(np.array(numbers, np.int64))
        self.joints = np.array([joint for joint, _ in known], np.int64)  # (B,)
        self.inverse_binds = np.array(binds).reshape(-1, 4, 4)  # (B, 4, 4) joint_from_mesh

    def __len__(self) -> int:
        return len(self.joints)

    def matrices(self, world_from_joint: Array) -> Array:
        """world_from_mesh (F, B, 3, 4) float32 for joints (F, J, 4, 4)."""
        world_from_mesh = world_from_joint[:, self.joints, :3] @ self.inverse_binds
        return np.asarray(world_from_mesh, np.float32)


def drawable_character(character: Character, world_from_joint: Array) -> Character:
    """The character itself, or if it has no mesh, one that shows its joints (J, 4, 4) as bones and balls."""
    if character.parts or not len(character.skeleton):
        return character
    shown = character.joints
    parents = _nearest_shown(character.skeleton.parents, shown)
    vertices, triangles, colours = bone_mesh(world_from_joint[shown, :3, 3], parents)
    child = np.flatnonzero(parents >= 0)
    balls = np.repeat(np.arange(len(shown)), (len(vertices) - CORNERS_PER_BONE * len(child)) // max(1, len(shown)))
    limbs = np.where(TIP_CORNERS, child[:, None], parents[child][:, None]).reshape(-1)
    influences = np.concatenate([limbs, balls])[:, None]
    skin = SkinBinding(shown, transform.invert(world_from_joint[shown]), influences, np.ones_like(influences))
    painted = np.concatenate([colours, np.ones((len(colours), 1))], axis=1)
    mesh = Mesh("bones", vertices, triangles, colours=painted, materials=[Material("bones", roughness=0.45)])
    return Character(character.name, character.skeleton, [Part("bones", mesh, skin)])


def _nearest_shown(parents: Array, shown: Array) -> Array:
    """(B,) the nearest shown ancestor of each shown joint, numbered among these; -1 for none."""
    rank = np.full(len(parents), -1)
    rank[shown] = np.arange(len(shown))
    nearest = np.full(len(parents), -1)
    for joint, parent in enumerate(parents):
        nearest[joint] = rank[joint] if rank[joint] >= 0 else (nearest[parent] if parent >= 0 else -1)
    above = parents[shown]
    return np.where(above >= 0, nearest[np.maximum(above, 0)], -1)


@dataclass(frozen=True, eq=False)
class InfluenceLists:
    """A list of entries for each vertex."""

    first: Array  # (V + 1,) int64
    number: Array  # (N,) int64, a bone or a target
    value: Array  # (N, n) float32


@dataclass(frozen=True, eq=False)
class SurfacePart:
    """A part with split seams: the drawn vertices `start` to `start + count`."""

    part: Part
    mesh: Mesh  # every attribute per vertex
    origin: Array  # (V',) original vertex of the part
    start: int
    first: int  # first vertex of the part in the character

    @property
    def count(self) -> int:
        """V'."""
        return len(self.mesh.vertices)


def split_parts(parts: Sequence[Part]) -> list[SurfacePart]:
    """The parts with split seams."""
    result: list[SurfacePart] = []
    start = first = 0
    for part in parts:
        mesh, origin = part.mesh.per_vertex()
        result.append(SurfacePart(part, mesh, origin, start, first))
        start, first = start + len(mesh.vertices), first + len(part.mesh.vertices)
    return result


def normals_of(mesh: Mesh) -> Array:
    """(V, 3) float32 unit normals: those of the file, or smooth ones where they are missing or zero."""
    if mesh.normals is None:
        return smooth_normals(mesh.vertices, mesh.triangles)
    length = np.linalg.norm(mesh.normals, axis=1, keepdims=True)
    result = mesh.normals / np.where(length > 0, length, 1)
    empty = length[:, 0] == 0
    if empty.any():
        result[empty] = smooth_normals(mesh.vertices, mesh.triangles)[empty]
    return np.asarray(result, np.float32)


def influences_of(pieces: Sequence[SurfacePart], bones: SkinMatrices) -> InfluenceLists:
    """Bones and weights of each drawn vertex, the largest weight first; zero weights are left out."""
    counts, numbers, weights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for number, piece in enumerate(pieces):
        skin = piece.part.skin
        if skin.weights.shape[1] == 0 or not len(skin.joints):
            counts.append(np.zeros(piece.count, np.int64))
            continue
        own = bones.of_part[number][skin.influences][piece.origin]
        weight = skin.weights[piece.origin]
        order = np.argsort(-weight, axis=1, kind="stable")
        own, weight = np.take_along_axis(own, order, axis=1), np.take_along_axis(weight, order, axis=1)
        counts.append((weight != 0).sum(axis=1))
        numbers.append(own[weight != 0])
        weights.append(weight[weight != 0])
    value = np.concatenate(weights)[:, None].astype(np.float32)
    return InfluenceLists(_starts(np.concatenate(counts)), np.concatenate(numbers), value)


def targets_of(pieces: Sequence[SurfacePart], offsets: Sequence[int]) -> InfluenceLists:
    """Shape targets of each drawn vertex, with six numbers: the changes of position and normal.

    `offsets` is the first weight of each part among all; -1 for a part without shapes.
    """
    counts, numbers, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros((0, 6), np.float32)]
    for piece, offset in zip(pieces, offsets):
        shapes = piece.mesh.shapes
        if shapes is None or offset < 0:
            counts.append(np.zeros(piece.count, np.int64))
            continue
        least = MIN_MOVE_RATIO * float(np.ptp(piece.mesh.vertices, axis=0).max(initial=0))
        seen = np.abs(shapes.deltas).max(axis=2, keepdims=True) > least
        moves = np.concatenate([np.where(seen, shapes.deltas, 0), _normal_deltas(piece, shapes)], axis=2)  # (P, V', 6)
        vertex, target = np.nonzero(moves.any(axis=2).T)
        counts.append(np.bincount(vertex, minlength=piece.count))
        numbers.append(target + offset)
        values.append(moves[target, vertex])
    return InfluenceLists(_starts(np.concatenate(counts)), np.concatenate(numbers), np.concatenate(values))


def _normal_deltas(piece: SurfacePart, shapes: Shapes) -> Array:
    """(P, V', 3) the changes of the normals: those of the file, or of the moved surface."""
    if shapes.normals is not None:
        return shapes.normals
    own = piece.part.mesh
    whole = own.shapes
    assert whole is not None  # the split mesh has them
    rest = vertex_normals(own.vertices, own.triangles)
    turns = vertex_normals(own.vertices + whole.deltas, own.triangles) - rest
    turns[np.abs(turns).max(axis=2) < MIN_NORMAL_CHANGE] = 0
    return turns[:, piece.origin]


def _starts(counts: Array) -> Array:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


JOINTS_FORM, VERTICES_FORM = 1, 2  # of a frame (see `studio.source`)


class FramePacker:
    """Packs rows of one rig; its data is prepared at the first frame."""

    def __init__(self, rig: PosedRig) -> None:
        self.rig = rig
        self.form = JOINTS_FORM if rig.is_skin else VERTICES_FORM

    def pack(self, row: Array) -> tuple[int, int, memoryview]:
        """a, b and the payload of a frame (see `studio.source`) for a row (C,)."""
        if self.form == VERTICES_FORM:
            points = np.ascontiguousarray(self.rig.vertices(np.asarray(row)[None])[0], np.float32)
            return len(points), 0, points.reshape(-1).data.cast("B")
        rows = self.poses(np.asarray(row)[None])
        return len(self.bones), self.weight_count, rows.reshape(-1).data.cast("B")

    def poses(self, rows: Array) -> Array:
        """(F, 12 B + W) float32: matrices (3 rows of 4) of the bones, then weights of the targets, for (F, C) rows."""
        matrices = self.bones.matrices(self.rig.joints(rows))
        weights = [matrices.reshape(len(rows), -1)]
        for part, offset in zip(self.parts, self.offsets):
            if offset >= 0 and offset == sum(block.shape[1] for block in weights[1:]):
                assert part.mesh.shapes is not None  # parts without shapes have no offset
                columns = self.rig.channels.slice(part.name, "weights")
                weights.append(part.mesh.shapes.target_weights(rows[:, columns]).astype(np.float32))
        return np.concatenate(weights, axis=1)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The drawn parts."""
        rig = self.rig
        return drawable_character(rig.character, rig.joints(rig.rest[None])[0]).parts

    @cached_property
    def bones(self) -> SkinMatrices:
        """The B matrices of a frame of form 1."""
        return SkinMatrices(self.parts)

    @cached_property
    def offsets(self) -> list[int]:
        """The first weight of each part's targets among all; -1 for a part without shapes."""
        return weight_offsets(self.parts)

    @cached_property
    def weight_count(self) -> int:
        """W, over all parts."""
        ends = [0]
        for part, offset in zip(self.parts, self.offsets):
            if offset >= 0 and part.mesh.shapes is not None:
                ends.append(offset + len(part.mesh.shapes.deltas))
        return max(ends)


def weight_offsets(parts: Sequence[Part]) -> list[int]:
    """The first weight of each part's targets; parts of one name share theirs, unless their in-betweens differ."""
    known: dict[tuple[str, bytes, bytes], int] = {}
    result, end = [], 0
    for part in parts:
        shapes = part.mesh.shapes
        if shapes is None:
            result.append(-1)
            continue
        key = part.name, shapes.shape_of.tobytes(), shapes.stop_of.tobytes()
        if key not in known:
            known[key] = end
            end += len(shapes.deltas)
        result.append(known[key])
    return result


def corners_and_seams(parts: Sequence[Part]) -> tuple[Array, Array]:
    """Triangles (T, 3) of the streamed vertices, and (V,) a group number: vertices of one group share their normal.

    A normal is the unit sum of the normals of the triangles around, weighted by area. Vertices with one position and
    one normal at rest are a seam, and share their normal in every frame.
    """
    triangles, places, start, welded = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)], 0, 0
    for part in parts:
        triangles.append(part.mesh.triangles + start)
        own = _seams(part)
        places.append(own + welded)
        start, welded = start + len(own), welded + int(own.max(initial=-1)) + 1
    return np.concatenate(triangles), np.concatenate(places)


def _seams(part: Part) -> Array:
    """(V,) a group number for each vertex, the same for equal position and normal.

    A mesh with attributes per corner needs no duplicate vertices, so each is its own group.
    """
    mesh = part.mesh
    if mesh.normals is None or mesh.normals.ndim == 3 or any(uv.ndim == 3 for uv in mesh.uvs):
        return np.arange(len(mesh.vertices))
    # 0.01 of a normal is half a degree; the two sides of a smooth seam agree far better
    key = np.concatenate([mesh.vertices, np.round(mesh.normals * 100)], axis=1)
    return np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
