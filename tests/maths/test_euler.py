from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from tests.maths.strategies import random_rotations, rotations, same_rotation, small

from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion

orders = st.sampled_from(euler.ORDERS)
triples = st.tuples(*[st.floats(-7, 7)] * 3).map(np.array)


def _lock(order: str) -> tuple[float, float]:
    return (0.0, np.pi) if order[0] == order[2] else (0.5 * np.pi, -0.5 * np.pi)


@given(triples, orders)
def test_angles_stack_as_in_bvh(angles, order):
    matrix = np.eye(3)
    for letter, angle in zip(order, angles):
        axis = np.eye(3)["XYZ".index(letter)]
        matrix = matrix @ quaternion.to_matrix(quaternion.from_axis_angle(axis, angle))
    assert np.allclose(quaternion.to_matrix(euler.from_euler(angles, order)), matrix)
    assert same_rotation(euler.from_euler(angles, order.lower()), Rotation.from_euler(order, angles).as_quat(), 1e-14)


@given(rotations, orders)
def test_angles_give_the_rotation_back(q, order):
    angles = euler.to_euler(q, order)
    assert same_rotation(euler.from_euler(angles, order), q, 2e-7)
    low, high = sorted(_lock(order))
    assert low <= angles[1] <= high and (np.abs(angles[[0, 2]]) <= np.pi + 1e-15).all()


@pytest.mark.parametrize("order", euler.ORDERS)
def test_angles_agree_with_scipy_away_from_lock(order):
    q = random_rotations((500,), 7)
    assert np.allclose(euler.to_euler(q, order), Rotation.from_quat(q).as_euler(order), atol=1e-12)


@given(triples, orders, st.booleans(), st.one_of(st.just(0.0), small))
def test_gimbal_lock_keeps_the_rotation(angles, order, side, distance):
    angles[1] = _lock(order)[side] + distance
    q = euler.from_euler(angles, order)
    back = euler.to_euler(q, order)
    assert same_rotation(euler.from_euler(back, order), q, 2e-7)
    if distance == 0.0:
        assert back[2] == 0.0


@pytest.mark.parametrize("order", euler.ORDERS)
def test_unroll_follows_a_path_through_flips_and_turns(order):
    rng = np.random.default_rng(11)
    path = np.cumsum(rng.normal(size=(300, 3, 3)) * 0.05, axis=0) + np.linspace(0, 9, 300)[:, None, None]
    q = euler.from_euler(path, order)
    broken = euler.to_euler(q, order)
    out = euler.unroll_euler(broken, order)
    assert same_rotation(euler.from_euler(out, order), q)
    assert np.abs(np.diff(broken, axis=0)).max() > 1.0
    assert np.abs(np.diff(out, axis=0)).max() < np.abs(np.diff(path, axis=0)).max() + 1e-6
    assert np.allclose(euler.unroll_euler(broken.swapaxes(0, 1), order, axis=1), out.swapaxes(0, 1))


@pytest.mark.parametrize("order", euler.ORDERS)
@pytest.mark.parametrize("side", [0, 1])
def test_unroll_moves_evenly_within_gimbal_lock(order, side):
    t = np.linspace(0, 1, 200)
    path = np.stack((3 * t, np.full_like(t, _lock(order)[side]), 0.3 - 2 * t), axis=-1)
    q = euler.from_euler(path, order)
    out = euler.unroll_euler(euler.to_euler(q, order), order)
    assert same_rotation(euler.from_euler(out, order), q, 1e-6)
    assert np.abs(np.diff(out, axis=0)).max() < 0.02


def test_an_unknown_order_is_named():
    with pytest.raises(InvalidInput, match="'XXY'"):
        euler.to_euler(quaternion.identity(), "XXY")
