"""How alike two poses are: where the landmarks are, and which way they move [Serra 2018, section 4.2, eq. 3].

    sim(a, b) = sum_i |a_i - b_i| (1 + lambda v_i),    v_i = 1 - |u_i . w_i|

with u and w the unit velocities of landmark i in the two poses: v is 0 along one line (onset and offset count alike)
and 1 at right angles. The paper prints the velocities without making them unit, by which v would leave [0, 1]. Two
landmarks that stand still count as equal (v = 0), one that stands and one that moves as 0.5.

A node has a velocity for each edge that comes in, from where it comes to where it is; the lowest value over these
counts. A node without any stands still. Everything here is NumPy, vectorised over nodes; `similarity_kernels` is the
compiled twin.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

INFLUENCE = 1.0  # lambda, as in the paper
# A landmark stands still below this part of the mean displacement of its region's landmarks a frame. A peak is some
# two means away and takes ten frames, so a landmark in motion makes 0.2 a frame: a twentieth of that has no direction.
STILL = 0.01


def units_of(steps: Array, still: float | Array) -> Array:
    """(..., D) unit vectors of the steps (..., D), zero where a step is not longer than `still`."""
    length = np.linalg.norm(steps, axis=-1, keepdims=True)
    moving = length > still
    return np.where(moving, steps / np.where(moving, length, 1.0), 0.0)


def velocity_influence(u: Array, w: Array) -> Array:
    """(...,) v of eq. 3 for unit or zero velocities u and w (..., D)."""
    moving, others = (np.einsum("...d,...d->...", each, each) > 0.5 for each in (u, w))
    along = 1.0 - np.abs(np.einsum("...d,...d->...", u, w))
    return np.where(moving & others, along, np.where(moving | others, 0.5, 0.0))


def similarity(a: Array, u: Array, b: Array, w: Array, influence: float = INFLUENCE) -> Array:
    """(...,) eq. 3 of poses a and b (..., L, D) with unit velocities u and w (..., L, D); lower is more alike."""
    distance = np.linalg.norm(a - b, axis=-1)
    return np.asarray((distance * (1.0 + influence * velocity_influence(u, w))).sum(axis=-1))


def node_similarities(
    pose: Array, incoming: Array, nodes: Array, starts: Array, units: Array, influence: float = INFLUENCE
) -> Array:
    """(N,) the lowest eq. 3 of a pose (L, D) to each of the nodes (N, L, D), over the edges into both.

    `incoming` (A, L, D) are the pose's own unit velocities, `units` (E, L, D) those of the edges sorted by target, of
    which `starts[n]` to `starts[n + 1]` (N + 1,) lead into node n.
    """
    still = np.zeros((1, *pose.shape))
    mine = incoming if len(incoming) else still
    count = np.diff(starts)
    owner = np.concatenate([np.repeat(np.arange(len(nodes)), count), np.flatnonzero(count == 0)])
    others = np.concatenate(
        [units[starts[0] : starts[-1]], np.broadcast_to(still, (int((count == 0).sum()), *pose.shape))]
    )
    values = similarity(pose, mine[None], nodes[owner][:, None], others[:, None], influence)  # (E', A)
    lowest = np.full(len(nodes), np.inf)
    np.minimum.at(lowest, owner, values.min(axis=1))
    return lowest
