from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.maths.strategies import same_rotation

from understudy.errors import InvalidInput
from understudy.maths import quaternion, resample


def _clip(frames, rate, seed=0):
    """Three numbers and one rotation, moving smoothly; the quaternion's sign jumps."""
    t = np.arange(frames)[:, None] / rate
    rng = np.random.default_rng(seed)
    numbers = np.sin(t * (1.0, 2.0, 3.0) + (0.0, 1.0, 2.0))
    turns = quaternion.exp(np.concatenate((np.sin(t), 0.5 * np.cos(2 * t), t), axis=1))
    return np.concatenate((numbers, turns * rng.choice((-1.0, 1.0), size=(frames, 1))), axis=1)


@given(st.floats(-100, 100), st.integers(0, 5000), st.sampled_from((24.0, 25.0, 29.97, 30.0, 60.0, 119.88, 120.0)))
def test_frame_times_include_the_last_frame(start, frames, rate):
    times = resample.frame_times(start, start + frames / rate, rate)
    assert len(times) == frames + 1 and times[0] == start
    assert np.allclose(np.diff(times), 1 / rate, atol=1e-9)


def test_frame_times_do_not_reach_beyond_the_end():
    assert np.allclose(resample.frame_times(0.0, 0.99, 10.0), np.arange(10) / 10)
    assert len(resample.frame_times(1.0, 0.0, 10.0)) == 0


@pytest.mark.parametrize("method", resample.METHODS)
@pytest.mark.parametrize(("rate", "new_rate"), [(30.0, 30.0), (30.0, 60.0), (30.0, 120.0), (29.97, 119.88)])
def test_frames_that_stay_stay_exactly(method, rate, new_rate):
    values = _clip(41, rate)
    out = resample.resample(values, rate, new_rate, method, quaternions=(3,))
    every = round(new_rate / rate)
    assert len(out) == 40 * every + 1
    assert np.array_equal(out[::every, :3], values[:, :3])
    assert same_rotation(out[::every, 3:], values[:, 3:], 1e-12)
    assert (np.sum(out[1:, 3:] * out[:-1, 3:], axis=-1) > 0).all()


@pytest.mark.parametrize(("method", "within"), [("linear", 2e-2), ("cubic", 2e-3), ("monotone", 2e-2)])
def test_upsampling_finds_the_motion_between_the_frames(method, within):
    rate = 20.0
    out = resample.resample(_clip(61, rate), rate, 5 * rate, method, quaternions=(3,))
    exact = _clip(301, 5 * rate)
    assert np.abs(out[:, :3] - exact[:, :3]).max() < within
    assert quaternion.angle_between(out[:, 3:], exact[:, 3:]).max() < within


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_monotone_never_leaves_its_frames(values):
    column = np.array(values)[:, None]
    t = np.linspace(0, len(values) - 1, 7 * len(values))
    out = resample.sample(column, 1.0, t, "monotone")[:, 0]
    i = np.minimum(t.astype(int), max(len(values) - 2, 0))
    j = np.minimum(i + 1, len(values) - 1)
    low, high = np.minimum(column[i, 0], column[j, 0]), np.maximum(column[i, 0], column[j, 0])
    assert (out >= low - 1e-12).all() and (out <= high + 1e-12).all()


@given(st.floats(-2, 2), st.floats(-2, 2), st.sampled_from(resample.METHODS))
def test_straight_lines_stay_straight(a, b, method):
    t = np.linspace(0, 9, 50)
    line = a + b * np.arange(10.0)[:, None]
    assert np.allclose(resample.sample(line, 1.0, t, method)[:, 0], a + b * t, atol=1e-12)


def test_low_pass_keeps_what_fits_and_drops_what_would_fold():
    rate, t = 120.0, np.arange(1201) / 120.0
    slow, fast = np.sin(2 * np.pi * 3 * t), np.sin(2 * np.pi * 25 * t)
    plain = resample.resample((slow + fast)[:, None], rate, 30.0)
    limited = resample.resample((slow + fast)[:, None], rate, 30.0, low_pass=True)
    inside = slice(30, -30)
    assert np.abs(plain[inside, 0] - slow[::4][inside]).max() > 0.5
    assert np.abs(limited[inside, 0] - slow[::4][inside]).max() < 0.02


def test_low_pass_of_rotations_and_short_clips():
    values = _clip(400, 120.0)
    out = resample.resample(values, 120.0, 30.0, quaternions=(3,), low_pass=True)
    assert np.allclose(np.linalg.norm(out[:, 3:], axis=-1), 1.0)
    assert quaternion.angle_between(out[10:-10, 3:], values[::4][10:-10, 3:]).max() < 0.01
    for frames in (1, 2, 3, 5):
        short = resample.resample(_clip(frames, 120.0), 120.0, 30.0, quaternions=(3,), low_pass=True)
        assert np.isfinite(short).all() and len(short) == (frames - 1) // 4 + 1


def test_ends_hold_and_bad_input_is_named():
    values = np.arange(5.0)[:, None]
    assert np.array_equal(resample.sample(values, 10.0, [-1.0, 9.0])[:, 0], (0.0, 4.0))
    with pytest.raises(InvalidInput, match=r"shape \(F, C\)"):
        resample.sample(np.zeros(4), 10.0, [0.0])
    with pytest.raises(InvalidInput, match="'spline'"):
        resample.sample(values, 10.0, [0.0], "spline")
    with pytest.raises(InvalidInput, match="new_rate"):
        resample.resample(values, 10.0, 0.0)


def test_smoothstep_rises_from_zero_to_one_without_a_kink():
    x = np.linspace(-2.0, 3.0, 5001)
    for low, high in ((0.0, 1.0), (-0.5, 2.0), (1.0, 0.0)):
        y = resample.smoothstep(low, high, x)
        assert y.min() == 0.0 and y.max() == 1.0 and resample.smoothstep(low, high, np.array(0.5 * (low + high))) == 0.5
        np.testing.assert_allclose(y + resample.smoothstep(high, low, x), 1.0, atol=1e-12)
        slope = np.diff(y) / np.diff(x)
        assert np.abs(np.diff(slope)).max() < 0.02, "the slope itself is continuous"
