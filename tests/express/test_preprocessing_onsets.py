"""Sigmoids along onset and offset: noise goes, timing stays, and nothing breaks at the peak."""

from __future__ import annotations

import numpy as np
import pytest
from tests.express.takes import smile

from understudy.errors import InvalidInput
from understudy.express.preprocessing import smooth_onsets


@pytest.mark.parametrize("peak", [12, 29])
def test_noise_goes_and_the_way_stays(peak: int) -> None:
    take = smile(frames=30, peak=peak)
    noise = np.random.default_rng(0).normal(scale=0.4, size=take.points.shape)
    noisy = take.with_fields(points=take.points + noise)
    result = smooth_onsets(noisy, 1.0)
    corners, moving = [48, 54, 60, 64], slice(0, 2)
    left = (result.points - take.points)[:, corners, moving]
    assert left.std() < 0.7 * noise[:, corners, moving].std()
    rough = np.abs(np.diff(noisy.points[:, corners, moving], 2, axis=0)).mean()
    assert np.abs(np.diff(result.points[:, corners, moving], 2, axis=0)).mean() < 0.4 * rough


def test_the_share_is_a_dial() -> None:
    take = smile(frames=30, peak=12)
    noisy = take.with_fields(points=take.points + np.random.default_rng(0).normal(scale=0.4, size=take.points.shape))
    whole = smooth_onsets(noisy, 1.0).points - noisy.points
    np.testing.assert_allclose(smooth_onsets(noisy, 0.25).points - noisy.points, 0.25 * whole, atol=1e-9)
    assert smooth_onsets(noisy, 0) is noisy


def test_without_a_share_character_stays() -> None:
    """A clean rise follows its sigmoid; a curve that goes there and back twice within the onset is left alone."""
    take = smile(frames=40, peak=39)
    points = np.array(take.points)
    points[:, 8, 0] += 5 * np.sin(np.linspace(0, 4 * np.pi, 40))
    take = take.with_fields(points=points)
    change = np.abs(smooth_onsets(take).points - points)
    assert change[:, 8, 0].max() < 0.35 * np.abs(smooth_onsets(take, 1.0).points - points)[:, 8, 0].max()
    ours, theirs = smooth_onsets(take).points[:, 48], smooth_onsets(take, 1.0).points[:, 48]
    np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_short_parts_stay() -> None:
    take = smile(frames=4, peak=2)
    np.testing.assert_allclose(smooth_onsets(take, 1.0).points, take.points, atol=1e-9)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_what_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="share of the sigmoids should lie between 0 and 1"):
        smooth_onsets(smile(), share)
