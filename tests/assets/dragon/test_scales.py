"""Reliefs: their slopes are the derivatives of their heights, which is what the normal map is baked from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assets.dragon import paint

CENTRES = paint.jittered_grid(0.05, 1, (-0.2, -0.2, -0.2), (0.2, 0.2, 0.2))


def pebbles(points: np.ndarray) -> paint.Relief:
    return paint.pebble_relief(points, CENTRES, 0.05)


def brow(points: np.ndarray) -> paint.Relief:
    return paint.brow_relief(points)[0]


def _near_brow(rng: np.random.Generator) -> np.ndarray:
    knots = np.array(paint.BROW_RIDGE)
    return knots[rng.integers(0, len(knots), 400)] + rng.normal(scale=0.012, size=(400, 3))


@pytest.mark.parametrize("relief", [pebbles, paint.throat_relief, brow], ids=lambda f: f.__name__)
def test_slope_is_the_derivative_of_height(relief: Callable[[np.ndarray], paint.Relief]) -> None:
    rng = np.random.default_rng(2)
    points = _near_brow(rng) if relief is brow else rng.uniform(-0.15, 0.15, (400, 3))
    e = 1e-6
    steps = e * np.eye(3)
    numeric = np.stack(
        [(relief(points + step).height - relief(points - step).height) / (2 * e) for step in steps], axis=1
    )
    error = np.abs(numeric - relief(points).slope).max(axis=1)
    # scales meet in creases, where there is no derivative: a few points may lie on one
    share, tolerance = (0.9, 0.02) if relief is brow else (0.99, 1e-3)  # the brow's taper and bends are left out
    assert np.quantile(error, share) < tolerance * np.abs(numeric).max()


@pytest.mark.parametrize("relief", [pebbles, paint.throat_relief, brow], ids=lambda f: f.__name__)
def test_heights_lie_between_groove_and_top(relief: Callable[[np.ndarray], paint.Relief]) -> None:
    rng = np.random.default_rng(3)
    points = _near_brow(rng) if relief is brow else rng.uniform(-0.15, 0.15, (2000, 3))
    found = relief(points)
    assert found.height.min() >= 0 and found.height.max() <= 1
    assert found.height.max() > 0.9 and found.height.min() < 0.2
    assert np.abs(found.tone).max() <= 1


def test_a_scale_is_highest_in_its_middle_and_all_of_one_tone() -> None:
    middle = CENTRES[len(CENTRES) // 2]
    found = pebbles(middle + np.array([[0, 0, 0], [0.004, 0, 0], [0, 0.008, 0]]))
    assert found.height[0] > found.height[1] > found.height[2]
    assert np.ptp(found.tone) == 0


def test_blending_goes_from_one_relief_to_the_other() -> None:
    points = np.random.default_rng(4).uniform(-0.1, 0.1, (20, 3))
    a, b = pebbles(points), paint.throat_relief(points)
    assert np.allclose(a.blended(b, np.zeros(20)).slope, a.slope)
    assert np.allclose(a.blended(b, np.ones(20)).height, b.height)
