"""Least squares within bounds: the conditions of a minimum hold, and two other solvers find the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from tests.reference import maths as reference

from understudy.maths.solvers import MIN_PIVOT_RATIO, solve_box_qp


def problem(seed: int, count: int = 12, frames: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(S, S) H and (F, S) b of random least squares with a small ridge, and (S + rows, S) the matrix behind them."""
    rng = np.random.default_rng(seed)
    a = np.concatenate([rng.normal(size=(count - 3, count)), 0.1 * np.eye(count)])
    return a.T @ a, rng.normal(size=(frames, len(a))) @ a, a


@pytest.mark.parametrize("seed", range(6))
def test_the_conditions_of_a_minimum_hold(seed: int) -> None:
    h, b, _ = problem(seed)
    low, high = np.zeros(12), np.full(12, 0.7)
    w = solve_box_qp(h, b, low, high)
    gradient = w @ h - b
    scale = 1e-8 * np.abs(b).max()
    assert np.all((w >= low) & (w <= high))
    assert np.all(np.abs(gradient[(w > low) & (w < high)]) < scale)
    assert np.all(gradient[w == low] > -scale) and np.all(gradient[w == high] < scale)
    assert 0.1 < np.mean((w > low) & (w < high)) < 0.9, "some are free and some are not"


def test_the_kernel_agrees_with_its_oracle() -> None:
    h, b, _ = problem(1)
    low, high = np.full(12, -0.2), np.full(12, 1.0)
    ours = solve_box_qp(h, b, low, high)
    start, least = np.zeros(12), MIN_PIVOT_RATIO * float(np.diag(h).max())
    slow = [reference.solve_box_qp(h, right, low, high, start, least) for right in b]
    np.testing.assert_allclose(slow, ours, atol=1e-9)


def test_another_solver_finds_the_same() -> None:
    h, b, a = problem(2, frames=5)
    low, high = np.zeros(12), np.ones(12)
    for right, ours in zip(b, solve_box_qp(h, b, low, high)):
        target = np.linalg.lstsq(a.T, right, rcond=None)[0]
        np.testing.assert_allclose(lsq_linear(a, target, (low, high), method="bvls").x, ours, atol=1e-6)


def test_without_bounds_it_is_the_normal_equations() -> None:
    h, b, _ = problem(3)
    w = solve_box_qp(h, b, np.full(12, -np.inf), np.full(12, np.inf))
    np.testing.assert_allclose(w @ h, b, atol=1e-8)


def test_where_it_starts_does_not_matter() -> None:
    h, b, _ = problem(4)
    low, high = np.zeros(12), np.ones(12)
    np.testing.assert_allclose(
        solve_box_qp(h, b, low, high, np.ones(12)), solve_box_qp(h, b[::-1], low, high)[::-1], atol=1e-8
    )
