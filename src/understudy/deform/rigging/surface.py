"""The welded surface of a mesh, and the space inside it.

A welded surface can be solved on: vertices at one position are one, triangles without area are gone. Files split a
vertex wherever normals, UVs or materials differ, so a mesh that looks whole may consist of a thousand patches, and heat
would not flow between them.

The space inside is a grid of cubes, also known where the mesh has holes, overlaps or is not closed. The surface is
drawn into the grid; cubes that can be reached from outside without crossing it are outside. To bridge gaps the surface
is first dilated by `closing` cubes, and the outside dilated back by as many. A mesh too open for that keeps only the
cubes that its surface passes through: "inside" then means near the skin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.maths import vector

VOXELS_PER_SIDE = 64  # cubes along the longest side; with 96 the weights of real characters hardly differ
CLOSING_VOXELS = 1  # unwelded parts leave gaps of 2 of 64 cubes
MARGIN_VOXELS = 2  # cubes of outside around everything, beyond those that closing takes
SAMPLE_SPACING_VOXELS = 0.6  # between samples of the surface, in cubes: less than 1 leaves no pinhole along an axis

# Samples of the surface; above it the spacing grows: a scan's triangles are smaller than cubes anyway.
MAX_SURFACE_SAMPLES = 4_000_000
WELD_SIZE_RATIO = 1e-5  # of the size: float32 leaves 1e-7, modellers' snapping 1e-6; real details start at 1e-3

# Cotangents of obtuse angles are negative, and of needles infinite. With every edge at least this strong the system is
# an M-matrix, so that weights lie in [0, 1] and sum to 1 on any mesh, non-manifold ones too; with cotangents of a sound
# mesh near 1, it is too weak to be seen.
MIN_COTANGENT = 1e-3
MAX_COTANGENT = 1e3  # a needle of a thousandth of a degree; beyond it rounding would decide


@dataclass(frozen=True, eq=False)
class WeldedSurface:
    """A surface without duplicate points and degenerate triangles."""

    points: Array  # (N, 3)
    triangles: Array  # (T, 3)
    point_of: Array  # (V,) the point of each vertex of the file

    @classmethod
    def from_mesh(cls, vertices: Array, triangles: Array) -> WeldedSurface:
        """The surface of a mesh (V, 3), (T, 3) as files have it."""
        vertices = np.asarray(vertices, np.float64)
        step = WELD_SIZE_RATIO * extent(vertices) or 1.0
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
    def triangle_cross_products(self) -> Array:
        """(T, 3) normals of the triangles, twice their area long."""
        a, b, c = (self.points[self.triangles[:, i]] for i in range(3))
        return vector.cross(b - a, c - a)

    @cached_property
    def normals(self) -> Array:
        """(N, 3) unit normals, weighted by area; zero where there is no triangle."""
        total = np.zeros_like(self.points)
        for i in range(3):
            np.add.at(total, self.triangles[:, i], self.triangle_cross_products)
        return vector.normalise(total)

    @cached_property
    def areas(self) -> Array:
        """(N,) a third of the triangles around each point; never quite zero where there is a triangle."""
        total = np.zeros(len(self.points))
        for i in range(3):
            np.add.at(total, self.triangles[:, i], vector.length(self.triangle_cross_products) / 6)
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

        double_area = np.maximum(vector.length(self.triangle_cross_products), 1e-300)
        rows, columns, values = [], [], []
        for i in range(3):
            one, other, opposite = (self.triangles[:, (i + k) % 3] for k in range(3))
            corner = self.points[opposite]
            cosine = vector.dot(self.points[one] - corner, self.points[other] - corner)
            half = 0.5 * np.clip(cosine / double_area, MIN_COTANGENT, MAX_COTANGENT)
            rows += [one, other]
            columns += [other, one]
            values += [half, half]
        shape = (len(self.points),) * 2
        links = coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape).tocsr()
        return diags(np.asarray(links.sum(axis=1)).ravel()) - links


def extent(points: Array) -> float:
    """The diagonal of the box around points (N, 3)."""
    return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0


@dataclass(frozen=True, eq=False)
class VoxelSolid:
    """A grid of cubes; cube i covers origin + step * [i, i + 1]."""

    inside: Array  # (X, Y, Z) bool
    shell: Array  # (X, Y, Z) bool, the cubes that the surface passes through
    origin: Array  # (3,)
    step: float

    @classmethod
    def from_surface(
        cls, points: Array, triangles: Array, resolution: int = VOXELS_PER_SIDE, closing: int = CLOSING_VOXELS
    ) -> VoxelSolid:
        """The inside of a surface (N, 3), (T, 3); gaps of up to twice `closing` cubes are bridged."""
        from scipy import ndimage

        low, high = points.min(axis=0), points.max(axis=0)
        step = float((high - low).max()) / resolution or 1.0
        margin = closing + MARGIN_VOXELS
        origin = low - (margin + 0.5) * step
        shape = np.ceil((high - low) / step).astype(int) + 2 * margin + 1
        shell = np.zeros(shape, bool)
        for samples in surface_samples(points, triangles, SAMPLE_SPACING_VOXELS * step):
            shell[tuple(((samples - origin) / step).astype(int).T)] = True
        grown = ndimage.binary_dilation(shell, iterations=closing)
        regions = np.asarray(ndimage.label(np.logical_not(grown))[0])
        outside = regions == regions[0, 0, 0]
        outside = np.asarray(ndimage.binary_dilation(outside, iterations=closing)) & ~shell
        return cls(~outside, shell, origin, step)

    def contains(self, points: Array) -> Array:
        """(...) whether points (..., 3) lie in a cube of the inside."""
        cube = np.floor((np.asarray(points) - self.origin) / self.step).astype(np.int64)
        known: Array = np.asarray(((cube >= 0) & (cube < self.inside.shape)).all(axis=-1))
        cube = np.where(known[..., None], cube, 0)
        result: Array = self.inside[cube[..., 0], cube[..., 1], cube[..., 2]] & known
        return result

    def reach(self, start: Array, direction: Array, farthest: float) -> float:
        """The distance from a point (3,) to the outside in a unit direction (3,), up to `farthest`; 0 outside."""
        distance = 0.5 * self.step * np.arange(int(2 * farthest / self.step) + 2)
        within = self.contains(start + distance[:, None] * direction)
        left = np.flatnonzero(~within)
        return float(distance[-1] if not left.size else distance[max(left[0] - 1, 0)])


def surface_samples(points: Array, triangles: Array, spacing: float) -> list[Array]:
    """Points (n, 3) all over a surface, in blocks, none further than `spacing` from the next in its triangle."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    longest = np.maximum.reduce([np.linalg.norm(e, axis=1) for e in (b - a, c - a, c - b)], initial=0.0)
    cuts = np.ceil(longest / spacing).astype(int) + 1
    total = float(((cuts + 1.0) * (cuts + 2.0) / 2).sum())
    if total > MAX_SURFACE_SAMPLES:
        cuts = np.maximum((cuts * np.sqrt(MAX_SURFACE_SAMPLES / total)).astype(int), 1)
    blocks = [points]
    for count in np.unique(cuts):
        chosen = cuts == count
        u, v = np.meshgrid(np.arange(count + 1) / count, np.arange(count + 1) / count)
        u, v = (part[u + v <= 1 + 1e-9][:, None] for part in (u, v))
        along, across = (b - a)[chosen, None], (c - a)[chosen, None]
        blocks.append((a[chosen, None] + u * along + v * across).reshape(-1, 3))
    return blocks
