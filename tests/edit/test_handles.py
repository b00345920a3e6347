"""Handles: linear segments as Bezier keep their shape; breaking and joining change what they say and no more."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit.random_curves import MOVE, TURN, random_curves, times_over, walk

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.edit import handles
from understudy.edit.handles import break_tangents, join_tangents, to_bezier
from understudy.edit.keys import is_broken
from understudy.maths import quaternion

SEEDS = st.integers(0, 100_000)


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_plain_columns_stay_exactly(seed: int) -> None:
    curves = random_curves(seed)
    made = to_bezier(curves)
    for curve, old in zip(made.curves, curves.curves):
        assert not (curve.segments == LINEAR).any()
        np.testing.assert_array_equal(curve.segments == STEP, old.segments == STEP)
    plain = [i for i, name in enumerate(curves.channels.names) if ".rotation." not in name]
    times = times_over(curves)
    np.testing.assert_allclose(made.sample(times)[:, plain], curves.sample(times)[:, plain], atol=1e-13)


@given(SEEDS, st.floats(0.0, 3.1415))
@settings(max_examples=60, deadline=None)
def test_a_slerp_is_followed(seed: int, angle: float) -> None:
    """The bounds are those that the docstring promises; velocities at the keys are the slerp's own."""
    rng = np.random.default_rng(seed)
    a = quaternion.normalise(rng.normal(size=4))
    axis = rng.normal(size=3)
    b = quaternion.multiply(a, quaternion.from_axis_angle(axis, np.array(angle)))
    curve = Curve(TURN, [0, 0.7], np.stack([a, b if seed % 2 else -b]))
    made = to_bezier(Curves("turn", [curve])).curves[0]
    assert made.is_hermite
    times = np.linspace(0, 0.7, 200)
    error = quaternion.angle_between(made.sample(times), curve.sample(times)).max()
    assert error < (1e-8 if angle < 1.05 else 1e-7 if angle < np.pi / 2 else 1.2e-5)
    h = 1e-5
    for left in (0.0, 0.7 - h):
        turned = quaternion.angle_between(*made.sample([left, left + h])) / h
        np.testing.assert_allclose(turned, angle / 0.7, rtol=1e-3, atol=1e-3)


def test_only_segments_within_the_range_change() -> None:
    curve = Curve(MOVE, [0, 1, 2, 3], np.arange(12).reshape(4, 3))
    made = to_bezier(Curves("walk", [curve]), start=1.0, stop=1.5).curves[0]
    assert made.segments.tolist() == [LINEAR, BEZIER, LINEAR]


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_broken_and_joined(seed: int) -> None:
    curves = random_curves(seed, BEZIER)
    for curve in curves.curves:
        broken = is_broken(curve)
        assert not broken[[0, -1]].any()
        assert broken[1:-1].all()  # free handles at random never line up
    joined = join_tangents(curves)
    for curve, old in zip(joined.curves, curves.curves):
        assert not is_broken(curve).any()
        np.testing.assert_array_equal(curve.before[..., 0], old.before[..., 0])
        np.testing.assert_array_equal(curve.after[..., 0], old.after[..., 0])
        for k in range(1, len(curve) - 1):  # before = r after
            cross = curve.before[k, :, 0] * curve.after[k, :, 1] - curve.before[k, :, 1] * curve.after[k, :, 0]
            np.testing.assert_allclose(cross, 0, atol=1e-12)
    again = join_tangents(joined)
    for curve, old in zip(again.curves, joined.curves):
        np.testing.assert_array_equal(curve.after, old.after)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_breaking_is_not_seen(seed: int) -> None:
    curves = handles.smooth_tangents(random_curves(seed, BEZIER))
    opened = break_tangents(curves)
    for curve in opened.curves:
        assert is_broken(curve)[1:-1].all()
    times = times_over(curves)
    assert np.abs(opened.sample(times) - curves.sample(times)).max() < 1e-5
    shut = join_tangents(opened)
    assert not any(is_broken(curve).any() for curve in shut.curves)


def test_one_key_of_one_curve() -> None:
    curves = random_curves(7, BEZIER)
    curve = max(curves.curves, key=len)
    joined = join_tangents(curves, float(curve.times[1]), [curve.channel])
    for new, old in zip(joined.curves, curves.curves):
        expected = is_broken(old)
        if old is curve:
            expected[1] = False
        np.testing.assert_array_equal(is_broken(new), expected)


def test_lines_join_and_steps_do_not() -> None:
    values = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0], [5, 5, 5.0]])
    curves = Curves("c", [Curve(MOVE, [0, 1, 2, 3], values, [LINEAR, LINEAR, STEP])])
    assert is_broken(curves.curves[0]).tolist() == [[False] * 3, [True] * 3, [True] * 3, [False] * 3]
    made = join_tangents(curves).curves[0]
    assert made.segments.tolist() == [BEZIER, BEZIER, STEP]
    assert is_broken(made).tolist() == [[False] * 3, [False] * 3, [True] * 3, [False] * 3]
    turning = Curves("c", [Curve(TURN, range(4), walk(np.random.default_rng(0), 4))])
    assert not is_broken(join_tangents(turning).curves[0]).any()
