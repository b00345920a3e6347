"""Keys: insertion keeps the shape, removal undoes it, moving keeps slopes; everything else is left as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit.random_curves import MOVE, TURN, random_curves, times_over

from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.key_insertion import key_at
from understudy.edit import keys
from understudy.edit.keys import key_slopes
from understudy.errors import InvalidInput

SEEDS = st.integers(0, 100_000)


def same_words(one: Curves, other: Curves) -> None:
    for name in ("name", "labels", "rate", "about"):
        assert getattr(one, name) == getattr(other, name)
    assert dict(one.moments) == dict(other.moments)
    assert [c.extrapolation for c in one.curves] == [c.extrapolation for c in other.curves]


@given(SEEDS, st.floats(0.001, 0.999), st.sampled_from([None, BEZIER]))
@settings(max_examples=40, deadline=None)
def test_insertion_keeps_the_shape(seed: int, share: float, segments: int | None) -> None:
    curves = random_curves(seed, segments)
    time = curves.start + share * curves.duration
    more = keys.insert_key(curves, time)
    times = np.append(times_over(curves), time)
    np.testing.assert_allclose(more.sample(times), curves.sample(times), atol=1e-12)
    assert all(key_at(curve, time) is not None for curve in more.curves)
    same_words(more, curves)


@given(SEEDS, st.floats(0.1, 2.0), st.sampled_from([("hold", "hold"), ("linear", "linear"), ("hold", "linear")]))
@settings(max_examples=30, deadline=None)
def test_insertion_beyond_the_keys_keeps_the_shape(seed: int, far: float, beyond: tuple[str, str]) -> None:
    curves = random_curves(seed, BEZIER, beyond)
    times = times_over(curves, beyond=3.0)
    for time in (curves.start - far, curves.end + far):
        more = keys.insert_key(curves, time)
        np.testing.assert_allclose(more.sample(times), curves.sample(times), atol=1e-12)


@given(SEEDS, st.floats(0.02, 0.98))
@settings(max_examples=40, deadline=None)
def test_removal_undoes_insertion(seed: int, share: float) -> None:
    curves = random_curves(seed)
    target = curves.curves[seed % 4]
    time = float(target.times[0] + share * (target.times[-1] - target.times[0]))
    if np.abs(target.times - time).min() < 0.01:
        return
    back = keys.remove_key(keys.insert_key(curves, time, [target.channel]), time, [target.channel])
    for one, other in zip(back.curves, curves.curves):
        np.testing.assert_array_equal(one.times, other.times)
        np.testing.assert_array_equal(one.segments, other.segments)
    times = times_over(curves)
    np.testing.assert_allclose(back.sample(times), curves.sample(times), atol=1e-9)


def test_removal_of_ends_and_kinds() -> None:
    curve = Curve(MOVE, [0, 1, 2, 3], np.arange(12).reshape(4, 3), [STEP, BEZIER, LINEAR])
    curves = Curves("walk", [curve])
    inner = keys.remove_key(curves, 1.0).curves[0]
    assert inner.segments.tolist() == [STEP, LINEAR]
    assert keys.remove_key(curves, 0.0).curves[0].segments.tolist() == [BEZIER, LINEAR]
    assert keys.remove_key(curves, 3.0).curves[0].segments.tolist() == [STEP, BEZIER]
    assert keys.remove_key(curves, 2.0).curves[0].segments.tolist() == [STEP, BEZIER]


@given(SEEDS, st.floats(0.05, 0.95))
@settings(max_examples=30, deadline=None)
def test_moving_keeps_slopes_and_shares(seed: int, share: float) -> None:
    curves = random_curves(seed, BEZIER)
    curve = curves.curves[0]
    if len(curve) < 3:
        return
    to = float(curve.times[0] + share * (curve.times[2] - curve.times[0]))
    moved = keys.move_key(curves, float(curve.times[1]), to, MOVE.target)
    new = next(c for c in moved.curves if c.channel == MOVE)
    assert new.times[1] == to
    np.testing.assert_array_equal(new.values, curve.values)
    for one, other in zip(key_slopes(new), key_slopes(curve)):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    shares = [c.after[:-1, :, 0] / np.diff(c.times)[:, None] for c in (new, curve)]
    np.testing.assert_allclose(*shares, rtol=1e-9)
    same_words(moved, curves)


def test_moving_over_a_neighbour_is_refused() -> None:
    curves = Curves("walk", [Curve(MOVE, [0, 1, 2], np.zeros((3, 3)))])
    with pytest.raises(InvalidInput, match=r"between 0 s and 2 s, but should go to 2\.5 s"):
        keys.move_key(curves, 1.0, 2.5)


def test_set_key_inserts_where_there_is_none() -> None:
    curves = Curves("walk", [Curve(MOVE, [0, 1], np.zeros((2, 3)))])
    new = keys.set_key(curves, "hip", "translation", 0.5, [1, 2, 3])
    np.testing.assert_array_equal(new.sample([0.25, 0.5]), [[0.5, 1, 1.5], [1, 2, 3]])


def test_choosing_by_name_pair_and_channel() -> None:
    curves = random_curves(3, BEZIER)
    time = 0.5 * (curves.start + curves.end)
    for targets, expected in (
        ("hip", [0, 1]),
        ([("hip", "rotation")], [1]),
        ([MOVE, "face"], [0, 3]),
        (None, range(4)),
    ):
        more = keys.insert_key(curves, time, targets)
        grown = [i for i in range(4) if len(more.curves[i]) > len(curves.curves[i])]
        assert grown == list(expected)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda c: keys.insert_key(c, 0.5, "elbow"), "no curve of 'elbow'; available: 'hip'"),
        (lambda c: keys.insert_key(c, 0.5, [("hip", "scale")]), "no curve 'hip' \\(scale\\)"),
        (lambda c: keys.insert_key(c, float("nan")), "finite number of seconds"),
        (lambda c: keys.remove_key(c, 0.4), "no key at 0.4 s; the nearest is at 0 s"),
        (lambda c: keys.remove_key(keys.remove_key(c, 0.0), 1.0), "only one"),
        (lambda c: keys.insert_key(c, 5.0), "cycling curve 'hip' \\(translation\\) should lie between 0 s and 1 s"),
        (lambda c: keys.set_key(c, "hip", "translation", 0.5, [1]), "shape"),
    ],
)
def test_bad_input_is_one_sentence(act, sentence: str) -> None:  # type: ignore[no-untyped-def]
    curve = Curve(MOVE, [0, 1], np.zeros((2, 3)), extrapolation=("cycle", "cycle"))
    with pytest.raises(InvalidInput, match=sentence) as caught:
        act(Curves("walk", [curve]))
    assert "\n" not in str(caught.value)


def test_a_slerp_is_cut_into_slerps() -> None:
    half = np.array([[0, 0, 0, 1.0], [0, np.sin(0.7), 0, np.cos(0.7)]])
    for sign in (1, -1):
        curve = Curve(TURN, [0, 1], half * np.array([[1], [sign]]))
        more = keys.insert_key(Curves("turn", [curve]), 0.3).curves[0]
        times = np.linspace(0, 1, 50)
        apart = np.abs(np.einsum("mi,mi->m", more.sample(times), curve.sample(times)))
        np.testing.assert_allclose(apart, 1, atol=1e-14)
        assert more.segments.tolist() == [LINEAR, LINEAR]
