from __future__ import annotations

import numpy as np
import pytest

from understudy.maths import bezier
from understudy.maths.scalar_kernels import bezier_newton_scalar


def _bisect(p1, p2, u):
    """The slow oracle: halve a bracket sixty times."""
    low, high = np.zeros_like(u), np.ones_like(u)
    for _ in range(60):
        s = 0.5 * (low + high)
        below = 3 * (1 - s) ** 2 * s * p1 + 3 * (1 - s) * s * s * p2 + s**3 < u
        low, high = np.where(below, s, low), np.where(below, high, s)
    return 0.5 * (low + high)


@pytest.fixture
def equations():
    rng = np.random.default_rng(4)
    return rng.random(20_000) * 0.95, 1 - rng.random(20_000) * 0.95, rng.random(20_000)


def test_newton_finds_what_bisection_finds(equations):
    assert np.allclose(bezier.solve_unit(*equations), _bisect(*equations), rtol=0, atol=1e-13)


def test_the_kernel_finds_the_same(equations):
    ends = bezier.MAX_NEWTON_STEPS, bezier.STEP_TOLERANCE, bezier.RESIDUAL_TOLERANCE
    found = [bezier_newton_scalar(*numbers, *ends) for numbers in zip(*equations)]
    assert np.allclose(found, bezier.solve_unit(*equations), rtol=0, atol=1e-14)


def test_nothing_to_solve():
    empty = np.empty(0)
    assert bezier.solve_unit(empty, empty, empty).shape == (0,)
