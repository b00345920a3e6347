"""Region builder: a region's graph while takes are merged into it [Serra 2018, sections 4.1 and 4.4].

`RegionBuilder` keeps, for each node, the mean of what was merged in it and how many that were, so a finished graph can
grow on: `RegionBuilder.from_graph` continues from the result of `to_graph`. Nothing else of the takes is kept.

`merge_nodes` decides which node of the final graph each node of a sample graph is merged with (section 4.1). The nodes
of the sample come in their order. Each is compared with all nodes of the final graph and with those that the sample has
added so far; below the threshold it is merged, else it is added. With `align` it is first aligned with the node that
takes it, rigidly and without scale, and so is the rest of the sample, as in the paper. Takes that were preprocessed are
aligned region by region already; to align them again and again as they are merged moves their peaks, and the face's
landmarks are then off by 1.5 pixels instead of 1.1. It is off by default.

The final graph does not change while a sample is compared with it: the sample changes the means afterwards, once its
threshold is settled. So a threshold can be tried without copying the graph.

A peak is never merged with a peak of another label, nor with the base pose: in the paper it can be, and then the face
shows the same pose for two labels. And it has to be four times as alike as other poses to be merged at all: a take is
remembered by its apex and duration, and in-betweens are what can be shared. At the same bytes that keeps the durations
of takes to 0.3 frames, where they would be off by 1.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.checks import Array
from understudy.express.graph import sample_graph
from understudy.express.graph.expression_graph import RegionGraph
from understudy.express.graph.sample_graph import SampleGraph, distinct_edges, edges_of
from understudy.maths import jit

KERNELS = "understudy.express.graph.graph_kernels"
PEAK_THRESHOLD_RATIO = 0.25  # threshold of peaks, of that of other poses

# Attributes with a count for each node (N,).
COUNT_ARRAYS = ("merged", "visits", "arrivals")


@dataclass(frozen=True, eq=False)
class GraphSnapshot:
    """The final graph of one region as a sample sees it."""

    base: Array  # (L, D) base pose of the region
    displacements: Array  # (N, L, D)
    starts: Array  # (N + 1,) first row of each node in `units`
    units: Array  # (E, L, D) unit velocities of the edges into each node, sorted by target
    peaks: Array  # (N,) number of the label whose peak a node holds, -1 for none

    @cached_property
    def centres(self) -> Array:
        """(N, D) sums of the displacements of each node: a cheap bound that rules most nodes out."""
        return np.asarray(self.displacements.sum(axis=1))


@dataclass(frozen=True, eq=False)
class NodeMatch:
    """The node of the final graph for each of the n nodes of a sample; numbers from N on are new nodes, in order."""

    nodes: Array  # (n,) int64
    displacements: Array  # (n, L, D) aligned
    velocities: Array  # (n, L, D) turned with it

    def new_node_count(self, standing: GraphSnapshot) -> int:
        """Number of nodes that the sample adds to the final graph."""
        return max(int(self.nodes.max()) + 1 - len(standing.displacements), 0)


class RegionBuilder:
    """One region of L landmarks with Q labels. Node 0 is there from the start."""

    def __init__(self, name: str, members: Array, base: Array, labels: int, spread: float) -> None:
        self.name, self.members, self.base = name, members, base  # base (L, D) of the region
        self.spread = spread
        self.displacements = np.zeros((1, *base.shape))
        self.velocities = np.zeros((1, *base.shape))
        self.merged, self.visits, self.arrivals = (np.zeros(1) for _ in COUNT_ARRAYS)
        self.labels, self.peaks = np.zeros((1, labels), bool), np.zeros((1, labels), bool)
        self.spans = np.zeros((1, 2, 2))  # onset and offset: mean, and sum of squares about it
        self.edges = np.zeros((0, 2), np.int64)  # sorted

    @classmethod
    def from_graph(cls, region: RegionGraph, base: Array, columns: Array, labels: int) -> RegionBuilder:
        """A builder that continues a finished graph. Its labels become those numbered `columns` among `labels`."""
        self = cls(region.name, region.members, base, labels, region.spread)
        self.displacements, self.velocities = np.array(region.displacements), region.velocities.astype(float)
        self.merged, self.arrivals = region.merged.astype(float), region.arrivals.astype(float)
        self.visits = np.round(self.merged / region.runs.astype(float))
        self.labels, self.peaks = np.zeros((region.nodes, labels), bool), np.zeros((region.nodes, labels), bool)
        self.labels[:, columns], self.peaks[:, columns] = region.labels, region.peaks
        means = np.stack([region.onset, region.offset], axis=1).astype(float)
        deviations = np.stack([region.onset_deviation, region.offset_deviation], axis=1).astype(float)
        self.spans = np.nan_to_num(np.stack([means, deviations**2 * self.arrivals[:, None]], axis=2))
        self.edges = np.stack([region.sources, region.targets], axis=1).astype(np.int64)
        return self

    @property
    def still(self) -> float:
        """Length below which a step has no direction."""
        return sample_graph.STILL_DISPLACEMENT_RATIO * self.spread / len(self.members)

    def snapshot(self) -> GraphSnapshot:
        """The graph that the next sample is compared with."""
        edges = self.edges[np.lexsort((self.edges[:, 0], self.edges[:, 1]))]
        units = sample_graph.units_of(self.displacements[edges[:, 1]] - self.displacements[edges[:, 0]], self.still)
        starts = np.searchsorted(edges[:, 1], np.arange(len(self.displacements) + 1))
        peaks = np.where(self.peaks.any(axis=1), self.peaks.argmax(axis=1), -1)
        return GraphSnapshot(self.base, self.displacements, starts, units, peaks)

    def add_sample(
        self, sample: SampleGraph, label: int, merging: NodeMatch, spans: tuple[int, int], home: bool
    ) -> Array:
        """Merge a sample: (F,) the node of each of its frames.

        `spans` are its frames to the peak and back, `home` says whether it returns to neutral.
        """
        self._make_room(int(merging.nodes.max()) + 1)
        self._update_means(sample, merging)
        visits = np.asarray(merging.nodes[sample.visits])
        entered = np.append(True, visits[1:] != visits[:-1])
        # a stay at the apex ends the onset and begins the offset, and counts as two
        entered[min(spans[0] + 1, len(visits) - 1)] = True
        np.add.at(self.visits, visits[entered], 1)
        self.labels[visits, label] = True
        peak = int(merging.nodes[sample.peak])
        self.peaks[peak, label] = True
        difference = np.array(spans) - self.spans[peak, :, 0]
        self.spans[peak, :, 0] += difference / self.arrivals[peak]
        self.spans[peak, :, 1] += difference * (np.array(spans) - self.spans[peak, :, 0])
        # a take that ends away from neutral is led back, or its last node would be a dead end
        steps = visits if home else np.append(visits, 0)
        self.edges = distinct_edges(np.concatenate([self.edges, edges_of(steps)]))
        return visits

    def _make_room(self, nodes: int) -> None:
        more = nodes - len(self.displacements)
        if more > 0:
            for name in ("displacements", "velocities", "labels", "peaks", "spans", *COUNT_ARRAYS):
                value = getattr(self, name)
                setattr(self, name, np.concatenate([value, np.zeros((more, *value.shape[1:]), value.dtype)]))

    def _update_means(self, sample: SampleGraph, merging: NodeMatch) -> None:
        for k, (node, count) in enumerate(zip(merging.nodes, sample.counts)):
            is_peak, weight = k == sample.peak, float(count)
            self.merged[node] += weight
            # the sign of a velocity is that of the node's first: opposite directions of one line must not cancel
            sign = -1.0 if np.vdot(self.velocities[node], merging.velocities[k]) < 0.0 else 1.0
            self.velocities[node] += (sign * merging.velocities[k] - self.velocities[node]) * (
                weight / self.merged[node]
            )
            if node == 0:
                continue
            if is_peak:  # a peak node is the mean of its peaks
                self.arrivals[node] += 1
                share = 1.0 / self.arrivals[node]
            elif self.arrivals[node]:
                continue
            else:
                share = weight / self.merged[node]
            self.displacements[node] += (merging.displacements[k] - self.displacements[node]) * share

    def to_graph(self) -> RegionGraph:
        """The graph, with the costs of its edges, which need all velocities and so come last."""
        standing = self.snapshot()
        holds = self.arrivals > 0
        means, squares = self.spans[:, :, 0], self.spans[:, :, 1]
        deviations = np.sqrt(squares / np.maximum(self.arrivals, 1)[:, None])
        means, deviations = (np.where(holds[:, None], spans, np.nan) for spans in (means, deviations))
        return RegionGraph(
            name=self.name,
            members=np.asarray(self.members, np.int32),
            displacements=self.displacements.copy(),
            merged=self.merged.astype(np.int32),
            runs=(self.merged / np.maximum(self.visits, 1.0)).astype(np.float32),
            velocities=self.velocities.astype(np.float32),
            labels=self.labels.copy(),
            peaks=self.peaks.copy(),
            onset=means[:, 0].astype(np.float32),
            onset_deviation=deviations[:, 0].astype(np.float32),
            sources=self.edges[:, 0].astype(np.int32),
            targets=self.edges[:, 1].astype(np.int32),
            costs=edge_costs(self.edges, standing).astype(np.float32),
            offset=means[:, 1].astype(np.float32),
            offset_deviation=deviations[:, 1].astype(np.float32),
            arrivals=self.arrivals.astype(np.int32),
            spread=self.spread,
        )


def edge_costs(edges: Array, standing: GraphSnapshot) -> Array:
    """(E,) eq. 3 between the ends of each edge, the lowest over the edges into both."""
    influence = sample_graph.VELOCITY_INFLUENCE
    costs = jit.kernels(KERNELS).edge_costs(edges, standing.displacements, standing.starts, standing.units, influence)
    return np.asarray(costs)


def merge_nodes(
    sample: SampleGraph, label: int, standing: GraphSnapshot, threshold: float, align: bool = False
) -> NodeMatch:
    """The match of each node of the sample, a take of label number `label`, at this threshold."""
    match = jit.kernels(KERNELS).merge_nodes(
        *(sample.displacements, sample.velocities, sample.starts, sample.units, sample.peak, label),
        *(standing.base, standing.displacements, standing.centres, standing.starts, standing.units, standing.peaks),
        *(sample_graph.VELOCITY_INFLUENCE, threshold, PEAK_THRESHOLD_RATIO, align),
    )
    return NodeMatch(*match)
