from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.maths.strategies import angles, directions, vectors

from understudy.maths import quaternion


@given(directions, angles, vectors)
def test_left_jacobian_is_the_derivative_of_the_exponential(axis, angle, rate):
    vector, h = axis * angle, 1e-6
    ahead, behind = quaternion.exp(vector + h * rate), quaternion.exp(vector - h * rate)
    spin = quaternion.log(quaternion.multiply(ahead, quaternion.conjugate(behind))) / (2 * h)
    assert np.allclose(quaternion.left_jacobian(vector) @ rate, spin, atol=1e-7)


@given(directions, st.one_of(angles, st.floats(0, 6)))
def test_inverse_jacobian(axis, angle):
    product = quaternion.left_jacobian(axis * angle) @ quaternion.left_jacobian_inverse(axis * angle)
    assert np.allclose(product, np.eye(3), rtol=0, atol=2e-13)


def test_series_meets_closed_form():
    edge = quaternion.SERIES_ANGLE_RAD
    below, above = (np.array((edge * (1 + e), 0, 0)) for e in (-1e-12, 1e-12))
    for function in (quaternion.left_jacobian, quaternion.left_jacobian_inverse):
        assert np.allclose(function(below), function(above), rtol=0, atol=2e-12)
