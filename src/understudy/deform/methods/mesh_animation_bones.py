"""Bones of a mesh animation: initial groups, and the two halves of the alternation.

Initial groups. `group_by_rotation` is the mean shift over triangles' rotation sequences of James and Twigg 2005: it
finds how many bones there are. `split_groups` grows a given number of rigid clusters from one, dividing the one that
fits worst.

The alternation solves weights with the bones' motion fixed, and the motion with the weights fixed. Both need the
vertices only through sums that are formed once, so that the cost of a sweep over the bones does not depend on the
number of vertices (Le and Deng 2012, 2014; the sums as in the public Dem Bones library):

    seen   sum_f M_b^T x_i            pairs  sum_f M_b^T M_b'        for the weights of vertex i
    target sum_i w_ib x_i p_i^T       shared sum_i w_ib w_ib' p_i p_i^T    for the motion of bone b, p = (rest, 1)

Weights of one vertex are the convex, sparse combination of the bones' motions that comes closest to its own:

    min |A w - x|^2 = w.G w - 2 c.w + const,    w >= 0,  sum w = 1,  at most K of them not zero

by an active set (Lawson and Hanson's, with the sum as a further condition): bones enter one at a time where they help
most and leave where they would become negative. With more than K left the least is dropped and the rest solved again.
These functions are written in the part of Python that numba compiles: `method_kernels` compiles the same source.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import jit, transform

KERNELS = "understudy.deform.methods.method_kernels"
CANDIDATE_BONES_PER_VERTEX = 12

# Of the mean square, so that two bones that move alike share a vertex.
RIDGE_RATIO = 1e-7
MAX_MEAN_SHIFT_TRIANGLES = 600  # spread evenly; the cost of the mean shift grows with their square
MIN_GROUP_TRIANGLE_RATIO = 0.01  # of the triangles: smaller groups are folds and noise, not bones


def group_by_rotation(rest: Array, frames: Array, triangles: Array, bandwidth: float | None = None) -> Array:
    """(V,) groups of vertices, numbered from 0, the largest first.

    bandwidth: root mean square angle in radians over the frames within which triangles count as rotating together;
    None is a fifth of the spread of all.
    """
    chosen = triangles[
        np.unique(np.linspace(0, len(triangles) - 1, min(len(triangles), MAX_MEAN_SHIFT_TRIANGLES)).astype(int))
    ]
    features = triangle_rotations(rest, frames, chosen).transpose(1, 0, 2, 3).reshape(len(chosen), -1)
    features = features / np.sqrt(2.0 * len(frames))  # |R - R'|^2 = 2 angle^2 for small angles
    if bandwidth is None:
        spread = float(np.sqrt(np.mean(np.sum((features - features.mean(axis=0)) ** 2, axis=1))))
        bandwidth = max(0.2 * spread, 1e-6)
    points = features.copy()
    for _ in range(30):
        distance = _squares(points, features)
        near = np.exp(-0.5 * distance / bandwidth**2)
        moved = near @ features / near.sum(axis=1, keepdims=True)
        done = np.abs(moved - points).max() < 1e-3 * bandwidth
        points = moved
        if done:
            break
    group = _merge_modes(points, bandwidth)
    sizes = np.bincount(group)
    order = np.argsort(-sizes, kind="stable")
    keep = order[sizes[order] >= MIN_GROUP_TRIANGLE_RATIO * len(chosen)]
    centres = np.stack([features[group == g].mean(axis=0) for g in keep])
    of_triangle = _squares(
        triangle_rotations(rest, frames, triangles).transpose(1, 0, 2, 3).reshape(len(triangles), -1)
        / np.sqrt(2.0 * len(frames)),
        centres,
    ).argmin(axis=1)
    votes = np.zeros((len(rest), len(keep)))
    np.add.at(votes, (triangles, of_triangle[:, None]), 1.0)
    return votes.argmax(axis=1)


def triangle_rotations(rest: Array, frames: Array, triangles: Array) -> Array:
    """(F, T, 3, 3) the rotation of each triangle with its normal from rest to each frame."""

    def edges(v: Array) -> Array:
        a, b = (
            v[..., triangles[:, 1], :] - v[..., triangles[:, 0], :],
            v[..., triangles[:, 2], :] - v[..., triangles[:, 0], :],
        )
        n = np.cross(a, b)
        length = np.sqrt(np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-30))
        return np.stack([a, b, n / length], axis=-1)

    base = edges(rest)
    flat = np.abs(np.linalg.det(base)) < 1e-14
    base[flat] = np.eye(3)
    gradients = edges(frames) @ np.linalg.inv(base)
    gradients[:, flat] = np.eye(3)
    return transform.polar(gradients)[0]


def _squares(a: Array, b: Array) -> Array:
    """(N, M) squared distances."""
    return np.maximum(np.sum(a * a, axis=1)[:, None] + np.sum(b * b, axis=1) - 2 * a @ b.T, 0.0)


def _merge_modes(points: Array, bandwidth: float) -> Array:
    """(N,) the mode of each shifted point: points nearer than half a bandwidth to a mode belong to it."""
    group = np.full(len(points), -1)
    modes = 0
    while (group < 0).any():
        first = int(np.flatnonzero(group < 0)[0])
        near = (_squares(points, points[first : first + 1])[:, 0] < (0.5 * bandwidth) ** 2) & (group < 0)
        near[first] = True
        group[near] = modes
        modes += 1
    return group


def split_groups(rest: Array, frames: Array, bones: int, group: Array | None = None) -> tuple[Array, Array]:
    """Groups (V,) and matrices (F, B, 4, 4) of `bones` rigid clusters, grown from `group` or from one.

    The cluster with the largest error gives away the vertices around its worst one, far from its middle (Le and Deng
    2012, section 4.1); then vertices are assigned to the bone that fits them best, until nothing changes or five times.
    """
    group = np.zeros(len(rest), np.int64) if group is None else group.copy()
    count = int(group.max()) + 1
    group, matrices = reassign_vertices(rest, frames, group, count)
    while count < bones:
        error = rigid_errors(rest, frames, matrices)[np.arange(len(rest)), group]
        per_bone = np.bincount(group, error, minlength=count)
        members = np.flatnonzero(group == int(np.argmax(per_bone)))
        if len(members) < 2:
            break
        away = np.sum((rest[members] - rest[members].mean(axis=0)) ** 2, axis=1)
        seed = members[np.argmax(error[members] * away)]
        nearest = members[np.argsort(np.sum((rest[members] - rest[seed]) ** 2, axis=1), kind="stable")]
        group[nearest[: max(len(members) // 3, 1)]] = count
        count += 1
        group, matrices = reassign_vertices(rest, frames, group, count)
    return group, matrices


def reassign_vertices(rest: Array, frames: Array, group: Array, count: int) -> tuple[Array, Array]:
    """Groups and their motions after vertices are assigned to the bones that fit them best."""
    for _ in range(5):
        matrices = group_transforms(rest, frames, group, count)
        new = rigid_errors(rest, frames, matrices).argmin(axis=1)
        if (new == group).all():
            break
        group = new
    return group, group_transforms(rest, frames, group, count)


def rigid_errors(rest: Array, frames: Array, matrices: Array) -> Array:
    """(V, B) squared distance of each vertex to where each bone alone would carry it, summed over the frames."""
    x = frames.transpose(0, 2, 1).reshape(-1, len(rest))
    total = np.empty((len(rest), matrices.shape[1]))
    p = homogeneous(rest).T
    for b in range(matrices.shape[1]):
        total[:, b] = np.sum((matrices[:, b, :3].reshape(-1, 4) @ p - x) ** 2, axis=0)
    return total


def group_transforms(rest: Array, frames: Array, group: Array, bones: int) -> Array:
    """(F, B, 4, 4) the rigid motion that fits each group (V,) best; an empty one stays at rest."""
    p = homogeneous(rest)
    matrices = np.broadcast_to(np.eye(4), (len(frames), bones, 4, 4)).copy()
    for b in range(bones):
        members = np.flatnonzero(group == b)
        if len(members):
            q = np.einsum("fvc,vd->fcd", frames[:, members], p[members])
            matrices[:, b, :3] = best_rigid(q, p[members].T @ p[members])
    return matrices


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
    ridge = RIDGE_RATIO * count * float(np.mean(np.sum((rest - rest.mean(axis=0)) ** 2, axis=1)))
    pairs = np.ascontiguousarray(pairs)
    jit.kernels(KERNELS).vertex_weights(p, pairs, seen, ridge, CANDIDATE_BONES_PER_VERTEX, joints, weights)
    return joints, weights


def dense_weights(joints: Array, weights: Array, bones: int) -> Array:
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
    R = transform.polar(M)[0]
    return np.concatenate([R, (q_mean - np.einsum("...ij,j->...i", R, p_mean))[..., None]], axis=-1)


def blend_dense(rest: Array, weights: Array, matrices: Array) -> Array:
    """(F, V, 3) linear blending with dense weights (V, B)."""
    p = homogeneous(rest)
    factors = (weights[:, :, None] * p[:, None, :]).reshape(len(p), -1)  # (V, 4 B)
    M = matrices[:, :, :3].transpose(0, 2, 1, 3).reshape(len(matrices) * 3, -1)  # (3 F, 4 B)
    return (M @ factors.T).reshape(len(matrices), 3, len(p)).transpose(0, 2, 1)


def homogeneous(rest: Array) -> Array:
    """(V, 4): each point with a one."""
    return np.concatenate([rest, np.ones((len(rest), 1))], axis=1)
