"""The jitter filter: jumps go, trembling is less, and what was smooth stays."""

from __future__ import annotations

import numpy as np
import pytest
from tests.express.takes import smile

from understudy.errors import InvalidInput
from understudy.express.landmark_filters import filter_jitter, remove_spikes, savitzky_golay


def test_a_jump_of_one_frame_is_put_back_and_noted() -> None:
    take = smile()
    points = np.array(take.points)
    points[7, 30] += 40
    points[15, 8] -= 40
    result = filter_jitter(take.with_fields(points=points), window=0)
    assert np.abs(result.points - take.points).max() < 1
    assert result.notes == ("sequence 'smile' had 2 jumps of single frames, which were put back",)
    assert filter_jitter(take, window=0).notes == ()
    np.testing.assert_array_equal(filter_jitter(take, window=0).points, take.points)


def test_a_fast_movement_is_no_jump() -> None:
    step = np.repeat([0.0, 1.0], 12)[:, None]
    blink = np.concatenate([np.zeros(10), [0.3, 0.9, 1, 0.8, 0.4, 0.1], np.zeros(10)])[:, None]
    for curve in (step, blink, np.cumsum(step, axis=0)):
        assert remove_spikes(curve)[1] == 0


def test_trembling_is_less_and_the_expression_stays() -> None:
    take = smile(frames=60, peak=25)
    noise = np.random.default_rng(0).normal(scale=0.5, size=take.points.shape)
    result = filter_jitter(take.with_fields(points=take.points + noise), window=0.25)
    left = result.points - take.points
    assert left.std() < 0.65 * noise.std()
    assert np.abs(filter_jitter(take).points - take.points).max() < 0.05 * 8, "millimetres, of a smile of 8"


@pytest.mark.parametrize("window", [3, 5, 6, 99])
def test_polynomials_pass_unchanged(window: int) -> None:
    x = np.arange(20.0)
    curves = np.stack([3 + x, x**2, np.ones(20)], axis=1)
    np.testing.assert_allclose(savitzky_golay(curves, window), curves, atol=1e-9)


def test_no_curve_leaves_its_range() -> None:
    take = smile()
    weights = np.clip(take.points[:, :, :1] - take.points[0, :, :1], 0, 1)
    result = filter_jitter(take.with_fields(points=weights), window=0.3)
    assert result.points.min() >= 0 and result.points.max() <= 1


@pytest.mark.parametrize("frames", [2, 3, 4, 5])
def test_short_takes(frames: int) -> None:
    take = smile(frames=frames, peak=1)
    assert filter_jitter(take).points.shape == take.points.shape


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="should be 0 seconds or more, but is -1"):
        filter_jitter(smile(), -1)
