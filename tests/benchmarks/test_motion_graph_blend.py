"""Blends: KGP02's weight, its ends, and rotations the short way."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.baselines.motion_graph import blend_windows, fade

from understudy.maths import quaternion


@pytest.mark.parametrize("k", [2, 5, 12, 30])
def test_the_weight_is_one_before_and_zero_at_the_end_and_flat_at_both(k: int) -> None:
    alpha = fade(k)
    p = np.arange(k)
    assert np.allclose(alpha, 2 * ((p + 1) / k) ** 3 - 3 * ((p + 1) / k) ** 2 + 1)
    assert alpha[-1] == pytest.approx(0)
    whole = np.concatenate([[1.0], alpha])  # with p = -1
    assert (np.diff(whole) < 0).all()
    assert np.allclose(whole + whole[::-1], 1)
    assert 1 - whole[1] <= 3 / k**2  # the slope at the end goes as 1/k^2: none in the limit


def test_equal_motions_are_left_alone() -> None:
    motion = np.random.default_rng(0).normal(size=(12, 5))
    assert np.allclose(blend_windows(motion, motion), motion)


def test_a_constant_difference_fades_by_the_weight() -> None:
    motion = np.random.default_rng(1).normal(size=(12, 2))
    assert np.allclose(blend_windows(motion + 1, motion) - motion, fade(12)[:, None])


def test_rotations_stay_unit_and_take_the_short_way() -> None:
    rng = np.random.default_rng(2)
    a, b = (quaternion.normalise(rng.normal(size=(8, 4))) for _ in range(2))
    left, right = np.hstack([a, np.ones((8, 1))]), np.hstack([-b, np.zeros((8, 1))])
    result = blend_windows(left, right, np.array([0]))
    assert np.allclose(np.linalg.norm(result[:, :4], axis=1), 1)
    expected = np.stack([quaternion.slerp(a[p], b[p], 1 - alpha) for p, alpha in enumerate(fade(8))])
    assert np.allclose(quaternion.angle_between(result[:, :4], expected), 0, atol=1e-7)
    assert np.allclose(result[:, 4], fade(8))
