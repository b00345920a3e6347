from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.express.acting.timing import clamp_to_range, limit_speed

MEMBERS = [np.arange(2), np.arange(2, 5)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 3.0))
def test_no_step_is_longer_than_allowed_and_the_way_is_the_same(seed: int, limit: float) -> None:
    rng = np.random.default_rng(seed)
    motion = np.cumsum(rng.normal(size=(12, 5, 2)) * rng.random((12, 1, 1)), axis=0)
    fastest = np.array([limit, 2 * limit])
    found, places = limit_speed(motion, MEMBERS, fastest)
    steps = np.linalg.norm(np.diff(found, axis=0), axis=2)
    for members, most in zip(MEMBERS, fastest):
        assert steps[:, members].max() <= most * (1 + 1e-9)
    assert np.allclose(found[0], motion[0]) and np.allclose(found[-1], motion[-1])
    assert (np.diff(places) >= 1 - 1e-12).all() and len(found) == int(np.ceil(places[-1] - 1e-9)) + 1


def test_what_is_slow_enough_stays_as_it_is() -> None:
    motion = np.linspace(0.0, 1.0, 9)[:, None, None] * np.ones((5, 2))
    found, places = limit_speed(motion, MEMBERS, np.array([1.0, 1.0]))
    assert found is motion and np.array_equal(places, np.arange(9))


def test_the_range_is_kept() -> None:
    motion = np.random.default_rng(0).normal(size=(9, 5, 2))
    low, high = np.full((5, 2), -0.5), np.full((5, 2), 0.25)
    held = clamp_to_range(motion, low, high)
    assert held.min() == -0.5 and held.max() == 0.25
