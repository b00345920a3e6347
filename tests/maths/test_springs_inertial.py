from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.maths import springs

numbers = st.one_of(st.floats(-5, 5, allow_subnormal=False), st.sampled_from((0.0, 1e-9, -1e-9)))
durations = st.floats(0.05, 2)


@given(numbers, numbers, durations)
def test_value_and_velocity_start_as_given(x0, v0, duration):
    state = springs.init_decay(x0, v0, duration)
    assert springs.evaluate(state, 0.0) == x0
    if state.duration > 1e-12:
        assert np.isclose(springs.velocity(state, 0.0), v0, rtol=1e-9, atol=1e-9)


@given(numbers, numbers, durations, st.floats(0.0, 0.5))
def test_nothing_is_stopped_sooner_than_the_shortest(x0, v0, duration, shortest):
    state = springs.init_decay(x0, v0, duration, shortest)
    assert min(shortest, duration) <= state.duration <= duration
    assert springs.evaluate(state, 0.0) == x0
    if state.duration > 1e-12:
        assert np.isclose(springs.velocity(state, 0.0), v0, rtol=1e-9, atol=1e-9)
    assert springs.evaluate(state, duration) == 0.0


@given(numbers, numbers, durations)
def test_the_end_is_at_rest(x0, v0, duration):
    state = springs.init_decay(x0, v0, duration)
    assert state.duration <= duration
    for t in (state.duration, duration, 2 * duration):
        assert springs.evaluate(state, t) == 0.0 and springs.velocity(state, t) == 0.0
    early = state.duration * (1 - 1e-3)
    assert abs(springs.evaluate(state, early)) <= 1e-7 * (abs(x0) + abs(v0) * duration)  # the third power of 1e-3


@given(numbers, numbers, durations)
def test_no_overshoot(x0, v0, duration):
    state = springs.init_decay(x0, v0, duration)
    path = springs.evaluate(state, np.linspace(0, duration, 201)) * (np.sign(x0) or np.sign(v0))
    assert (path >= -1e-15).all()
    if x0 * v0 <= 0 and x0 != 0:
        assert (np.diff(path) <= 1e-12).all()


@given(numbers, numbers, durations, st.floats(0.05, 0.95))
def test_velocity_is_the_rate(x0, v0, duration, u):
    state = springs.init_decay(x0, v0, duration)
    if state.duration < 1e-3:
        return
    t, h = u * state.duration, 1e-5 * state.duration
    rate = (springs.evaluate(state, t + h) - springs.evaluate(state, t - h)) / (2 * h)
    assert np.isclose(springs.velocity(state, t), rate, atol=1e-6 * (abs(v0) + abs(x0) / state.duration) + 1e-12)


def test_the_coefficients_are_those_of_the_published_quintic():
    x0, v0, t1 = 2.0, -3.0, 0.5
    a0 = max(0.0, (-8 * v0 * t1 - 20 * x0) / t1**2)
    a = -(a0 * t1**2 + 6 * v0 * t1 + 12 * x0) / (2 * t1**5)
    b = (3 * a0 * t1**2 + 16 * v0 * t1 + 30 * x0) / (2 * t1**4)
    c = -(3 * a0 * t1**2 + 12 * v0 * t1 + 20 * x0) / (2 * t1**3)
    t = np.linspace(0, t1, 20)
    quintic = a * t**5 + b * t**4 + c * t**3 + 0.5 * a0 * t**2 + v0 * t + x0
    assert np.allclose(springs.evaluate(springs.init_decay(x0, v0, t1), t), quintic)


def test_the_published_limits_on_time_and_acceleration():
    x0, v0 = 1.0, -20.0
    state = springs.init_decay(x0, v0, 1.0)
    assert np.isclose(state.duration, -5 * x0 / v0) and state.b1 == 0.0 and state.b2 == 0.0


def test_batches():
    state = springs.init_decay(np.ones((4, 3)), np.zeros(3), 0.5)
    assert springs.evaluate(state, 0.1).shape == (4, 3)
