from __future__ import annotations

import numpy as np
import pytest
from tests.reference import gp as reference

from understudy.errors import InvalidInput
from understudy.gp.covariance import Kernel, squared_distances

KERNEL = Kernel(variance=1.7, length=0.6, noise=0.05)


def test_the_matrix_is_the_formula():
    x = np.random.default_rng(0).normal(size=(6, 3))
    for i in range(6):
        for j in range(6):
            expected = 1.7 * np.exp(-np.sum((x[i] - x[j]) ** 2) / (2 * 0.6**2)) + 0.05 * (i == j)
            assert KERNEL.matrix(x)[i, j] == pytest.approx(expected, rel=1e-13)


def test_the_kernel_agrees_with_its_oracle():
    rng = np.random.default_rng(1)
    for m, p in ((300, 200), (7, 1), (0, 3)):
        a, b = rng.normal(size=(m, 3)), rng.normal(size=(p, 3))
        slow = reference.cross_covariance(KERNEL, a, b)
        assert np.allclose(KERNEL.cross_covariance(a, b), slow, rtol=1e-13, atol=1e-34)


def test_distances_of_neighbours_keep_their_digits():
    a = np.array([[1e3, 0.0, 0.0]])
    assert squared_distances(a, a + np.array([1e-5, 0, 0]))[0, 0] == pytest.approx(1e-10, rel=1e-6)


@pytest.mark.parametrize("name", ["variance", "length", "noise"])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_numbers_that_make_no_covariance_are_refused(name, bad):
    with pytest.raises(InvalidInput, match=f"the kernel's {name} should be a finite number above zero"):
        Kernel(**{"variance": 1.0, "length": 1.0, "noise": 1.0, name: bad})
