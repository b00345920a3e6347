"""The density over few points says what the mapping says over all."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.small_space import latents, mapping

from understudy.perform.runtime import forces


def nearby(points: np.ndarray, distance: float = 0.2) -> np.ndarray:
    return forces.neighbours(points, distance, 1)


def test_a_rough_kernel_keeps_all_points_and_agrees() -> None:
    points, *_ = latents()
    exact = mapping(points, length=0.05)
    given = forces.prepare_density(exact)
    assert given.error == 0 and len(given.points) == len(points) + -len(points) % forces.KERNEL_LANES
    # but for the points too far away to be asked: each adds at most SILENT times its regression weight, below 1
    allowed = len(points) * forces.MIN_KERNEL_RATIO / exact.kernel.noise * 0.5 * exact.outputs
    assert np.abs(given.log_density(nearby(points)) - exact.log_density(nearby(points))).max() < 0.1 * allowed


@pytest.mark.parametrize("length", [0.4, 0.8, 1.6])
def test_a_smooth_kernel_needs_few_points(length: float) -> None:
    points, *_ = latents(frames=60)
    exact = mapping(points, length)
    given = forces.prepare_density(exact)
    assert len(given.points) < 0.7 * len(points)
    difference = np.abs(given.log_density(nearby(points)) - exact.log_density(nearby(points)))
    assert difference.max() < 0.5 * exact.outputs * max(2 * given.error, 1e-3)
    assert given.error < 0.1


def test_the_gradient_of_few_points_has_the_direction_of_all() -> None:
    points, *_ = latents(frames=60)
    exact = mapping(points)
    away = nearby(points, 0.4)
    ours, theirs = (
        forces.prepare_density(exact).log_density_and_gradient(away)[1],
        exact.log_density_and_gradient(away)[1],
    )
    steep = np.linalg.norm(theirs, axis=1) > 0.1
    cosine = np.sum(ours * theirs, axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    assert steep.sum() > 50 and cosine[steep].min() > 0.99


def test_the_gradient_is_that_of_the_density() -> None:
    points, *_ = latents()
    given = forces.prepare_density(mapping(points))
    x, h = nearby(points, 0.5), 1e-5
    value, gradient = given.log_density_and_gradient(x)
    free = value < 0.5 * given.dimensions * -np.log(1.01 * given.floor)  # not held at the floor
    assert free.sum() > 20
    for q in range(3):
        step = h * np.eye(3)[q]
        numerical = (given.log_density(x + step) - given.log_density(x - step)) / (2 * h)
        np.testing.assert_allclose(gradient[free, q], numerical[free], rtol=1e-4, atol=1e-4)


def test_no_point_is_left_unexplained() -> None:
    points, *_ = latents()
    kernel = mapping(points).kernel
    order, factor = forces.pivot_cholesky(kernel.cross_covariance(points, points), 1e-4)
    assert np.array_equal(np.sort(order), np.arange(len(points))) and factor.shape[1] < len(points)
    chosen = points[order[: factor.shape[1]]]
    cross = kernel.cross_covariance(points, chosen)
    explained = np.linalg.solve(kernel.cross_covariance(chosen, chosen), cross.T)
    left = kernel.variance - np.einsum("nm,mn->n", cross, explained)
    assert left.max() <= 1e-4 * 1.01


def test_all_points_may_be_the_same() -> None:
    given = forces.prepare_density(mapping(np.zeros((20, 3))))
    assert len(given.points) == forces.KERNEL_LANES
    assert np.isfinite(given.log_density(np.ones((2, 3)))).all()
