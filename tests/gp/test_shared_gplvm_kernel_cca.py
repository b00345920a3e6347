from __future__ import annotations

import numpy as np
import pytest

from understudy.gp.shared_gplvm import kernel_cca


def pairs(count: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two spaces that share one coordinate t, bent differently, and each has one of its own."""
    rng = np.random.default_rng(seed)
    t, own, other = rng.uniform(-1, 1, (3, count))
    Y = np.column_stack([np.sin(2 * t), np.cos(2 * t), 0.3 * own])
    Z = np.column_stack([t**3, t, 0.3 * other, 0.2 * t])
    return t, Y - Y.mean(axis=0), Z - Z.mean(axis=0)


def test_the_first_direction_is_what_both_have_in_common() -> None:
    t, Y, Z = pairs()
    latents, correlations = kernel_cca(Y, Z, 4)
    assert abs(np.corrcoef(latents[:, 0], t)[0, 1]) > 0.95
    assert (np.diff(correlations) <= 1e-12).all() and correlations[0] <= 1.0 + 1e-12


def test_there_are_no_more_directions_than_pairs_less_one() -> None:
    _, Y, Z = pairs(6)
    latents, correlations = kernel_cca(Y, Z, 30)
    assert latents.shape == (6, 30) and len(correlations) == 5
    np.testing.assert_array_equal(latents[:, 5:], 0.0)


def test_near_pairs_begin_near_each_other() -> None:
    t, Y, Z = pairs(40)
    latents, _ = kernel_cca(Y, Z, 20)
    order = np.argsort(t)
    steps = np.linalg.norm(np.diff(latents[order, :1], axis=0), axis=1)
    assert np.median(steps) < 0.1 * np.ptp(latents[:, 0])


@pytest.mark.parametrize("number", [0, 1])
def test_turning_a_space_changes_nothing(number: int) -> None:
    _, *spaces = pairs()
    before, _ = kernel_cca(*spaces, 3)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(spaces[number].shape[1],) * 2))
    spaces[number] = spaces[number] @ turn
    after, _ = kernel_cca(*spaces, 3)
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_a_space_that_never_changes_gives_no_trouble() -> None:
    _, Y, _ = pairs(10)
    latents, _ = kernel_cca(Y, np.zeros((10, 3)), 3)
    assert np.isfinite(latents).all()
