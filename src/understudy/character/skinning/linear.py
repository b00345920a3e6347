"""Linear blend skinning, the checked inputs that every skinning function takes, and normals of a deformed mesh.

    v' = sum_k w_k M_k v,        M_k = world_from_joint_k @ inverse_bind_k

(Magnenat-Thalmann, Laperriere and Thalmann 1988, "Joint-dependent local deformations"). The weights are used as given:
a vertex whose weights sum to s is scaled by s towards the origin, and one without influences lands on it. An influence
of weight zero is not read at all, so that a NaN in a joint reaches only the vertices skinned to it.

A skinning function takes matrices and does not depend on animation: vertices (V, 3), or (F, V, 3) where they already
move; joints (V, K) and weights (V, K); matrices (F, B, 4, 4) or (F, B, 3, 4), each world_from_joint @ inverse_bind. One
frame may leave out the F.

**Normals** are computed anew from the triangles: the unit sum of the normals of a vertex's triangles, each weighted by
its angle at the vertex (Thuermer and Wuethrich 1998, "Computing vertex normals from polygonal facets": it does not
depend on how a flat part is cut into triangles) or by its area (cheaper, as in three.js). A vertex of no triangle, or
of empty ones only, has (0, 0, 0); `smooth_normals`, for drawing, has up there.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array, indices, one_of
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.character.skinning.blend_kernels"
MIN_BLOCK_FRAMES = 6  # a block of FRAMES_PER_NARROW_BLOCK frames costs as much as this many one by one
# Vertices x frames, of few frames: below, waking a second thread (about 20 us) does not pay.
MIN_PARALLEL_VERTICES = 40_000
NORMALS_KERNELS = "understudy.character.skinning.layer_kernels"


@dataclass(frozen=True)
class Skinning:
    """Checked inputs: float32 or int32, C-contiguous, with a frame axis (of one where vertices do not move)."""

    vertices: Array  # (F or 1, V, 3) float32
    joints: Array  # (V, K) int32, all of them below B
    weights: Array  # (V, K) float32
    matrices: Array  # (F, B, 3 or 4, 4), as given
    out: Array  # (F, V, 3) float32
    single: bool  # one frame, given without its axis

    @property
    def result(self) -> Array:
        """`out`, without the frame axis where none was given."""
        return self.out[0] if self.single else self.out


def linear_blend(
    vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike, out: Array | None = None
) -> Array:
    """Skinned vertices (F, V, 3) float32 of `vertices` (V, 3) or (F, V, 3), `joints` (V, K), `weights` (V, K) and
    `matrices` (F, B, 4, 4) or (F, B, 3, 4). One frame (B, ...) gives (V, 3).

    Reusing `out` (float32, C-contiguous, of the result's shape) halves the time of a long clip. The result does not
    depend on the number of threads; a frame alone and the same frame in a clip agree to rounding.
    """
    given = check(vertices, joints, weights, matrices, out)
    if given.out.size:
        _blend_parts(jit.kernels(KERNELS), given)
    return given.result


def _blend_parts(kernels: ModuleType, given: Skinning) -> None:
    v, j, w, out = given.vertices, given.joints, given.weights, given.out
    frames, bones = given.matrices.shape[:2]
    m = given.matrices[:, :, :3, :].reshape(frames, bones, 12)
    if len(v) > 1:
        blend = {
            kernels.FRAMES_PER_WIDE_BLOCK: kernels.blend_moving_wide,
            kernels.FRAMES_PER_NARROW_BLOCK: kernels.blend_moving_narrow,
        }
    else:
        blend = {
            kernels.FRAMES_PER_WIDE_BLOCK: kernels.blend_static_wide,
            kernels.FRAMES_PER_NARROW_BLOCK: kernels.blend_static_narrow,
        }
    for first, last, width in split_frames(
        frames, kernels.FRAMES_PER_WIDE_BLOCK, kernels.FRAMES_PER_NARROW_BLOCK, MIN_BLOCK_FRAMES
    ):
        if width:
            with jit.LOCK:
                blend[width](v, j, w, frames_innermost(m[first:last], width), first, out)
            continue
        part = np.ascontiguousarray(m[first:last], dtype=np.float32)
        if len(part) * v.shape[1] < MIN_PARALLEL_VERTICES:
            kernels.blend_linear_few(v, j, w, part, first, out)
        else:
            with jit.LOCK:
                kernels.blend_linear_few_parallel(v, j, w, part, first, out)


def check(
    vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike, out: Array | None
) -> Skinning:
    """The inputs of a skinning function, checked; raises InvalidInput with the reason."""
    v = np.ascontiguousarray(vertices, dtype=np.float32)
    j = np.ascontiguousarray(joints, dtype=np.int32)
    w = np.ascontiguousarray(weights, dtype=np.float32)
    m = np.asarray(matrices)
    single = m.ndim == 3 and v.ndim <= 2
    m = m[None] if m.ndim == 3 else m
    v = v[None] if v.ndim == 2 else v
    if m.ndim != 4 or m.shape[-2:] not in ((4, 4), (3, 4)):
        raise InvalidInput(f"matrices should have shape (F, B, 4, 4) or (F, B, 3, 4), but have shape {m.shape}")
    if v.ndim != 3 or v.shape[2] != 3:
        raise InvalidInput(f"vertices should have shape (V, 3) or (F, V, 3), but have shape {v.shape}")
    count = v.shape[1]
    if j.ndim != 2 or j.shape != w.shape or len(j) != count:
        raise InvalidInput(
            f"joints and weights should have shape ({count}, K), but have shapes {j.shape} and {w.shape}"
        )
    if len(v) > 1 and len(m) == 1:
        m = np.broadcast_to(m, (len(v), *m.shape[1:]))
    if len(v) not in (1, len(m)):
        raise InvalidInput(f"vertices have {len(v)} frames, but matrices have {len(m)}")
    checks.indices(j, "joints", m.shape[1])
    return Skinning(v, j, w, m, output(out, (len(m), count, 3), single), single)


def output(out: Array | None, shape: tuple[int, int, int], single: bool = False) -> Array:
    """A float32 array of that shape: a new one, or `out` (without the first axis where `single`) if it fits."""
    return checks.output(out, shape[1:] if single else shape, np.float32).reshape(shape)


def frames_innermost(values: Array, width: int) -> Array:
    """(F, B, C) -> (blocks, B, C * width) float32: in blocks of `width` frames, the frames of each number contiguous.

    The last block is filled up with zeros.
    """
    frames, bones, numbers = values.shape
    blocks = -(-frames // width)
    result = np.zeros((blocks, bones, numbers, width), np.float32)
    for block in range(blocks):
        part = values[block * width : (block + 1) * width]
        result[block, :, :, : len(part)] = np.moveaxis(part, 0, -1)
    return result.reshape(blocks, bones, numbers * width)


def split_frames(frames: int, wide: int, narrow: int, few: int) -> list[tuple[int, int, int]]:
    """(first, last, width) of the parts of a clip: blocks of `wide`, then of `narrow`, then single frames (width 0).

    A last block that would be nearly full is cheaper padded than split further.
    """
    parts = []
    first = 0
    for width, least in ((wide, wide - narrow), (narrow, few)):
        blocks, rest = divmod(frames - first, width)
        last = frames if rest >= least else first + blocks * width
        if last > first:
            parts.append((first, last, width))
        first = last
    if frames > first:
        parts.append((first, frames, 0))
    return parts


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
    kernels = jit.kernels(NORMALS_KERNELS)
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
