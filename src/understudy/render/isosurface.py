"""The surface on which a function of space has a given value, by marching tetrahedra.

Each cell of a grid is cut into six tetrahedra around one of its diagonals. Within one the function is taken as linear,
so the surface is one triangle where one corner lies apart from the three others, and two where they are two and two.
Unlike with marching cubes there is no ambiguous case, so the surface has no holes, and no table is needed.
"""

from __future__ import annotations

import itertools

import numpy as np

from understudy.checks import Array

# The tetrahedra of a cell: paths along its edges from corner (0, 0, 0) to (1, 1, 1), one for each order of the axes.
CORNERS = np.array(
    [np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(o)]], 0) for o in itertools.permutations(range(3))]
)


def isosurface(values: Array, level: float) -> tuple[Array, Array]:
    """Vertices (V, 3), in steps of the grid, and triangles (T, 3) where `values` (X, Y, Z) pass `level`.

    The triangles are counter-clockwise seen from where the values are lower.
    """
    X, Y, Z = values.shape
    cells = np.stack(np.meshgrid(np.arange(X - 1), np.arange(Y - 1), np.arange(Z - 1), indexing="ij"), -1).reshape(
        -1, 3
    )
    strides = np.array([Y * Z, Z, 1])
    nodes = ((cells[:, None, None] + CORNERS) @ strides).reshape(-1, 4)  # (tetrahedra, 4)
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
    return _placed(values, level, np.concatenate(edges), np.concatenate(apart))


def _placed(values: Array, level: float, edges: Array, inner: Array) -> tuple[Array, Array]:
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
