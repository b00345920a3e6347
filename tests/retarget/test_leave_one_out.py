from __future__ import annotations

import numpy as np
import pytest
from tests.retarget.small import pairs

from understudy.errors import InvalidInput
from understudy.retarget.baselines import LEARNERS, NearestPoses
from understudy.retarget.leave_one_out import learned_error, leave_one_out


def test_the_pair_itself_is_not_seen() -> None:
    given = pairs()
    alone = leave_one_out(given, lambda some: NearestPoses.learn(some, 1))
    twice = given.some([0, 0, 5, 5, 9, 9])
    assert alone.min() > 1e-4  # the nearest other pose is another pose
    np.testing.assert_allclose(leave_one_out(twice, lambda some: NearestPoses.learn(some, 1)), 0.0, atol=1e-6)


def test_all_pairs_chosen_leave_little_error() -> None:
    given = pairs()
    everything = learned_error(given, range(len(given)), LEARNERS["NN3"])
    assert everything < 1e-6 < learned_error(given, [0, 3, 6, 9], LEARNERS["NN3"])


def test_two_pairs_are_too_few() -> None:
    with pytest.raises(InvalidInput, match="at least 3"):
        leave_one_out(pairs().some([0, 1]), LEARNERS["GP"])
