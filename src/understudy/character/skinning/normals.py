"""Normals of a deformed mesh, computed anew from its triangles.

A vertex normal is the unit sum of the normals of its triangles, each weighted by its angle at the
vertex (Thuermer and Wuethrich 1998, "Computing vertex normals from polygonal facets": it does not depend on how a flat
part is cut into triangles) or by its area (cheaper, as in three.js). A vertex of no triangle, or of empty ones only,
has (0, 0, 0); `smooth_normals`, for drawing, has up there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.linear import output
from understudy.checks import Array, indices, one_of
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.character.skinning.layer_kernels"


def vertex_normals(
    vertices: ArrayLike, triangles: ArrayLike, weighting: str = "angle", out: Array | None = None
) -> Array:
    """Unit normals (F, V, 3) float32 of `vertices` (F, V, 3) and `triangles` (T, 3), counter-clockwise from outside.

    One frame (V, 3) gives (V, 3). `weighting` is "angle" or "area".
    """
    one_of(weighting, "weighting", ("angle", "area"))
    v = np.ascontiguousarray(vertices, dtype=np.float32)
    t = np.ascontiguousarray(triangles, dtype=np.int64)
    single = v.ndim == 2
    v = v[None] if single else v
    if v.ndim != 3 or v.shape[2] != 3:
        raise InvalidInput(f"vertices should have shape (F, V, 3), but have shape {v.shape}")
    if t.ndim != 2 or t.shape[1] != 3:
        raise InvalidInput(f"triangles should have shape (T, 3), but have shape {t.shape}")
    indices(t, "triangles", v.shape[1])
    result = output(out, v.shape, single)
    kernels = jit.kernels(KERNELS)
    if len(v) == 1:
        kernels.vertex_normals_serial(v, t, weighting == "angle", result)
    else:
        with jit.LOCK:
            kernels.vertex_normals_parallel(v, t, weighting == "angle", result)
    return result[0] if single else result


def smooth_normals(vertices: Array, triangles: Array) -> Array:
    """Unit normals (V, 3) float32 of vertices (V, 3), weighted by area; up where there is no area around a vertex.

    A normal of length zero would become NaN in a shader, and spread to its neighbours in the image.
    """
    normals = vertex_normals(vertices, triangles, "area")
    x, y, z = normals.T
    normals[(x == 0) & (y == 0) & (z == 0)] = (0.0, 1.0, 0.0)
    return normals
