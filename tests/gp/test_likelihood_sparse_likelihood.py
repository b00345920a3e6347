from __future__ import annotations

import numpy as np
import pytest
from tests.gp.poses import slope_along
from tests.gp.test_likelihood import KERNEL, with_number

from understudy.gp.covariance import Kernel
from understudy.gp.likelihood import JITTER_VARIANCE_RATIO, Likelihood, SparseLikelihood
from understudy.gp.mapping import LatentMapping

pytestmark = pytest.mark.usefixtures("single")

SOME = np.arange(0, 25, 3)
ALL = np.arange(25)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(25, 5)), rng.normal(size=(25, 3))


def bound_by_definition(y, x, kernel, chosen):
    """The slow oracle: the bound by its definition, with N by N matrices."""
    count, width = y.shape
    uu = kernel.cross_covariance(x[chosen], x[chosen]) + JITTER_VARIANCE_RATIO * kernel.variance * np.eye(len(chosen))
    uf = kernel.cross_covariance(x[chosen], x)
    q = uf.T @ np.linalg.solve(uu, uf)
    covariance = q + kernel.noise * np.eye(count)
    log_normal = -0.5 * width * (np.linalg.slogdet(covariance)[1] + count * np.log(2 * np.pi))
    log_normal -= 0.5 * (y * np.linalg.solve(covariance, y)).sum()
    return log_normal - 0.5 * width / kernel.noise * (count * kernel.variance - np.trace(q))


@pytest.mark.parametrize("chosen", [SOME, ALL], ids=["some", "all"])
def test_it_is_the_bound(data, chosen):
    y, x = data
    assert SparseLikelihood(y, chosen)(x, KERNEL).value == pytest.approx(
        bound_by_definition(y, x, KERNEL, chosen), rel=1e-10
    )


def test_with_all_frames_it_is_the_exact_likelihood(data):
    y, x = data
    sparse, exact = SparseLikelihood(y, ALL)(x, KERNEL), Likelihood(y)(x, KERNEL)
    assert sparse.value == pytest.approx(exact.value, rel=1e-4)
    assert np.allclose(sparse.points, exact.points, rtol=1e-3, atol=1e-3 * np.abs(exact.points).max())
    assert np.allclose(sparse.kernel, exact.kernel, rtol=1e-3)


def test_it_bounds_the_exact_likelihood_the_tighter_the_more_points_there_are(data):
    y, x = data
    exact = Likelihood(y)(x, KERNEL).value
    values = [SparseLikelihood(y, np.arange(count))(x, KERNEL).value for count in (2, 8, 16, 25)]
    assert values == sorted(values) and values[-1] <= exact


def test_the_gradient_by_points(data):
    y, x = data
    likelihood, direction = SparseLikelihood(y, SOME), np.random.default_rng(1).normal(size=x.shape)
    expected = slope_along(lambda p: likelihood(p, KERNEL).value, x, direction)
    assert float((likelihood(x, KERNEL).points * direction).sum()) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("place", [0, 1, 2], ids=["log variance", "log length", "noise"])
def test_the_gradient_by_the_kernel(data, place):
    y, x = data
    likelihood = SparseLikelihood(y, SOME)
    expected = slope_along(lambda by: likelihood(x, with_number(place, by)).value, 0.0, 1.0)
    assert likelihood(x, KERNEL).kernel[place] == pytest.approx(expected, rel=1e-7)


def test_with_all_frames_the_mapping_is_the_exact_one(data):
    y, x = data
    sparse, exact = LatentMapping.from_frames(x, KERNEL, y, 2.0, ALL), LatentMapping.from_frames(x, KERNEL, y, 2.0)
    where = np.random.default_rng(2).normal(size=(9, 3))
    assert np.allclose(sparse.mean(where), exact.mean(where), atol=1e-4)
    assert np.allclose(sparse.variance(where), exact.variance(where), atol=1e-4)


def test_two_inducing_points_in_one_place(data):
    y, x = data
    x[3] = x[0]
    slope = SparseLikelihood(y, SOME)(x, Kernel(1.0, 1.0, 1e-4))
    assert np.isfinite(slope.value) and np.isfinite(slope.points).all()
