"""Sample graphs: the poses of one take, each merged with the node it is most alike or made a node [Serra, Algorithm 1].

Three rules beside the paper's. Node 0 is the base pose and stays zero, whatever is merged in it; the peak never is. A
take that comes home ends in node 0, so that no peak is a dead end. And a node that holds the peak is the peak: its
displacement is that of the peak pose alone, not a mean over its way there, by which expressions would fade as nodes
grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.expression.graph import similarity
from understudy.maths import accelerate


@dataclass(frozen=True, eq=False)
class SampleGraph:
    """One region of one take: F poses in n nodes, numbered as the take first comes to them."""

    visits: Array  # (F,) int64 node of each frame
    displacements: Array  # (n, L, D) of each node
    velocities: Array  # (n, L, D) mean step a frame, all turned the same way
    counts: Array  # (n,) poses in each node
    starts: Array  # (n + 1,) and
    units: Array  # (E, L, D) unit velocities of the edges into each node, sorted by target
    peak: int  # the node that holds the peak


def visited(poses: Array, units: Array, threshold: float, still: float, peak: int, home: bool) -> Array:
    """(F,) the node of each pose: Algorithm 1, lines 3 to 13, for displacements (F, L, D) and their unit velocities.

    `home` takes the last pose into node 0; the pose `peak` never goes there. A node is the running mean of its poses.
    """
    kernels = accelerate.kernels("understudy.expression.graph.sample_graph_kernels")
    if kernels is not None:
        poses, units = np.ascontiguousarray(poses), np.ascontiguousarray(units)
        return np.asarray(kernels.visited(poses, units, similarity.INFLUENCE, threshold, still, peak, home))
    frames = len(poses)
    nodes, counts, edges = [poses[0] * 0.0], [1], set[tuple[int, int]]()
    visits = np.zeros(frames, np.int64)
    for f in range(1, frames):
        chosen = 0
        if not (home and f == frames - 1):
            ordered = sorted(edges, key=lambda edge: edge[1])
            starts = np.searchsorted([target for _, target in ordered], np.arange(len(nodes) + 1))
            means = np.array(nodes)
            steps = means[[b for _, b in ordered]] - means[[a for a, _ in ordered]] if edges else means[:0]
            values = similarity.node_similarities(
                poses[f], units[f : f + 1], means, starts, similarity.units_of(steps, still)
            )
            values[0] = np.inf if f == peak else values[0]
            chosen = int(np.argmin(values))
            if values[chosen] >= threshold:
                chosen = len(nodes)
                nodes.append(poses[f])
                counts.append(0)
            if chosen:
                counts[chosen] += 1
                nodes[chosen] = nodes[chosen] + (poses[f] - nodes[chosen]) / counts[chosen]
        visits[f] = chosen
        if chosen != visits[f - 1]:
            edges.add((int(visits[f - 1]), chosen))
    return visits


def sample_graph(poses: Array, visits: Array, peak: int, still: float) -> SampleGraph:
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
        units=similarity.units_of(displacements[edges[:, 1]] - displacements[edges[:, 0]], still),
        peak=int(visits[peak]),
    )


def edges_of(visits: Array) -> Array:
    """(E, 2) the distinct steps from one node to another that the visits (F,) make, sorted."""
    steps = np.stack([visits[:-1], visits[1:]], axis=1)
    return distinct(steps[steps[:, 0] != steps[:, 1]])


def distinct(edges: Array) -> Array:
    """(E, 2) the rows of `edges`, each once, sorted; a number a row, since rows of numbers are slow to sort."""
    many = int(edges.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(edges[:, 0] * many + edges[:, 1]), many), axis=1)


def mean_velocities(poses: Array, visits: Array, nodes: int, peak: int) -> Array:
    """(n, L, D) the mean step a frame of each node's poses, those after the peak taken backwards.

    A node that a take passes on the way to the peak and on the way back would else have no velocity at all.
    """
    central = np.gradient(poses, axis=0)
    central[peak + 1 :] *= -1.0
    return _means(central, visits, nodes)


def _means(rows: Array, visits: Array, nodes: int) -> Array:
    """(n, L, D) the mean of the rows (F, L, D) of each node."""
    sums = np.zeros((nodes, *rows.shape[1:]))
    np.add.at(sums, visits, rows)
    return np.asarray(sums / np.bincount(visits, minlength=nodes)[:, None, None])
