from __future__ import annotations

import heapq
import itertools

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.express.acting.graph_paths import RegionRoutes
from understudy.express.graph.expression_graph import ExpressionGraph, RegionGraph


def slow_cost(region: RegionGraph, source: int, sink: int) -> float:
    """Dijkstra's algorithm as in a textbook."""
    best, queue = {source: 0.0}, [(0.0, source)]
    while queue:
        cost, node = heapq.heappop(queue)
        if node == sink:
            return cost
        for edge in np.flatnonzero(region.sources == node):
            after, target = cost + float(region.costs[edge]), int(region.targets[edge])
            if after < best.get(target, np.inf):
                best[target] = after
                heapq.heappush(queue, (after, target))
    return np.inf


def cost_of(region: RegionGraph, path: np.ndarray) -> float:
    edges = {(int(a), int(b)): float(c) for a, b, c in zip(region.sources, region.targets, region.costs)}
    return sum(edges[int(a), int(b)] for a, b in itertools.pairwise(path))


def test_paths_are_the_cheapest(merged: ExpressionGraph) -> None:
    rng = np.random.default_rng(0)
    for region in merged.regions:
        routes = RegionRoutes(region)
        for source, sink in zip(rng.integers(0, region.nodes, 8), rng.choice(routes.sinks, 8)):
            path = routes.path(int(source), int(sink))
            assert (path[0], path[-1]) == (source, sink)
            assert cost_of(region, path) == pytest.approx(slow_cost(region, int(source), int(sink)))


def test_any_node_can_be_a_sink(merged: ExpressionGraph) -> None:
    region = merged.regions[0]
    node = int(np.setdiff1d(np.arange(region.nodes), RegionRoutes(region).sinks)[0])
    assert RegionRoutes(region).path(0, node)[-1] == node


def test_every_peak_is_reached_from_everywhere(merged: ExpressionGraph, graph: ExpressionGraph) -> None:
    for region in (*merged.regions, *graph.regions):
        routes = RegionRoutes(region)
        for sink in routes.sinks:
            assert all(routes.path(node, int(sink))[-1] == sink for node in range(region.nodes))


def test_a_dead_end_is_named(graph: ExpressionGraph) -> None:
    region = graph.regions[0]
    kept = region.targets != 0
    cut = RegionGraph(
        **{
            name: getattr(region, name)
            for name in region.__dataclass_fields__
            if name not in ("sources", "targets", "costs")
        },
        sources=region.sources[kept],
        targets=region.targets[kept],
        costs=region.costs[kept],
    )
    routes = RegionRoutes(cut)
    a, b = (int(sink) for sink in routes.sinks[1:3])
    with pytest.raises(InvalidInput, match=f"'brows' has no path from node {a} to node {b}"):
        routes.path(a, b)


def test_substitutes_are_near_and_never_peaks_or_neutral(merged: ExpressionGraph) -> None:
    region = merged.regions[0]
    routes = RegionRoutes(region)
    near = {(int(a), int(b)) for a, b in zip(region.sources, region.targets)}
    near |= {(b, a) for a, b in near}
    starts, others = routes.substitutes(1)
    for node in range(region.nodes):
        found = others[starts[node] : starts[node + 1]]
        assert all((node, int(other)) in near for other in found)
        assert 0 not in found and node not in found and not region.peaks[found].any()
    assert len(routes.substitutes(2)[1]) > len(others)
