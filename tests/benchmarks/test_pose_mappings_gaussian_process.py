from __future__ import annotations

import numpy as np
from benchmarks.baselines.pose_mappings import GaussianProcess, _objective
from tests.transfer.small import pairs, source

from understudy.character.body.poses import squared_pose_distances


def test_slope_of_the_likelihood() -> None:
    rng = np.random.default_rng(1)
    y, z = rng.normal(size=(7, 3)), rng.normal(size=(7, 5))
    squares, gram = squared_pose_distances(y, y), z @ z.T
    at = np.log([0.8, 0.5, 0.2, 0.05])
    slope = _objective(at, squares, gram, 5)[1]
    for i, step in enumerate(1e-6 * np.eye(4)):
        difference = _objective(at + step, squares, gram, 5)[0] - _objective(at - step, squares, gram, 5)[0]
        assert abs(difference / 2e-6 - slope[i]) < 1e-4 * max(1, abs(slope[i]))


def test_key_poses_come_back_and_what_is_far_is_uncertain() -> None:
    given = pairs()
    model = GaussianProcess.learn(given)
    at_keys = model.map(given.source)
    assert np.linalg.norm(at_keys.points - given.target, axis=-1).max() < 0.01
    assert model.map(given.source + 5.0).variance.min() > 10 * at_keys.variance.max()


def test_foretells_the_poses_between() -> None:
    given = pairs()
    frames = np.arange(6, 80, 8)
    found = GaussianProcess.learn(given).map(source().local[frames]).points
    truth = pairs(frames).target
    still = np.linalg.norm(given.target.mean(axis=0) - truth, axis=-1).mean()
    assert np.linalg.norm(found - truth, axis=-1).mean() < 0.2 * still
