"""Weights from tags: at most four, of sum one, continuous; nearer solids hold more."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.sculpting.clay import MOST_JOINTS, fewest_weights


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_few_weights_of_sum_one(seed: int) -> None:
    table = np.random.default_rng(seed).uniform(size=(20, 7)) ** 3 + 1e-3
    made = fewest_weights(table)
    assert np.allclose(made.sum(axis=1), 1) and (made >= 0).all()
    assert (made > 0).sum(axis=1).max() <= MOST_JOINTS
    assert np.allclose(np.round(1024 * made), 1024 * made)
    heaviest = table.argmax(axis=1)
    assert np.allclose(made[np.arange(20), heaviest], made.max(axis=1), atol=4 / 1024)  # but for the rounding


def test_the_fifth_joint_comes_in_without_a_jump() -> None:
    steps = np.linspace(0.0, 0.4, 81)
    rows = np.column_stack([np.full((81, 4), [0.5, 0.4, 0.3, 0.2]), steps])
    made = fewest_weights(rows)
    assert np.abs(np.diff(made, axis=0)).max() < 0.02


def test_few_joints_are_left_as_they_are() -> None:
    assert np.array_equal(fewest_weights(np.array([[3.0, 1.0]])), [[0.75, 0.25]])
