from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.baselines.pose_mappings import PrincipalComponents
from tests.transfer.small import pairs


def test_a_linear_relation_is_found() -> None:
    given = pairs()
    rng = np.random.default_rng(0)
    few = rng.normal(size=(4, given.source[0].size))
    source = (rng.normal(size=(len(given), 4)) @ few).reshape(given.source.shape)
    matrix = rng.normal(size=(given.source[0].size, given.target[0].size))
    linear = replace(given, source=source, target=(source.reshape(len(given), -1) @ matrix).reshape(given.target.shape))
    new = (rng.normal(size=(5, 4)) @ few).reshape(5, -1, 3)
    found = PrincipalComponents.learn(linear).map(new).points
    np.testing.assert_allclose(found.reshape(5, -1), new.reshape(5, -1) @ matrix, atol=1e-8)


def test_key_poses_come_back_and_alike_pairs_do_no_harm() -> None:
    given = pairs()
    twice = given.subset([*range(len(given)), 0])
    for some in (given, twice):
        np.testing.assert_allclose(PrincipalComponents.learn(some).map(some.source).points, some.target, atol=1e-6)
