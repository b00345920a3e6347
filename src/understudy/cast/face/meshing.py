"""The meshes of skin, hair and shirt: marching cubes, remeshed by zones, put back onto the sculpture.

Skin and shirt are made as a left half and mirrored, so that they are symmetric to the last bit; hair is not symmetric,
and is made whole. Edges are short on lips, lids and nose, long at the back of the head.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.cast.face import sculpt
from understudy.cast.face.measures import EYE, EYE_RADIUS
from understudy.cast.sculpting.fields import isosurface
from understudy.cast.sculpting.meshing import Skinned, remesh, symmetric
from understudy.cast.sculpting.smoothing import average
from understudy.checks import Array

FINE, FACE, REST = 0.0112, 0.0165, 0.030  # lengths of edges: rims, lips and nose; the face; all else
RIM = (0.98, 1.42)  # of the eye's radius: where marching cubes leave saw teeth on the thin rim of the lids
HAIR = 14_000  # triangles


def skin() -> Skinned:
    """The skin, closed, exactly symmetric, counter-clockwise from outside."""
    work = isosurface(sculpt.field("skin"), (0, -0.84, -0.52), (0.48, 0.54, 0.52), 0.0065)
    remesh(work, FINE)
    for length, zone in ((1.4 * FACE, 2), (REST, 2), (FACE, 1)):
        remesh(work, length, _zones(work) == zone)
    half = symmetric(work, sculpt.field("skin"))
    p = half.vertices
    mean = average(half.triangles, len(p))
    folded = p * np.where(p[:, :1] < 0, [-1.0, 1.0, 1.0], 1.0)
    away = np.linalg.norm(folded - EYE, axis=1) / EYE_RADIUS
    rim = (away > RIM[0]) & (away < RIM[1]) & (p[:, 2] > 0.14)
    for _ in range(7):
        p = np.where(rim[:, None], 0.5 * p + 0.5 * (mean @ p), p)
    p = 0.5 * (p + p[half.mirror] * [-1.0, 1.0, 1.0])  # the sums above are the same on both sides but for rounding
    return Skinned(p, half.triangles, half.mirror)


def shirt() -> Skinned:
    """The shirt, made as the skin is."""
    work = isosurface(sculpt.field("shirt"), (0, -1.1, -0.5), (0.62, -0.45, 0.3), 0.012)
    remesh(work, 0.026)
    return symmetric(work, sculpt.field("shirt"))


def hair(locks: Array) -> tuple[Array, Array]:
    """Vertices (V, 3) and triangles (T, 3) of the hair of locks (N, P, 4), smoothed and thinned out."""
    work = isosurface(sculpt.hair_field(locks), (-0.54, -0.45, -0.64), (0.54, 0.74, 0.56), 0.011)
    remesh(work, 0.015)
    work.apply_coord_taubin_smoothing(stepsmoothnum=14, lambda_=0.5, mu=-0.52)
    work.meshing_decimation_quadric_edge_collapse(targetfacenum=HAIR, preservenormal=True, qualitythr=0.5)
    mesh = work.current_mesh()
    return mesh.vertex_matrix().copy(), mesh.face_matrix().astype(np.int64)


def _zones(work: Any) -> Array:
    """(V,) 0 rims, lips and nose, 1 the face, 2 all else, of a left half."""
    p = work.current_mesh().vertex_matrix()
    x, y, z = p.T
    eye = (np.abs(np.linalg.norm(p - EYE, axis=1) - 0.140) < 0.030) & (z > 0.14)
    lip = (np.abs(y - sculpt.lip_line(p)) < 0.050) & (x < 0.150) & (z > 0.22)
    nose = np.linalg.norm(p - [0.03, -0.14, 0.40], axis=1) < 0.070
    nose |= (x < 0.065) & (y > -0.07) & (y < 0.17) & (z > 0.25)  # where a frown folds
    along = np.clip(((x - 0.068) * 0.104 - (y + 0.135) * 0.127) / (0.104**2 + 0.127**2), 0, 1)
    cheek = np.hypot(x - 0.068 - 0.104 * along, y + 0.135 + 0.127 * along)
    nose |= (cheek < 0.026) & (z > 0.15)  # from the nose's wing past the mouth's corner
    face = ((z > 0.06) & (y > -0.42)) | (x > 0.33)
    return np.select([eye | lip | nose, face], [0, 1], 2)
