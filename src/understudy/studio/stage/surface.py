"""Surface: the vertices of all parts of a character as a graphics card wants them.

Seams are split (`Mesh.per_vertex`), normals are there for every vertex, and influences and shapes are lists with as
many entries as a vertex needs: entries `first[v]:first[v + 1]` are those of vertex v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Mesh, Part, Shapes
from understudy.checks import Array
from understudy.deform.normals import vertex_normals
from understudy.render.normals import smooth_normals
from understudy.studio.stage.bones import Bones

MOVED = 2e-7  # of a mesh's size: single precision has no more digits than that
TURNED = 0.02  # of a unit normal, about a degree: what a shape turns by less is left out


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of entries, one list a vertex."""

    first: Array  # (V + 1,) int64
    number: Array  # (N,) int64, a bone or a target
    value: Array  # (N, n) float32


@dataclass(frozen=True, eq=False)
class Piece:
    """One part after its seams were split: vertices `start` to `start + count` of the drawn ones."""

    part: Part
    mesh: Mesh  # every attribute per vertex
    origin: Array  # (V',) the vertex of the part that each came from
    start: int
    first: int  # of the part's own vertices among those of the character

    @property
    def count(self) -> int:
        """V'."""
        return len(self.mesh.vertices)


def pieces_of(parts: Sequence[Part]) -> list[Piece]:
    """The parts, split."""
    result: list[Piece] = []
    start = first = 0
    for part in parts:
        mesh, origin = part.mesh.per_vertex()
        result.append(Piece(part, mesh, origin, start, first))
        start, first = start + len(mesh.vertices), first + len(part.mesh.vertices)
    return result


def normals_of(mesh: Mesh) -> Array:
    """(V, 3) float32 unit normals: the file's own, or smooth ones where it has none or an empty one."""
    if mesh.normals is None:
        return smooth_normals(mesh.vertices, mesh.triangles)
    length = np.linalg.norm(mesh.normals, axis=1, keepdims=True)
    result = mesh.normals / np.where(length > 0, length, 1)
    empty = length[:, 0] == 0
    if empty.any():
        result[empty] = smooth_normals(mesh.vertices, mesh.triangles)[empty]
    return np.asarray(result, np.float32)


def influences_of(pieces: Sequence[Piece], bones: Bones) -> Lists:
    """Bones and weights of each drawn vertex, the largest weight first; without weight there is no entry."""
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
    return Lists(_starts(np.concatenate(counts)), np.concatenate(numbers), value)


def targets_of(pieces: Sequence[Piece], offsets: Sequence[int]) -> Lists:
    """Shape targets of each drawn vertex, with six numbers: what they add to its place and to its normal.

    `offsets` says where among all weights those of a part begin; -1 for a part without shapes.
    """
    counts, numbers, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros((0, 6), np.float32)]
    for piece, offset in zip(pieces, offsets):
        shapes = piece.mesh.shapes
        if shapes is None or offset < 0:
            counts.append(np.zeros(piece.count, np.int64))
            continue
        least = MOVED * float(np.ptp(piece.mesh.vertices, axis=0).max(initial=0))
        seen = np.abs(shapes.deltas).max(axis=2, keepdims=True) > least
        moves = np.concatenate([np.where(seen, shapes.deltas, 0), _turns(piece, shapes)], axis=2)  # (P, V', 6)
        vertex, target = np.nonzero(moves.any(axis=2).T)
        counts.append(np.bincount(vertex, minlength=piece.count))
        numbers.append(target + offset)
        values.append(moves[target, vertex])
    return Lists(_starts(np.concatenate(counts)), np.concatenate(numbers), np.concatenate(values))


def _turns(piece: Piece, shapes: Shapes) -> Array:
    """(P, V', 3) what the targets do to the normals: as the file says, or as the moved surface says."""
    if shapes.normals is not None:
        return shapes.normals
    own = piece.part.mesh
    whole = own.shapes
    assert whole is not None  # it is where those of the split mesh came from
    rest = vertex_normals(own.vertices, own.triangles)
    turns = vertex_normals(own.vertices + whole.deltas, own.triangles) - rest
    turns[np.abs(turns).max(axis=2) < TURNED] = 0
    return turns[:, piece.origin]


def _starts(counts: Array) -> Array:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
