"""Automatic tangents: smooth is C1 and exact on parabolas, clamped never overshoots, flat stops, linear is straight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit.random_curves import MOVE, TURN, random_curve, random_curves, times_over, walk

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.edit import handles
from understudy.edit.keys import is_broken, key_slopes

SEEDS = st.integers(0, 100_000)
ALL = (handles.smooth_tangents, handles.clamp_tangents, handles.flatten_tangents, handles.straighten_tangents)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_smooth_and_clamped_have_one_velocity_at_each_key(seed: int) -> None:
    curves = random_curves(seed, LINEAR)
    for make in (handles.smooth_tangents, handles.clamp_tangents):
        result = make(curves)
        assert all(curve.is_hermite and not is_broken(curve).any() for curve in result.curves)
        step = 1e-6
        for curve in result.curves:
            if curve.channel.kind == "rotation":
                continue
            inner = curve.times[1:-1]
            left = (curve.sample(inner) - curve.sample(inner - step)) / step
            right = (curve.sample(inner + step) - curve.sample(inner)) / step
            np.testing.assert_allclose(left, right, atol=0.02)  # the step times the bend: 6 x 3 / 0.1^2 x 1e-6


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_clamped_never_overshoots(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(7, 3)) * 2) / 2  # with ties, where flats must stay flat
    times = np.cumsum(rng.uniform(0.05, 2.0, 7))
    curve = handles.clamp_tangents(Curves("c", [Curve(MOVE, times, values)])).curves[0]
    for k in range(6):
        found = curve.sample(np.linspace(times[k], times[k + 1], 60))
        low, high = np.minimum(values[k], values[k + 1]), np.maximum(values[k], values[k + 1])
        assert (found >= low - 1e-12).all() and (found <= high + 1e-12).all()
        rising = np.diff(found, axis=0) * np.sign(values[k + 1] - values[k])
        assert rising.min() >= -1e-12


def test_smooth_follows_a_parabola_on_even_keys_and_overshoots_where_clamped_does_not() -> None:
    times = np.arange(6.0)
    curve = Curve(MOVE, times, np.stack([times**2, 3 - times, 0 * times], axis=1))
    made = handles.smooth_tangents(Curves("c", [curve])).curves[0]
    inside = np.linspace(1, 4, 50)
    np.testing.assert_allclose(made.sample(inside)[:, 0], inside**2, atol=1e-12)
    bump = Curves("c", [Curve(MOVE, [0, 1, 2, 3], [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]])])
    over = handles.smooth_tangents(bump).sample(np.linspace(0, 3, 100))
    assert over.min() < -0.01 and over.max() > 1.01
    kept = handles.clamp_tangents(bump).sample(np.linspace(0, 3, 100))
    assert kept.min() >= 0 and kept.max() <= 1


def test_a_cycle_is_smooth_across_its_seam() -> None:
    times = np.linspace(0, 2 * np.pi, 9)
    values = np.stack([np.sin(times), np.cos(times), times], axis=1)
    curve = Curve(MOVE, times, values, LINEAR, extrapolation=("cycle_offset", "cycle_offset"))
    made = handles.smooth_tangents(Curves("c", [curve])).curves[0]
    arriving, leaving = key_slopes(made)
    np.testing.assert_allclose(arriving[-1], leaving[0], atol=1e-12)
    np.testing.assert_allclose(leaving[0], [0.9, 0, 1], atol=1e-3)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_flat_stops_and_linear_is_linear(seed: int) -> None:
    curves = random_curves(seed, BEZIER)
    for curve in handles.flatten_tangents(curves).curves:
        for side in key_slopes(curve):
            assert np.nan_to_num(side).max(initial=0) == 0
    straight = handles.straighten_tangents(curves)
    assert all((curve.segments == LINEAR).all() for curve in straight.curves)
    for curve, old in zip(straight.curves, curves.curves):
        np.testing.assert_array_equal(np.abs(curve.values), np.abs(old.values))


@pytest.mark.parametrize("make", ALL)
def test_keys_stay_and_only_chosen_keys_change(make) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(5)
    curve = random_curve(rng, MOVE, 6, BEZIER)
    other = random_curve(rng, TURN, 4, BEZIER)
    curves = Curves("walk", [curve, other], ["a"], 30.0, "b", {"c": 1.0})
    made = make(curves, "hip", curve.times[2], curve.times[3])
    new = made.curves[0]
    np.testing.assert_array_equal(new.times, curve.times)
    np.testing.assert_array_equal(new.values, curve.values)
    chosen = np.zeros(6, bool)
    chosen[[2, 3]] = True
    np.testing.assert_array_equal(new.before[~chosen], curve.before[~chosen])
    np.testing.assert_array_equal(new.after[~chosen], curve.after[~chosen])
    assert not np.array_equal(new.after[chosen], curve.after[chosen])
    assert (made.labels, made.rate, made.about, dict(made.moments)) == (("a",), 30.0, "b", {"c": 1.0})
    times = times_over(curves)
    first = times < curve.times[1]
    np.testing.assert_allclose(
        made.sample(times)[first], make(curves, [("hip", "translation")], 99).sample(times)[first]
    )


def test_steps_stay_unless_asked() -> None:
    curve = Curve(MOVE, [0, 1, 2], np.arange(9).reshape(3, 3), [STEP, LINEAR])
    curves = Curves("blocking", [curve])
    assert handles.smooth_tangents(curves).curves[0].segments.tolist() == [STEP, BEZIER]
    assert handles.smooth_tangents(curves, steps=True).curves[0].segments.tolist() == [BEZIER, BEZIER]
    assert handles.straighten_tangents(curves, steps=True).curves[0].segments.tolist() == [LINEAR, LINEAR]


def test_quaternion_keys_of_either_sign_turn_the_short_way() -> None:
    q = walk(np.random.default_rng(1), 5, 0.6)
    signs = np.array([1, -1, -1, 1, -1.0])[:, None]
    times = np.linspace(0, 4, 60)
    one, other = (
        handles.smooth_tangents(Curves("c", [Curve(TURN, range(5), values)])).sample(times) for values in (q, q * signs)
    )
    np.testing.assert_allclose(np.abs(np.einsum("mi,mi->m", one, other)), 1, atol=1e-12)
