"""Measures of motion on motions whose derivatives are known."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.measures import smoothness

from understudy.errors import InvalidInput

RATE = 24.0
T = np.arange(48) / RATE
DIRECTION = np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]])  # RMS length sqrt(9 / 2)
LENGTH = np.sqrt(4.5)


def moving(x):
    """Vertices (F, 2, 3) whose first vertex moves by x(t) along a vector of length 3."""
    return np.asarray(x)[:, None, None] * DIRECTION


@pytest.mark.parametrize("order", [1, 2, 3])
def test_rates_are_exact_for_motion_of_their_degree(order: int) -> None:
    motion = moving(2.0 + T**order)
    expected = [1, 2, 6][order - 1] * LENGTH
    values = (smoothness.speed, smoothness.acceleration, smoothness.jerk)[order - 1](motion, RATE)
    assert values.shape == (len(T) - order,)
    assert np.allclose(values, expected)
    assert np.allclose(smoothness.rate_of(motion, RATE, order + 1), 0, atol=1e-8)


def test_rates_of_a_sine_are_those_of_calculus_within_the_differences() -> None:
    w = 2 * np.pi
    motion = moving(np.sin(w * T))
    for order in (1, 2, 3):
        assert smoothness.rate_of(motion, RATE, order).max() == pytest.approx(LENGTH * w**order, rel=0.04)


def test_features_and_vertices_agree_under_their_scales() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 12))
    vertices = rows.reshape(20, 4, 3)
    assert np.allclose(smoothness.size(vertices), smoothness.size(rows / 2))
    assert np.allclose(smoothness.jerk(vertices, RATE), smoothness.jerk(rows / 2, RATE))


def test_a_peak_is_seen_from_every_window_that_touches_it() -> None:
    x = np.zeros(48)
    x[24:] = 0.1  # a cut between frames 23 and 24
    motion = moving(x)
    for order in (1, 2, 3):
        whole = smoothness.peak(motion, RATE, order)
        assert smoothness.peak(motion, RATE, order, 23, 24) == pytest.approx(whole)
        assert smoothness.peak(motion, RATE, order, 24, 25) == pytest.approx(whole)
        assert smoothness.peak(motion, RATE, order, 0, 24 - order) == 0
        assert smoothness.peak(motion, RATE, order, 24 + order, 48) == 0
    assert smoothness.peak(motion, RATE, 1) == pytest.approx(0.1 * LENGTH * RATE)


def test_usual_motion_is_that_of_the_clips_and_never_spans_two() -> None:
    usual = smoothness.TypicalRates.from_clips([moving(T), moving(5 + T)], RATE)
    assert usual.speed == pytest.approx(LENGTH)
    assert usual.acceleration == pytest.approx(0, abs=1e-9)
    twice = smoothness.TypicalRates.from_clips([moving(T**3)], RATE, 100.0).relative(moving(2 * T**3), RATE)
    assert (twice.speed, twice.acceleration, twice.jerk) == pytest.approx((2, 2, 2))


def test_relative_to_stillness_is_infinite_or_nothing() -> None:
    still = smoothness.TypicalRates.from_clips([moving(0 * T)], RATE)
    assert still.relative(moving(0 * T), RATE) == smoothness.TypicalRates(0, 0, 0)
    assert still.relative(moving(T), RATE).speed == np.inf


def test_usual_motion_needs_four_frames() -> None:
    with pytest.raises(InvalidInput, match="four frames"):
        smoothness.TypicalRates.from_clips([moving(T[:3])], RATE)


def test_the_jump_of_a_corner_is_the_change_of_its_slope() -> None:
    corner = moving(np.where(T < 1.0, 2 * T, 2 - 3 * (T - 1)))
    seam = 25  # the corner is frame 24: before it 2, after it -3
    assert smoothness.velocity_jump(corner, RATE, seam) == pytest.approx(5 * LENGTH)
    assert smoothness.velocity_jump(moving(2 * T), RATE, seam) == pytest.approx(0, abs=1e-9)
    assert smoothness.velocity_jump(moving(2 * T + 7 * (T >= 1)), RATE, 24) == pytest.approx(0, abs=1e-9)


def test_a_pop_is_its_height_and_smooth_motion_has_none() -> None:
    assert smoothness.pose_step(moving(T**2 + 0.3 * (T >= 1)), 24) == pytest.approx(0.3 * LENGTH)
    assert smoothness.pose_step(moving(T**2), 24) == pytest.approx(0, abs=1e-12)


def test_gaps_are_distances_row_by_row() -> None:
    assert np.allclose(smoothness.gap(moving(T), moving(T + 0.5)), 0.5 * LENGTH)


def test_arrival_is_when_it_stays() -> None:
    assert smoothness.seconds_until(np.array([5, 1, 5, 1, 1.0]), 2, 2.0) == 1.5
    assert smoothness.seconds_until(np.array([1, 1.0]), 2, 2.0) == 0
    assert smoothness.seconds_until(np.array([1, 5.0]), 2, 2.0) == np.inf


def test_share_counts_each_frame_once() -> None:
    assert smoothness.share_used([np.array([0, 1, 1]), np.array([1, 2])], 12) == 0.25


def test_nearest_is_the_slow_nearest_and_zero_on_the_data() -> None:
    rng = np.random.default_rng(1)
    data, queries = rng.normal(100, 1, (60, 5, 3)), rng.normal(100, 1, (700, 5, 3))
    distance, number = smoothness.nearest(queries, data)
    slow = np.sqrt(np.square(queries[:, None] - data).sum(axis=(2, 3)) / 5)
    assert np.array_equal(number, slow.argmin(axis=1))
    assert np.allclose(distance, slow.min(axis=1))
    assert (smoothness.nearest(data, data)[0] == 0).all()


def test_mean_pairwise_is_the_mean_over_pairs() -> None:
    rng = np.random.default_rng(2)
    takes = rng.normal(size=(5, 7, 4, 3))
    pairs = [(a, b) for a in range(5) for b in range(a)]
    slow = [np.sqrt(np.square(smoothness.gap(takes[a], takes[b])).mean()) for a, b in pairs]
    assert smoothness.mean_pairwise(takes) == pytest.approx(np.mean(slow))
    assert smoothness.mean_pairwise(np.stack([takes[0]] * 3)) == 0
    assert smoothness.mean_pairwise(takes[:1]) == 0
    offset = np.stack([moving(T), moving(T + 1)])
    assert smoothness.mean_pairwise(offset) == pytest.approx(LENGTH)
