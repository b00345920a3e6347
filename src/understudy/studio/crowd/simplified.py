"""The simplified character of a crowd: joints and shape weights only, on a coarse mesh.

A character that is moved by its joints keeps everything but vertices. One with layers is flattened as for a glTF file
(`character.rig.flatten_asset`), but for poses that are not known yet: bones stay bones, shapes keep their exact
weights, and the lattice becomes a few shapes. At rest the lattice moves a vertex by

    d = A o,        A (n, P) the B-spline weights of its P points there, o (P, 3) their offsets

so the offsets of many poses span a space of displacements, whose leading directions are the shapes. This neglects that
the lattice acts on vertices that shapes and joints have moved: at worst 2 mm on a dragon 70 cm high.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from understudy.character import Character, Mesh, Part, Shapes
from understudy.character.rig import DirectRig, LayeredRig, PosedRig
from understudy.character.skinning import layered
from understudy.checks import Array
from understudy.maths import transform
from understudy.render.viewport.decimate import ThinPart, thin_parts
from understudy.render.viewport.surface import FramePacker

MIN_SHAPE_MOVE_RATIO = 4e-4  # of the height: smaller shape displacements of a vertex are dropped
MAX_LATTICE_SHAPES = 10
LATTICE_ERROR_RATIO = 2e-3  # of the height: largest error of the lattice's shapes


class CrowdCharacter(Protocol):
    """A character as joints and shape weights."""

    packer: FramePacker  # of the simplified character
    vertices: Array  # (n,) the original vertex of each simplified one

    def poses(self, rows: Array) -> Array:
        """(F, 12 B + W) float32: matrices of the bones and weights of the targets for (F, C) rows of the rig."""
        ...


def make_crowd_character(rig: PosedRig, rows: Array, wanted: int) -> CrowdCharacter:
    """The simplified character of a rig with about `wanted` vertices; `rows` (F, C) are typical poses."""
    return ShapeCrowdCharacter(rig, rows, wanted) if isinstance(rig, LayeredRig) else JointCrowdCharacter(rig, wanted)


class JointCrowdCharacter:
    """The simplified form of a character that joints and weights move already."""

    def __init__(self, rig: PosedRig, wanted: int) -> None:
        thin = thin_parts(rig.character, wanted)
        self.vertices = np.concatenate([np.zeros(0, np.int64), *(each.vertices for each in thin)])
        character = rig.character
        parts = [each.part(each.shapes) for each in thin] or character.parts
        character = Character(character.name, character.skeleton, parts, character.bones)  # a deformer is left out
        self.packer = FramePacker(DirectRig(character))

    def poses(self, rows: Array) -> Array:
        """See `CrowdCharacter`."""
        return self.packer.poses(rows)


class ShapeCrowdCharacter:
    """The simplified form of a character with layers."""

    def __init__(self, rig: LayeredRig, rows: Array, wanted: int) -> None:
        self.rig = rig
        thin = [
            _rest_part(rig, part, each) for part, each in zip(rig.character.parts, thin_parts(rig.character, wanted))
        ]
        self.vertices = np.concatenate([np.zeros(0, np.int64), *(each.vertices for each in thin)])
        rest = rig.vertices(rig.rest[None])[0]
        height = max(float(np.ptp(rest[:, 1])), 1e-9)
        bent, self._coefficients = _lattice_shapes(rig, rest[self.vertices], rows, LATTICE_ERROR_RATIO * height)
        self._columns, parts = _flatten_parts(rig, thin, bent, MIN_SHAPE_MOVE_RATIO * height)
        character = rig.character
        self.packer = FramePacker(DirectRig(Character(character.name, character.skeleton, parts, character.bones)))

    def poses(self, rows: Array) -> Array:
        """See `CrowdCharacter`."""
        frames = self.rig.frames(rows)
        world_from_rest = frames.motions[:, self.packer.bones.joints, :3] + np.eye(4)[:3]
        bends = np.zeros((len(rows), self._coefficients.shape[1]))
        if frames.bend is not None:
            bends = frames.bend.offsets.reshape(len(rows), -1) @ self._coefficients
        weights = np.concatenate([frames.weights, bends], axis=1)[:, self._columns]
        return np.concatenate([world_from_rest.reshape(len(rows), -1), weights], axis=1).astype(np.float32)


def _flatten_parts(rig: LayeredRig, thin: list[ThinPart], bent: Array, least: float) -> tuple[Array, list[Part]]:
    """Columns (W,) of the weights among those of all shapes and of the lattice's, and the parts with their shapes.

    `bent` (k, n, 3) are the lattice's shapes on all vertices that are kept.
    """
    shapes = rig.layers.shapes
    names = [*shapes.names, *(f"lattice.{number:02d}" for number in range(len(bent)))]
    starts = np.cumsum([0, *(len(each.vertices) for each in thin)])
    moved = [
        _shape_deltas(rig, part, each, bent[:, start:stop], least)
        for part, each, start, stop in zip(rig.character.parts, thin, starts[:-1], starts[1:])
    ]
    columns: list[int] = []
    parts: list[Part] = []
    known: dict[str, list[int]] = {}
    for number, each in enumerate(thin):
        # parts of one name share their weights, so they have the same shapes
        same = [deltas for other, deltas in zip(thin, moved) if other.name == each.name]
        picked = sorted(set().union(*same))
        if picked and each.name not in known:
            known[each.name] = picked
            columns += picked
        empty = np.zeros((len(each.vertices), 3), np.float32)
        deltas = np.array([moved[number].get(shape, empty) for shape in picked])
        parts.append(each.part(Shapes([names[shape] for shape in picked], deltas) if picked else None))
    return np.array(columns, np.int64), parts


def _rest_part(rig: LayeredRig, part: Part, thin: ThinPart) -> ThinPart:
    """The part in world space at rest, in which shapes and the lattice act."""
    rest_from_mesh = rig.rest_from_mesh(part)
    if rest_from_mesh is None:
        return thin
    mesh = thin.mesh
    normals = None if mesh.normals is None else transform.apply_direction(rest_from_mesh, mesh.normals)
    vertices = transform.apply(rest_from_mesh, mesh.vertices)
    moved = Mesh(mesh.name, vertices, mesh.triangles, normals, mesh.uvs, mesh.colours, mesh.materials)
    return replace(thin, mesh=moved)


def _shape_deltas(rig: LayeredRig, part: Part, thin: ThinPart, bent: Array, least: float) -> dict[int, Array]:
    """The deltas (n, 3) of each shape that moves the kept vertices of a part; the lattice's follow the others."""
    shapes, result = rig.layers.shapes, {}
    turn = rig.rest_from_mesh(part)
    order = np.argsort(thin.vertices, kind="stable")
    first = np.searchsorted(thin.vertices[order], np.arange(rig.character.vertex_count + 1))
    seen = np.abs(shapes.deltas).max(axis=1, initial=0) > least
    entries = np.flatnonzero(seen & (first[shapes.vertices + 1] > first[shapes.vertices]))
    shape_of = shapes.shape_of[entries]
    for shape, start, stop in zip(*_runs(shape_of)):
        own = entries[start:stop]
        dense = np.zeros((len(thin.vertices), 3), np.float32)
        at, count = first[shapes.vertices[own]], np.diff(first)[shapes.vertices[own]]
        for copy in range(int(count.max())):
            there = count > copy
            dense[order[at[there] + copy]] = shapes.deltas[own[there]]
        result[int(shape)] = dense if turn is None else transform.apply_direction(turn, dense).astype(np.float32)
    for number, each in enumerate(bent):
        if np.abs(each).max(initial=0) > least:
            result[len(shapes) + number] = each
    return result


def _runs(values: Array) -> tuple[Array, Array, Array]:
    """Each value of a rising array, and where its run starts and stops."""
    start = np.flatnonzero(np.diff(values, prepend=-1))
    return values[start], start, np.append(start[1:], len(values))


def _lattice_shapes(rig: LayeredRig, points: Array, rows: Array, error: float) -> tuple[Array, Array]:
    """Shapes (k, n, 3) that stand for the lattice at points (n, 3), and (3 P, k) their weights from its offsets."""
    bend = rig.frames(rows).bend
    if bend is None:
        count = 0 if rig.layers.lattice is None else int(np.prod(rig.layers.lattice.counts)) * 3
        return np.zeros((0, len(points), 3), np.float32), np.zeros((count, 0))
    u = (points - bend.low) / layered.cell_size(bend.low, bend.high, bend.offsets.shape[1:4])
    bx, by, bz = (layered.basis(u[:, a], bend.offsets.shape[1 + a]) for a in range(3))
    a = (bx[:, :, None, None] * by[:, None, :, None] * bz[:, None, None, :]).reshape(len(u), -1)
    moves = (a @ bend.offsets.reshape(len(rows), -1, 3)).reshape(len(rows), -1)  # (F, 3 n)
    strength, combined = np.linalg.eigh(moves @ moves.T)
    sound = np.flatnonzero(strength > 1e-12 * strength[-1])[::-1][:MAX_LATTICE_SHAPES]  # the leading ones, first
    directions = (combined[:, sound] / np.sqrt(strength[sound])).T @ moves
    for count in range(len(directions) + 1):
        left = moves - (moves @ directions[:count].T) @ directions[:count]
        if np.sqrt(np.square(left).reshape(len(rows), -1, 3).sum(axis=2).max(initial=0)) <= error:
            break
    shapes = directions[:count].reshape(-1, len(points), 3)
    coefficients = (a.T @ shapes).transpose(1, 2, 0)  # (P, 3, k)
    return shapes.astype(np.float32), coefficients.reshape(-1, len(shapes))
