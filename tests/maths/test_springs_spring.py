from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.maths.strategies import vectors

from understudy.maths import springs

lives = st.floats(0.02, 2)
steps = st.floats(1e-4, 1)


@given(vectors, vectors, vectors, lives, steps)
def test_two_steps_are_one(x, v, goal, life, dt):
    once = springs.step(x, v, goal, life, dt)
    twice = springs.step(*springs.step(x, v, goal, life, 0.3 * dt), goal, life, 0.7 * dt)
    assert np.allclose(once, twice, atol=1e-9)


@given(vectors, vectors, lives)
def test_half_is_reached_at_the_half_life(x, goal, life):
    there, _ = springs.step(x, np.zeros(3), goal, life, life)
    assert np.allclose(there, 0.5 * (x + goal), atol=1e-12)


@given(st.floats(-5, 5), st.floats(-5, 5), lives, steps)
def test_no_overshoot_from_rest_and_velocity_is_the_rate(x, goal, life, dt):
    there, velocity = springs.step(x, 0.0, goal, life, dt)
    assert abs(there - goal) <= abs(x - goal) and (there - goal) * (x - goal) >= 0
    h = 1e-6 * life
    ahead, behind = (springs.step(x, 0.0, goal, life, dt + e)[0] for e in (h, -h))
    assert np.isclose(velocity, (ahead - behind) / (2 * h), rtol=1e-4, atol=1e-4 * abs(x - goal) / life + 1e-9)
