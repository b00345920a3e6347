"""Meshes of sculptures, the patches that a character's parts are made of, and their assembly into a character.

A sculpture is meshed, remeshed by zones and put back onto its field. Its left half is mirrored and welded.

A `Patch` is one surface with its paint and its weights on the joints. Sided ones are made for the left and mirrored;
those on the midline are made as a left half and welded to its mirror image. Either way the whole is symmetric to the
last bit, triangles included.

`assemble` makes one part a material, with every skin on the same joints and places in multiples of a grain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assets.sculpting.fields import Field, gradient, isosurface, onto
from assets.sculpting.joints import rest_transforms, twin
from understudy.cast.archive import area_normals
from understudy.character import Character, Material, Mesh, Part, Shapes, Skeleton, SkinBinding, Texture
from understudy.checks import Array
from understudy.maths import vector
from understudy.maths.colour import to_linear

ISOTROPIC = {"checksurfdist": False, "featuredeg": 180}


@dataclass(frozen=True, eq=False)
class Skinned:
    """A surface of a sculpture: the left half first, its mirror image behind it."""

    vertices: Array  # (V, 3)
    triangles: Array  # (T, 3), the first half of them on the left
    mirror: Array  # (V,) the vertex on the other side


def mirrored(vertices: Array, triangles: Array, middle: Array) -> Skinned:
    """The whole of a left half whose vertices `middle` (V,) bool lie at x = 0."""
    beside = np.flatnonzero(~middle)
    twin = np.arange(len(vertices))
    twin[beside] = len(vertices) + np.arange(len(beside))
    mirror = np.concatenate([twin, beside])
    whole = np.concatenate([vertices, vertices[beside] * [-1.0, 1.0, 1.0]])
    return Skinned(whole, np.concatenate([triangles, twin[triangles][:, ::-1]]), mirror)


def remesh(work: Any, length: float, where: Array | None = None) -> None:
    """Isotropic remeshing to that edge length, of all faces or of those that touch the vertices `where` (V,)."""
    import pymeshlab

    if where is not None:
        mesh = work.current_mesh()
        faces = mesh.face_matrix()
        chosen = where[faces].any(axis=1).astype(float)
        work.add_mesh(pymeshlab.Mesh(mesh.vertex_matrix(), faces, f_scalar_array=chosen))
        work.compute_selection_by_condition_per_face(condselect="fq>0.5")
    work.meshing_isotropic_explicit_remeshing(
        iterations=5, targetlen=pymeshlab.PureValue(length), selectedonly=where is not None, **ISOTROPIC
    )


def symmetric(work: Any, of: Field) -> Skinned:
    """The half put onto the sculpture, welded to its mirror image, facing outwards."""
    mesh = work.current_mesh()
    vertices, triangles = mesh.vertex_matrix().copy(), mesh.face_matrix().astype(np.int64)
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    distinct, count = np.unique(edges, axis=0, return_counts=True)
    middle = np.zeros(len(vertices), dtype=bool)
    middle[distinct[count == 1]] = True
    vertices[middle, 0] = 0.0
    for _ in range(4):
        vertices = onto(vertices, of, steps=1)
        vertices[middle, 0] = 0.0
    corners = vertices[triangles]
    facing = vector.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if (facing * gradient(corners.mean(axis=1), of)).sum() < 0:
        triangles = triangles[:, ::-1]
    return mirrored(vertices, triangles, middle)


def modelled(of: Field, low: ArrayLike, high: ArrayLike, step: float, edge: float) -> Skinned:
    """The mesh of a sculpture in a box that is no half of anything; each vertex is its own mirror image.

    `step` is that of the grid, `edge` the length of edges, both in the sculpture's units.
    """
    work = isosurface(of, low, high, step)
    remesh(work, edge)
    mesh = work.current_mesh()
    vertices, triangles = mesh.vertex_matrix().copy(), mesh.face_matrix().astype(np.int64)
    vertices = onto(vertices, of)
    corners = vertices[triangles]
    facing = vector.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if (facing * gradient(corners.mean(axis=1), of)).sum() < 0:
        triangles = triangles[:, ::-1]
    return Skinned(vertices, triangles, np.arange(len(vertices)))


Hold = Mapping[str, Array]  # joint -> (V,) weights, summing to one
FLIP = np.array([-1.0, 1.0, 1.0])


@dataclass(frozen=True, eq=False)
class Patch:
    """One surface. `twin` is, of each vertex, the number of its mirror image in the patch on the other side."""

    name: str  # "Horn.L"; without a side it is its own mirror image
    vertices: Array  # (V, 3)
    triangles: Array  # (T, 3)
    colours: Array  # (V, 3) or (V, 4), sRGB
    hold: Hold
    twin: Array  # (V,)
    uvs: Array | None = None  # (T, 3, 2) of the corners


def held(name: str, surface: tuple[Array, Array], colours: ArrayLike, hold: str | Hold) -> Patch:
    """A patch whose mirror image has the same numbering: one of a pair."""
    vertices, triangles = surface
    ones = np.ones(len(vertices))
    colours = np.broadcast_to(np.asarray(colours, dtype=float), (len(vertices), np.shape(colours)[-1]))
    return Patch(
        name, vertices, triangles, colours, {hold: ones} if isinstance(hold, str) else hold, np.arange(len(vertices))
    )


def pair(left: Patch) -> tuple[Patch, Patch]:
    """The left patch, whose name ends in .L, and its mirror image, held by the joints of the other side."""
    hold = {other_side(joint): w for joint, w in left.hold.items()}
    right = replace(
        left,
        name=left.name.removesuffix(".L") + ".R",
        vertices=left.vertices * FLIP,
        triangles=left.triangles[:, ::-1],
        hold=hold,
        uvs=None if left.uvs is None else left.uvs[:, ::-1],
    )
    return left, right


def other_side(joint: str) -> str:
    """The right joint of a left one, `Lid.L` or `LeftHand`; any other stays."""
    return joint.removesuffix(".L") + ".R" if joint.endswith(".L") else twin(joint)


def midline(name: str, half: tuple[Array, Array], colours: ArrayLike, hold: str | Hold) -> Patch:
    """A patch welded from a left half, whose vertices at x = 0 are shared, with colours and weights of the half."""
    vertices, triangles = half
    whole = mirrored(vertices, triangles, vertices[:, 0] == 0.0)
    source = np.concatenate([np.arange(len(vertices)), whole.mirror[len(vertices) :]])
    colours = np.broadcast_to(np.asarray(colours, dtype=float), (len(vertices), np.shape(colours)[-1]))
    weights = {hold: np.ones(len(vertices))} if isinstance(hold, str) else hold
    return Patch(
        name,
        whole.vertices,
        whole.triangles,
        colours[source],
        {joint: w[source] for joint, w in weights.items()},
        whole.mirror,
    )


def joined(patches: Iterable[Patch]) -> tuple[Array, Array, Array, Array | None]:
    """Vertices (V, 3), triangles (T, 3), colours (V, 4) and, where all have any, UVs (T, 3, 2), numbered through."""
    patches = list(patches)
    starts = np.cumsum([0, *(len(patch.vertices) for patch in patches)])
    colours = [
        np.concatenate([patch.colours, np.ones((len(patch.vertices), 4 - patch.colours.shape[1]))], axis=1)
        for patch in patches
    ]
    uvs = [patch.uvs for patch in patches if patch.uvs is not None]
    return (
        np.concatenate([patch.vertices for patch in patches]),
        np.concatenate([patch.triangles + start for patch, start in zip(patches, starts)]),
        np.concatenate(colours),
        np.concatenate(uvs) if len(uvs) == len(patches) else None,
    )


def influences(group: Sequence[Patch], column: Mapping[str, int]) -> tuple[Array, Array]:
    """(V, K) columns and weights, heaviest first, K the most that any vertex of the part needs."""
    blocks = []
    for patch in group:
        dense = np.zeros((len(patch.vertices), len(column)))
        for joint, share in patch.hold.items():
            dense[:, column[joint]] = share
        blocks.append(dense)
    weights = np.concatenate(blocks)
    most = int((weights > 0).sum(axis=1).max())
    order = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    return order, np.take_along_axis(weights, order, axis=1)


GRAIN = 1 / 32768  # metres: places are multiples of it, 30 micrometres, which keeps the file small
Deltas = Mapping[str, Mapping[str, Array]]  # shape -> patch -> (V, 3)


def assemble(
    name: str,
    joints: Skeleton,
    patches: Mapping[str, Sequence[Patch]],
    materials: Mapping[str, Material],
    textures: Mapping[str, Mapping[str, Texture]],
    shapes: Deltas,
) -> Character:
    """One part a label of `patches`. Colours of a part with a coat are factors, linear; all others are sRGB.

    Parts that shapes move are all named `Face`: they share their weights, and are one mesh of several materials.
    """
    held_by = sorted({joints.index(joint) for group in patches.values() for patch in group for joint in patch.hold})
    rest = rest_transforms(joints)
    binds = np.linalg.inv(rest[held_by])
    column = {joints.names[joint]: number for number, joint in enumerate(held_by)}
    parts = []
    for label, group in patches.items():
        vertices, triangles, colours, uvs = joined(group)
        if "normal" not in textures.get(label, {}):
            colours[:, :3] = to_linear(colours[:, :3])
        places = GRAIN * np.round(vertices / GRAIN)
        moving = any(patch.name in moved for moved in shapes.values() for patch in group)
        mesh = Mesh(
            label,
            places,
            triangles,
            normals=area_normals(places, triangles),
            uvs=[] if uvs is None else [uvs],
            colours=colours,
            materials=[replace(materials[label], textures=textures.get(label, {}))],
            shapes=Shapes(tuple(shapes), _deltas(group, shapes)) if moving else None,
        )
        parts.append(Part("Face" if moving else label, mesh, SkinBinding(held_by, binds, *influences(group, column))))
    return Character(name, joints, parts)


def _deltas(group: Sequence[Patch], shapes: Deltas) -> Array:
    """(S, V, 3) of the patches of one part."""
    rows = [[moved.get(patch.name, np.zeros_like(patch.vertices)) for patch in group] for moved in shapes.values()]
    return np.stack([np.concatenate(row) for row in rows])
