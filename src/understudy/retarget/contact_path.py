"""A way over the floor that legs can span, and where feet stand on it.

The actor's steps, scaled by size, are longer than a penguin's legs. While a point k stands at s, the figure has gone as
far as d(t) beside its way, and the leg reaches from the hips' own place for that foot, n_k(t), to s:

    minimise  sum_t |T d'|^2 + |tau^2 d''|^2 + sum_down a |d + p_k - s|^2 + b [|d + n_k - s| - R]_+^2

The first term keeps the momentum that the actor's motion asks for, the second is smoothness, the third keeps feet where
the pose p_k has them, and the last is the reach R of a leg; lengths are over R. All of d and s are found together, so
that a figure whose legs are short takes shorter steps in the actor's timing, and one whose legs are long enough keeps
its way. The last term is replaced, sweep by sweep, by the distance from the nearest point within reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.retarget.body import Body
from understudy.retarget.contacts import Phases
from understudy.retarget.poses import Poses
from understudy.retarget.stance import Stance

MOMENTUM = 1.0  # seconds, T: a way that falls behind by R a second costs as much as a foot that is R off its pose
SMOOTH = 0.15  # seconds, tau
POSED = 0.1  # a
REACHED = 30.0  # b
REACH = 0.45  # of the height of the hip at rest: 24 degrees of a straight leg to every side
SWAY = 0.2  # of the height of what stands on no legs: how far it leans over its base
SWEEPS = 8  # of the last term; then none changes its side any more
LEVEL = [0, 2]


@dataclass(frozen=True, eq=False)
class Way:
    """Where the figure goes beside its way, and where its contact points stand."""

    shifts: Array  # (F, 3) level
    spans: list[tuple[int, int, int]]  # contact, its first frame, the one after its last
    places: Array  # (S, 3) on the floor


def spanned_way(poses: Poses, body: Body, phases: Phases, stance: Stance) -> Way:
    """The way nearest to that of the poses on which their legs reach where they stand."""
    points = body.contact_positions(poses.world)
    spans = [(k, a, b) for k in range(points.shape[1]) for a, b in phases.runs(k)]
    frames, count = len(poses), len(spans)
    if stance.base is None:
        near, reach = neutral_places(poses, body, stance)
    else:
        near, reach = points, SWAY * stance.lengths
    rows = np.concatenate([np.arange(a, b) for _, a, b in spans])
    contact = np.concatenate([np.full(b - a, k) for k, a, b in spans])
    span = np.repeat(np.arange(count), [b - a for _, a, b in spans])
    p, n = points[rows, contact][:, LEVEL], near[rows, contact][:, LEVEL]
    unit = reach[contact][:, None]
    d, s = _solved(frames, (rows, span), POSED / unit**2, -p, poses.rate, float(reach.mean()))
    for _ in range(SWEEPS):
        away = d[rows] + n - s[span]
        far = np.linalg.norm(away, axis=1, keepdims=True)
        pulled = REACHED * (far > unit)
        weight = POSED + pulled
        wanted = (POSED * -p + pulled * (unit / np.maximum(far, 1e-12) * away - n)) / weight
        d, s = _solved(frames, (rows, span), weight / unit**2, wanted, poses.rate, float(reach.mean()))
    shifts, places = np.zeros((frames, 3)), np.zeros((count, 3))
    shifts[:, LEVEL], places[:, LEVEL] = d, s
    return Way(shifts, spans, places)


def neutral_places(poses: Poses, body: Body, stance: Stance) -> tuple[Array, Array]:
    """(F, K, 3) where contact points would be under hips as at rest, and (K,) how far legs reach from there."""
    limbs, tops = stance.limbs, stance.hips
    hips = limbs.world[tops, :3, 3]
    away = body.contact_positions(limbs.world[None])[0] - hips
    root = poses.skeleton.ancestors(int(tops[0]))[-1]
    turn = poses.world[:, root, :3, :3] @ np.linalg.inv(limbs.world[root, :3, :3])
    front = turn @ limbs.front
    yaw = np.arctan2(front[:, 0], front[:, 2]) - np.arctan2(limbs.front[0], limbs.front[2])
    sine, cosine = np.sin(yaw)[:, None], np.cos(yaw)[:, None]
    x, z = cosine * away[:, 0] + sine * away[:, 2], cosine * away[:, 2] - sine * away[:, 0]
    places = poses.world[:, tops][..., :3, 3] + np.stack([x, np.broadcast_to(away[:, 1], x.shape), z], axis=2)
    return places, REACH * np.maximum(-away[:, 1], 1e-6)


def _solved(
    frames: int, tied: tuple[Array, Array], weights: Array, wanted: Array, rate: float, unit: float
) -> tuple[Array, Array]:
    """d (F, 2) and s (S, 2) of least squares: rows and spans (n,) `tied` by weights (n, 1) to d - s = wanted (n, 2)."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    rows, span = tied
    count, number = int(span.max()) + 1, len(rows)
    first = sparse.diags([-1.0, 1.0], [0, 1], shape=(max(frames - 1, 0), frames))
    second = sparse.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(max(frames - 2, 0), frames))
    smooth = (MOMENTUM * rate / unit) ** 2 * first.T @ first + ((SMOOTH * rate) ** 2 / unit) ** 2 * second.T @ second
    # nothing else says where the whole of it is
    smooth = smooth + sparse.identity(frames) * (1e-6 / unit**2)
    ties = sparse.csr_matrix(
        (
            np.tile([1.0, -1.0], number),
            (np.repeat(np.arange(number), 2), np.stack([rows, frames + span], 1).reshape(-1)),
        ),
        shape=(number, frames + count),
    )
    still = sparse.block_diag([smooth, sparse.csr_matrix((count, count))])
    weighted = ties.T @ sparse.diags(weights[:, 0])
    found = splu((still + weighted @ ties).tocsc()).solve(weighted @ wanted)
    return found[:frames], found[frames:]
