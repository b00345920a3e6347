"""Shapes for diagrams in three dimensions: tubes along a path, balls at points, and isosurfaces, as triangles.

The surface on which a function of space has a given value comes from marching tetrahedra: each cell of a grid is cut
into six tetrahedra around one of its diagonals. Within one the function is taken as linear, so the surface is one
triangle where one corner lies apart from the three others, and two where they are two and two. Unlike with marching
cubes there is no ambiguous case, so the surface has no holes, and no table is needed.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array

# The tetrahedra of a cell: paths along its edges from corner (0, 0, 0) to (1, 1, 1), one for each order of the axes.
CUBE_CORNERS = np.array(
    [np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(o)]], 0) for o in itertools.permutations(range(3))]
)

TUBE_SIDES = 10  # with smooth normals a tube looks round up to a tenth of the picture's height


@dataclass(frozen=True, eq=False)
class DiagramShape:
    """Vertices (V, 3), unit normals (V, 3), triangles (T, 3) counter-clockwise from outside.

    `along` (V,) in [0, 1]: how far along its path a vertex lies.
    """

    vertices: Array
    normals: Array
    triangles: Array
    along: Array


def join_shapes(shapes: list[DiagramShape]) -> DiagramShape:
    """Several shapes as one."""
    if not shapes:
        return DiagramShape(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), np.int64), np.zeros(0))
    firsts = np.cumsum([0, *(len(shape.vertices) for shape in shapes[:-1])])
    return DiagramShape(
        np.concatenate([shape.vertices for shape in shapes]),
        np.concatenate([shape.normals for shape in shapes]),
        np.concatenate([shape.triangles + first for shape, first in zip(shapes, firsts)]),
        np.concatenate([shape.along for shape in shapes]),
    )


def tube(points: Array, radius: float | Array) -> DiagramShape:
    """A tube around the path points (F, 3), closed by flat ends; radius one, or (F,).

    Points that lie upon their predecessor are left out; a path of one place only is a ball.
    """
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    kept = np.concatenate([[True], steps > 1e-6 * max(float(np.ptp(points, axis=0).max()), 1e-12)])
    radii = np.broadcast_to(np.asarray(radius, float), len(points))[kept]
    path = points[kept]
    if len(path) < 2:
        return balls(path[:1], float(radii[0]))
    across, beside = _frames(path)
    angle = np.linspace(0.0, 2.0 * np.pi, TUBE_SIDES, endpoint=False)
    normals = np.cos(angle)[:, None] * across[:, None] + np.sin(angle)[:, None] * beside[:, None]  # (F, sides, 3)
    rings = path[:, None] + radii[:, None, None] * normals
    F = len(path)
    side = np.arange(TUBE_SIDES)
    a = TUBE_SIDES * np.arange(F - 1)[:, None] + side
    b = TUBE_SIDES * np.arange(F - 1)[:, None] + (side + 1) % TUBE_SIDES
    walls = np.concatenate(
        [np.stack([a, b, b + TUBE_SIDES], -1), np.stack([a, b + TUBE_SIDES, a + TUBE_SIDES], -1)]
    ).reshape(-1, 3)
    fan = np.stack([np.zeros(TUBE_SIDES - 2), np.arange(2, TUBE_SIDES), np.arange(1, TUBE_SIDES - 1)], axis=1).astype(
        np.int64
    )
    caps = np.concatenate([fan, TUBE_SIDES * (F - 1) + fan[:, ::-1]])
    along = np.linspace(0.0, 1.0, len(points))[kept]
    triangles = np.concatenate([walls, caps])
    return DiagramShape(rings.reshape(-1, 3), normals.reshape(-1, 3), triangles, np.repeat(along, TUBE_SIDES))


def smooth_path(points: Array, pieces: int = 4) -> Array:
    """A smooth path through points (F, 3), each way between two of them in so many pieces: (pieces (F - 1) + 1, 3).

    Catmull and Rom's cubic: it leaves each point along the line between its neighbours.
    """
    if len(points) < 3:
        return points
    t = (np.arange(pieces) / pieces)[:, None, None]
    a, b = points[:-1], points[1:]
    slope = np.gradient(points, axis=0)
    u, v = slope[:-1], slope[1:]
    path = a + t * (u + t * (3 * (b - a) - 2 * u - v + t * (2 * (a - b) + u + v)))  # (pieces, F - 1, 3)
    return np.concatenate([path.transpose(1, 0, 2).reshape(-1, 3), points[-1:]])


def _frames(path: Array) -> tuple[Array, Array]:
    """Two unit vectors (F, 3) each, at right angles to the path (F, 3) and to each other, that never twist.

    Rotation-minimising by double reflection [Wang et al. 2008, "Computation of rotation minimizing frames"].
    """
    tangent = np.gradient(path, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-30)
    r = np.cross(tangent[0], np.eye(3)[np.abs(tangent[0]).argmin()])
    across = np.empty_like(path)
    across[0] = r / np.linalg.norm(r)
    for i in range(len(path) - 1):
        v1 = path[i + 1] - path[i]
        c1 = v1 @ v1
        reflected = across[i] - (2.0 / c1) * (v1 @ across[i]) * v1
        turned = tangent[i] - (2.0 / c1) * (v1 @ tangent[i]) * v1
        v2 = tangent[i + 1] - turned
        c2 = v2 @ v2
        across[i + 1] = reflected - (2.0 / c2) * (v2 @ reflected) * v2 if c2 > 1e-24 else reflected
    across -= np.einsum("fi,fi->f", across, tangent)[:, None] * tangent
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)
    return across, np.cross(tangent, across)


def balls(centres: ArrayLike, radius: float, rounds: int = 2) -> DiagramShape:
    """A ball at each of the centres (N, 3): an octahedron, split `rounds` times (0 leaves it as it is)."""
    places = np.asarray(centres, float).reshape(-1, 3)
    corners, faces = _ball(rounds)
    V = len(corners)
    triangles = (V * np.arange(len(places))[:, None, None] + faces).reshape(-1, 3)
    vertices = (places[:, None] + radius * corners).reshape(-1, 3)
    return DiagramShape(vertices, np.tile(corners, (len(places), 1)), triangles, np.zeros(len(vertices)))


def _ball(rounds: int) -> tuple[Array, Array]:
    """Unit vertices (V, 3) and triangles (T, 3) of an octahedron whose triangles are split in four, `rounds` times."""
    corners = np.concatenate([np.eye(3), -np.eye(3)])
    faces = np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]])
    for _ in range(rounds):
        edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, place = np.unique(edges, axis=0, return_inverse=True)
        middles = corners[unique].sum(axis=1)
        ab, bc, ca = (len(corners) + place.reshape(-1, 3)).T
        corners = np.concatenate([corners, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
        a, b, c = faces.T
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = np.concatenate([np.stack(part, axis=1) for part in parts])
    return corners, faces


def isosurface(values: Array, level: float) -> tuple[Array, Array]:
    """Vertices (V, 3), in steps of the grid, and triangles (T, 3) where `values` (X, Y, Z) pass `level`.

    The triangles are counter-clockwise seen from where the values are lower.
    """
    X, Y, Z = values.shape
    cells = np.stack(np.meshgrid(np.arange(X - 1), np.arange(Y - 1), np.arange(Z - 1), indexing="ij"), -1).reshape(
        -1, 3
    )
    strides = np.array([Y * Z, Z, 1])
    nodes = ((cells[:, None, None] + CUBE_CORNERS) @ strides).reshape(-1, 4)  # (tetrahedra, 4)
    flat = values.ravel()
    inside = flat[nodes] > level
    counts = inside.sum(axis=1)
    crossed = (counts > 0) & (counts < 4)
    # the corners inside come first
    order = np.argsort(~inside[crossed], axis=1, kind="stable")
    nodes, counts = np.take_along_axis(nodes[crossed], order, axis=1), counts[crossed]
    edges, apart = [], []
    for count, corners in (
        (1, [((0, 1), (0, 2), (0, 3))]),
        (3, [((0, 3), (1, 3), (2, 3))]),
        (2, [((0, 2), (0, 3), (1, 3)), ((0, 2), (1, 3), (1, 2))]),
    ):
        own = nodes[counts == count]
        for triangle in corners:
            edges.append(own[:, np.array(triangle)])
            apart.append(own[:, 0])
    return _interpolate_vertices(values, level, np.concatenate(edges), np.concatenate(apart))


def _interpolate_vertices(values: Array, level: float, edges: Array, inner: Array) -> tuple[Array, Array]:
    """Vertices on the edges (T, 3, 2) of node numbers, each once, and triangles that turn away from `inner` (T,)."""
    unique, place = np.unique(np.sort(edges.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    triangles = place.reshape(-1, 3)
    flat = values.ravel()
    a, b = flat[unique[:, 0]], flat[unique[:, 1]]
    part = (level - a) / np.where(a == b, 1.0, b - a)
    ends = np.stack(np.unravel_index(unique, values.shape), -1).astype(float)  # (V, 2, 3)
    vertices = ends[:, 0] + part[:, None] * (ends[:, 1] - ends[:, 0])
    corners = vertices[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    towards = np.stack(np.unravel_index(inner, values.shape), -1) - corners.mean(axis=1)
    turned = np.einsum("ti,ti->t", normal, towards) > 0
    triangles[turned] = triangles[turned][:, ::-1]
    return vertices, triangles
