from __future__ import annotations

import numpy as np
import pytest
from tests.express.graph import oracle
from tests.express.graph.made_takes import takes

from understudy.express.graph import sample_graph
from understudy.express.sequence import regions_of

STILL = 0.02


@pytest.fixture(scope="module", params=[2, 3])
def take(request):
    return takes(1, ("fear",), request.param, seed=3)[0]


def poses_of(take, region):
    poses = take.displacements[:, regions_of(take.names)[region]]
    return poses, sample_graph.units_of(np.diff(poses, axis=0, prepend=poses[:1]), STILL)


@pytest.mark.parametrize("threshold", [0.0, 2.0, 15.0, 60.0, 1e6])
@pytest.mark.parametrize("region", ["mouth", "brows"])
def test_algorithm_1(take, region, threshold):
    poses, units = poses_of(take, region)
    for home in (True, False):
        found = sample_graph.visit_poses(poses, units, threshold, STILL, take.peak, home)
        assert found.tolist() == oracle.visited(poses, threshold, STILL, take.peak, home)


def test_a_threshold_of_nothing_keeps_every_pose_and_any_keeps_the_peak(take):
    poses, units = poses_of(take, "mouth")
    every = sample_graph.visit_poses(poses, units, 0.0, STILL, take.peak, False)
    assert every.tolist() == list(range(len(poses)))
    least = sample_graph.visit_poses(poses, units, 1e9, STILL, take.peak, True)
    assert set(least.tolist()) == {0, 1}
    assert least[take.peak] == 1


def test_what_a_node_holds(take):
    poses, units = poses_of(take, "mouth")
    visits = sample_graph.visit_poses(poses, units, 25.0, STILL, take.peak, True)
    graph = sample_graph.build_sample_graph(poses, visits, take.peak, STILL)
    assert graph.counts.sum() == len(poses)
    assert (graph.displacements[0] == 0).all()
    np.testing.assert_array_equal(graph.displacements[graph.peak], poses[take.peak])
    others = [n for n in range(1, len(graph.counts)) if n != graph.peak]
    for n in others:
        np.testing.assert_allclose(graph.displacements[n], poses[visits == n].mean(axis=0))
    assert graph.starts[-1] == len(graph.units) == len(sample_graph.edges_of(visits))


def test_velocities_there_and_back_do_not_cancel():
    up = np.linspace(0.0, 1.0, 6)
    path = np.concatenate([up, up[-2::-1]])
    poses = path[:, None, None] * np.array([[3.0, 1.0], [0.0, 2.0]])
    visits = np.minimum(np.arange(11), 10 - np.arange(11))  # out and back through the same nodes
    velocities = sample_graph.mean_velocities(poses, visits, 6, 5)
    np.testing.assert_allclose(velocities[2], poses[1], atol=1e-12)
