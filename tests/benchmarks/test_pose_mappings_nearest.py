from __future__ import annotations

import numpy as np
from benchmarks.baselines.pose_mappings import NearestPoses
from tests.transfer.small import pairs, source


def test_key_poses_come_back() -> None:
    given = pairs()
    mapped = NearestPoses.learn(given, 3).map(given.source)
    np.testing.assert_allclose(mapped.points, given.target, atol=1e-6)
    assert mapped.variance.max() < 1e-9


def test_blends_by_one_over_the_distance() -> None:
    given = pairs()
    new = source().local[[40]]
    distance = np.linalg.norm((new - given.source).reshape(len(given), -1), axis=1)
    near = np.argsort(distance)[:3]
    weights = 1 / distance[near]
    expected = np.einsum("k,kqi->qi", weights / weights.sum(), given.target[near])
    np.testing.assert_allclose(NearestPoses.learn(given, 3).map(new).points[0], expected, atol=1e-9)


def test_takes_all_pairs_where_there_are_fewer() -> None:
    assert NearestPoses.learn(pairs().subset([0, 4]), 10).name == "NN2"
