"""Window distances: the fast form is the slow one, and means what it says."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.baselines import motion_graph


def slowly(a, b, weights):
    """D by its definition, one pair of windows at a time."""
    k = len(weights)
    result = np.empty((len(a) - k + 1, len(b) - k + 1))
    for i in range(len(result)):
        for j in range(result.shape[1]):
            apart = np.square(a[i : i + k] - b[j : j + k]).sum(axis=1)
            result[i, j] = np.sqrt((weights * apart).sum())
    return result


@pytest.mark.parametrize("taper", [True, False])
@pytest.mark.parametrize("window", [2, 5, 12])
def test_weights_are_a_mean(window: int, taper: bool) -> None:
    weights = motion_graph.window_weights(window, taper)
    assert weights.sum() == pytest.approx(1)
    assert (weights > 0).all()
    assert np.allclose(weights, weights[::-1])
    assert weights[0] <= weights[window // 2]


def test_fast_distances_are_the_slow_ones() -> None:
    rng = np.random.default_rng(0)
    clips = [rng.normal(50, 1, (frames, 7)) for frames in (20, 31, 12, 5)]
    weights = motion_graph.window_weights(6)
    pairs = {(a, b): apart for a, b, apart in motion_graph.window_distances(clips, weights)}
    assert sorted(pairs) == [(a, b) for a in range(4) for b in range(a, 4)]
    for (a, b), apart in pairs.items():
        if len(clips[b]) < 6 or len(clips[a]) < 6:
            assert apart.size == 0
        elif a != b:
            assert np.allclose(apart, slowly(clips[a], clips[b], weights))
    assert np.allclose(np.diag(pairs[0, 0]), 0, atol=1e-6)


def test_a_constant_offset_is_the_distance() -> None:
    motion = np.random.default_rng(1).normal(size=(30, 3))
    (_, _, _), (_, _, apart), _ = motion_graph.window_distances(
        [motion, motion + np.array([3, 0, 4])], motion_graph.window_weights(8)
    )
    assert np.allclose(np.diag(apart), 5)


def test_squared_distances_never_fall_below_zero() -> None:
    rows = np.full((40, 5), 1e3) + np.random.default_rng(2).normal(0, 1e-9, (40, 5))
    assert (motion_graph.squared_distances(rows, rows) >= 0).all()


def test_the_same_pose_moving_the_other_way_is_far() -> None:
    t = np.arange(41)[:, None] / 24.0
    up, down = t - t[20], t[20] - t
    (_, _, _), (_, _, apart), _ = motion_graph.window_distances([up, down], motion_graph.window_weights(11))
    assert apart[15, 15] > 0.05
