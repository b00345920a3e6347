"""Thin parts: those of a character with as few vertices as a small picture of it needs.

A picture on a surface is cut into charts, and their borders have to stay. Where these alone are too many vertices, the
picture's colours are painted onto the vertices instead, and the surface is thinned without charts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Mesh, Part, Shapes, Skin
from understudy.checks import Array
from understudy.studio.crowd.painting import unwrapped
from understudy.studio.stage.coarse import coarsened
from understudy.studio.stage.sketching import fewer, places

FEWEST = 40  # vertices of a part, or all that it has
CROWDED = 1.4  # times the vertices that were wanted: above, charts are given up


@dataclass(frozen=True, eq=False)
class Thin:
    """One part: the vertices (n,) that stay, among those of the whole character, and the mesh and skin of them."""

    name: str
    vertices: Array
    mesh: Mesh  # without shapes
    skin: Skin
    shapes: Shapes | None  # the part's own

    def part(self, shapes: Shapes | None) -> Part:
        """The part with these shapes."""
        mesh = self.mesh
        told = (mesh.name, mesh.vertices, mesh.triangles, mesh.normals, mesh.uvs, mesh.colours, mesh.materials)
        return Part(self.name, Mesh(*told, shapes=shapes), self.skin)


def thin_parts(character: Character, wanted: int) -> list[Thin]:
    """The parts with about `wanted` vertices in all."""
    # by less than their number: small parts with much detail (teeth, lids) keep more of it
    shares = np.array([len(part.mesh.vertices) ** 0.7 for part in character.parts])
    result, first = [], 0
    for part, share in zip(character.parts, shares / max(1.0, shares.sum())):
        mesh, own = thinned(part.mesh, max(FEWEST, int(wanted * share)))
        skin, shapes = part.skin, part.mesh.shapes
        thin_skin = Skin(skin.joints, skin.inverse_binds, skin.influences[own], skin.weights[own], skin.method)
        if shapes is not None:
            normals = None if shapes.normals is None else shapes.normals[:, own]
            told = (shapes.defaults, shapes.shape_of, shapes.stop_of)
            shapes = Shapes(shapes.names, shapes.deltas[:, own], normals, *told)
        result.append(Thin(part.name, first + own, mesh, thin_skin, shapes))
        first += len(part.mesh.vertices)
    return result


def thinned(mesh: Mesh, wanted: int) -> tuple[Mesh, Array]:
    """The mesh with about `wanted` vertices, and (n,) the vertex that each came from.

    All is in the first material: at that size nobody tells two apart.
    """
    split, origin = mesh.per_vertex()
    if len(mesh.vertices) <= wanted or not len(mesh.triangles):
        return _subset(split, np.arange(len(split.vertices)), split.triangles), origin
    corners, _ = fewer(split, wanted)
    if len(np.unique(corners)) > CROWDED * wanted and mesh.uvs:
        place = places(split.vertices)
        lead = np.unique(place, return_index=True)[1]  # one vertex of each place
        painted = unwrapped(split, place)
        triangles, _ = coarsened(split.vertices[lead], place[split.triangles], wanted)
        split, corners = painted, lead[triangles]
    kept, numbers = np.unique(corners, return_inverse=True)
    return _subset(split, kept, numbers.reshape(-1, 3)), origin[kept]


def _subset(mesh: Mesh, kept: Array, triangles: Array) -> Mesh:
    return Mesh(
        mesh.name,
        mesh.vertices[kept],
        triangles,
        None if mesh.normals is None else mesh.normals[kept],
        [uv[kept] for uv in mesh.uvs],
        None if mesh.colours is None else mesh.colours[kept],
        [mesh.material(0)],
    )
