from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.maths.strategies import angles, directions, vectors

from understudy.maths import quaternion, rotation_spline


@given(directions, angles, vectors)
def test_left_jacobian_is_the_derivative_of_the_exponential(axis, angle, rate):
    vector, h = axis * angle, 1e-6
    ahead, behind = quaternion.exp(vector + h * rate), quaternion.exp(vector - h * rate)
    spin = quaternion.log(quaternion.multiply(ahead, quaternion.conjugate(behind))) / (2 * h)
    assert np.allclose(rotation_spline.left_jacobian(vector) @ rate, spin, atol=1e-7)


@given(directions, st.one_of(angles, st.floats(0, 6)))
def test_inverse_jacobian(axis, angle):
    product = rotation_spline.left_jacobian(axis * angle) @ rotation_spline.left_jacobian_inverse(axis * angle)
    assert np.allclose(product, np.eye(3), rtol=0, atol=2e-13)


def test_series_meets_closed_form():
    edge = rotation_spline.SERIES_ANGLE_RAD
    below, above = (np.array((edge * (1 + e), 0, 0)) for e in (-1e-12, 1e-12))
    for function in (rotation_spline.left_jacobian, rotation_spline.left_jacobian_inverse):
        assert np.allclose(function(below), function(above), rtol=0, atol=2e-12)


@given(directions, st.floats(0.1, 80))
def test_angular_velocity_of_an_even_turn(axis, speed):
    rate = 30.0
    q = quaternion.from_axis_angle(axis, speed * np.arange(6) / rate)
    assert np.allclose(rotation_spline.angular_velocity(-q, rate), speed * axis, atol=1e-9)


def test_angular_velocity_is_of_second_order():
    def path(t):
        return np.stack((np.sin(t), 0.5 * np.cos(2 * t), 0.3 * t * t), axis=-1)

    def path_rate(t):
        return np.stack((np.cos(t), -np.sin(2 * t), 0.6 * t), axis=-1)

    errors = []
    for rate in (50.0, 100.0):
        t = np.arange(0, 1 + 1e-9, 1 / rate)
        exact = np.einsum("fij,fj->fi", rotation_spline.left_jacobian(path(t)), path_rate(t))
        errors.append(np.abs(rotation_spline.angular_velocity(quaternion.exp(path(t)), rate) - exact).max())
    assert errors[1] < 0.3 * errors[0]


def test_too_few_frames_to_move():
    assert np.array_equal(rotation_spline.angular_velocity(quaternion.identity((1, 5)), 24.0), np.zeros((1, 5, 3)))
    assert rotation_spline.angular_velocity(quaternion.identity((2, 5)), 24.0).shape == (2, 5, 3)
