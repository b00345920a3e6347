"""Linear blend skinning.

    v' = sum_k w_k M_k v,        M_k = world_from_joint_k @ inverse_bind_k

(Magnenat-Thalmann, Laperriere and Thalmann 1988, "Joint-dependent local deformations"). The weights are used as given:
a vertex whose weights sum to s is scaled by s towards the origin, and one without influences lands on it. An influence
of weight zero is not read at all, so that a NaN in a joint reaches only the vertices that hang on it.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform import inputs
from understudy.maths import accelerate

KERNELS = "understudy.deform.linear_kernels"
FEW = 6  # frames; a block of NARROW frames costs as much as this many one by one
SHARED = 40_000  # vertices x frames, of few frames; below, waking a second thread (about 20 us) does not pay


def linear_blend(
    vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike, out: Array | None = None
) -> Array:
    """Skinned vertices (F, V, 3) float32 of `vertices` (V, 3) or (F, V, 3), `joints` (V, K), `weights` (V, K) and
    `matrices` (F, B, 4, 4) or (F, B, 3, 4). One frame (B, ...) gives (V, 3).

    Reusing `out` (float32, C-contiguous, of the result's shape) halves the time of a long clip. The result does not
    depend on the number of threads; a frame alone and the same frame in a clip agree to rounding.
    """
    given = inputs.check(vertices, joints, weights, matrices, out)
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        _blend_numpy(given)
    elif given.out.size:
        _blend_compiled(kernels, given)
    return given.result


def linear_blend_numpy(vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike) -> Array:
    """`linear_blend` in NumPy alone: the oracle of the kernels, and what runs where numba is absent."""
    given = inputs.check(vertices, joints, weights, matrices, None)
    _blend_numpy(given)
    return given.result


def _blend_compiled(kernels: ModuleType, given: inputs.Skinning) -> None:
    v, j, w, out = given.vertices, given.joints, given.weights, given.out
    frames, bones = given.matrices.shape[:2]
    m = given.matrices[:, :, :3, :].reshape(frames, bones, 12)
    if len(v) > 1:
        blend = {kernels.WIDE: kernels.moving_wide, kernels.NARROW: kernels.moving_narrow}
    else:
        blend = {kernels.WIDE: kernels.fixed_wide, kernels.NARROW: kernels.fixed_narrow}
    for first, last, width in split(frames, kernels.WIDE, kernels.NARROW, FEW):
        if width:
            with accelerate.LOCK:
                blend[width](v, j, w, inputs.frames_innermost(m[first:last], width), first, out)
            continue
        part = np.ascontiguousarray(m[first:last], dtype=np.float32)
        if len(part) * v.shape[1] < SHARED:
            kernels.few(v, j, w, part, first, out)
        else:
            with accelerate.LOCK:
                kernels.few_shared(v, j, w, part, first, out)


def split(frames: int, wide: int, narrow: int, few: int) -> list[tuple[int, int, int]]:
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


def _blend_numpy(given: inputs.Skinning) -> None:
    for f in range(len(given.out)):
        given.out[f] = transform(
            blended(given.joints, given.weights, given.matrices[f]), given.vertices[f % len(given.vertices)]
        )


def blended(joints: Array, weights: Array, matrices: Array) -> Array:
    """sum_k w_k M_k (V, 3, 4) float32, of one frame's matrices (B, 3 or 4, 4)."""
    m = matrices[:, :3, :].astype(np.float32)
    total = np.zeros((len(joints), 3, 4), np.float32)
    for k in range(joints.shape[1]):
        used = np.flatnonzero(weights[:, k])
        total[used] += weights[used, k, None, None] * m[joints[used, k]]
    return total


def transform(matrices: Array, vertices: Array) -> Array:
    """Each vertex (V, 3) by its own matrix (V, 3, 4)."""
    return np.einsum("vab,vb->va", matrices[..., :3], vertices) + matrices[..., 3]
