"""Small meshes with joints: a tube, a box, and ways to spoil them."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def tube(rings: int = 25, sides: int = 16, radius: float = 0.15, length: float = 2.0) -> tuple[Array, Array]:
    """A closed tube along x, vertices (V, 3) and triangles (T, 3)."""
    angle = 2 * np.pi * np.arange(sides) / sides
    x = np.linspace(0, length, rings)
    ring = np.stack([np.zeros(sides), radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    vertices = (x[:, None, None] * np.array([1.0, 0, 0]) + ring).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij"))
    a, b = i * sides + j, i * sides + (j + 1) % sides
    triangles = np.concatenate([np.stack([a, b, a + sides], 1), np.stack([b, b + sides, a + sides], 1)])
    middle = len(vertices)
    vertices = np.concatenate([vertices, [[0, 0, 0], [length, 0, 0]]])
    j = np.arange(sides)
    last = (rings - 1) * sides
    caps = [
        np.stack([np.full(sides, middle), (j + 1) % sides, j], 1),
        np.stack([np.full(sides, middle + 1), last + j, last + (j + 1) % sides], 1),
    ]
    return vertices, np.concatenate([triangles, *caps])


def box(low: Array, high: Array) -> tuple[Array, Array]:
    """A closed box."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]])
    faces = np.concatenate([faces, [[0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]])
    return np.asarray(low) + corners * (np.asarray(high) - low), faces


def joined(*meshes: tuple[Array, Array]) -> tuple[Array, Array]:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(v) for v, _ in meshes)])
    return np.concatenate([v for v, _ in meshes]), np.concatenate([t + s for (_, t), s in zip(meshes, starts)])


def split(mesh: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """Every triangle with three vertices of its own, and (V',) where each came from."""
    vertices, triangles = mesh
    origin = triangles.reshape(-1)
    return vertices[origin], np.arange(len(origin)).reshape(-1, 3), origin


def placed(*places: tuple[float, float, float]) -> Array:
    """(B, 4, 4) joints at those places, with the axes of the world."""
    result = np.tile(np.eye(4), (len(places), 1, 1))
    result[:, :3, 3] = places
    return result


ARM = placed((0, 0, 0), (1, 0, 0)), np.array([-1, 0])
