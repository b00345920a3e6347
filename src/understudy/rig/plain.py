"""The plain character of a layered one: the same joints and skins, with shapes on the parts that they move."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.character import Character, Mesh, Part, Shapes
from understudy.checks import Array
from understudy.deform.normals import vertex_normals
from understudy.maths import transform
from understudy.rig.layered import LayeredRig

TURNED = 0.025  # of a unit normal, a degree and a half; what a shape turns by less is left out


def vertices_by_name(character: Character) -> dict[str, Array]:
    """The vertices (n,) of each part among those of the whole; parts of one name share their shapes, and are one."""
    result: dict[str, Array] = {}
    start = 0
    for part in character.parts:
        own = np.arange(start, start + len(part.mesh.vertices))
        result[part.name] = np.concatenate([result.get(part.name, own[:0]), own])
        start += len(own)
    return result


def baked_names(part: str, count: int) -> list[str]:
    """`Skin.lattice.01` and so on: names of shapes that stand for the lattice on one part."""
    return [f"{part}.lattice.{number + 1:02d}" for number in range(count)]


def plain_character(rig: LayeredRig, kept: Array, baked: Mapping[str, Array], seen: float) -> Character:
    """The character without layers: its shapes where `kept` (S,), and those `baked` for each name of parts.

    The latter are (k, n, 3) for the vertices of `vertices_by_name`, in the world at rest. What one of them moves by
    less than `seen`, metres, is left out, so that files can store it sparsely.
    """
    character, shapes = rig.character, rig.layers.shapes
    owners = vertices_by_name(character)
    chosen = np.flatnonzero(kept).tolist()
    named: dict[str, tuple[list[str], Array]] = {}
    for name, own in owners.items():
        dense = [(shapes.names[s], shapes.dense(s, character.vertex_count)[own]) for s in chosen]
        dense = [(shape, delta) for shape, delta in dense if delta.any()]
        small = np.abs(baked[name]).max(axis=2, keepdims=True, initial=0) <= seen
        deltas = np.concatenate([*(delta[None] for _, delta in dense), np.where(small, 0, baked[name])])
        named[name] = ([*(shape for shape, _ in dense), *baked_names(name, len(baked[name]))], deltas)
    parts, start = [], dict.fromkeys(owners, 0)
    for part in character.parts:
        names, deltas = named[part.name]
        first, last = start[part.name], start[part.name] + len(part.mesh.vertices)
        parts.append(_shaped(rig, part, names, deltas[:, first:last], len(baked[part.name])))
        start[part.name] = last
    return Character(character.name, character.skeleton, parts, character.bones)


def _shaped(rig: LayeredRig, part: Part, names: list[str], deltas: Array, baked: int) -> Part:
    """The part with shapes, and with what they do to its normals where each vertex has one.

    The last `baked` of the deltas (s, v, 3) are in the world at rest, the others in the space of the mesh.
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
        turns[np.abs(turns).max(axis=2) < TURNED] = 0
    shaped = Mesh(
        *(mesh.name, mesh.vertices, mesh.triangles, mesh.normals, mesh.uvs, mesh.colours, mesh.materials),
        *(mesh.material_of, Shapes(names, deltas, turns), mesh.tangents, mesh.extra),
    )
    return Part(part.name, shaped, part.skin)
