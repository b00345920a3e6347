"""Where the search for bones begins: groups of triangles that turn alike, or of vertices that move rigidly.

`turning_alike` is the mean shift over triangles' rotation sequences of James and Twigg 2005: it finds how many bones
there are. `split` grows a given number of rigid clusters from one, dividing the one that fits worst.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.deform.mesh_animation_solve import best_rigid, homogeneous
from understudy.maths import transform

MOST = 600  # triangles in the mean shift, spread evenly; its cost grows with their square
LEAST = 0.01  # of the triangles: smaller groups are folds and noise, not bones


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


def turning_alike(rest: Array, frames: Array, triangles: Array, bandwidth: float | None = None) -> Array:
    """(V,) groups of vertices, numbered from 0, the largest first.

    bandwidth: root mean square angle in radians over the frames within which triangles are taken to turn together;
    None is a fifth of the spread of all.
    """
    chosen = triangles[np.unique(np.linspace(0, len(triangles) - 1, min(len(triangles), MOST)).astype(int))]
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
    group = _merged(points, bandwidth)
    sizes = np.bincount(group)
    order = np.argsort(-sizes, kind="stable")
    keep = order[sizes[order] >= LEAST * len(chosen)]
    centres = np.stack([features[group == g].mean(axis=0) for g in keep])
    of_triangle = _squares(
        triangle_rotations(rest, frames, triangles).transpose(1, 0, 2, 3).reshape(len(triangles), -1)
        / np.sqrt(2.0 * len(frames)),
        centres,
    ).argmin(axis=1)
    votes = np.zeros((len(rest), len(keep)))
    np.add.at(votes, (triangles, of_triangle[:, None]), 1.0)
    return votes.argmax(axis=1)


def _squares(a: Array, b: Array) -> Array:
    """(N, M) squared distances."""
    return np.maximum(np.sum(a * a, axis=1)[:, None] + np.sum(b * b, axis=1) - 2 * a @ b.T, 0.0)


def _merged(points: Array, bandwidth: float) -> Array:
    """(N,) the mode each shifted point has come to: points nearer than half a bandwidth to a mode belong to it."""
    group = np.full(len(points), -1)
    modes = 0
    while (group < 0).any():
        first = int(np.flatnonzero(group < 0)[0])
        near = (_squares(points, points[first : first + 1])[:, 0] < (0.5 * bandwidth) ** 2) & (group < 0)
        near[first] = True
        group[near] = modes
        modes += 1
    return group


def rigid_of_groups(rest: Array, frames: Array, group: Array, bones: int) -> Array:
    """(F, B, 4, 4) the rigid motion that fits each group (V,) best; an empty one stays at rest."""
    p = homogeneous(rest)
    matrices = np.broadcast_to(np.eye(4), (len(frames), bones, 4, 4)).copy()
    for b in range(bones):
        own = np.flatnonzero(group == b)
        if len(own):
            q = np.einsum("fvc,vd->fcd", frames[:, own], p[own])
            matrices[:, b, :3] = best_rigid(q, p[own].T @ p[own])
    return matrices


def errors(rest: Array, frames: Array, matrices: Array) -> Array:
    """(V, B) squared distance of each vertex to where each bone alone would carry it, summed over the frames."""
    x = frames.transpose(0, 2, 1).reshape(-1, len(rest))
    total = np.empty((len(rest), matrices.shape[1]))
    p = homogeneous(rest).T
    for b in range(matrices.shape[1]):
        total[:, b] = np.sum((matrices[:, b, :3].reshape(-1, 4) @ p - x) ** 2, axis=0)
    return total


def split(rest: Array, frames: Array, bones: int, group: Array | None = None) -> tuple[Array, Array]:
    """Groups (V,) and matrices (F, B, 4, 4) of `bones` rigid clusters, grown from `group` or from one.

    The cluster with the largest error gives away the vertices around its worst one, far from its middle (Le and Deng
    2012, section 4.1); then vertices move to the bone that carries them best, until nothing changes or five times.
    """
    group = np.zeros(len(rest), np.int64) if group is None else group.copy()
    count = int(group.max()) + 1
    group, matrices = settled(rest, frames, group, count)
    while count < bones:
        error = errors(rest, frames, matrices)[np.arange(len(rest)), group]
        per_bone = np.bincount(group, error, minlength=count)
        members = np.flatnonzero(group == int(np.argmax(per_bone)))
        if len(members) < 2:
            break
        away = np.sum((rest[members] - rest[members].mean(axis=0)) ** 2, axis=1)
        seed = members[np.argmax(error[members] * away)]
        nearest = members[np.argsort(np.sum((rest[members] - rest[seed]) ** 2, axis=1), kind="stable")]
        group[nearest[: max(len(members) // 3, 1)]] = count
        count += 1
        group, matrices = settled(rest, frames, group, count)
    return group, matrices


def settled(rest: Array, frames: Array, group: Array, count: int) -> tuple[Array, Array]:
    """Groups and their motions after vertices have gone to the bones that carry them best."""
    for _ in range(5):
        matrices = rigid_of_groups(rest, frames, group, count)
        new = errors(rest, frames, matrices).argmin(axis=1)
        if (new == group).all():
            break
        group = new
    return group, rigid_of_groups(rest, frames, group, count)
