"""Sums of Gaussians: the window is the whole, the band is the full matrix, and systems are solved."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.maths.cholesky import solve_banded
from understudy.transfer.physics.dynamics import basis_of


@pytest.mark.parametrize("frames", [3, 20, 101])
@pytest.mark.parametrize("interval", [0.01, 0.1, 0.13])
def test_the_window_is_the_whole_sum(frames: int, interval: float) -> None:
    basis = basis_of(frames, 30.0, interval)
    step = max(interval * 30, 1.0)
    centres = (np.arange(basis.count) - 1) * step
    away = np.arange(frames)[:, None] - centres
    full = np.exp(-((away / (2 * step)) ** 2))
    np.testing.assert_allclose(basis.dense, full, atol=1.3e-4)  # exp(-9) is what is cut off
    weights = np.random.default_rng(0).normal(size=(basis.count, 4))
    np.testing.assert_allclose(basis.sum(weights), basis.dense @ weights, atol=1e-12)
    slopes = np.random.default_rng(1).normal(size=(frames, 4))
    np.testing.assert_allclose(basis.weight_gradients(slopes), basis.dense.T @ slopes, atol=1e-12)


def test_constants_are_nearly_in_the_span() -> None:
    basis = basis_of(60, 30.0, 0.1)
    weights = np.linalg.lstsq(basis.dense, np.ones(60), rcond=1e-6)[0]
    np.testing.assert_allclose(basis.dense @ weights, 1.0, atol=0.01)


@pytest.mark.parametrize("frames", [5, 64])
def test_the_band_is_the_full_matrix(frames: int) -> None:
    rng = np.random.default_rng(2)
    basis = basis_of(frames, 30.0, 0.1)
    blocks = rng.normal(size=(3, frames, 4, 4))
    blocks[0] += np.swapaxes(blocks[0], 1, 2)
    np.testing.assert_allclose(basis.banded_matrix(blocks), basis.banded_matrix_numpy(blocks), atol=1e-10)


def test_banded_systems_are_solved_and_indefinite_ones_refused() -> None:
    rng = np.random.default_rng(3)
    bands = 0.1 * rng.normal(size=(8, 30))
    bands[-1] += 5.0
    full = np.zeros((30, 30))
    for d in range(8):
        full += np.diag(bands[7 - d, d:], d) + (np.diag(bands[7 - d, d:], -d) if d else 0)
    b = rng.normal(size=30)
    x = solve_banded(bands, b)
    assert x is not None
    np.testing.assert_allclose(full @ x, b, atol=1e-10)
    bands[-1, 11] = -5.0
    assert solve_banded(bands, b) is None
