from __future__ import annotations

import numpy as np
import pytest
from benchmarks.baselines.pose_mappings import LEARNERS, NearestPoses, leave_one_out, subset_error
from tests.transfer.small import pairs

from understudy.errors import InvalidInput


def test_the_pair_itself_is_not_seen() -> None:
    given = pairs()
    alone = leave_one_out(given, lambda some: NearestPoses.learn(some, 1))
    twice = given.subset([0, 0, 5, 5, 9, 9])
    assert alone.min() > 1e-4  # the nearest other pose is another pose
    np.testing.assert_allclose(leave_one_out(twice, lambda some: NearestPoses.learn(some, 1)), 0.0, atol=1e-6)


def test_all_pairs_chosen_leave_little_error() -> None:
    given = pairs()
    everything = subset_error(given, range(len(given)), LEARNERS["NN3"])
    assert everything < 1e-6 < subset_error(given, [0, 3, 6, 9], LEARNERS["NN3"])


def test_two_pairs_are_too_few() -> None:
    with pytest.raises(InvalidInput, match="at least 3"):
        leave_one_out(pairs().subset([0, 1]), LEARNERS["GP"])
