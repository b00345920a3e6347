"""Meshes of sculptures: remeshed by zones, put back onto the field; left halves mirrored and welded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.sculpting.fields import Field, gradient, isosurface, onto
from understudy.checks import Array
from understudy.maths import linear

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
    facing = linear.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
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
    facing = linear.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if (facing * gradient(corners.mean(axis=1), of)).sum() < 0:
        triangles = triangles[:, ::-1]
    return Skinned(vertices, triangles, np.arange(len(vertices)))
