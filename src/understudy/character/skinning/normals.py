"""Normals of a deformed mesh: computed anew from the triangles, or carried along with the skin.

From triangles, a vertex normal is the unit sum of the normals of its triangles, each weighted by its angle at the
vertex (Thuermer and Wuethrich 1998, "Computing vertex normals from polygonal facets": it does not depend on how a flat
part is cut into triangles) or by its area (cheaper, as in three.js). A vertex of no triangle, or of empty ones only,
has (0, 0, 0); `smooth_normals`, for drawing, has up there.

Normals from a file keep its hard edges. They are carried by the inverse transpose of the 3x3 part A of each vertex's
own transform,

    n' = unit(A^-T n) = unit(sign(det A) cof(A) n),      cof(A) = (a2 x a3 | a3 x a1 | a1 x a2)

which also holds where A flattens space in one direction and has no inverse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.dual_quaternion import dual_blend
from understudy.character.skinning.linear import linear_blend, output
from understudy.checks import Array, indices, one_of
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.character.skinning.layer_kernels"
FRAMES_PER_CHUNK = 26  # carried at once: three columns of 100,000 vertices then take 90 MB
BLENDS = {"linear": linear_blend, "dual": dual_blend}


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


def skin_normals(
    normals: ArrayLike,
    joints: ArrayLike,
    weights: ArrayLike,
    matrices: ArrayLike,
    method: str = "linear",
    out: Array | None = None,
) -> Array:
    """`normals` (V, 3) or (F, V, 3) carried by the skin: (F, V, 3) float32, unit; the rest as in `linear_blend`.

    `method` is "linear" or "dual", as the vertices were skinned. The change of weights from vertex to vertex is left
    out, as in every real-time renderer; `vertex_normals` of the skinned mesh includes it.
    """
    blend = BLENDS[one_of(method, "skinning method", BLENDS)]
    n, m = np.asarray(normals, dtype=np.float32), np.asarray(matrices, dtype=np.float64)
    single = m.ndim == 3 and n.ndim == 2
    n, m = n[None] if n.ndim == 2 else n, m[None] if m.ndim == 3 else m
    if n.ndim != 3 or n.shape[2] != 3:
        raise InvalidInput(f"normals should have shape (V, 3) or (F, V, 3), but have shape {n.shape}")
    frames = max(len(n), len(m)) if len(n) and len(m) else 0
    if len(n) not in (1, frames) or len(m) not in (1, frames):
        raise InvalidInput(f"normals have {len(n)} frames, but matrices have {len(m)}")
    result = output(out, (frames, n.shape[1], 3), single)
    for first in range(0, frames, FRAMES_PER_CHUNK):
        last = min(frames, first + FRAMES_PER_CHUNK)
        turns = m[first:last, :, :3, :].copy() if len(m) > 1 else np.repeat(m[:, :, :3, :], last - first, axis=0)
        turns[..., 3] = 0
        axes = [np.tile(axis, (n.shape[1], 1)) for axis in np.eye(3, dtype=np.float32)]
        columns = np.stack([blend(axis, joints, weights, turns) for axis in axes])
        own = np.ascontiguousarray(n[first:last] if len(n) > 1 else n)
        with jit.LOCK:
            jit.kernels(KERNELS).turn_normals(columns, own, result[first:last])
    return result[0] if single else result
