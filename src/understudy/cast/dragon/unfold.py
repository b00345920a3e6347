"""Keeps shapes from turning triangles over.

A shape may compress the skin so far that small triangles flip, most of all in the mouth's lining, where they are long
and thin. Where that happens within the range of a control, the motion is evened out over the neighbourhood, little by
little, until no triangle is in danger; everything else stays as it was made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.cast.dragon.places import Places, facing
from understudy.checks import Array

LEAST_COSINE = 0.15  # between a triangle's normal and its rest: 0 would be on edge, this leaves room for joints
LEAST_AREA = 0.05  # of its rest; the law asks for 0.01
STEPS, ROUNDS = 160, 3  # of evening out: at most so often, with so many rounds of smoothing
RINGS, WIDER = 2, 40  # rings of vertices round a triangle, and after how many steps there is one more


def unfolded(p: Places, delta: Array, weights: Sequence[float], carried: Array | None = None) -> Array:
    """The deltas (v, 3), evened out where a weight among `weights` would flip a triangle.

    `carried` (v, 3) is what joints add to the same control's motion; it counts, but is not changed.
    """
    moved = delta if carried is None else delta + carried
    for step in range(STEPS):
        bad = np.unique(np.concatenate([in_danger(p, weight * moved) for weight in weights]))
        if not bad.size:
            break
        # three steps of four carry the triangles themselves as one: at the slit's end the motion is torn, as at the tip
        # of a crack, and no smoothing would take that away
        moved = _as_one(moved, p.triangles[bad]) if step % 4 else _evened(p, moved, bad, RINGS + step // WIDER)
    return moved if carried is None else moved - carried


def _as_one(moved: Array, triangles: Array) -> Array:
    """Displacements (v, 3) with the corners of each of `triangles` (n, 3) half-way to their mean."""
    result = moved.copy()
    total, count = np.zeros_like(moved), np.zeros(len(moved))
    np.add.at(total, triangles, np.repeat(moved[triangles].mean(axis=1, keepdims=True), 3, axis=1))
    np.add.at(count, triangles, 1.0)
    at = np.flatnonzero(count)
    result[at] = 0.5 * moved[at] + 0.5 * total[at] / count[at, None]
    return result


def _evened(p: Places, moved: Array, bad: Array, rings: int) -> Array:
    """Displacements (v, 3) smoothed on the triangles `bad` and so many rings of vertices round them."""
    near = np.zeros(len(p), bool)
    near[p.triangles[bad]] = True
    for _ in range(rings):
        near |= (p.average @ near.astype(float)) > 0
    return p.smooth(moved, ROUNDS, held=~near)


def in_danger(p: Places, moved: Array) -> Array:
    """(n,) the triangles that displacements (v, 3) turn over, or nearly so."""
    rest, now = p.facing, facing(p.points + moved, p.triangles)
    before, after = (np.linalg.norm(normals, axis=1) for normals in (rest, now))
    cosine = np.einsum("ti,ti->t", rest, now) / np.maximum(before * after, 1e-30)
    return np.flatnonzero((cosine < LEAST_COSINE) | (after < LEAST_AREA * before))
