from __future__ import annotations

import numpy as np
import pytest

from understudy.maths import solvers


@pytest.fixture
def matrix():
    root = np.random.default_rng(0).normal(size=(30, 30))
    return root @ root.T + np.eye(30)


@pytest.mark.parametrize("by_address", [True, False])
def test_factor_and_inverse(matrix, by_address, monkeypatch):
    if not by_address:
        monkeypatch.setattr(solvers, "_function", lambda name: None)
    work = matrix.copy()
    assert solvers.cholesky_in_place(work)
    assert np.allclose(np.triu(work).T @ np.triu(work), matrix, atol=1e-12)
    solvers.inverse_in_place(work)
    assert np.allclose(np.triu(work), np.triu(np.linalg.inv(matrix)), atol=1e-12)


def test_a_matrix_without_factor_says_so(matrix):
    assert not solvers.cholesky_in_place(matrix - 100 * np.eye(30))


def test_a_library_of_other_integers_is_left_alone(monkeypatch):
    monkeypatch.setattr(solvers, "_SIGNATURE", ("char *", "long *", "d *", "long *", "long *"))
    solvers._function.cache_clear()
    try:
        assert solvers._function("dpotrf") is None
    finally:
        solvers._function.cache_clear()
