"""Curves: keys are met, segments keep their promise, extrapolation continues, Hermite and Bezier agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.curves import natural_rate
from understudy.errors import InvalidInput
from understudy.maths import quaternion

MOVE = Channel("hip", "translation")
TURN = Channel("hip", "rotation")


def random_curve(seed: int, keys: int = 5) -> Curve:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.1, 1.0, keys))
    gaps = np.diff(times, prepend=times[0] - 1, append=times[-1] + 1)
    before, after = rng.normal(size=(2, keys, 3, 2))
    before[..., 0] = rng.uniform(0, 0.9, (keys, 3)) * gaps[:-1, None]
    after[..., 0] = rng.uniform(0, 0.9, (keys, 3)) * gaps[1:, None]
    return Curve(MOVE, times, rng.normal(size=(keys, 3)), rng.integers(0, 3, keys - 1), before, after)


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_keys_are_met(seed: int) -> None:
    curve = random_curve(seed)
    np.testing.assert_allclose(curve.sample(curve.times), curve.values, atol=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_bezier_lies_on_the_parametric_curve(seed: int) -> None:
    """The value at time x(s) is y(s), for the cubic that the handles span."""
    curve = random_curve(seed)
    curve = Curve(MOVE, curve.times, curve.values, BEZIER, curve.before, curve.after)
    s = np.linspace(0, 1, 9)[:, None]
    basis = np.concatenate([(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s**2 * (1 - s), s**3], axis=1)
    for k in range(len(curve) - 1):
        for column in range(3):
            p0 = np.array([curve.times[k], curve.values[k, column]])
            p3 = np.array([curve.times[k + 1], curve.values[k + 1, column]])
            points = np.array([p0, p0 + curve.after[k, column], p3 - curve.before[k + 1, column], p3])
            x, y = (basis @ points).T
            found = curve.sample(x)[:, column]
            slope = np.gradient(y, x).max() if np.all(np.diff(x) > 1e-9) else np.inf
            assert np.abs(found - y).max() < 1e-6 * max(1.0, min(abs(slope), 1e3))


def test_stepped_holds_until_the_next_key_and_linear_is_straight() -> None:
    curve = Curve(MOVE, [0, 1, 2], [[0, 0, 0], [1, 2, 3], [2, 4, 6]], [STEP, LINEAR])
    np.testing.assert_allclose(curve.sample([0.999]), [[0, 0, 0]])
    np.testing.assert_allclose(curve.sample([1.0, 1.5]), [[1, 2, 3], [1.5, 3, 4.5]])


def test_linear_rotation_is_slerp_and_stays_unit() -> None:
    a, b = quaternion.from_rotation_vector([0.0, 0, 0]), quaternion.from_rotation_vector([0, 2.0, 0])
    curve = Curve(TURN, [0, 1], [a, -b])  # the other sign of the same rotation: the short way is taken
    expected = quaternion.from_rotation_vector([0, 0.5, 0])
    np.testing.assert_allclose(quaternion.angle_between(curve.sample([0.25])[0], expected), 0, atol=1e-7)


def test_hermite_equals_the_printed_spline_of_gltf() -> None:
    rng = np.random.default_rng(0)
    times = np.array([0.0, 0.7, 1.1, 3.0])
    values, arriving, leaving = rng.normal(size=(3, 4, 3))
    curve = Curve.hermite(MOVE, times, values, arriving, leaving)
    assert curve.is_hermite
    for k in range(3):
        d = times[k + 1] - times[k]
        t = np.linspace(0, 1, 7)[:, None]
        expected = (
            (2 * t**3 - 3 * t**2 + 1) * values[k]
            + d * (t**3 - 2 * t**2 + t) * leaving[k]
            + (-2 * t**3 + 3 * t**2) * values[k + 1]
            + d * (t**3 - t**2) * arriving[k + 1]
        )
        np.testing.assert_allclose(curve.sample(times[k] + d * t[:, 0]), expected, atol=1e-10)


@pytest.mark.parametrize("mode", ["hold", "linear", "cycle", "cycle_offset"])
def test_extrapolation(mode: str) -> None:
    curve = Curve(MOVE, [1, 2], [[0, 0, 0], [1, 1, 2]], LINEAR, extrapolation=(mode, mode))
    after = {"hold": [1, 1, 2], "linear": [1.5, 1.5, 3], "cycle": [0.5, 0.5, 1], "cycle_offset": [1.5, 1.5, 3]}
    before = {"hold": [0, 0, 0], "linear": [-0.5, -0.5, -1], "cycle": [0.5, 0.5, 1], "cycle_offset": [-0.5, -0.5, -1]}
    np.testing.assert_allclose(curve.sample([2.5])[0], after[mode])
    np.testing.assert_allclose(curve.sample([0.5])[0], before[mode])


@pytest.mark.parametrize(
    ("times", "handle", "words"),
    [([0, 0], 0.0, "increase"), ([0, 1], 1.5, "neighbouring key"), ([0, 1], -0.5, "neighbouring key")],
)
def test_bad_curves_are_refused_with_a_reason(times: list[float], handle: float, words: str) -> None:
    handles = np.zeros((2, 3, 2))
    handles[..., 0] = handle
    with pytest.raises(InvalidInput, match=words):
        Curve(MOVE, times, np.zeros((2, 3)), BEZIER, handles, handles)


def test_curves_sample_to_a_clip_with_continuous_rotations() -> None:
    spin = quaternion.from_rotation_vector(np.outer(np.linspace(0, 3 * np.pi, 25), [0, 1, 0]))
    flipped = spin * np.where(np.arange(25) % 2, -1.0, 1.0)[:, None]
    curves = Curves("spin", [Curve(TURN, np.arange(25) / 24, flipped)], labels=["turn"])
    clip = curves.clip()
    assert (clip.rate, len(clip), clip.labels) == (24.0, 25, ("turn",))
    assert np.sum(clip.values[1:] * clip.values[:-1], axis=1).min() > 0.9


def test_what_happens_and_named_moments_stay_with_a_clip() -> None:
    told = {"about": "a step", "moments": {"off": 0.25}}
    clip = Curves("step", [Curve(MOVE, [0, 1], np.zeros((2, 3)))], rate=24, **told).clip(12).resample(48)
    assert (clip.about, dict(clip.moments)) == ("a step", {"off": 0.25})
    with pytest.raises(TypeError):
        clip.moments["on"] = 0.5  # type: ignore[index]
    with pytest.raises(InvalidInput, match="finite time, but is 'off' at nan"):
        Curves("step", [Curve(MOVE, [0, 1], np.zeros((2, 3)))], moments={"off": np.nan})


def test_a_trusted_bezier_curve_is_the_checked_one() -> None:
    times, values = np.array([0.0, 1.0, 3.0]), np.arange(9.0).reshape(3, 3)
    handles = np.full((3, 3, 2), 0.4)
    one = Curve(MOVE, times, values, BEZIER, handles, handles)
    two = Curve.bezier_from_checked_arrays(MOVE, times, values, handles, handles)
    at = np.linspace(-1, 4, 50)
    assert np.array_equal(one.sample(at), two.sample(at))
    assert (two.extrapolation, two.segments.tolist()) == (one.extrapolation, one.segments.tolist())


@pytest.mark.parametrize(
    ("times", "rate"),
    [
        (np.arange(30) / 24, 24),
        (np.float32(np.arange(1, 30) / 30.0), 30),
        (np.arange(30) / 120, 120),
        (0.0137 + np.arange(30) / 60, 60),
        (np.array([0.0]), 30),
        (np.arange(40) / 77.0, 77),
    ],
)
def test_natural_rate(times: np.ndarray, rate: float) -> None:
    assert natural_rate([np.asarray(times, float)]) == pytest.approx(rate, rel=1e-3)


@given(st.floats(0, 1.5), st.floats(0, 1.5))
@settings(max_examples=100, deadline=None)
def test_handles_are_refused_exactly_where_time_would_run_backwards(a: float, b: float) -> None:
    s = np.linspace(0, 1, 2001)
    time = 3 * (1 - s) ** 2 * s * a + 3 * (1 - s) * s**2 * (1 - b) + s**3
    backwards = np.diff(time).min()
    before, after = np.zeros((2, 2, 3, 2))
    after[0, :, 0], before[1, :, 0] = a, b
    try:
        Curve(MOVE, [0, 1], np.zeros((2, 3)), BEZIER, before, after)
        assert backwards > -1e-6
    except InvalidInput:
        assert backwards < 1e-6 and a + b > 1
