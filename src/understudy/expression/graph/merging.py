"""Merging a sample graph with the final graph: which node takes which [Serra 2018, section 4.1].

The nodes of the sample come in their order. Each is compared with all nodes of the final graph and with those that the
sample has added so far; below the threshold it is merged, else it is added. With `align` it is first aligned with the
node that takes it, rigidly and without scale, and so is the rest of the sample, as in the paper. Takes that were
prepared (`preparing`) are aligned region by region already; to align them again and again as they are merged moves
their peaks, and the face's landmarks are then off by 1.5 pixels instead of 1.1. It is off by default.

The final graph stands still while a sample is compared with it: what the sample changes in the means is taken up
afterwards, once its threshold is settled. So a threshold can be tried without copying the graph.

A peak is never merged with a peak of another label, nor with the base pose: in the paper it can be, and then the face
shows the same pose for two words. And it has to be four times as alike as other poses to be merged at all: apexes and
their durations are what a take is remembered by, and in-betweens are what can be shared. At the same bytes that keeps
the durations of takes to 0.3 frames, where they would be off by 1.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.checks import Array
from understudy.expression.graph import rigid, similarity
from understudy.expression.graph.sample_graph import SampleGraph
from understudy.maths import accelerate

PEAK_SHARE = 0.25  # of the threshold, for peaks


@dataclass(frozen=True, eq=False)
class Standing:
    """The final graph of one region as a sample sees it."""

    base: Array  # (L, D) base pose of the region
    displacements: Array  # (N, L, D)
    starts: Array  # (N + 1,) and
    units: Array  # (E, L, D) unit velocities of the edges into each node, sorted by target
    peaks: Array  # (N,) number of the label whose peak it holds, -1 for none

    @cached_property
    def centres(self) -> Array:
        """(N, D) sums of the displacements of each node, by which most nodes are passed over."""
        return np.asarray(self.displacements.sum(axis=1))


@dataclass(frozen=True, eq=False)
class Merging:
    """Where the n nodes of a sample go; numbers from N on are new nodes, in their order."""

    nodes: Array  # (n,) int64
    displacements: Array  # (n, L, D) aligned
    velocities: Array  # (n, L, D) turned with it

    def added(self, standing: Standing) -> int:
        """Nodes by which the final graph grows."""
        return max(int(self.nodes.max()) + 1 - len(standing.displacements), 0)


def merged(sample: SampleGraph, label: int, standing: Standing, threshold: float, align: bool = False) -> Merging:
    """Where each node of the sample, a take of label number `label`, goes at this threshold."""
    kernels = accelerate.kernels("understudy.expression.graph.merging_kernels")
    if kernels is not None:
        found = kernels.merged(
            *(sample.displacements, sample.velocities, sample.starts, sample.units, sample.peak, label),
            *(standing.base, standing.displacements, standing.centres, standing.starts, standing.units, standing.peaks),
            *(similarity.INFLUENCE, threshold, PEAK_SHARE, align),
        )
        return Merging(*found)
    return _merged(sample, label, standing, threshold, align)


def _merged(sample: SampleGraph, label: int, standing: Standing, threshold: float, align: bool) -> Merging:
    count, dimensions = len(sample.displacements), standing.base.shape[1]
    chosen = np.zeros(count, np.int64)
    placed, turned = np.zeros_like(sample.displacements), np.array(sample.velocities)
    nodes, starts, units = standing.displacements, standing.starts, standing.units
    peaks = list(standing.peaks)
    r, t = np.eye(dimensions), np.zeros(dimensions)
    for k in range(1, count):
        pose = (standing.base + sample.displacements[k]) @ r.T + t - standing.base
        incoming = sample.units[sample.starts[k] : sample.starts[k + 1]] @ r.T
        values = similarity.node_similarities(pose, incoming, nodes, starts, units)
        if k == sample.peak:
            taken = np.array(peaks)
            values[(taken >= 0) & (taken != label)] = np.inf
            values[0] = np.inf
        best = int(np.argmin(values))
        if values[best] < threshold * (PEAK_SHARE if k == sample.peak else 1.0):
            if align:
                turn, shift = rigid.aligned(standing.base + pose, standing.base + nodes[best])
                r, t = turn @ r, turn @ t + shift
                pose = (standing.base + pose) @ turn.T + shift - standing.base
            peaks[best] = label if k == sample.peak else peaks[best]
        else:
            best = len(nodes)
            nodes = np.concatenate([nodes, pose[None]])
            starts = np.append(starts, starts[-1] + len(incoming))
            units = np.concatenate([units, incoming])
            peaks.append(label if k == sample.peak else -1)
        chosen[k], placed[k], turned[k] = best, pose, sample.velocities[k] @ r.T
    return Merging(chosen, placed, turned)
