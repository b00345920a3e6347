"""Columns with keys of their own as one curve: every column keeps its shape."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.edit.random_curves import SMILE, random_curve

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.key_insertion import insert_curve_key, insert_curve_keys, merge_columns, merge_split_curves

NAMES = ("smile", "blink", "jaw")


@given(st.integers(0, 100_000))
@settings(max_examples=60, deadline=None)
def test_every_column_keeps_its_shape(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {
        name: random_curve(rng, Channel("face", "weights", (name,)), int(rng.integers(1, 6)), [None, BEZIER][seed % 2])
        for name in NAMES
    }
    whole = merge_columns(Channel("face", "weights", NAMES), columns)
    times = np.linspace(whole.times[0] - 0.5, whole.times[-1] + 0.5, 300)
    for i, column in enumerate(columns.values()):
        jumps = np.append(column.times[1:][column.segments == STEP], np.inf)
        near = np.abs(times[:, None] - jumps).min(axis=1) < 1e-4
        apart = np.abs(whole.sample(times)[:, i] - column.sample(times)[:, 0])
        assert apart[~near].max() < 1e-4  # keys within 1e-5 s of each other become one; else 1e-15


def test_unsplit_joins_weights_and_leaves_the_rest() -> None:
    rng = np.random.default_rng(1)
    move = random_curve(rng, Channel("hip", "translation"))
    smile, blink = (
        Curve.hermite(Channel("face", "weights", (n,)), *_keys(rng, k)) for n, k in (("smile", 4), ("blink", 3))
    )
    curves = Curves("x", [move, smile, blink])
    first, face = merge_split_curves(curves.curves)
    assert first is move and face.channel.columns == ("smile", "blink")
    assert face.is_hermite  # pieces of a Hermite spline are Hermite
    times = np.linspace(0, 4, 100)
    np.testing.assert_allclose(face.sample(times), curves.sample(times)[:, 3:], atol=1e-12)


def _keys(rng: np.random.Generator, count: int) -> tuple[np.ndarray, ...]:
    return (np.cumsum(rng.uniform(0.1, 1, count)), *rng.normal(size=(3, count, 1)))


def test_linear_columns_stay_linear() -> None:
    columns = {n: Curve(Channel("f", "weights", (n,)), t, [[0], [1]]) for n, t in (("a", [0, 2]), ("b", [1, 3]))}
    whole = merge_columns(Channel("f", "weights", ("a", "b")), columns)
    assert (whole.segments == LINEAR).all() and whole.times.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(whole.values, [[0, 0], [0.5, 0], [1, 0.5], [1, 1]])


@given(st.integers(0, 100_000))
@example(2190)  # two times closer than keys may be
@settings(max_examples=60, deadline=None)
def test_many_keys_at_once_are_those_inserted_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    curve = random_curve(rng, SMILE, int(rng.integers(2, 7)), [None, BEZIER][seed % 2])
    times = np.sort(rng.uniform(*curve.times[[0, -1]], int(rng.integers(0, 12))))
    times = np.union1d(times, rng.choice(curve.times, 2))
    one_by_one = curve
    for time in times:
        one_by_one = insert_curve_key(one_by_one, float(time))
    at_once = insert_curve_keys(curve, times)
    for name in ("times", "segments"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(one_by_one, name))
    np.testing.assert_allclose(at_once.values, one_by_one.values, atol=1e-9)
    smooth = at_once.segments == BEZIER  # handles of other segments mean nothing
    np.testing.assert_allclose(at_once.after[:-1][smooth], one_by_one.after[:-1][smooth], atol=1e-6)
    np.testing.assert_allclose(at_once.before[1:][smooth], one_by_one.before[1:][smooth], atol=1e-6)
