"""Skinning of a mesh animation: bones, weights and motion found from a sequence of meshes, without a skeleton.

(James and Twigg 2005, "Skinning mesh animations", for the initial bones; Le and Deng 2012, "Smooth skinning
decomposition with rigid bones", for the alternation.) The result is linear blend skinning with rigid bones, playable
anywhere:

    x_i(f) = sum_b w_ib M_b(f) p_i,     w >= 0,  sum_b w_ib = 1,  at most K bones a vertex

`bone_tree` ties the bones into a skeleton (Le and Deng 2014 do so while they solve; here it is done afterwards). Two
bones meet at the middle of the vertices that they share; they are linked where their motions keep that point together
best: the minimum spanning tree of the distances between its two images.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array
from understudy.deform.deformer import Progress, settings_of
from understudy.deform.methods.mesh_animation_bones import (
    blend_dense,
    dense_weights,
    group_by_rotation,
    group_transforms,
    solve_transforms,
    solve_weights,
    split_groups,
)
from understudy.errors import InvalidInput
from understudy.maths.jit import one_blas_thread

START_FRAMES = 48  # frames, spread evenly, in the search for initial bones

# Of the size: with a larger error the number of bones found by the mean shift is doubled, since it takes parts that
# slide against each other, and rotate alike, for one.
MAX_RMS_SIZE_RATIO = 0.01
MAX_ERROR_RATIO_TO_ADD_BONES = 0.9  # error with more bones, of that without, below which they are kept
MAX_BONES = 64
IDLE_WEIGHT_RATIO = 1e-3  # of the vertices' weight: a bone with less is moved to where the error is


@dataclass(frozen=True)
class MeshAnimationSettings:
    """Settings of `skin_animation`."""

    bones: int | None = None  # None: as many as the mean shift finds, or more until the error is small
    influences: int = 4  # most bones of a vertex
    iterations: int = 24  # of the alternation
    sweeps: int = 4  # over the bones in an iteration
    bandwidth: float | None = None  # of the mean shift, radians; None is a fifth of the spread
    tolerance: float = 2e-4  # the alternation stops once the error falls by less than this part


@dataclass(frozen=True, eq=False)
class MeshAnimation:
    """A mesh sequence as a skin: rest mesh, weights, and the motion of B bones."""

    rest: Array  # (V, 3)
    joints: Array  # (V, K) int
    weights: Array  # (V, K)
    matrices: Array  # (F, B, 4, 4) world from rest
    rms: float  # of the distance to the sequence, over all vertices and frames

    @property
    def bones(self) -> int:
        """B."""
        return int(self.matrices.shape[1])

    @property
    def dense(self) -> Array:
        """(V, B) the weights as a table."""
        return dense_weights(self.joints, self.weights, self.bones)

    def play(self, matrices: ArrayLike | None = None) -> Array:
        """Vertices (F, V, 3) float32 of the sequence itself, or of other `matrices` (F, B, 4, 4)."""
        return linear_blend(self.rest, self.joints, self.weights, self.matrices if matrices is None else matrices)

    def follow(self, frames: ArrayLike, sweeps: int = 60) -> Array:
        """(F, B, 4, 4) the motion of the bones that comes closest to other frames (F, V, 3) of the same mesh."""
        x = checks.array(frames, "frames", ("F", len(self.rest), 3))
        return follow(self.rest, self.dense, x, sweeps)


def skin_animation(
    rest: ArrayLike,
    triangles: ArrayLike,
    frames: ArrayLike,
    settings: MeshAnimationSettings | dict[str, object] | None = None,
    progress: Progress | None = None,
) -> MeshAnimation:
    """The skin of a sequence: rest (V, 3), triangles (T, 3), frames (F, V, 3)."""
    chosen: MeshAnimationSettings = settings_of(MeshAnimationSettings, settings)
    p = checks.array(rest, "the rest mesh", ("V", 3))
    x = checks.array(frames, "the frames of the sequence", ("F", None, 3))
    if x.shape[1] != len(p):
        raise InvalidInput(f"the rest mesh has {len(p)} vertices, but the frames have {x.shape[1]}")
    t = checks.array(triangles, "triangles", ("T", 3), np.int64)
    checks.indices(t, "triangles", len(p))
    if len(x) < 2 or len(p) < 4:
        raise InvalidInput(f"a sequence should have 2 frames and 4 vertices or more, but has {len(x)} and {len(p)}")
    with one_blas_thread():
        best = _alternate(p, x, _initial_transforms(p, t, x, chosen), chosen, progress)
        if chosen.bones is not None:
            return best
        enough = MAX_RMS_SIZE_RATIO * float(np.linalg.norm(np.ptp(p, axis=0)))
        while best.rms > enough and best.bones < min(MAX_BONES, len(p) // 4):
            more = replace(chosen, bones=min(max(2 * best.bones, 4), MAX_BONES, len(p) // 4))
            better = _alternate(p, x, _initial_transforms(p, t, x, more), more, progress)
            if better.rms > MAX_ERROR_RATIO_TO_ADD_BONES * best.rms:
                break
            best = better
        return best


def bone_tree(skinned: MeshAnimation) -> tuple[Array, Array]:
    """Parents (B,), -1 for the root, and places (B, 3) of the joints of a skeleton for bones, in the rest mesh.

    The root is the bone that moves most of the mesh; it sits in the middle of that, the others where they meet their
    parents.
    """
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    w, bones = skinned.dense, skinned.bones
    middle = (w.T @ skinned.rest) / np.maximum(w.sum(axis=0), 1e-9)[:, None]
    size = float(np.linalg.norm(np.ptp(skinned.rest, axis=0))) or 1.0
    meeting, apart = np.zeros((bones, bones, 3)), np.zeros((bones, bones))
    for i in range(bones):
        for j in range(i):
            shared = w[:, i] * w[:, j]
            touching = shared.sum() > 1e-9
            place = (shared @ skinned.rest) / shared.sum() if touching else 0.5 * (middle[i] + middle[j])
            images = skinned.matrices[:, [i, j], :3] @ np.append(place, 1.0)
            distance = np.sqrt(((images[:, 0] - images[:, 1]) ** 2).sum(axis=1).mean())
            meeting[i, j] = meeting[j, i] = place
            apart[i, j] = distance + (1e-9 * size if touching else size)  # a link of zero would be none
    root = int(w.sum(axis=0).argmax())
    _, parents = breadth_first_order(minimum_spanning_tree(apart), root, directed=False)
    parents = np.where(np.arange(bones) == root, -1, parents)
    places = np.where((parents >= 0)[:, None], meeting[np.arange(bones), parents], middle)
    return parents, places


def follow(rest: Array, weights: Array, frames: Array, sweeps: int = 60) -> Array:
    """(F, B, 4, 4) the rigid motion of bones with known weights (V, B) that comes closest to frames (F, V, 3)."""
    with one_blas_thread():
        owner = weights.argmax(axis=1)
        begin = group_transforms(rest, frames, owner, weights.shape[1])
        return solve_transforms(rest, weights, frames, begin, sweeps)


def _initial_transforms(rest: Array, triangles: Array, frames: Array, settings: MeshAnimationSettings) -> Array:
    """(F, B, 4, 4): the better of two starts, groups that rotate alike and groups that move rigidly."""
    few = frames[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), START_FRAMES)).astype(int))]
    groups = []
    if len(triangles):
        alike = group_by_rotation(rest, few, triangles, settings.bandwidth)
        bones = settings.bones or int(alike.max()) + 1
        groups.append(split_groups(rest, few, bones, np.where(alike < bones, alike, 0))[0])
    else:
        bones = settings.bones or 8
    groups.append(split_groups(rest, few, bones)[0])
    tried = []
    for group in groups:
        short = MeshAnimationSettings(bones, settings.influences, 4, 2)
        tried.append(_alternate(rest, few, group_transforms(rest, few, group, bones), short, None).rms)
    return group_transforms(rest, frames, groups[int(np.argmin(tried))], bones)


def _alternate(
    rest: Array, frames: Array, matrices: Array, settings: MeshAnimationSettings, progress: Progress | None
) -> MeshAnimation:
    bones = matrices.shape[1]
    best, last = None, np.inf
    for i in range(settings.iterations):
        joints, weights = solve_weights(rest, matrices, frames, settings.influences)
        full = dense_weights(joints, weights, bones)
        matrices = solve_transforms(rest, full, frames, matrices, settings.sweeps)
        distance = np.sum((blend_dense(rest, full, matrices) - frames) ** 2, axis=-1)
        rms = float(np.sqrt(distance.mean()))
        if best is None or rms < best.rms:
            freeze = checks.freeze
            best = MeshAnimation(rest, freeze(joints), freeze(weights), freeze(matrices.copy()), rms)
        if progress:
            progress(i + 1, settings.iterations)
        early = i < settings.iterations // 2
        moved = _move_idle_bones(rest, frames, full, matrices, distance.sum(axis=0)) if early else 0
        if not moved and rms > (1 - settings.tolerance) * last:
            break
        last = rms
    assert best is not None
    return best


def _move_idle_bones(rest: Array, frames: Array, weights: Array, matrices: Array, error: Array) -> int:
    """Move bones without weight to where the error is largest, in place; how many were moved."""
    idle = np.flatnonzero(weights.sum(axis=0) < IDLE_WEIGHT_RATIO * len(rest))
    left = error.copy()
    for b in idle:
        seed = int(left.argmax())
        near = np.argsort(np.sum((rest - rest[seed]) ** 2, axis=1), kind="stable")[
            : max(len(rest) // (4 * weights.shape[1]), 4)
        ]
        group = np.full(len(rest), -1)
        group[near] = 0
        matrices[:, b] = group_transforms(rest, frames, group, 1)[:, 0]
        left[near] = 0.0
    return len(idle)
