from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.express.graph import oracle
from tests.reference import express as reference

from understudy.express.graph import graph_kernels as kernels
from understudy.express.graph import sample_graph

seeds = st.integers(0, 2**32 - 1)


def pose_and_units(rng, dimensions=2, landmarks=6):
    steps = rng.normal(size=(landmarks, dimensions)) * (rng.random((landmarks, 1)) < 0.7)
    return rng.normal(size=(landmarks, dimensions)), sample_graph.units_of(steps, 1e-9)


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([1, 2, 3]))
def test_eq_3_is_the_obvious_sum(seed, dimensions):
    rng = np.random.default_rng(seed)
    (a, u), (b, w) = pose_and_units(rng, dimensions), pose_and_units(rng, dimensions)
    value = reference.similarity(a, u, b, w)
    assert value == pytest.approx(oracle.sim(a, u.tolist(), b, w.tolist()))
    assert reference.similarity(b, w, a, u) == pytest.approx(value)
    assert reference.similarity(a, -u, b, w) == pytest.approx(value)  # onset and offset count alike
    assert reference.similarity(a, u, a, w) == 0.0
    distance = np.linalg.norm(a - b, axis=1).sum()
    assert distance - 1e-12 <= value <= 2 * distance + 1e-12


def test_standing_still():
    still, moving = np.zeros((1, 2)), np.array([[1.0, 0.0]])
    across = np.array([[0.0, 1.0]])
    assert sample_graph.velocity_influence(still, still) == 0.0
    assert sample_graph.velocity_influence(still, moving) == 0.5
    assert sample_graph.velocity_influence(moving, -moving) == 0.0
    assert sample_graph.velocity_influence(moving, across) == 1.0


def test_velocities_are_unit_whatever_the_speed():
    steps = np.array([[3.0, 4.0], [1e-3, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(sample_graph.units_of(steps, 1e-2), [[0.6, 0.8], [0.0, 0.0], [0.0, 0.0]])


@settings(max_examples=30, deadline=None)
@given(seeds, st.floats(0.5, 40.0))
def test_the_kernel_finds_the_lowest_over_incoming_edges(seed, bound):
    rng = np.random.default_rng(seed)
    pose, _ = pose_and_units(rng)
    nodes = np.array([pose_and_units(rng)[0] for _ in range(7)])
    counts = rng.integers(0, 3, size=7)
    starts = np.concatenate([[0], np.cumsum(counts)])
    units = np.array([pose_and_units(rng)[1] for _ in range(starts[-1])]).reshape(-1, *pose.shape)
    mine = np.array([pose_and_units(rng)[1] for _ in range(rng.integers(0, 3))]).reshape(-1, *pose.shape)
    allowed = rng.random(7) < 0.8
    values = reference.node_similarities(pose, mine, nodes, starts, units)
    zero = [[[0.0, 0.0]] * len(pose)]
    for n in range(7):
        theirs = units[starts[n] : starts[n + 1]].tolist() or zero
        wanted = min(oracle.sim(pose, u, nodes[n], w) for u in (mine.tolist() or zero) for w in theirs)
        assert values[n] == pytest.approx(wanted)
    room = np.zeros(len(pose)), np.zeros_like(pose)
    best, value = kernels.most_similar_node(
        pose, mine, nodes, nodes.sum(axis=1), starts, units, allowed, 1.0, bound, *room
    )
    values[~allowed] = np.inf
    if values.min() < bound:
        assert best == values.argmin()
        assert value == pytest.approx(values.min())
    else:
        assert (best, value) == (-1, bound)
