from __future__ import annotations

import numpy as np
import pytest
from tests.gp.poses import clips, slope_along

from understudy.gp.covariance import Kernel
from understudy.gp.gplvm import NOISE_FLOOR, GplvmObjective, kernel_of, parameters_of
from understudy.gp.likelihood import Likelihood
from understudy.gp.priors import ConnectivityPrior, DynamicsPrior, RandomWalk, TimeCovariance

pytestmark = pytest.mark.usefixtures("single")

KERNEL = Kernel(variance=1.3, length=0.8, noise=0.02)


@pytest.fixture
def parts():
    poses, segments, times = clips()
    x = np.random.default_rng(0).normal(size=(len(poses), 3))
    return Likelihood(poses), TimeCovariance(DynamicsPrior(), segments, times), x


def objective(parts, whitened: bool, walked=None) -> GplvmObjective:
    likelihood, path, x = parts
    walk = RandomWalk(ConnectivityPrior(weight=0.01), len(x) if walked is None else len(walked))
    return GplvmObjective(likelihood, path, walk, x.shape, whitened, walked)


@pytest.mark.parametrize("whitened", [True, False])
@pytest.mark.parametrize("walked", [None, np.arange(0, 50, 3)], ids=["all frames", "some frames"])
def test_the_gradient(parts, whitened, walked):
    function = objective(parts, whitened, walked)
    vector = function.pack(parts[2], KERNEL)
    rng = np.random.default_rng(1)
    only_kernel = np.zeros(vector.size)
    only_kernel[-3:] = rng.normal(size=3)
    for direction in (rng.normal(size=vector.size), only_kernel):
        expected = slope_along(lambda v: function(v)[0], vector, direction)
        assert function(vector)[1] @ direction == pytest.approx(expected, rel=1e-5)


def test_whitened_or_not_it_is_the_same_function(parts):
    white, plain = objective(parts, True), objective(parts, False)
    assert white(white.pack(parts[2], KERNEL))[0] == pytest.approx(plain(plain.pack(parts[2], KERNEL))[0], rel=1e-9)


@pytest.mark.parametrize("whitened", [True, False])
def test_packing_loses_nothing(parts, whitened):
    function = objective(parts, whitened)
    x, kernel = function.unpack(function.pack(parts[2], KERNEL))
    assert np.allclose(x, parts[2], atol=1e-9)
    assert (kernel.variance, kernel.length, kernel.noise) == pytest.approx((1.3, 0.8, 0.02))


def test_the_noise_never_falls_below_its_floor():
    assert kernel_of(np.array([0.0, 0.0, -1e9])).noise == pytest.approx(NOISE_FLOOR)
    assert np.isfinite(parameters_of(Kernel(1.0, 1.0, NOISE_FLOOR))).all()
