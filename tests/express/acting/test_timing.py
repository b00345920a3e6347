from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.express.acting import timing
from understudy.express.acting.graph_paths import RegionRoutes
from understudy.express.graph.expression_graph import ExpressionGraph


def test_one_pose_a_node_is_the_node() -> None:
    nodes = np.random.default_rng(0).normal(size=(5, 3, 2))
    assert np.array_equal(timing.expand_path(nodes, np.ones_like(nodes), np.ones(5)), nodes)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_expansion_stays_between_its_neighbours_and_goes_their_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = np.cumsum(rng.random((6, 2, 1)), axis=0)  # a motion that only rises
    velocities, runs = rng.normal(size=nodes.shape) * 0.3, rng.integers(1, 6, 6).astype(float)
    poses = timing.expand_path(nodes, velocities, runs)
    assert len(poses) == runs.sum()
    ends = np.cumsum(runs).astype(int)
    for node, (first, last) in enumerate(zip(ends - runs.astype(int), ends)):
        low, high = nodes[max(node - 1, 0)], nodes[min(node + 1, 5)]
        assert (poses[first:last] >= low - 1e-12).all() and (poses[first:last] <= high + 1e-12).all()


def test_the_way_back_uses_the_velocity_turned_round() -> None:
    nodes = np.array([0.0, 10.0, 20.0])[:, None, None]
    velocities, runs = np.full_like(nodes, 2.0), np.full(3, 3.0)
    there = timing.expand_path(nodes, velocities, runs)
    back = timing.expand_path(nodes[::-1], velocities[::-1], runs)
    assert np.allclose(there[3:6].ravel(), [8.0, 10.0, 12.0])
    assert np.allclose(back, there[::-1])


def test_stretching_keeps_the_ends_and_the_straight() -> None:
    poses = np.linspace(0.0, 3.0, 4)[:, None] * [1.0, -2.0]
    longer = timing.stretch_time(poses, 13)
    assert np.allclose(longer, np.linspace(0.0, 3.0, 13)[:, None] * [1.0, -2.0])
    assert np.allclose(timing.stretch_time(poses, 4), poses)


def test_regions_get_the_longest_length() -> None:
    found = timing.normalise_time([np.zeros((4, 2)), np.ones((9, 3)), np.ones((1, 1))])
    assert [each.shape for each in found] == [(9, 2), (9, 3), (9, 1)]


def test_length_from_neutral_is_the_onset_of_the_peak(graph: ExpressionGraph) -> None:
    region = graph.regions[0]
    routes = RegionRoutes(region)
    peak = int(routes.sinks[1])
    assert timing.natural_length(region, routes.path(0, peak)) == region.onset[peak]
    assert timing.natural_length(region, routes.path(peak, 0)) == region.onset[peak]


def test_length_from_peak_to_peak_weighs_both_onsets(graph: ExpressionGraph) -> None:
    region = graph.regions[0]
    a, b = (int(sink) for sink in RegionRoutes(region).sinks[1:3])
    path = RegionRoutes(region).path(a, b)
    share = (1 + path.tolist().index(0)) / len(path)  # its takes meet in neutral only
    wanted = share * region.onset[a] + (1 - share) * region.onset[b]
    assert timing.natural_length(region, path) == pytest.approx(wanted)
