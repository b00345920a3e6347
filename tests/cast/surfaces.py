"""What the tests of the cast ask of a surface."""

from __future__ import annotations

import numpy as np


def welded(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The triangles with coinciding vertices made one: hard edges double them. 1e-7 m is far below any detail."""
    _, number = np.unique(np.round(vertices * 1e7).astype(np.int64), axis=0, return_inverse=True)
    return number.reshape(-1)[triangles]


def is_closed(vertices: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether every edge is used by exactly two triangles, once in each direction."""
    corners = welded(vertices, triangles)
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    there = {(int(a), int(b)) for a, b in edges}
    return len(there) == len(edges) and all((b, a) in there for a, b in there)


def areas(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(T,) of the triangles."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
