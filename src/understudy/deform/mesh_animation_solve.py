"""The two halves of the alternation: weights with the bones' motion fixed, and the motion with the weights fixed.

Both need the vertices only through sums that are formed once, so that a sweep over the bones does not depend on how
many vertices there are (Le and Deng 2012, 2014; the sums as in the public Dem Bones library).

    seen   sum_f M_b^T x_i            pairs  sum_f M_b^T M_b'        for the weights of vertex i
    target sum_i w_ib x_i p_i^T       shared sum_i w_ib w_ib' p_i p_i^T    for the motion of bone b, p = (rest, 1)
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.deform.mesh_animation_weights import vertex_weights
from understudy.maths import accelerate

KERNELS = "understudy.deform.mesh_animation_kernels"
CANDIDATES = 12  # bones tried for a vertex
RIDGE = 1e-7  # of the mean square, so that two bones that move alike share a vertex instead of quarrelling over it


def homogeneous(rest: Array) -> Array:
    """(V, 4): each point with a one."""
    return np.concatenate([rest, np.ones((len(rest), 1))], axis=1)


def solve_weights(rest: Array, matrices: Array, frames: Array, influences: int) -> tuple[Array, Array]:
    """Joints (V, K) and weights (V, K), convex, of rest (V, 3), bones' matrices (F, B, 4, 4) and frames (F, V, 3)."""
    p = homogeneous(rest)
    count, bones = len(matrices), matrices.shape[1]
    M = np.ascontiguousarray(matrices[:, :, :3].transpose(0, 2, 1, 3)).reshape(3 * count, 4 * bones)
    pairs = (M.T @ M).reshape(bones, 4, bones, 4).transpose(0, 2, 1, 3)
    x = frames.transpose(0, 2, 1).reshape(3 * count, len(rest))
    seen = (x.T @ M).reshape(len(rest), bones, 4)
    joints, weights = (
        np.zeros((len(rest), min(influences, bones)), np.int64),
        np.zeros((len(rest), min(influences, bones))),
    )
    kernels = accelerate.kernels(KERNELS)
    solve = vertex_weights if kernels is None else kernels.vertex_weights
    ridge = RIDGE * count * float(np.mean(np.sum((rest - rest.mean(axis=0)) ** 2, axis=1)))
    solve(p, np.ascontiguousarray(pairs), seen, ridge, CANDIDATES, joints, weights)
    return joints, weights


def dense(joints: Array, weights: Array, bones: int) -> Array:
    """(V, B) of joints and weights (V, K)."""
    full = np.zeros((len(joints), bones))
    np.add.at(full, (np.arange(len(joints))[:, None], joints), weights)
    return full


def solve_transforms(
    rest: Array, weights: Array, frames: Array, start: Array, sweeps: int, tolerance: float = 1e-7
) -> Array:
    """Rigid matrices (F, B, 4, 4) of the bones for `weights` (V, B), better than `start` (F, B, 4, 4).

    Bone by bone, all frames at once: with the other bones fixed, the best rotation is that of the weighted Procrustes
    problem min sum_i |w_i (R p_i + t) - q_i|^2 [Le & Deng 2012, eqs. 9-13].
    """
    p = homogeneous(rest)
    bones = weights.shape[1]
    target = np.einsum("vb,fvc,vd->fbcd", weights, frames, p, optimize=True)  # (F, B, 3, 4)
    weighted = (weights[:, :, None] * p[:, None, :]).reshape(len(p), -1)
    shared = (weighted.T @ weighted).reshape(bones, 4, bones, 4).transpose(0, 2, 1, 3)
    result = start.copy()
    scale = max(float(np.abs(rest - rest.mean(axis=0)).max()), 1e-30)
    for _ in range(sweeps):
        before = result[:, :, :3].copy()
        for b in range(bones):
            if shared[b, b, 3, 3] < 1e-8:
                continue
            others = np.einsum("fkcd,kde->fce", result[:, :, :3], shared[b])
            others -= result[:, b, :3] @ shared[b, b]
            result[:, b, :3] = best_rigid(target[:, b] - others, shared[b, b])
        if np.abs(result[:, :, :3] - before).max() < tolerance * scale:
            break
    return result


def best_rigid(q: Array, s: Array) -> Array:
    """Rigid (F, 3, 4) least sum |w (R p + t) - q|^2, from q (F, 3, 4) = sum w q p^T and s (4, 4) = sum w^2 p p^T."""
    W = s[3, 3]
    p_mean, q_mean = s[:3, 3] / W, q[..., 3] / W
    M = q[..., :3] - W * q_mean[..., None] * p_mean
    u, _, vt = np.linalg.svd(M)
    sign = np.where(np.linalg.det(u) * np.linalg.det(vt) < 0, -1.0, 1.0)
    u[..., 2] *= sign[..., None]
    R = u @ vt
    return np.concatenate([R, (q_mean - np.einsum("...ij,j->...i", R, p_mean))[..., None]], axis=-1)


def played(rest: Array, weights: Array, matrices: Array) -> Array:
    """(F, V, 3) linear blending with dense weights (V, B)."""
    p = homogeneous(rest)
    factors = (weights[:, :, None] * p[:, None, :]).reshape(len(p), -1)  # (V, 4 B)
    M = matrices[:, :, :3].transpose(0, 2, 1, 3).reshape(len(matrices) * 3, -1)  # (3 F, 4 B)
    return (M @ factors.T).reshape(len(matrices), 3, len(p)).transpose(0, 2, 1)
