"""Weights of vertices from examples: one small quadratic programme a vertex, all of them at once.

    minimise  sum_e | sum_b w_b M_b^e v - v^e |^2 + r E sum_b p_b w_b^2      with  w >= 0,  sum_b w_b = 1

Since the weights sum to one, the error is w' G w with G_ab = sum_e (M_a^e v - v^e) . (M_b^e v - v^e): the position of
the world's origin does not matter. The penalty p_b grows with the distance from the bone, so that of bones which the
examples cannot tell apart the near one is taken; r, the ridge, is chosen by cross-validation over the examples.

More influences than allowed are removed one by one, each time the one whose loss costs least when the others are
solved again; then those that are left are exchanged for others while that helps (in compiled code; NumPy leaves that
out). Both errors, without and with the limit, are returned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.examples import Examples
from understudy.maths import jit, vector

KERNELS = "understudy.deform.fitting.simplex_kernels"
WEIGHT_RIDGES = (1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # of size^2: from rounding to "the near bone decides"
SAMPLE_VERTICES = 1500  # vertices in the cross-validation of the ridge; more change nothing


@dataclass(frozen=True)
class WeightFit:
    """Weights of all vertices on C candidate bones."""

    bones: Array  # (V, C)
    weights: Array  # (V, C)
    ridge: float
    rms_unlimited: float  # metres, without the limit on influences
    rms: float  # metres, with it


def fit_weights(
    matrices: Array,
    examples: Examples,
    away: Array,
    most: int,
    ridge: float | None = None,
    candidates: int = 24,
    also: Array | None = None,
) -> WeightFit:
    """Weights on the bones of `matrices` (E, B, 4, 4), at most `most` a vertex; `away` (V, B) are distances.

    `away` is in the units of the rest mesh. Of many bones only `candidates` are tried at each vertex: those that alone
    come nearest to the examples, those that are near, and before them `also` (V, K).
    """
    m, rest = np.array(matrices[..., :3, :]), np.array(examples.rest)  # not frozen: kernels are compiled for either
    targets = np.ascontiguousarray(np.swapaxes(examples.vertices, 0, 1))
    size, away = examples.size, away / examples.rest_size
    bones = _candidates(m, rest, targets, away, min(candidates, m.shape[1]), also)
    penalty = np.take_along_axis(size**2 * (1e-2 + away**2), bones, axis=1)
    if ridge is None:
        some = pick_vertices_evenly(rest, SAMPLE_VERTICES)
        ridge = _best_ridge(m, rest[some], targets[some], bones[some], penalty[some])
    weights = np.empty(bones.shape)
    before, after = jit.kernels(KERNELS).fit(m, rest, targets, bones, penalty, ridge, most, weights)
    terms = max(1, len(m) * len(rest))
    return WeightFit(
        bones, weights, ridge, float(np.sqrt(max(before, 0) / terms)), float(np.sqrt(max(after, 0) / terms))
    )


def _candidates(m: Array, rest: Array, targets: Array, away: Array, count: int, also: Array | None) -> Array:
    """(V, C) int64: in turn the bone that alone comes nearest to the examples, and the one that is nearest at rest."""
    if count == m.shape[1]:
        return np.tile(np.arange(count), (len(rest), 1))
    error = np.empty((len(rest), m.shape[1]))
    points, wanted = np.column_stack((rest, np.ones(len(rest)))), targets.reshape(len(rest), -1)
    for b in range(m.shape[1]):
        left = points @ m[:, b].reshape(-1, 4).T - wanted
        error[:, b] = np.einsum("vi,vi->v", left, left)
    # a rank in either order: a bone with a small weight may be far off alone, but it is near
    ranks = [np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1) for values in (error, away)]
    place = np.minimum(2 * ranks[0], 2 * ranks[1] + 1)
    if also is not None:
        np.put_along_axis(place, also.astype(np.int64), -1, axis=1)
    return np.sort(np.argsort(place, axis=1, kind="stable")[:, :count])


def _best_ridge(m: Array, rest: Array, targets: Array, bones: Array, penalty: Array) -> float:
    """The ridge with the least error in examples held out, in five parts; the largest within 1 % of the best."""
    folds = np.arange(len(m)) % min(5, len(m))
    if len(m) < 2:
        return WEIGHT_RIDGES[-1]
    error = jit.kernels(KERNELS).cross_validation_errors(
        m, rest, targets, bones, penalty, folds, np.array(WEIGHT_RIDGES), np.bincount(folds)
    )
    return float(max(np.array(WEIGHT_RIDGES)[error <= 1.01 * error.min() + 1e-18 * len(rest)]))


def minimise(h: Array) -> Array:
    """argmin w' H w with w >= 0 and sum w = 1, for each H (V, C, C): (V, C)."""
    w = np.empty(h.shape[:2])
    jit.kernels(KERNELS).minimise_all(np.ascontiguousarray(h, dtype=np.float64), w)
    return w


def pick_vertices_evenly(rest: Array, most: int) -> Array:
    """Numbers of at most `most` vertices, spread evenly, whatever the order of the vertices."""
    order = np.lexsort(np.round(rest, 9).T)
    return order[np.linspace(0, len(rest) - 1, min(most, len(rest))).round().astype(np.int64)]


def bone_distances(examples: Examples) -> Array:
    """(V, B) distance of each rest vertex from each bone: the segments from a joint to its children.

    The bone of a joint without children continues that of its parent, as long as the mesh is large.
    """
    at, parents, v = examples.rest_transforms[:, :3, 3], examples.parents, examples.rest
    result = np.full((len(v), len(at)), np.inf)
    leaf = np.setdiff1d(np.arange(len(at)), parents)
    tips = at[leaf] + examples.rest_size * vector.normalise(at[leaf] - at[np.maximum(parents[leaf], 0)])
    child = np.flatnonzero(parents >= 0)
    owners, ends = np.concatenate((parents[child], leaf)), np.concatenate((at[child], tips))
    for owner, end in zip(owners, ends):
        d = end - at[owner]
        t = np.clip((v - at[owner]) @ d / max(d @ d, 1e-300), 0, 1)
        result[:, owner] = np.minimum(result[:, owner], vector.length(v - at[owner] - t[:, None] * d))
    return result


def strongest_influences(bones: Array, weights: Array, most: int) -> tuple[Array, Array]:
    """Joints (V, K) int32 and weights (V, K) float32 of the influences that are not zero, largest first."""
    k = max(1, min(most, int((weights > 0).sum(axis=1).max(initial=0))))
    order = np.argsort(-weights, axis=1, kind="stable")[:, :k]
    w = np.take_along_axis(weights, order, axis=1)
    j = np.where(w > 0, np.take_along_axis(bones, order, axis=1), 0)
    return j.astype(np.int32), (w / w.sum(axis=1, keepdims=True)).astype(np.float32)
