"""Thin parts: those of a character with as few vertices as a small picture of it needs.

A picture on a surface is cut into charts, and their borders have to stay. Where these alone are too many vertices, the
picture's colours are painted onto the vertices instead, and the surface is thinned without charts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Mesh, Part, Shapes, Skin
from understudy.checks import Array
from understudy.studio.crowd.coarse import coarsened
from understudy.studio.crowd.painting import unwrapped

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
    place = _places(split.vertices)
    lead = np.unique(place, return_index=True)[1]  # one vertex of each place
    chart = _components(split.triangles, len(split.vertices))
    triangles, which = coarsened(split.vertices[lead], place[split.triangles], wanted, chart[split.triangles[:, 0]])
    corners = _corners(split, place, chart, triangles, which)
    if len(np.unique(corners)) > CROWDED * wanted and mesh.uvs:
        painted = unwrapped(split, place)
        triangles, _ = coarsened(split.vertices[lead], place[split.triangles], wanted)
        split, corners = painted, lead[triangles]
    kept, numbers = np.unique(corners, return_inverse=True)
    return _subset(split, kept, numbers.reshape(-1, 3)), origin[kept]


def _corners(split: Mesh, place: Array, chart: Array, triangles: Array, which: Array) -> Array:
    """(t, 3) for triangles on places the drawn vertices: there, in the triangle's own chart, with the nearest UV."""
    before = split.triangles[which]
    own = chart[before[:, 0]]
    uv = split.uvs[0] if split.uvs else np.zeros((len(place), 2), np.float32)
    middle = uv[before].mean(axis=1)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(place.max(initial=0) + 2))
    most = int(np.diff(starts).max(initial=1))
    result = np.empty(triangles.shape, np.int64)
    for k in range(3):
        first, last = starts[triangles[:, k]], starts[triangles[:, k] + 1]
        best = np.full(len(triangles), np.inf)
        for number in range(most):
            candidate = order[np.minimum(first + number, len(order) - 1)]
            far = np.square(uv[candidate] - middle).sum(axis=1) + np.where(chart[candidate] == own, 0.0, 1e6)
            far[first + number >= last] = np.inf
            better = far < best
            result[better, k], best[better] = candidate[better], far[better]
    return result


def _places(vertices: Array) -> Array:
    """(V,) a number for each place; copies that a seam needs have the same."""
    size = max(float(np.ptp(vertices, axis=0).max()), 1e-12)
    cells = np.round((vertices - vertices.min(axis=0)) / size * 1e6).astype(np.int64)
    return np.unique(cells @ (1, 2_000_003, 4_000_012_000_009), return_inverse=True)[1].reshape(-1)


def _components(triangles: Array, count: int) -> Array:
    """(V,) a number for each connected piece."""
    label = np.arange(count)
    while True:
        low = label[triangles].min(axis=1)
        after = label.copy()
        for k in range(3):
            np.minimum.at(after, triangles[:, k], low)
        after = after[after]
        if (after == label).all():
            return label
        label = after


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
