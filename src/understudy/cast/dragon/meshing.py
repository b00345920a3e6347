"""The skin's mesh: marching cubes on half the sculpture, remeshed by zones, put back onto it, mirrored and welded.

Marching cubes leave slivers, which block the collapses of an isotropic remesher, so quadric simplification comes
first. Edges then grow zone by zone, never by more than 1.4 in a pass: short on rims and lips, long on the neck.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.cast.dragon import sculpt
from understudy.cast.dragon.measures import EYE
from understudy.cast.sculpting.meshing import Skinned, mirrored, remesh
from understudy.checks import Array

STEP = 0.007  # HL of the grid
LENGTHS = (0.0085, 0.0112, 0.0205, 0.034)  # HL, edges of the zones: rims of the eyes, lips, face, rest
SIMPLIFIED = 60_000  # triangles of the half after simplification


def build() -> Skinned:
    """The skin, closed, exactly symmetric, counter-clockwise from outside."""
    vertices, triangles = _half()
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    distinct, count = np.unique(edges, axis=0, return_counts=True)
    middle = np.zeros(len(vertices), dtype=bool)
    middle[distinct[count == 1]] = True
    vertices[middle, 0] = 0.0
    for _ in range(4):
        vertices = sculpt.onto_skin(vertices, steps=1)
        vertices[middle, 0] = 0.0
    return mirrored(vertices, triangles, middle)


def _half() -> tuple[Array, Array]:
    import pymeshlab
    from skimage.measure import marching_cubes

    xs, ys, zs = np.arange(0, 0.62, STEP), np.arange(-1.06, 0.55, STEP), np.arange(-0.65, 0.68, STEP)
    vertices, triangles, _, _ = marching_cubes(sculpt.on_grid(xs, ys, zs), 0.0, spacing=(STEP, STEP, STEP))
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
    length = LENGTHS[0]
    remesh(work, length)
    while length < 0.999 * LENGTHS[-1]:
        length = min(1.4 * length, LENGTHS[-1])
        for zone in range(len(LENGTHS) - 1, 0, -1):
            if length <= 1.3 * LENGTHS[zone]:
                remesh(work, min(length, LENGTHS[zone]), _zones(work) == zone)
    mesh = work.current_mesh()
    vertices, triangles = mesh.vertex_matrix().copy(), mesh.face_matrix().astype(np.int64)
    corners = vertices[triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outwards = (facing * sculpt.gradient(corners.mean(axis=1))).sum() > 0
    return vertices, triangles if outwards else triangles[:, ::-1].copy()


def _zones(work: Any) -> Array:
    """(V,) the zone of each vertex, a number into LENGTHS: rims of eyes, lips and nostrils, face and mouth, rest."""
    p = work.current_mesh().vertex_matrix()
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    from_eye = np.linalg.norm(p - EYE, axis=1)
    from_lips = np.abs(y - sculpt.lip_sheet(p))
    depth = sculpt.distance(p, "closed")
    eyes = (np.abs(from_eye - 0.158) < 0.020) & (z > 0.16) & (depth > -0.022)
    lips = (np.abs(from_eye - 0.150) < 0.032) & (z > 0.12)
    lips |= (from_lips < 0.040) & (z > 0.0) & (depth > -0.035)
    lips |= np.linalg.norm(p - [0.075, -0.02, 0.55], axis=1) < 0.055
    face = (z > 0.12) & (y > -0.32) & (depth > -0.03)
    face |= (from_lips < 0.10) & (z > -0.09) & ((z < 0.16) | ((z > 0.1) & (x > 0.10)))
    return np.select([eyes, lips, face], [0, 1, 2], 3)
