"""Quaternions to angles and back: keys exactly, velocities at keys, a measured bound between them, or a tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit.random_curves import ANGLES, TURN, random_curve, random_curves, smooth_turn

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import Array
from understudy.edit.rotation_curves import rotation_error, sample_rotations, to_euler, to_quaternion
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion

SEEDS = st.integers(0, 100_000)
ORDER = st.sampled_from(euler.TAIT_BRYAN)


def velocity(curve: Curve, time: float, side: int) -> Array:
    """World-frame angular velocity (3,) just before (-1) or after (+1) a time, exact to second order."""
    h = 1e-6 * side
    q = sample_rotations(curve, np.array([time, time + h, time + 2 * h]))
    one, two = (quaternion.to_rotation_vector(quaternion.multiply(q[i], quaternion.conjugate(q[0]))) for i in (1, 2))
    return (4 * one - two) / (2 * h)


def check_keys(new: Curve, old: Curve) -> None:
    np.testing.assert_array_equal(new.times, old.times)
    apart = quaternion.angle_between(sample_rotations(new, old.times), sample_rotations(old, old.times))
    assert apart.max() < 1e-12
    for k, time in enumerate(old.times):
        for side, segment in ((1, k), (-1, k - 1)):
            if 0 <= segment < len(old.segments) and old.segments[segment] != STEP:
                expected = velocity(old, time, side)
                found = velocity(new, time, side)
                assert np.abs(found - expected).max() < 1e-4 * max(1.0, np.abs(expected).max())


@given(SEEDS, ORDER)
@settings(max_examples=12, deadline=None)
def test_quaternions_to_angles_and_back(seed: int, order: str) -> None:
    old = smooth_turn(np.random.default_rng(seed), 4, 0.5)
    middles = euler.to_euler(sample_rotations(old, old.times), order)[:, 1]
    if np.abs(np.cos(middles)).min() < 0.3:
        return  # near gimbal lock angles spin, and another test looks there
    curves = Curves("turn", [old])
    angles = to_euler(curves, order)
    assert angles.curves[0].channel.columns == tuple(order.lower())
    check_keys(angles.curves[0], old)
    back = to_quaternion(angles)
    check_keys(back.curves[0], old)
    assert back.curves[0].channel == old.channel


@given(SEEDS)
@settings(max_examples=12, deadline=None)
def test_angles_to_quaternions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for segments in (BEZIER, LINEAR, None):
        old = random_curve(rng, ANGLES, 5, segments, 0.5)
        check_keys(to_quaternion(Curves("c", [old])).curves[0], old)


@pytest.mark.parametrize("spread", [0.05, 0.2, 0.5, 1.0])
def test_between_keys_the_error_goes_with_the_square_of_the_turn(spread: float) -> None:
    """Both curves share values and slopes at the keys, so they part by what bends: measured at most 0.12 turn^2."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        curve = smooth_turn(rng, 5, spread)
        curves = Curves("turn", [curve])
        q = sample_rotations(curve, np.linspace(curves.start, curves.end, 50))
        order = max(euler.TAIT_BRYAN, key=lambda o: np.abs(np.cos(euler.to_euler(q, o)[:, 1])).min())
        turn = quaternion.angle_between(curve.values[1:], curve.values[:-1]).max()
        assert rotation_error(curves, to_euler(curves, order)) < 0.15 * turn**2


@given(SEEDS, st.sampled_from([1e-3, 1e-4]))
@settings(max_examples=12, deadline=None)
def test_a_tolerance_is_kept_by_added_keys(seed: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    curves = Curves("c", [random_curve(rng, ANGLES, 4, BEZIER, 2.0)])
    made = to_quaternion(curves, tolerance=tolerance)
    times = np.linspace(curves.start, curves.end, 500)
    apart = quaternion.angle_between(sample_rotations(made.curves[0], times), sample_rotations(curves.curves[0], times))
    assert apart.max() < 1.5 * tolerance
    assert set(curves.curves[0].times) <= set(made.curves[0].times)
    turn = Curves("c", [smooth_turn(rng, 4, 0.6)])
    angles = to_euler(turn, "YXZ", tolerance=tolerance)
    if np.abs(np.cos(angles.sample(np.linspace(turn.start, turn.end, 99))[:, 1])).min() > 0.2:
        assert rotation_error(turn, angles) < 1.5 * tolerance


def test_fast_angles_are_followed_through_whole_turns() -> None:
    spin = Curve(ANGLES, [0, 1], [[0, 0, 0], [0, 6 * np.pi, 0]])
    made = to_quaternion(Curves("spin", [spin]), tolerance=1e-3)
    times = np.linspace(0, 1, 400)
    assert (
        quaternion.angle_between(sample_rotations(made.curves[0], times), sample_rotations(spin, times)).max() < 1.5e-3
    )
    back = to_euler(made, "ZXY").curves[0]
    np.testing.assert_allclose(np.abs(back.values[-1] - back.values[0]), [0, 6 * np.pi, 0], atol=1e-6)


def test_orders_by_joint_and_everything_else_kept() -> None:
    curves = random_curves(11, BEZIER, ("hold", "cycle"))
    made = to_euler(curves, {"hip": "YZX"})
    kinds = [(c.target, c.kind, c.columns) for c in made.channels]
    assert kinds[1] == ("hip", "euler", ("y", "z", "x"))
    assert [curve is old for curve, old in zip(made.curves, curves.curves)] == [True, False, True, True]
    assert made.curves[1].extrapolation == ("hold", "cycle")
    assert (made.name, made.labels, made.rate, dict(made.moments)) == ("random", ("wild",), 25.0, {"hit": 0.5})


def test_steps_stay_steps() -> None:
    old = random_curve(np.random.default_rng(2), TURN, 4, STEP)
    curves = Curves("c", [old])
    made = to_quaternion(to_euler(curves, "XYZ"))
    assert made.curves[0].segments.tolist() == [STEP] * 3
    assert rotation_error(made, curves) < 1e-12


def test_bad_orders_are_refused() -> None:
    curves = random_curves(1)
    with pytest.raises(InvalidInput, match="no rotation curve of 'elbow'"):
        to_euler(curves, {"elbow": "XYZ"})
    with pytest.raises(InvalidInput, match="no Euler order of three different axes 'ZXZ'"):
        to_euler(curves, "zxz")
    with pytest.raises(InvalidInput, match="tolerance should be above zero"):
        to_quaternion(curves, tolerance=0.0)
