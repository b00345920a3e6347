"""Rates of Euler angles and of quaternions against finite differences, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.maths import euler, quaternion


@pytest.mark.parametrize("order", euler.ORDERS)
@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_against_finite_differences(order: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles, rates = rng.uniform(-3, 3, (2, 7, 3))
    h = 1e-6
    forward, back = (euler.from_euler(angles + sign * h * rates, order) for sign in (1, -1))
    found = euler.quaternion_rates(angles, rates, order)
    np.testing.assert_allclose(found, (forward - back) / (2 * h), atol=1e-8)
    q = euler.from_euler(angles, order)
    np.testing.assert_allclose(np.einsum("...i,...i->...", q, found), 0, atol=1e-12)  # stays of unit length
    middle = angles[:, 1]
    free = np.abs(np.sin(middle) if order[0] == order[2] else np.cos(middle)) > 1e-3
    np.testing.assert_allclose(euler.euler_rates(angles, q, found, order)[free], rates[free], rtol=1e-6, atol=1e-6)


def test_gimbal_lock_gives_finite_rates_that_come_nearest() -> None:
    angles = np.array([0.3, np.pi / 2, -0.4])
    q = euler.from_euler(angles, "XYZ")
    for axis in np.eye(3):
        velocity = np.append(axis, 0.0)
        rates = euler.euler_rates(angles, q, 0.5 * quaternion.multiply(velocity, q), "XYZ")
        assert np.abs(rates).max() <= 1 + 1e-9
