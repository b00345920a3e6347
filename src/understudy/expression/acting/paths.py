"""Paths: the cheapest way from any node of a region's graph to any peak [Dijkstra 1959].

A crowd asks for the same few sinks again and again, so the ways of all nodes to neutral and to every peak are found
once a graph, backwards from the sinks, and kept as a table of next nodes; a path is then read off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.graph.face_graph import RegionGraph

NONE = -9999  # SciPy's mark for a node without a way


@dataclass(frozen=True, eq=False)
class Routes:
    """The ways of one region's graph, and what may stand in for its nodes."""

    region: RegionGraph

    @cached_property
    def sinks(self) -> Array:
        """(S,) neutral and the nodes that hold a peak."""
        return np.unique(np.concatenate([[0], np.flatnonzero(self.region.peaks.any(axis=1))]))

    @cached_property
    def following(self) -> Array:
        """(S, N) int32: the node after each on its way to each sink."""
        return self._next_nodes(self.sinks)

    @cached_property
    def _row(self) -> dict[int, int]:
        return {int(sink): row for row, sink in enumerate(self.sinks)}

    @cached_property
    def _turned(self) -> Any:
        """The graph with its edges turned round; a free edge costs next to nothing, since SciPy takes 0 for none."""
        from scipy.sparse import csr_matrix

        region = self.region
        costs = np.maximum(region.costs, 1e-12 * max(float(region.costs.max(initial=0.0)), 1e-12))
        return csr_matrix((costs, (region.targets, region.sources)), shape=(region.nodes, region.nodes))

    def _next_nodes(self, sinks: Array) -> Array:
        from scipy.sparse.csgraph import dijkstra

        _, before = dijkstra(self._turned, indices=sinks, return_predecessors=True)
        return np.asarray(before, np.int32)

    def path(self, source: int, sink: int) -> Array:
        """(n,) the nodes from `source` to `sink`, both included; refused where there is no way."""
        following, nodes = self.row(sink), [source]
        while nodes[-1] != sink:
            step = int(following[nodes[-1]])
            if step == NONE:
                raise InvalidInput(f"region {self.region.name!r} has no way from node {source} to node {sink}")
            nodes.append(step)
        return np.array(nodes)

    def reaches_all(self) -> bool:
        """Whether every node has a way to neutral and to every peak."""
        rows = self.following.copy()
        rows[np.arange(len(self.sinks)), self.sinks] = 0
        return bool((rows != NONE).all())

    def row(self, sink: int) -> Array:
        """(N,) int32: the node after each on its way to a sink, of the table or found for this once."""
        number = self._row.get(sink)
        return self.following[number] if number is not None else self._next_nodes(np.array([sink]))[0]

    def substitutes(self, hops: int) -> tuple[Array, Array]:
        """Starts (N + 1,) and nodes: for each node those that lie up to `hops` edges away, either way along them.

        Neither the node itself is among them, nor neutral, nor a peak.
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
