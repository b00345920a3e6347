from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.gp.poses import clips, slope_along

from understudy.errors import InvalidInput
from understudy.gp.priors import DynamicsPrior, TimeCovariance

pytestmark = pytest.mark.usefixtures("single")

PRIOR = DynamicsPrior(length=0.1, variance=1.5, noise=1e-3)


@pytest.fixture
def frames():
    _, segments, times = clips()
    return segments, times, np.random.default_rng(0).normal(size=(len(times), 3))


def test_it_is_the_log_density_of_a_gaussian_process_a_coordinate(frames):
    segments, times, x = frames
    matrix = PRIOR.matrix(segments, times)
    expected = sum(multivariate_normal(np.zeros(len(x)), matrix).logpdf(column) for column in x.T)
    assert TimeCovariance(PRIOR, segments, times).log_density(x)[0] == pytest.approx(expected, rel=1e-8)


def test_the_band_is_the_dense_factor(frames):
    segments, times, x = frames
    lower, path = np.linalg.cholesky(PRIOR.matrix(segments, times)), TimeCovariance(PRIOR, segments, times)
    assert np.allclose(path.unwhiten(x), lower @ x, atol=1e-9)
    assert np.allclose(path.pull_back_gradient(x), lower.T @ x, atol=1e-9)
    assert np.allclose(path.whiten(path.unwhiten(x)), x, atol=1e-9)
    assert path.log_determinant == pytest.approx(2 * np.log(np.diag(lower)).sum(), rel=1e-9)


def test_the_gradient(frames):
    segments, times, x = frames
    path, direction = TimeCovariance(PRIOR, segments, times), np.random.default_rng(1).normal(size=x.shape)
    expected = slope_along(lambda p: path.log_density(p)[0], x, direction)
    assert float((path.log_density(x)[1] * direction).sum()) == pytest.approx(expected, rel=1e-7)


def test_frames_may_come_in_any_order(frames):
    segments, times, x = frames
    order = np.random.default_rng(2).permutation(len(x))
    straight, mixed = TimeCovariance(PRIOR, segments, times), TimeCovariance(PRIOR, segments[order], times[order])
    assert mixed.log_density(x[order])[0] == pytest.approx(straight.log_density(x)[0], rel=1e-10)
    assert np.allclose(mixed.log_density(x[order])[1], straight.log_density(x)[1][order], rtol=1e-7, atol=1e-7)
    assert np.allclose(mixed.unwhiten(mixed.whiten(x[order])), x[order], atol=1e-9)


def test_latents_may_be_turned(frames):
    segments, times, x = frames
    path, turn = TimeCovariance(PRIOR, segments, times), np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    assert path.log_density(x @ turn)[0] == pytest.approx(path.log_density(x)[0], rel=1e-10)
    assert np.allclose(path.unwhiten(x) @ turn, path.unwhiten(x @ turn), atol=1e-12)


def test_segments_are_independent(frames):
    segments, times, x = frames
    parts = [
        TimeCovariance(PRIOR, segments[segments == s], times[segments == s]).log_density(x[segments == s])[0]
        for s in range(3)
    ]
    assert TimeCovariance(PRIOR, segments, times).log_density(x)[0] == pytest.approx(sum(parts), rel=1e-12)


def test_frames_at_the_same_time_are_allowed():
    path = TimeCovariance(PRIOR, np.zeros(4, int), np.zeros(4))
    assert np.isfinite(path.log_density(np.ones((4, 2)))[0])


def test_smooth_paths_are_likelier_than_shaken_ones():
    times = np.arange(40) / 24
    path = TimeCovariance(DynamicsPrior(), np.zeros(40, int), times)
    smooth = np.sin(3 * times)[:, None]
    shaken = smooth + 0.2 * (-1.0) ** np.arange(40)[:, None]
    assert path.log_density(smooth)[0] > path.log_density(shaken)[0] + 100


def test_settings_without_meaning_are_refused():
    with pytest.raises(InvalidInput, match="the dynamics' noise should be a finite number above zero, but is 0"):
        DynamicsPrior(noise=0.0)
