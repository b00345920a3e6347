from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.gp.poses import slope_along
from tests.reference import gp as reference

from understudy.gp.covariance import Kernel
from understudy.gp.likelihood import Likelihood

pytestmark = pytest.mark.usefixtures("single")

KERNEL = Kernel(variance=1.3, length=0.8, noise=0.05)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(25, 5)), rng.normal(size=(25, 3))


def with_number(place: int, by: float) -> Kernel:
    """KERNEL with the logarithm of its variance or length, or its noise itself, moved."""
    numbers = [np.log(KERNEL.variance), np.log(KERNEL.length), KERNEL.noise]
    numbers[place] += by
    return Kernel(float(np.exp(numbers[0])), float(np.exp(numbers[1])), numbers[2])


def test_it_is_the_log_density_of_independent_columns(data):
    y, x = data
    expected = sum(multivariate_normal(np.zeros(25), KERNEL.matrix(x)).logpdf(column) for column in y.T)
    assert Likelihood(y)(x, KERNEL).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("points", [2, 3, 5])
def test_the_kernels_agree_with_their_oracle(data, points):
    y = data[0]
    x = np.random.default_rng(points).normal(size=(25, points))
    ours, oracle = Likelihood(y)(x, KERNEL), reference.likelihood(y, x, KERNEL)
    assert ours.value == pytest.approx(oracle.value, rel=1e-12)
    assert np.allclose(ours.points, oracle.points, rtol=1e-9, atol=1e-10)
    assert np.allclose(ours.kernel, oracle.kernel, rtol=1e-9, atol=1e-9)


def test_the_gradient_by_points(data):
    y, x = data
    likelihood, direction = Likelihood(y), np.random.default_rng(1).normal(size=x.shape)
    found = float((likelihood(x, KERNEL).points * direction).sum())
    assert found == pytest.approx(slope_along(lambda p: likelihood(p, KERNEL).value, x, direction), rel=1e-7)


@pytest.mark.parametrize("place", [0, 1, 2], ids=["log variance", "log length", "noise"])
def test_the_gradient_by_the_kernel(data, place):
    y, x = data
    likelihood = Likelihood(y)
    expected = slope_along(lambda by: likelihood(x, with_number(place, by)).value, 0.0, 1.0)
    assert likelihood(x, KERNEL).kernel[place] == pytest.approx(expected, rel=1e-7)


def test_frames_may_come_in_any_order(data):
    y, x = data
    order = np.random.default_rng(2).permutation(25)
    straight, shuffled = Likelihood(y)(x, KERNEL), Likelihood(y[order])(x[order], KERNEL)
    assert shuffled.value == pytest.approx(straight.value, rel=1e-12)
    assert np.allclose(shuffled.points, straight.points[order], rtol=1e-9, atol=1e-10)


def test_latents_may_be_turned_and_moved(data):
    y, x = data
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    straight, turned = Likelihood(y)(x, KERNEL), Likelihood(y)(x @ turn + [3.0, -1.0, 2.0], KERNEL)
    assert turned.value == pytest.approx(straight.value, rel=1e-10)
    assert np.allclose(turned.points, straight.points @ turn, rtol=1e-8, atol=1e-9)


def test_it_can_be_asked_again_and_again(data):
    y, x = data
    likelihood = Likelihood(y)
    first = likelihood(x, KERNEL)
    likelihood(x * 2, Kernel(0.5, 2.0, 0.3))
    assert likelihood(x, KERNEL).value == first.value
    assert np.array_equal(likelihood(x, KERNEL).points, first.points)


def test_a_singular_covariance_is_infinitely_unlikely(data):
    slope = Likelihood(data[0])(np.zeros((25, 3)), Kernel(1.0, 1.0, 1e-20))
    assert slope.value == -np.inf and not slope.points.any()
