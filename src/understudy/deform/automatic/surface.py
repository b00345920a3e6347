"""A surface fit for solving on: vertices at one place are one, triangles without area are gone.

Files split a vertex wherever normals, UVs or materials differ, so a mesh that looks whole may consist of a thousand
patches. Heat would not pass between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.maths import linear

TOUCHING = 1e-5  # of the size: float32 leaves 1e-7, modellers' snapping 1e-6; real details start at 1e-3
LEAST_COTANGENT = 1e-3
"""Cotangents of obtuse angles are negative, and of needles infinite. With every edge at least this strong the system is
an M-matrix, so that weights lie in [0, 1] and sum to 1 on any mesh, non-manifold ones too; with cotangents of a sound
mesh near 1, it is too weak to be seen."""
GREATEST_COTANGENT = 1e3  # a needle of a thousandth of a degree; beyond it rounding would decide


@dataclass(frozen=True, eq=False)
class Surface:
    """Points (N, 3), triangles (T, 3) between them, and `point_of` (V,), the point of each vertex of the file."""

    points: Array
    triangles: Array
    point_of: Array

    @classmethod
    def of(cls, vertices: Array, triangles: Array) -> Surface:
        """The surface of a mesh (V, 3), (T, 3) as files have it."""
        vertices = np.asarray(vertices, np.float64)
        step = TOUCHING * extent(vertices) or 1.0
        cell = np.round((vertices - vertices.min(axis=0, initial=0.0)) / step).astype(np.int64)
        _, first, point_of = np.unique(cell, axis=0, return_index=True, return_inverse=True)
        point_of = point_of.reshape(-1)
        t = point_of[np.asarray(triangles, np.int64).reshape(-1, 3)]
        sound = (t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 2] != t[:, 0])
        return cls(vertices[first], t[sound], point_of)

    @cached_property
    def size(self) -> float:
        """The diagonal of its box."""
        return extent(self.points)

    @cached_property
    def crossed(self) -> Array:
        """(T, 3) normals of the triangles, twice their area long."""
        a, b, c = (self.points[self.triangles[:, i]] for i in range(3))
        return linear.cross(b - a, c - a)

    @cached_property
    def normals(self) -> Array:
        """(N, 3) unit normals, weighted by area; zero where there is no triangle."""
        total = np.zeros_like(self.points)
        for i in range(3):
            np.add.at(total, self.triangles[:, i], self.crossed)
        return linear.normalise(total)

    @cached_property
    def areas(self) -> Array:
        """(N,) a third of the triangles around each point; never quite zero where there is a triangle."""
        total = np.zeros(len(self.points))
        for i in range(3):
            np.add.at(total, self.triangles[:, i], linear.length(self.crossed) / 6)
        used = self.in_triangle
        least = 1e-6 * total[used].mean() if used.any() else 0.0
        return np.where(used, np.maximum(total, least or 1e-30), 0.0)

    @cached_property
    def in_triangle(self) -> Array:
        """(N,) whether a point is a corner of a sound triangle."""
        used = np.zeros(len(self.points), bool)
        used[self.triangles] = True
        return used

    @cached_property
    def pieces(self) -> Array:
        """(N,) the number of the connected piece that each point belongs to."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        start, end = self.triangles[:, :2].T, self.triangles[:, 1:].T
        link = coo_matrix((np.ones(start.size), (start.ravel(), end.ravel())), (len(self.points),) * 2)
        return np.asarray(connected_components(link, directed=False)[1])

    def laplacian(self) -> Any:
        """The cotangent Laplacian (N, N), sparse, symmetric, rows that sum to zero, no positive entry off the diagonal.

        L_ij = -(cot a_ij + cot b_ij) / 2 over the angles opposite of edge ij (Pinkall and Polthier 1993); an edge of
        more or fewer than two triangles simply has more or fewer angles.
        """
        from scipy.sparse import coo_matrix, diags

        double_area = np.maximum(linear.length(self.crossed), 1e-300)
        rows, columns, values = [], [], []
        for i in range(3):
            one, other, opposite = (self.triangles[:, (i + k) % 3] for k in range(3))
            corner = self.points[opposite]
            cosine = linear.dot(self.points[one] - corner, self.points[other] - corner)
            half = 0.5 * np.clip(cosine / double_area, LEAST_COTANGENT, GREATEST_COTANGENT)
            rows += [one, other]
            columns += [other, one]
            values += [half, half]
        shape = (len(self.points),) * 2
        links = coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape).tocsr()
        return diags(np.asarray(links.sum(axis=1)).ravel()) - links


def extent(points: Array) -> float:
    """The diagonal of the box around points (N, 3)."""
    return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
