"""Timing: eq. 12 by its numbers, and speeds that meet their goal while everything else stays."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import creature, puppets
from tests.edit.random_curves import random_curves

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER
from understudy.edit.goals import Pin, Point
from understudy.edit.keys import key_slopes
from understudy.edit.timing import Speed, retime, scale_timing, sigma_of, speed_of
from understudy.errors import InvalidInput

TIP = Point("left tip")


def ramp(after: float = 0.5, before: float = 0.5, value: float = 0.0) -> Curves:
    """Two seconds from 1 to 3 s, one column, with time handles as given."""
    channel = Channel("face", "weights", ("smile",))
    curve = Curve(channel, [1, 3], [[0], [1]], BEZIER, [[[0, 0]], [[before, value]]], [[[after, value]], [[0, 0]]])
    return Curves("ramp", [curve], rate=24.0)


def test_handles_change_by_equation_twelve() -> None:
    scaled = scale_timing(ramp(), 1.5, 0.2).curves[0]  # d = 2, a quarter of the way
    assert scaled.after[0, 0, 0] == pytest.approx(0.5 + 0.2 * 0.5)
    assert scaled.before[1, 0, 0] == pytest.approx(0.5 + 0.2 * 1.5)
    np.testing.assert_array_equal(scaled.values, [[0], [1]])
    np.testing.assert_array_equal(scaled.times, [1, 3])


@pytest.mark.parametrize(("sigma", "expected"), [(5.0, 1.9), (-5.0, 0.0)])
def test_handles_stay_within_their_segment(sigma: float, expected: float) -> None:
    scaled = scale_timing(ramp(), 2.0, sigma).curves[0]
    assert scaled.after[0, 0, 0] == pytest.approx(expected) and scaled.before[1, 0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.5, 2.5])
def test_sigma_of_a_factor_multiplies_the_speed_in_the_middle(factor: float) -> None:
    curves = ramp(2 / 3, 2 / 3)  # even handles, flat: an ease
    after = scale_timing(curves, 2.0, sigma_of(factor))
    h = 1e-5
    speeds = [np.diff(c.sample([2 - h, 2 + h])[:, 0])[0] / (2 * h) for c in (curves, after)]
    assert speeds[1] == pytest.approx(factor * speeds[0], rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_keys_and_other_curves_stay(seed: int) -> None:
    curves = random_curves(seed)
    time = 0.5 * (curves.start + curves.end)
    scaled = scale_timing(curves, time, 0.3, "knee")
    for one, other in zip(curves.curves, scaled.curves):
        np.testing.assert_array_equal(one.times, other.times)
        np.testing.assert_allclose(one.values, other.values)
        if one.channel.target != "knee":
            assert one is other
    outside = np.linspace(curves.start, curves.end, 50)
    knee, after = (next(c for c in s.curves if c.channel.target == "knee") for s in (curves, scaled))
    k = int(np.searchsorted(knee.times, time, side="right")) - 1
    if 0 <= k < len(knee) - 1:
        beyond = [t for t in outside if not knee.times[k] < t < knee.times[k + 1]]
        np.testing.assert_allclose(knee.sample(beyond), after.sample(beyond), atol=1e-12)


def test_smooth_edges_stay_smooth() -> None:
    curves = puppets.wave(euler=True)
    for edges, kinks in (("broken", True), ("smooth", False)):
        scaled = scale_timing(curves, 0.6, 0.3, edges=edges)
        arriving, leaving = key_slopes(scaled.curves[0])
        assert (np.abs(arriving[1] - leaving[1]).max() > 1e-3) == kinks


@pytest.mark.parametrize("kind", ["euler", "rotation"])
@pytest.mark.parametrize("factor", [0.5, 1.4, 2.0])
def test_speed_is_multiplied_where_the_point_is(kind: str, factor: float) -> None:
    rig, curves = creature.rig(), creature.curves(1, kind)
    done = retime(rig, curves, TIP, 1.4, factor)
    assert done.reached and "times its speed" in done.notes[0]
    assert speed_of(rig, done.curves, TIP, 1.4) == pytest.approx(factor * speed_of(rig, curves, TIP, 1.4), rel=0.02)
    assert done.drift <= 1e-3 * 1.3  # the place at that time is held, in sizes of the creature
    for one, other in zip(curves.curves, done.curves.curves):
        np.testing.assert_array_equal(one.times, other.times)
        np.testing.assert_array_equal(one.values, other.values)


def test_pins_hold_while_timing_changes() -> None:
    rig, curves = creature.rig(), creature.curves(0, "rotation")
    done = retime(rig, curves, TIP, 1.4, 1.5, pins=[Pin(Point("right tip"))])
    assert done.reached and done.drift <= 1e-3 and done.drift_angle <= 1e-3
    assert speed_of(rig, done.curves, TIP, 1.4) == pytest.approx(1.5 * speed_of(rig, curves, TIP, 1.4), rel=0.02)


def test_a_speed_answers_as_differences_say() -> None:
    rng = np.random.default_rng(0)
    path = rng.normal(size=(2, 1, 3))
    wish = Speed(TIP, 1.0, 1.7)
    term = wish.term_function(puppets.rig(), path, wish.times(24.0), 1.3)
    now = path + rng.normal(size=path.shape) * 0.01
    answer = term(now)
    for index in np.ndindex(path.shape):
        step = np.zeros_like(path)
        step[index] = 1e-6
        numeric = -(term(now + step).residual - term(now - step).residual) / 2e-6
        np.testing.assert_allclose(answer.slopes[(slice(None), *index)], numeric, atol=1e-6)
    assert np.abs(wish.term_function(puppets.rig(), path, wish.times(24.0), 1.3)(1.7 * path).residual).max() < 1e-12


def test_bad_input_is_one_sentence() -> None:
    rig, curves = puppets.rig(), puppets.wave()
    still = Curves("still", [Curve(Channel("rig:upper", "rotation"), [0, 1], [[0, 0, 0, 1.0]] * 2)], rate=24.0)
    for text, call in {
        "within animation": lambda: scale_timing(curves, 7.0, 0.1),
        "sigma": lambda: scale_timing(curves, 0.2, float("nan")),
        "above zero": lambda: sigma_of(0.0),
        "zero or more": lambda: retime(rig, curves, Point("rig:hand"), 0.2, -1.0),
        "within animation 'wave'": lambda: retime(rig, curves, Point("rig:hand"), 0.0, 2.0),
        "stands still": lambda: retime(rig, still, Point("rig:hand"), 0.5, 2.0),
    }.items():
        with pytest.raises(InvalidInput, match=text):
            call()
