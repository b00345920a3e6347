"""Normals to draw with."""

from __future__ import annotations

from understudy.checks import Array
from understudy.deform.normals import vertex_normals


def smooth_normals(vertices: Array, triangles: Array) -> Array:
    """Unit normals (V, 3) float32 of vertices (V, 3), weighted by area; up where there is no area around a vertex.

    A normal of length zero would become NaN in a shader, and spread to its neighbours in the picture.
    """
    normals = vertex_normals(vertices, triangles, "area")
    x, y, z = normals.T
    normals[(x == 0) & (y == 0) & (z == 0)] = (0.0, 1.0, 0.0)
    return normals
