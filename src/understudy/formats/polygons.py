"""Polygons cut into triangles."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

MOST_TRIES = 8  # corners from which a fan is tried; more would only matter to shapes that no fan covers


def fans(points: Array, corners: Array, sizes: Array) -> tuple[Array, Array, int]:
    """Triangles of polygons: (T, 3) places in `corners`, (T,) the polygon of each, and how many polygons stay folded.

    `corners` (C,) are the polygons' vertices in turn, into `points` (V, 3), and `sizes` (P,) their numbers of corners.
    A polygon becomes the fan 0 1 2, 0 2 3, ... of its first corner. Where it is concave, so that a triangle of the fan
    faces the other way, the fan of the next corner is tried. Polygons of fewer than three corners give nothing.
    """
    starts = np.cumsum(sizes) - sizes
    pieces = np.maximum(sizes - 2, 0)
    first = np.cumsum(pieces) - pieces
    triangles = np.empty((int(pieces.sum()), 3), np.int64)
    folded = 0
    for size in np.unique(sizes[sizes >= 3]).tolist():
        members = np.flatnonzero(sizes == size)
        ring = starts[members, None] + np.arange(size)  # (m, size) places in corners
        if size > 3:
            ring, bad = _convex_start(points, corners, ring)
            folded += bad
        steps = np.arange(1, size - 1)
        cut = np.stack(
            [np.broadcast_to(ring[:, :1], (len(ring), size - 2)), ring[:, steps], ring[:, steps + 1]], axis=2
        )
        triangles[first[members, None] + np.arange(size - 2)] = cut
    return triangles, np.repeat(np.arange(len(sizes)), pieces), folded


def _convex_start(points: Array, corners: Array, ring: Array) -> tuple[Array, int]:
    """The same polygons, each begun at a corner whose fan is not folded, and for how many none was found."""
    ring = ring.copy()
    todo = np.arange(len(ring))
    original = ring.copy()
    for _ in range(min(ring.shape[1], MOST_TRIES)):
        p = points[corners[ring[todo]]]  # (n, size, 3)
        arms = p[:, 1:] - p[:, :1]
        areas = np.cross(arms[:, :-1], arms[:, 1:])  # (n, size - 2, 3): twice the area, along the normal
        facing = np.einsum("nti,ni->nt", areas, areas.sum(axis=1))
        todo = todo[facing.min(axis=1) < -1e-9 * np.abs(facing).max(axis=1)]
        if not todo.size:
            return ring, 0
        ring[todo] = np.roll(ring[todo], -1, axis=1)
    ring[todo] = original[todo]
    return ring, len(todo)
