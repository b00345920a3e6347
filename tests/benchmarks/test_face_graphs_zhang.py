from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.baselines.face_graphs import build_all_pairs
from scipy.sparse.csgraph import dijkstra
from tests.express.graph.made_takes import takes

from understudy.errors import InvalidInput


@pytest.fixture(scope="module")
def made():
    return takes(2, ("anger", "fear", "joy"))


@pytest.fixture(scope="module")
def graph(made):
    return build_all_pairs(made)


def test_every_pose_is_a_node_and_neutral_is_shared(made, graph):
    assert len(graph.poses) == 1 + sum(len(take) - 1 for take in made)
    assert graph.weights.shape == (len(graph.poses),) * 2
    for (pose, label), take in zip(graph.peaks, made):
        np.testing.assert_array_equal(graph.poses[pose], take.displacements[take.peak])
        assert graph.labels[label] == take.label


def test_weights_are_the_distances_of_poses_and_velocities(made, graph):
    moved = made[0].displacements
    wanted = np.square(moved[3] - moved[8]).sum() + np.square(moved[3] - moved[2] - moved[8] + moved[7]).sum()
    assert graph.weights[3, 8] == pytest.approx(wanted, rel=1e-5)
    np.testing.assert_allclose(graph.weights, graph.weights.T, rtol=1e-6)


def test_the_path_is_the_shortest(graph):
    costs, _ = dijkstra(graph.weights.astype(float), indices=0, return_predecessors=True)
    for sink in graph.peaks[:, 0]:
        way = graph.path(0, int(sink))
        assert (way[0], way[-1]) == (0, sink)
        cost = sum(float(graph.weights[a, b]) for a, b in itertools.pairwise(way))
        assert cost == pytest.approx(costs[sink], rel=1e-5)
        assert len(way) > 3  # through poses between, not in one jump


def test_acting(graph):
    points, peaks = graph.act_labels(["fear", "joy"], seed=1)
    assert len(points) == peaks[-1] + 1
    for frame, label in zip(peaks, ("fear", "joy")):
        at = [np.abs(points[frame] - graph.base - graph.poses[pose]).max() for pose in graph.peaks_of(label)]
        assert min(at) < 1e-9
    np.testing.assert_array_equal(points, graph.act_labels(["fear", "joy"], seed=1)[0])


def test_refusals(graph):
    with pytest.raises(InvalidInput, match="there is no label 'awe'; available: 'anger'"):
        graph.act_labels(["awe"])
    with pytest.raises(InvalidInput, match="sink should lie between"):
        graph.path(0, 10**6)
