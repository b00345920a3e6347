"""Laws of logarithms that are continuous in time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.maths.strategies import directions, random_rotations, rotations, same_rotation

from understudy.maths import quaternion
from understudy.perform.features.root_motion import exponentials, logarithms


@given(rotations, rotations)
def test_a_single_one_is_the_plain_logarithm(q: np.ndarray, reference: np.ndarray) -> None:
    found = logarithms(q[None, None], reference[None])
    back = quaternion.multiply(reference, quaternion.exp(found[0, 0]))
    assert same_rotation(back, q)
    assert np.linalg.norm(found) <= np.pi + 1e-12


@settings(max_examples=30)
@given(directions, st.floats(-3, 3), st.floats(0.5, 20), st.booleans())
def test_many_turns_are_followed_without_a_jump(axis: np.ndarray, start: float, turns: float, flipped: bool) -> None:
    """Also beyond one turn and back, and however the signs of the quaternions are chosen."""
    angles = start + np.concatenate([np.linspace(0, turns, 60), np.linspace(turns, -turns, 120)])
    path = quaternion.from_axis_angle(axis, angles)
    if flipped:
        path[::3] *= -1
    found = logarithms(path[:, None], quaternion.identity((1,)))[:, 0]
    np.testing.assert_allclose(np.linalg.norm(np.diff(found, axis=0), axis=1), np.abs(np.diff(angles)), atol=1e-9)
    assert same_rotation(quaternion.exp(found), path)


def test_wobbling_turns_are_followed_as_well() -> None:
    time = np.linspace(0, 12, 400)
    wobble = np.stack([np.sin(3 * time), np.zeros_like(time), np.cos(2 * time)], axis=1) * 0.3
    path = quaternion.multiply(quaternion.from_axis_angle([0, 1.0, 0], time), quaternion.exp(wobble))
    found = logarithms(path[:, None], quaternion.identity((1,)))[:, 0]
    assert same_rotation(quaternion.exp(found), path)
    # near a whole turn the axis swings round quickly, but never by a turn at once
    assert np.linalg.norm(np.diff(found, axis=0), axis=1).max() < np.pi


def test_each_rotation_is_followed_on_its_own() -> None:
    still = random_rotations((1, 3), 5)
    spin = quaternion.from_axis_angle([0, 0, 1.0], np.linspace(0, 9, 50))
    path = np.concatenate([np.repeat(still, 50, axis=0), spin[:, None]], axis=1)
    reference = quaternion.identity((4,))
    np.testing.assert_allclose(logarithms(path, reference)[:, :3], quaternion.log(path[:, :3]))


def test_exponentials_undo_logarithms() -> None:
    path, reference = random_rotations((30, 4), 6), random_rotations((4,), 7)
    logs = logarithms(path, reference)
    logs[0, 0] = 0.0
    path[0, 0] = reference[0]
    fast = exponentials(logs, reference)
    assert same_rotation(fast, path)
    np.testing.assert_allclose(quaternion.multiply(reference, quaternion.exp(logs)), fast, atol=1e-15)
