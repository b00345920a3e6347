"""Components and ways, against networks small enough to see, and a slow oracle."""

from __future__ import annotations

import numpy as np
from benchmarks.baselines import motion_graph
from hypothesis import given, settings
from hypothesis import strategies as st


def two_clips(leave, enter):
    """Frames 0-4 and 5-9, transitions of three frames."""
    follows = np.ones(10, bool)
    follows[[4, 9]] = False
    return motion_graph.adjacency(follows, np.array(leave, int), np.array(enter, int), 3)


def test_a_cycle_is_kept_and_its_ends_are_not() -> None:
    graph = two_clips([3, 8], [6, 1])
    assert np.flatnonzero(motion_graph.largest_component(graph, np.ones(10, bool))).tolist() == [1, 2, 3, 6, 7, 8]


def test_without_a_way_back_nothing_is_kept() -> None:
    assert not motion_graph.largest_component(two_clips([3], [6]), np.ones(10, bool)).any()


def test_components_stay_within_the_chosen_frames() -> None:
    graph = two_clips([3, 8, 4], [6, 1, 2])
    first = np.arange(10) < 5
    assert np.flatnonzero(motion_graph.largest_component(graph, first)).tolist() == [2, 3, 4]
    assert not motion_graph.largest_component(graph, np.zeros(10, bool)).any()


def test_the_quickest_way() -> None:
    cost, following = motion_graph.shortest_paths_to(two_clips([0, 3], [7, 6]), np.arange(10) >= 5)
    assert cost[:5].tolist() == [3, 5, 4, 3, np.inf]
    assert following[:5].tolist() == [7, 2, 3, 6, motion_graph.NO_NEXT_FRAME]
    assert (cost[5:] == 0).all()


def test_no_targets_no_way() -> None:
    cost, following = motion_graph.shortest_paths_to(two_clips([0], [7]), np.zeros(10, bool))
    assert np.isinf(cost).all() and (following == motion_graph.NO_NEXT_FRAME).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12, unique=True))
def test_components_and_ways_agree_with_floyd_and_warshall(pairs) -> None:
    pairs = [(a, b) for a, b in pairs if b not in (a, a + 1)]
    graph = two_clips([a for a, _ in pairs], [b for _, b in pairs])
    between = np.where(graph.toarray() > 0, graph.toarray(), np.inf)
    np.fill_diagonal(between, 0)
    for middle in range(10):
        between = np.minimum(between, between[:, [middle]] + between[[middle]])
    mutual = np.isfinite(between) & np.isfinite(between.T)
    kept = motion_graph.largest_component(graph, np.ones(10, bool))
    assert kept.sum() == (mutual.sum(axis=1).max() if mutual.sum(axis=1).max() > 1 else 0)
    assert mutual[np.ix_(kept, kept)].all()
    cost, _ = motion_graph.shortest_paths_to(graph, np.arange(10) >= 7)
    assert np.array_equal(cost, between[:, 7:].min(axis=1))
