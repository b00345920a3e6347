"""The plain character of a layered one: the same joints and skins, with shapes on its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.character import Character, Mesh, Part, Shapes
from understudy.character.controls import SIDES
from understudy.character.rig.layered import LayeredRig
from understudy.character.skinning.normals import vertex_normals
from understudy.checks import Array
from understudy.maths import transform

MIN_NORMAL_CHANGE = 0.025  # of a unit normal, a degree and a half: smaller changes by a shape are left out


def vertices_by_name(character: Character) -> dict[str, Array]:
    """The vertices (n,) of each part among those of the whole; parts of one name share their shapes, and are one."""
    result: dict[str, Array] = {}
    start = 0
    for part in character.parts:
        numbers = np.arange(start, start + len(part.mesh.vertices))
        result[part.name] = np.concatenate([result.get(part.name, numbers[:0]), numbers])
        start += len(numbers)
    return result


class PlainShape(NamedTuple):
    """A shape of the plain character: `factor` times shape `shape` of the layers, at weight 1."""

    name: str
    shape: int
    factor: float


def plain_shapes(rig: LayeredRig, low: Array, high: Array) -> list[PlainShape]:
    """Shapes whose weights all lie in 0 to 1, for shapes of the layers with weights from `low` (S,) to `high` (S,).

    Blender and Unity clip weights there. A shape with weights below 0 has a second one for that side, as in
    `mouth.smile.minus.L`; one with weights above 1 is scaled up by the largest. NaN leaves a shape out.
    """
    pieces = []
    for shape, name in enumerate(rig.layers.shapes.names):
        if np.isnan(high[shape]) or rig.layers.shapes.first[shape] == rig.layers.shapes.first[shape + 1]:
            continue
        stem, side = (name[:-2], name[-2:]) if name[-2:] in SIDES else (name, "")
        pieces.append(PlainShape(name, shape, max(1.0, float(high[shape]))))
        if low[shape] < 0:
            pieces.append(PlainShape(f"{stem}.minus{side}", shape, min(-1.0, float(low[shape]))))
    return pieces


def lattice_shape_names(part: str, count: int) -> list[str]:
    """`Skin.lattice.01` and so on: names of the shapes that approximate the lattice on one part."""
    return [f"{part}.lattice.{number:02d}" for number in range(count)]


def normalise_weights(deltas: Array, weights: Array, seen: float) -> tuple[Array, Array]:
    """The same motion by shapes (k + 1, n, 3) whose weights (F, k + 1) lie in 0 to 1.

    w = low + (high - low) u, so that the first shape, at weight 1 in every frame, is the sum of all shapes at their
    lowest weights. Deltas below `seen`, metres, are left out, so that files can store them sparsely.
    """
    if not len(deltas):
        return deltas, weights
    low, high = weights.min(axis=0, initial=0), weights.max(axis=0, initial=0)
    span = (high - low)[:, None, None] * deltas
    small = np.abs(span).max(axis=2, keepdims=True) <= seen
    span[np.broadcast_to(small, span.shape)] = 0
    first = np.einsum("k,kvc->vc", low / (high - low), span)
    ones = np.ones((len(weights), 1), weights.dtype)
    return np.concatenate([first[None], span]), np.concatenate([ones, (weights - low) / (high - low)], axis=1)


def to_plain_character(rig: LayeredRig, pieces: Sequence[PlainShape], baked: Mapping[str, Array]) -> Character:
    """The character without layers: its shapes in `pieces`, and those `baked` for each name of parts.

    The latter are (k, n, 3) for the vertices of `vertices_by_name`, in the world at rest.
    """
    character, shapes = rig.character, rig.layers.shapes
    owners = vertices_by_name(character)
    named: dict[str, tuple[list[str], Array]] = {}
    for name, vertices in owners.items():
        dense = [(p.name, p.factor * shapes.dense(p.shape, character.vertex_count)[vertices]) for p in pieces]
        dense = [(shape, delta) for shape, delta in dense if delta.any()]
        deltas = np.concatenate([*(delta[None] for _, delta in dense), baked[name]])
        named[name] = ([*(shape for shape, _ in dense), *lattice_shape_names(name, len(baked[name]))], deltas)
    parts, start = [], dict.fromkeys(owners, 0)
    for part in character.parts:
        names, deltas = named[part.name]
        first, last = start[part.name], start[part.name] + len(part.mesh.vertices)
        parts.append(_add_part_shapes(rig, part, names, deltas[:, first:last], len(baked[part.name])))
        start[part.name] = last
    return Character(character.name, character.skeleton, parts, character.bones)


def _add_part_shapes(rig: LayeredRig, part: Part, names: list[str], deltas: Array, baked: int) -> Part:
    """The part with shapes, and with the normal deltas of the named ones where each vertex has one normal.

    The last `baked` of the deltas (s, v, 3) are in the world at rest, the others in the space of the mesh. They change
    no normals: large at their lowest weights, they cancel each other there, which normal deltas would not.
    """
    if not names:
        return part
    mesh, deltas = part.mesh, deltas.astype(np.float32)
    rest_from_mesh = rig.rest_from_mesh(part)
    if rest_from_mesh is not None and baked:
        deltas[-baked:] = transform.apply_direction(transform.invert(rest_from_mesh), deltas[-baked:])
    turns = None
    if mesh.normals is not None and mesh.normals.ndim == 2:
        turns = vertex_normals(mesh.vertices + deltas, mesh.triangles) - vertex_normals(mesh.vertices, mesh.triangles)
        turns[np.abs(turns).max(axis=2) < MIN_NORMAL_CHANGE] = 0
        turns[len(names) - baked :] = 0
    shaped = Mesh(
        *(mesh.name, mesh.vertices, mesh.triangles, mesh.normals, mesh.uvs, mesh.colours, mesh.materials),
        *(mesh.material_of, Shapes(names, deltas, turns), mesh.tangents, mesh.extra),
    )
    return Part(part.name, shaped, part.skin)
