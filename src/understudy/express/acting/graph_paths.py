"""Paths through a graph, and the graph prepared for acting.

`RegionRoutes`: the cheapest path from any node of a region's graph to any peak [Dijkstra 1959]. A crowd asks for the
same few sinks again and again, so the paths of all nodes to neutral and to every peak are found once a graph, backwards
from the sinks, and kept as a table of next nodes; a path is then read off.

`GraphActor`: a face graph with everything that is computed once and used by every face of a crowd.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.graph.expression_graph import ExpressionGraph, RegionGraph

NO_PREDECESSOR = -9999  # SciPy's mark for a node without a path
COUPLING_WIDTH_SPREADS = 1.0 / 3.0  # distance of peaks that count as alike at coupling 0.5, in spreads
_ACTORS: WeakKeyDictionary[ExpressionGraph, GraphActor] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class RegionRoutes:
    """The cheapest paths of one region's graph, and the substitutes of its nodes."""

    region: RegionGraph

    @cached_property
    def sinks(self) -> Array:
        """(S,) neutral and the nodes that hold a peak."""
        return np.unique(np.concatenate([[0], np.flatnonzero(self.region.peaks.any(axis=1))]))

    @cached_property
    def following(self) -> Array:
        """(S, N) int32: the node after each on its path to each sink."""
        return self._next_nodes(self.sinks)

    @cached_property
    def _row(self) -> dict[int, int]:
        return {int(sink): row for row, sink in enumerate(self.sinks)}

    @cached_property
    def _reverse_graph(self) -> Any:
        """The graph with reversed edges; an edge of cost 0 gets a tiny one, since SciPy takes 0 for no edge."""
        from scipy.sparse import csr_matrix

        region = self.region
        costs = np.maximum(region.costs, 1e-12 * max(float(region.costs.max(initial=0.0)), 1e-12))
        return csr_matrix((costs, (region.targets, region.sources)), shape=(region.nodes, region.nodes))

    def _next_nodes(self, sinks: Array) -> Array:
        from scipy.sparse.csgraph import dijkstra

        _, before = dijkstra(self._reverse_graph, indices=sinks, return_predecessors=True)
        return np.asarray(before, np.int32)

    def path(self, source: int, sink: int) -> Array:
        """(n,) the nodes from `source` to `sink`, both included; refused where there is no path."""
        following, nodes = self.row(sink), [source]
        while nodes[-1] != sink:
            step = int(following[nodes[-1]])
            if step == NO_PREDECESSOR:
                raise InvalidInput(f"region {self.region.name!r} has no path from node {source} to node {sink}")
            nodes.append(step)
        return np.array(nodes)

    def row(self, sink: int) -> Array:
        """(N,) int32: the node after each on its path to a sink, from the table or computed on demand."""
        number = self._row.get(sink)
        return self.following[number] if number is not None else self._next_nodes(np.array([sink]))[0]

    def substitutes(self, hops: int) -> tuple[Array, Array]:
        """Starts (N + 1,) and nodes: for each node those up to `hops` edges away, in either direction.

        The node itself, neutral and peaks are not among them.
        """
        known = self._substitutes
        if hops not in known:
            from scipy.sparse import csr_matrix, identity

            region, count = self.region, self.region.nodes
            ones = np.ones(len(region.sources), bool)
            edges = csr_matrix((ones, (region.sources, region.targets)), shape=(count, count))
            step = edges + edges.T + identity(count, dtype=bool, format="csr")
            reached = identity(count, dtype=bool, format="csr")
            for _ in range(hops):
                reached = reached @ step
            rows, columns = reached.nonzero()
            order = np.lexsort((columns, rows))
            rows, columns = rows[order], columns[order]
            peaks = np.flatnonzero(region.peaks.any(axis=1))
            kept = (rows != columns) & (columns != 0) & ~np.isin(columns, peaks)
            starts = np.searchsorted(rows[kept], np.arange(count + 1))
            known[hops] = starts.astype(np.int64), columns[kept].astype(np.int64)
        return known[hops]

    @cached_property
    def _substitutes(self) -> dict[int, tuple[Array, Array]]:
        return {}


@dataclass(frozen=True, eq=False)
class GraphActor:
    """A graph, its routes, and how alike the peaks of each region are."""

    graph: ExpressionGraph
    routes: tuple[RegionRoutes, ...]  # (R,)

    @cached_property
    def candidates(self) -> dict[str, tuple[Array, ...]]:
        """Label -> (R,) the nodes that hold a peak of it, in each region; neutral where a region has none."""
        candidates = {}
        for number, label in enumerate(self.graph.labels):
            peaks = (region.peaks_of(number) for region in self.graph.regions)
            candidates[label] = tuple(nodes if len(nodes) else np.zeros(1, np.int64) for nodes in peaks)
        return candidates

    @cached_property
    def codes(self) -> tuple[Array, ...]:
        """(R,) of (N, K): the code of every node."""
        coupling = self.graph.coupling
        if coupling is None:
            return tuple(np.zeros((region.nodes, 1)) for region in self.graph.regions)
        return tuple(coupling.code(r, region.displacements) for r, region in enumerate(self.graph.regions))

    @cached_property
    def spreads(self) -> Array:
        """(R,) the usual distance of two peaks' codes, the unit in which coupling measures likeness."""
        spreads = [codes[routes.sinks].std(axis=0) for codes, routes in zip(self.codes, self.routes)]
        return np.array([max(float(np.sqrt((spread**2).sum())), 1e-12) for spread in spreads])

    @cached_property
    def flat(self) -> tuple[tuple[Array, Array, Array, Array], ...]:
        """(R,) of displacements (N, n), velocities (N, n), runs (N,) and members, as the kernels take them."""
        regions = self.graph.regions
        return tuple(
            (r.displacements.reshape(r.nodes, -1), r.velocities.reshape(r.nodes, -1), r.runs, np.asarray(r.members))
            for r in regions
        )

    @cached_property
    def limits(self) -> tuple[Array, Array, Array]:
        """Range (L, D) of the data's displacements, lowest and highest, and (R,) the greatest speed of each region."""
        graph, coupling = self.graph, self.graph.coupling
        if coupling is not None:
            # a part in a million below the data's own, to allow for rounding
            return coupling.lowest, coupling.highest, coupling.fastest * (1.0 - 1e-6)
        lowest, highest = np.zeros(graph.base.shape), np.zeros(graph.base.shape)
        for region in graph.regions:
            lowest[region.members] = region.displacements.min(axis=0)
            highest[region.members] = region.displacements.max(axis=0)
        return lowest, highest, np.full(len(graph.regions), np.inf)

    @cached_property
    def _deviations(self) -> tuple[list[Array], dict[str | None, float]]:
        """Deviation of onsets in seconds: (R,) of (N,) of each node, 0 where it holds one peak; and of each label."""
        rate, learned = self.graph.rate, self.graph.coupling
        of_nodes = [np.nan_to_num(np.asarray(r.onset_deviation, np.float64)) / rate for r in self.graph.regions]
        of_labels: dict[str | None, float] = dict.fromkeys((None, *self.graph.labels), 0.0)
        if learned is not None:
            for label in of_labels:
                takes = learned.takes_of(label) if label is not None else np.arange(len(learned.onsets))
                of_labels[label] = float(learned.onsets[takes].std()) if len(takes) else 0.0
        return of_nodes, of_labels

    def deviations(self, nodes: Array, label: str | None) -> Array:
        """(R,) deviation in seconds of the onset of each peak; that of the label's takes where a node holds one."""
        of_nodes, of_labels = self._deviations
        chosen = [deviations[node] for deviations, node in zip(of_nodes, nodes.tolist())]
        return np.array([seconds if seconds > 0.0 else of_labels[label] for seconds in chosen])

    @cached_property
    def _takes(self) -> dict[str | None, list[int]]:
        learned = self.graph.coupling
        if learned is None:
            return {}
        return {label: learned.takes_of(label).tolist() for label in self.graph.labels}

    def draw_take(self, label: str | None, rng: np.random.Generator) -> int | None:
        """A random take of the label to imitate; None for neutral, or where the graph has no coupling."""
        draw = rng.random()
        takes = self._takes.get(label, [])
        return takes[int(draw * len(takes))] if takes else None

    @cached_property
    def _likeness(self) -> dict[str, list[Array]]:
        """Label -> (R,) of (P, n): squared distances, in spreads, of every take's apex from the label's n peaks."""
        learned = self.graph.coupling
        distances: dict[str, list[Array]] = {}
        for label, candidates in self.candidates.items() if learned is not None else ():
            assert learned is not None
            gaps = [self.codes[r][nodes][None] - learned.codes[:, r, None] for r, nodes in enumerate(candidates)]
            distances[label] = [(gap**2).sum(axis=2) / self.spreads[r] ** 2 for r, gap in enumerate(gaps)]
        return distances

    def draw_sinks(
        self, label: str | None, take: int | None, coupling: float, here: Array, rng: np.random.Generator
    ) -> Array:
        """(R,) a random peak of the label in each region, or neutral.

        A node that holds n peaks whose code lies d spreads from the take's is chosen with a weight n exp(-d^2 / 2h^2),
        h = (1 - c) / 3c: any peak at coupling c = 0, the most alike at 1. The current node of a region (`here`) is not
        chosen if there is another.
        """
        draws = rng.random(len(self.routes)).tolist()
        result = np.zeros(len(self.routes), np.int64)
        if label is None:
            return result
        likeness = self._likeness[label] if take is not None and coupling > 0.0 else None
        sharpness = 0.5 / max(COUPLING_WIDTH_SPREADS * (1.0 - coupling) / max(coupling, 1e-9), 1e-3) ** 2
        for r, nodes in enumerate(self.candidates[label]):
            if len(nodes) == 1:
                result[r] = nodes[0]
                continue
            d2 = likeness[r][take] if likeness is not None else np.zeros(len(nodes))
            others = nodes != here[r]
            least = d2[others].min() if len(nodes) > 1 else 0.0
            many = self.graph.regions[r].arrivals[nodes]
            weights = np.exp(-sharpness * np.maximum(d2 - least, 0.0)) * others * many
            sums = np.cumsum(weights)
            result[r] = nodes[min(int(np.searchsorted(sums, draws[r] * sums[-1], side="right")), len(nodes) - 1)]
        return result


def prepare_actor(graph: ExpressionGraph) -> GraphActor:
    """The actor of a graph, made once for as long as the graph lives."""
    actor = _ACTORS.get(graph)
    if actor is None:
        actor = _ACTORS[graph] = GraphActor(graph, tuple(RegionRoutes(region) for region in graph.regions))
    return actor
