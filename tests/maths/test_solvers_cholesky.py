"""Cholesky's method: the answer is the answer, what is not positive is refused or held, and the oracle agrees."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import maths as reference

from understudy.checks import Array
from understudy.maths import scalar_kernels


def positive(seed: int, n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n + 2, n)) * (rng.uniform(size=(n + 2, n)) < 0.6)
    return rows.T @ rows + 0.1 * np.eye(n), rng.normal(size=n)


def compiled(a: Array, b: Array, least: float, room: int = 0) -> Array | None:
    """By the kernel, in the corner of larger arrays."""
    n = len(b)
    matrix, side = np.full((n + room, n + room), np.nan), np.full(n + room, np.nan)
    matrix[:n, :n], side[:n] = np.tril(a), b
    return side[:n] if scalar_kernels.solve_cholesky(matrix, side, n, least) else None


@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 41, 90])
@pytest.mark.parametrize("least", [0.0, 1e-14])
def test_the_answer_solves_the_equations(n: int, least: float) -> None:
    a, b = positive(n, n)
    for x in (reference.solve_cholesky(np.tril(a), b, least), compiled(a, b, least), compiled(a, b, least, room=3)):
        assert x is not None
        np.testing.assert_allclose(a @ x, b, atol=1e-10)


def test_what_is_not_positive_is_refused_or_held_fast() -> None:
    a, b = positive(3, 6)
    a[:, 4] = a[4] = 0.0  # nothing is said about the fifth
    for solve in (reference.solve_cholesky, compiled):
        assert solve(a, b, 0.0) is None
        x = solve(a, np.where(np.arange(6) == 4, 0.0, b), 1e-8)
        assert x is not None and x[4] == 0.0
        others = np.arange(6) != 4
        np.testing.assert_allclose(a[np.ix_(others, others)] @ x[others], b[others], atol=1e-10)
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert reference.solve_cholesky(indefinite, b[:2]) is None and compiled(indefinite, b[:2], 0.0) is None


@pytest.mark.parametrize("least", [1e-5, 1e-2])
def test_the_kernel_agrees_with_its_oracle_where_pivots_are_raised(least: float) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(4, 9))
        a, b = rows.T @ rows, rng.normal(size=4) @ rows  # five of nine pivots are rounding
        quick, slow = compiled(a, b, least), reference.solve_cholesky(a, b, least)
        assert quick is not None and slow is not None
        np.testing.assert_allclose(quick, slow, rtol=1e-5, atol=1e-5)


def test_the_lower_half_becomes_the_factor_and_the_upper_one_stays() -> None:
    a, b = positive(7, 8)
    matrix = np.tril(a) + np.triu(np.full(a.shape, 7.0), 1)
    assert scalar_kernels.solve_cholesky(matrix, b.copy(), 8, 0.0)
    np.testing.assert_allclose(np.tril(matrix), np.linalg.cholesky(a), atol=1e-12)
    assert (matrix[np.triu_indices(8, 1)] == 7.0).all()


def test_no_number_is_no_answer() -> None:
    a, b = positive(5, 4)
    b[2] = np.nan
    for solve in (reference.solve_cholesky, compiled):
        assert solve(a, b, 0.0) is None and solve(a, b, 1e-14) is None
