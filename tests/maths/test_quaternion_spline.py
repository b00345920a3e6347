from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.maths.strategies import random_rotations, rotations, same_rotation

from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.maths.quaternion import key_velocities, spline

seeds = st.integers(0, 2**32 - 1)


def _keys(seed):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.1, 1.0, 6))
    return times, quaternion.unroll(random_rotations((6, 2), seed))


def _body_velocity(times, q, at, h):
    a, b = spline(times, q, [at - h, at + h])
    middle = spline(times, q, [at])[0]
    return quaternion.rotate(
        quaternion.conjugate(middle), quaternion.log(quaternion.multiply(b, quaternion.conjugate(a)))
    ) / (2 * h)


@given(seeds)
def test_the_curve_passes_its_keys_and_holds_beyond(seed):
    times, q = _keys(seed)
    assert same_rotation(spline(times, q, times), q, 1e-12)
    assert same_rotation(spline(times, q, [times[0] - 5, times[-1] + 5]), q[[0, -1]], 1e-12)


@given(seeds)
def test_velocity_is_continuous_at_the_keys(seed):
    times, q = _keys(seed)
    wanted = key_velocities(times, q)
    h = 1e-7
    for k in range(1, 5):
        for side in (-1, 1):
            velocity = _body_velocity(times, q, times[k] + side * 2 * h, h)
            assert np.allclose(velocity, wanted[k], atol=2e-3)


@given(seeds)
def test_value_is_continuous_everywhere(seed):
    times, q = _keys(seed)
    t = np.linspace(times[0], times[-1], 4001)
    curve = spline(times, q, t)
    assert np.allclose(np.linalg.norm(curve, axis=-1), 1.0)
    fastest = 10 * np.pi / np.diff(times).min()  # generous: a jump would take no time at all
    assert quaternion.angle_between(curve[1:], curve[:-1]).max() < fastest * (t[1] - t[0])


@given(rotations, rotations)
def test_even_turns_are_followed_evenly(a, b):
    step = quaternion.slerp(quaternion.identity(), b, 0.3)
    q = [a]
    for _ in range(4):
        q.append(quaternion.multiply(q[-1], step))
    t = np.linspace(0, 4, 41)
    expected = quaternion.multiply(a, quaternion.exp(t[:, None] * quaternion.log(step)))
    assert same_rotation(spline(np.arange(5.0), np.array(q), t), expected, 1e-9)


@given(seeds, rotations)
def test_the_curve_turns_with_its_keys(seed, turn):
    times, q = _keys(seed)
    t = np.linspace(times[0], times[-1], 23)
    curve = spline(times, q, t)
    assert same_rotation(spline(times, quaternion.multiply(turn, q), t), quaternion.multiply(turn, curve), 1e-9)


def test_given_velocities_are_kept():
    times, q = _keys(1)
    still = spline(times, q, times[2] + np.array((-1e-5, 0.0, 1e-5)), velocities=np.zeros((6, 2, 3)))
    assert quaternion.angle_between(still[1:], still[:-1]).max() < 1e-6


def test_few_keys_and_bad_times():
    one = quaternion.identity((1, 3))
    assert spline([2.0], one, [0.0, 5.0]).shape == (2, 3, 4)
    two = np.concatenate((one, random_rotations((1, 3), 0)))
    assert same_rotation(spline([0.0, 2.0], two, [1.0])[0], quaternion.slerp(two[0], two[1], 0.5), 1e-9)
    with pytest.raises(InvalidInput, match="rising"):
        spline([1.0, 1.0], two, [1.0])
