"""Simple solids for the renderers' tests."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.render.stick_figure import bone_mesh


def ball(centre: tuple[float, float, float] = (0.0, 0.0, 0.0), radius: float = 1.0) -> tuple[Array, Array]:
    """Vertices and triangles of a sphere."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0, np.pi, 25), indexing="ij")
    points = np.stack([np.sin(v) * np.cos(u), np.cos(v), np.sin(v) * np.sin(u)], axis=-1).reshape(-1, 3)
    i = (np.arange(48)[:, None] * 25 + np.arange(24)).ravel()
    triangles = np.concatenate([np.stack([i, i + 25, i + 1], axis=1), np.stack([i + 1, i + 25, i + 26], axis=1)])
    return np.array(centre) + radius * points, triangles


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> tuple[Array, Array]:
    """Vertices (8, 3) and outward triangles (12, 3) of a box."""
    corners = np.array([[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)])
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def figure() -> tuple[Array, Array]:
    """A small stick figure: an uneven outline with thin parts."""
    joints = [(0, 1, 0), (0, 1.5, 0.1), (0.1, 1.8, 0), (0.5, 1.4, 0.2), (-0.5, 1.2, 0), (0.2, 0, 0.1), (-0.3, 0.1, 0)]
    vertices, triangles, _ = bone_mesh(np.array(joints, dtype=float), [-1, 0, 1, 1, 1, 0, 0])
    return vertices, triangles
