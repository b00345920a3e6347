from __future__ import annotations

import numpy as np
import pytest
from tests.reference import gp as reference

from understudy.gp.covariance import SharedKernel
from understudy.gp.shared_gplvm import PoseView

KERNEL = SharedKernel(1.3, 0.7, 0.4, 0.05)


def setting() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(9, 40)), rng.normal(size=(9, 3))


def test_the_value_is_that_of_the_normal_distribution() -> None:
    from scipy.stats import multivariate_normal

    data, points = setting()
    density = multivariate_normal(np.zeros(9), KERNEL.matrix(points))
    expected = -sum(density.logpdf(column) for column in data.T)
    assert PoseView(data).evaluate(points, KERNEL)[0] == pytest.approx(expected)


def test_the_slope_is_that_of_the_value() -> None:
    data, points = setting()
    view, step = PoseView(data), 1e-6
    _, by_points, by_kernel = view.evaluate(points, KERNEL)
    for i, q in ((0, 0), (4, 2), (8, 1)):
        two = []
        for way in (step, -step):
            moved = points.copy()
            moved[i, q] += way
            two.append(view.evaluate(moved, KERNEL)[0])
        assert by_points[i, q] == pytest.approx((two[0] - two[1]) / (2 * step), rel=1e-5)
    for number in range(4):
        two = []
        for way in (step, -step):
            theta = KERNEL.theta
            theta[number] += way * (theta[number] if number < 2 else 1.0)
            two.append(view.evaluate(points, SharedKernel(*theta))[0])
        assert by_kernel[number] == pytest.approx((two[0] - two[1]) / (2 * step), rel=1e-5)


def test_the_kernels_agree_with_their_oracle() -> None:
    data, points = setting()
    fast, plain = PoseView(data).evaluate(points, KERNEL), reference.evaluate_view(PoseView(data), points, KERNEL)
    assert fast[0] == pytest.approx(plain[0])
    np.testing.assert_allclose(fast[1], plain[1], atol=1e-9)
    np.testing.assert_allclose(fast[2], plain[2], atol=1e-9)


def test_columns_have_the_products_of_the_data() -> None:
    data, _ = setting()
    view = PoseView(data)
    assert view.columns.shape == (9, 9) and view.outputs == 40
    np.testing.assert_allclose(view.columns @ view.columns.T, data @ data.T)
    np.testing.assert_allclose(view.columns @ view.basis.T, data, atol=1e-12)


def test_where_the_matrix_cannot_be_factored_the_value_is_infinite() -> None:
    data, _ = setting()
    bad = SharedKernel(1.0, 1.0, 0.1, -2.0)
    assert PoseView(data).evaluate(np.zeros((9, 3)), bad)[0] == np.inf
