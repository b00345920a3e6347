"""The surface of a character as the page skins it: drawn parts, bones, and lists of influences and shapes.

`SkinMatrices`: a skin needs world_from_joint @ joint_from_mesh of each of its joints. Parts often share joints and
inverse binds (a body cut up by materials), so a frame has each distinct pair once.

`drawable_character`: a character without a mesh is drawn as a stick figure. The tip of a bone follows the child's
joint, the rest the parent's, so that a joint that slides stretches its bone.

Seams are split (`Mesh.per_vertex`), every vertex has a normal, and influences and shapes are lists of variable length:
entries `first[v]:first[v + 1]` belong to vertex v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Material, Mesh, Part, Shapes, SkinBinding
from understudy.character.skinning.normals import smooth_normals, vertex_normals
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
