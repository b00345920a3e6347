"""Sample graph: the poses of one take merged into nodes [Serra 2018, Algorithm 1], and the similarity of poses.

Similarity compares where the landmarks are, and in which direction they move [Serra 2018, section 4.2, eq. 3]:

    sim(a, b) = sum_i |a_i - b_i| (1 + lambda v_i),    v_i = 1 - |u_i . w_i|

with u and w the unit velocities of landmark i in the two poses: v is 0 along one line (onset and offset count alike)
and 1 at right angles. The paper prints the velocities without making them unit, by which v would leave [0, 1]. Two
landmarks at rest count as equal (v = 0), one at rest and one that moves as 0.5. A node has a velocity for each incoming
edge, from the edge's source to it; the lowest value over these counts. A node without any is at rest.

A sample graph merges each pose of one take with its most similar node, or makes it a node. Three rules beside the
paper's. Node 0 is the base pose and stays zero, whatever is merged in it; the peak never is. A take that returns to
neutral ends in node 0, so that no peak is a dead end. And a node that holds the peak is the peak: its displacement is
that of the peak pose alone, not a mean over the poses before it, by which expressions would fade as nodes grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths import jit

VELOCITY_INFLUENCE = 1.0  # lambda, as in the paper

# A landmark is at rest below this part of the mean displacement of its region's landmarks, in one frame. A peak is some
# two means away and takes ten frames, so a landmark in motion makes 0.2 a frame: a twentieth of that has no direction.
STILL_DISPLACEMENT_RATIO = 0.01


@dataclass(frozen=True, eq=False)
class SampleGraph:
    """One region of one take: F poses in n nodes, numbered in the order of their first visit."""

    visits: Array  # (F,) int64 node of each frame
    displacements: Array  # (n, L, D) of each node
    velocities: Array  # (n, L, D) mean step a frame, towards the peak
    counts: Array  # (n,) poses in each node
    starts: Array  # (n + 1,) first row of each node in `units`
    units: Array  # (E, L, D) unit velocities of the edges into each node, sorted by target
    peak: int  # the node that holds the peak


def visit_poses(poses: Array, units: Array, threshold: float, still: float, peak: int, home: bool) -> Array:
    """(F,) the node of each pose: Algorithm 1, lines 3 to 13, for displacements (F, L, D) and their unit velocities.

    `home` puts the last pose into node 0; the pose `peak` is never put there. A node is the running mean of its poses.
    """
    poses, units = np.ascontiguousarray(poses), np.ascontiguousarray(units)
    kernels = jit.kernels("understudy.express.graph.graph_kernels")
    return np.asarray(kernels.visit_poses(poses, units, VELOCITY_INFLUENCE, threshold, still, peak, home))


def build_sample_graph(poses: Array, visits: Array, peak: int, still: float) -> SampleGraph:
    """The graph that the visits (F,) of displacements (F, L, D) make."""
    nodes = int(visits.max()) + 1
    poses = np.ascontiguousarray(poses)
    counts = np.bincount(visits, minlength=nodes)
    displacements = _means(poses, visits, nodes)
    displacements[visits[peak]] = poses[peak]
    displacements[0] = 0.0
    edges = edges_of(visits)
    edges = edges[np.lexsort((edges[:, 0], edges[:, 1]))]
    return SampleGraph(
        visits=visits,
        displacements=displacements,
        velocities=mean_velocities(poses, visits, nodes, peak),
        counts=counts,
        starts=np.searchsorted(edges[:, 1], np.arange(nodes + 1)),
        units=units_of(displacements[edges[:, 1]] - displacements[edges[:, 0]], still),
        peak=int(visits[peak]),
    )


def edges_of(visits: Array) -> Array:
    """(E, 2) the distinct_edges steps from one node to another that the visits (F,) make, sorted."""
    steps = np.stack([visits[:-1], visits[1:]], axis=1)
    return distinct_edges(steps[steps[:, 0] != steps[:, 1]])


def distinct_edges(edges: Array) -> Array:
    """(E, 2) the distinct rows of `edges`, sorted; one number a row is faster to sort than rows."""
    many = int(edges.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(edges[:, 0] * many + edges[:, 1]), many), axis=1)


def mean_velocities(poses: Array, visits: Array, nodes: int, peak: int) -> Array:
    """(n, L, D) the mean step a frame of each node's poses, those after the peak taken backwards.

    Otherwise the velocities of a node that a take passes before and after the peak would cancel.
    """
    central = np.gradient(poses, axis=0)
    central[peak + 1 :] *= -1.0
    return _means(central, visits, nodes)


def _means(rows: Array, visits: Array, nodes: int) -> Array:
    """(n, L, D) the mean of the rows (F, L, D) of each node."""
    sums = np.zeros((nodes, *rows.shape[1:]))
    np.add.at(sums, visits, rows)
    return np.asarray(sums / np.bincount(visits, minlength=nodes)[:, None, None])


def velocity_influence(u: Array, w: Array) -> Array:
    """(...,) v of eq. 3 for unit or zero velocities u and w (..., D)."""
    moving, others = (np.einsum("...d,...d->...", units, units) > 0.5 for units in (u, w))
    along = 1.0 - np.abs(np.einsum("...d,...d->...", u, w))
    return np.where(moving & others, along, np.where(moving | others, 0.5, 0.0))


def units_of(steps: Array, still: float | Array) -> Array:
    """(..., D) unit vectors of the steps (..., D), zero where a step is not longer than `still`."""
    length = np.linalg.norm(steps, axis=-1, keepdims=True)
    moving = length > still
    return np.where(moving, steps / np.where(moving, length, 1.0), 0.0)
