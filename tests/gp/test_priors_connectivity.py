from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from tests.gp.poses import slope_along
from tests.reference import gp as reference

from understudy.errors import InvalidInput
from understudy.gp.priors import MIN_DIFFUSION, ConnectivityPrior, RandomWalk

pytestmark = pytest.mark.usefixtures("single")

SETTINGS = ConnectivityPrior(weight=0.01, beta=60.0)


def by_exponential(settings: ConnectivityPrior, x) -> float:
    """The slow oracle: the matrix exponential of H, and the sum of its logarithms."""
    count = len(x)
    weight, beta = settings.scale_to_frames(count)
    distance = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=-1))
    w = np.where(np.eye(count, dtype=bool), 0.0, np.where(distance > 0, distance, 1.0) ** -settings.power)
    d = w.sum(axis=1)
    h = (w - np.diag(d)) / np.sqrt(np.outer(d, d))
    return weight * np.log(np.maximum(expm(beta * h), MIN_DIFFUSION)).sum()


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(24, 3))


@pytest.mark.parametrize("power", [4.0, 2.5])
def test_it_is_the_diffusion_kernels_logarithm(points, power):
    settings = ConnectivityPrior(0.01, 60.0, power)
    expected = by_exponential(settings, points)
    assert RandomWalk(settings, 24).log_density(points)[0] == pytest.approx(expected, rel=1e-9)
    assert reference.log_density(settings, points)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("power", [4.0, 2.5])
def test_the_kernels_agree_with_their_oracle(points, power):
    settings = ConnectivityPrior(0.01, 60.0, power)
    value, gradient = RandomWalk(settings, 24).log_density(points)
    expected, slope = reference.log_density(settings, points)
    assert value == pytest.approx(expected, rel=1e-10)
    assert np.allclose(gradient, slope, rtol=1e-7, atol=1e-8 * np.abs(slope).max())


def test_the_gradient(points):
    walk, direction = RandomWalk(SETTINGS, 24), np.random.default_rng(1).normal(size=points.shape)
    expected = slope_along(lambda p: walk.log_density(p)[0], points, direction)
    assert float((walk.log_density(points)[1] * direction).sum()) == pytest.approx(expected, rel=1e-6)


def test_the_gradient_where_entries_are_clamped():
    """Two clusters so far apart that walks between them are below the least that counts."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(size=(8, 3)), rng.normal(size=(8, 3)) + 5e4])
    walk, direction = RandomWalk(SETTINGS, 16), rng.normal(size=x.shape)
    weight = SETTINGS.scale_to_frames(16)[0]
    between = weight * 2 * 64 * np.log(MIN_DIFFUSION)
    value, gradient = walk.log_density(x)
    inside = sum(by_exponential_of_a_part(x[part], 16) for part in (slice(8), slice(8, 16)))
    assert value == pytest.approx(between + inside, rel=1e-6)
    expected = slope_along(lambda p: walk.log_density(p)[0], x, direction)
    assert float((gradient * direction).sum()) == pytest.approx(expected, rel=1e-5)


def by_exponential_of_a_part(x, count: int) -> float:
    """A cluster's share of the sum, with the weight and beta of all frames."""
    weight, beta = SETTINGS.scale_to_frames(count)
    part_weight, part_beta = SETTINGS.scale_to_frames(len(x))
    same = ConnectivityPrior(SETTINGS.weight * weight / part_weight, SETTINGS.beta * beta / part_beta)
    return by_exponential(same, x)


def test_frames_in_one_place_do_no_harm():
    x = np.random.default_rng(3).normal(size=(12, 3))
    x[5] = x[4]
    value, gradient = RandomWalk(SETTINGS, 12).log_density(x)
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_order_turning_moving_and_size_make_no_difference(points):
    walk, rng = RandomWalk(SETTINGS, 24), np.random.default_rng(4)
    value, gradient = walk.log_density(points)
    order, turn = rng.permutation(24), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert walk.log_density(points[order])[0] == pytest.approx(value, rel=1e-9)
    assert walk.log_density(points @ turn + 2.0)[0] == pytest.approx(value, rel=1e-9)
    assert walk.log_density(points * 3.0)[0] == pytest.approx(value, rel=1e-9)
    assert np.allclose(
        walk.log_density(points[order])[1], gradient[order], rtol=1e-6, atol=1e-8 * np.abs(gradient).max()
    )


def test_it_pulls_two_clusters_together():
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(size=(10, 3)), rng.normal(size=(10, 3)) + np.array([6, 0, 0])])
    _, gradient = RandomWalk(SETTINGS, 20).log_density(x)
    assert gradient[:10, 0].sum() > 0 > gradient[10:, 0].sum()


def test_settings_without_meaning_are_refused():
    with pytest.raises(InvalidInput, match="the connectivity's beta should be a finite number above zero"):
        ConnectivityPrior(beta=-1.0)
