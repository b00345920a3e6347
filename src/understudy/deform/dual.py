"""Dual quaternion skinning, with scale.

Each joint's matrix is a scale S_k followed by a rigid motion, the unit dual quaternion q_k (see `rigid`). The scales
are blended linearly and applied first, the rigid motions by

    q = sum_k w_k s_k q_k / |sum_k w_k s_k q_k|,        s_k = -1 where q_k lies on the other side of the pivot, else 1
    v' = q (sum_k w_k S_k v / sum_k w_k) q*

(Kavan, Collins, Zara and O'Sullivan 2007, "Skinning with dual quaternions", and their 2008 "Geometric skinning with
approximate dual quaternion blending" for the two phases). q and -q are the same motion, and the pivot, the influence of
the largest weight, decides which of the two counts. UsdSkel computes the same for `skinningMethod = "dualQuaternion"`.

Only the ratio of the weights matters, and a vertex without influences stays where it is.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform import inputs
from understudy.deform.linear import FEW, SHARED, split
from understudy.deform.rigid import rigid_and_scale
from understudy.maths import accelerate

KERNELS = "understudy.deform.dual_kernels"


def dual_blend(
    vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike, out: Array | None = None
) -> Array:
    """Skinned vertices (F, V, 3) float32; arguments as for `linear_blend`. One frame (B, ...) gives (V, 3)."""
    given = inputs.check(vertices, joints, weights, matrices, out)
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        _blend_numpy(given)
    elif given.out.size:
        _blend_compiled(kernels, given)
    return given.result


def dual_blend_numpy(vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike) -> Array:
    """`dual_blend` in NumPy alone: the oracle of the kernels, and what runs where numba is absent."""
    given = inputs.check(vertices, joints, weights, matrices, None)
    _blend_numpy(given)
    return given.result


def _blend_compiled(kernels: ModuleType, given: inputs.Skinning) -> None:
    v, j, w, out = given.vertices, given.joints, given.weights, given.out
    frames, bones = given.matrices.shape[:2]
    if not bones or not j.shape[1]:  # nothing to hang on: every vertex stays
        out[...] = v
        return
    rigid, scale, scaled = rigid_and_scale(given.matrices)
    scale = scale.reshape(frames, bones, 9) if scaled.any() else np.zeros((frames, bones, 0))
    blend = {kernels.WIDE: kernels.wide, kernels.NARROW: kernels.narrow}
    for first, last, width in split(frames, kernels.WIDE, kernels.NARROW, FEW):
        if width:
            d, s = (inputs.frames_innermost(part[first:last], width) for part in (rigid, scale))
            with accelerate.LOCK:
                blend[width](v, j, w, d, s, scaled, first, out)
            continue
        d, s = (np.ascontiguousarray(part[first:last], dtype=np.float32) for part in (rigid, scale))
        if (last - first) * v.shape[1] < SHARED:
            kernels.few(v, j, w, d, s, first, out)
        else:
            with accelerate.LOCK:
                kernels.few_shared(v, j, w, d, s, first, out)


def _blend_numpy(given: inputs.Skinning) -> None:
    j, w = given.joints, given.weights
    if not j.size or not given.matrices.size:
        given.out[...] = given.vertices
        return
    rigid, scale, _ = rigid_and_scale(given.matrices)
    total = w.sum(axis=1, keepdims=True)
    share = w / np.where(total != 0, total, 1)
    pivot = np.take_along_axis(j, np.argmax(np.where(w != 0, w, -np.inf), axis=1)[:, None], axis=1)[:, 0]
    stays = (w == 0).all(axis=1)
    for f in range(len(given.out)):
        rest = given.vertices[f % len(given.vertices)]
        q, p = np.zeros((len(rest), 8), np.float32), np.zeros((len(rest), 3), np.float32)
        d, s = rigid[f].astype(np.float32), scale[f].astype(np.float32)
        for k in range(j.shape[1]):
            used = np.flatnonzero(w[:, k])
            own = d[j[used, k]]
            side = np.einsum("vc,vc->v", own[:, :4], d[pivot[used], :4])
            q[used] += (np.where(side < 0, -1, 1) * w[used, k])[:, None].astype(np.float32) * own
            p[used] += share[used, k, None] * np.einsum("vab,vb->va", s[j[used, k]], rest[used])
        given.out[f] = np.where(stays[:, None], rest, _apply(q, p))


def _apply(q: Array, p: Array) -> Array:
    """Points p (V, 3) moved by dual quaternions q (V, 8) of any length."""
    a, aw, b, bw = q[:, :3], q[:, 3:4], q[:, 4:7], q[:, 7:]
    norm = (q[:, :4] ** 2).sum(axis=1, keepdims=True)
    turned = np.cross(a, np.cross(a, p) + aw * p)
    return p + 2 / np.where(norm != 0, norm, 1) * (turned + aw * b - bw * a + np.cross(a, b))
