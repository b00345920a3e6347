"""The sculpted head and neck: its fields at points, and the mesh of its skin; `sculpt_kernels` is the sculpture."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assets.dragon.measures import EYE
from assets.sculpting.meshing import Skinned, mirrored, remesh
from understudy.checks import Array
from understudy.maths import vector


def _kernels() -> ModuleType:
    from assets.dragon import sculpt_kernels

    return sculpt_kernels


def distance(points: ArrayLike, field: str = "skin") -> Array:
    """(M,) signed distance to `skin`, `closed` (no carving) or `without_mouth` at points (M, 3), in HL."""
    kernels = _kernels()
    result: Array = kernels.at_points(np.ascontiguousarray(points, dtype=float), kernels.FIELDS.index(field))
    return result


def gradient(points: ArrayLike, step: float = 0.003) -> Array:
    """(M, 3) gradient of the skin's distance."""
    result: Array = _kernels().skin_gradient(np.ascontiguousarray(points, dtype=float), step)
    return result


def lip_sheet(points: ArrayLike) -> Array:
    """(M,) height at which the lips meet above or below points (M, 3)."""
    points = np.asarray(points, dtype=float)
    result: Array = _kernels().lip_sheet(np.abs(points[:, 0]), points[:, 2])
    return result


def slit_width(points: ArrayLike) -> Array:
    """(M,) half the width of the mouth's slit at points (M, 3)."""
    result: Array = _kernels().slit_width(np.asarray(points, dtype=float)[:, 2])
    return result


def on_grid(xs: Array, ys: Array, zs: Array) -> Array:
    """(X, Y, Z) float32 distance to the skin."""
    result: Array = _kernels().skin_on_grid(xs, ys, zs)
    return result


def onto_skin(points: Array, steps: int = 4, longest: float = 0.01) -> Array:
    """Points (M, 3) moved onto the zero set: Newton's p -= d g / |g|^2, no step longer than `longest`."""
    for _ in range(steps):
        d, g = distance(points), gradient(points)
        move = (d / np.maximum(vector.dot(g, g), 0.2))[:, None] * g
        points = points - move * np.minimum(1.0, longest / np.maximum(vector.length(move), 1e-9))[:, None]
    return points


def along_ray(origin: ArrayLike, direction: ArrayLike, near: float, far: float) -> Array:
    """(3,) where the ray leaves the skin between `near` (inside) and `far` (outside), by bisection."""
    origin, direction = np.asarray(origin, dtype=float), np.asarray(direction, dtype=float)
    for _ in range(40):
        middle = 0.5 * (near + far)
        if distance((origin + middle * direction)[None])[0] < 0:
            near = middle
        else:
            far = middle
    return np.asarray(origin + near * direction)


def unit_gradient(points: ArrayLike, step: float = 0.004) -> Array:
    """(M, 3) outward unit normals of the sculpture."""
    return vector.normalise(gradient(points, step), (0.0, 1.0, 0.0))


GRID_STEP = 0.007  # HL of the grid
EDGE_LENGTHS = (0.0085, 0.0112, 0.0205, 0.034)  # HL, edges of the zones: rims of the eyes, lips, face, rest
SIMPLIFIED = 60_000  # triangles of the half after simplification


def skin_mesh() -> Skinned:
    """The skin, closed, exactly symmetric, counter-clockwise from outside."""
    vertices, triangles = _half_mesh()
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    distinct, count = np.unique(edges, axis=0, return_counts=True)
    middle = np.zeros(len(vertices), dtype=bool)
    middle[distinct[count == 1]] = True
    vertices[middle, 0] = 0.0
    for _ in range(4):
        vertices = onto_skin(vertices, steps=1)
        vertices[middle, 0] = 0.0
    return mirrored(vertices, triangles, middle)


def _half_mesh() -> tuple[Array, Array]:
    import pymeshlab
    from skimage.measure import marching_cubes

    xs, ys, zs = np.arange(0, 0.62, GRID_STEP), np.arange(-1.06, 0.55, GRID_STEP), np.arange(-0.65, 0.68, GRID_STEP)
    vertices, triangles, _, _ = marching_cubes(on_grid(xs, ys, zs), 0.0, spacing=(GRID_STEP, GRID_STEP, GRID_STEP))
    work = pymeshlab.MeshSet()
    work.add_mesh(pymeshlab.Mesh(vertices.astype(float) + np.array([xs[0], ys[0], zs[0]]), triangles))
    work.meshing_remove_connected_component_by_face_number(mincomponentsize=500)
    work.meshing_decimation_quadric_edge_collapse(
        targetfacenum=SIMPLIFIED,
        preserveboundary=True,
        boundaryweight=2.0,
        preservenormal=True,
        optimalplacement=True,
        planarquadric=True,
        planarweight=0.002,
    )
    length = EDGE_LENGTHS[0]
    remesh(work, length)
    while length < 0.999 * EDGE_LENGTHS[-1]:
        length = min(1.4 * length, EDGE_LENGTHS[-1])
        for zone in range(len(EDGE_LENGTHS) - 1, 0, -1):
            if length <= 1.3 * EDGE_LENGTHS[zone]:
                remesh(work, min(length, EDGE_LENGTHS[zone]), _zones(work) == zone)
    mesh = work.current_mesh()
    vertices, triangles = mesh.vertex_matrix().copy(), mesh.face_matrix().astype(np.int64)
    corners = vertices[triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outwards = (facing * gradient(corners.mean(axis=1))).sum() > 0
    return vertices, triangles if outwards else triangles[:, ::-1].copy()


def _zones(work: Any) -> Array:
    """(V,) the zone of each vertex, a number into LENGTHS: rims of eyes, lips and nostrils, face and mouth, rest."""
    p = work.current_mesh().vertex_matrix()
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    from_eye = np.linalg.norm(p - EYE, axis=1)
    from_lips = np.abs(y - lip_sheet(p))
    depth = distance(p, "closed")
    eyes = (np.abs(from_eye - 0.158) < 0.020) & (z > 0.16) & (depth > -0.022)
    lips = (np.abs(from_eye - 0.150) < 0.032) & (z > 0.12)
    lips |= (from_lips < 0.040) & (z > 0.0) & (depth > -0.035)
    lips |= np.linalg.norm(p - [0.075, -0.02, 0.55], axis=1) < 0.055
    face = (z > 0.12) & (y > -0.32) & (depth > -0.03)
    face |= (from_lips < 0.10) & (z > -0.09) & ((z < 0.16) | ((z > 0.1) & (x > 0.10)))
    return np.select([eyes, lips, face], [0, 1, 2], 3)
