"""Columns from keys: through every key, never beyond by themselves, without corners that were not asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.cast.dope_sheet.sheet import EASES, Key, KeyInterpolation
from understudy.cast.dope_sheet.spline import HOLD_DRIFT_RATIO, Column, ColumnRange, Node, column, columns, nodes
from understudy.character import Channel, Curve
from understudy.character.curve import BEZIER
from understudy.errors import BadFile

RATE = 24.0
node_lists = st.lists(
    st.tuples(st.integers(1, 12), st.floats(-90, 90), st.sampled_from(sorted(EASES))), min_size=2, max_size=8
)


def key(frame: float, value: float, departure: float | None = None, **more: object) -> Key:
    return Key("line 1", departure, frame, value, KeyInterpolation(**more))  # type: ignore[arg-type]


def sampled(found: Column, times: np.ndarray) -> np.ndarray:
    curve = Curve(
        Channel("j", "controls", ("v",)),
        found.times,
        found.values[:, None],
        BEZIER,
        found.before[:, None],
        found.after[:, None],
    )
    return curve.sample(times)[:, 0]


def built(rows: list) -> tuple[list[Node], Column]:
    frames = np.cumsum([0] + [step for step, _, _ in rows])
    found = [Node(0.0, 0.0)] + [Node(float(f), v, KeyInterpolation(EASES[e])) for f, (_, v, e) in zip(frames[1:], rows)]
    return found, column(found, RATE)


@settings(max_examples=60, deadline=None)
@given(node_lists)
def test_automatic_slopes_pass_through_the_keys_and_never_beyond_them(rows: list) -> None:
    found, made = built(rows)
    assert np.allclose(sampled(made, made.times), [node.value for node in found], atol=1e-9)
    for k in range(len(found) - 1):
        inside = sampled(made, np.linspace(made.times[k], made.times[k + 1], 25))
        low, high = sorted((found[k].value, found[k + 1].value))
        assert inside.min() >= low - 1e-9 and inside.max() <= high + 1e-9


@settings(max_examples=40, deadline=None)
@given(node_lists)
def test_without_breaks_the_slope_is_the_same_on_both_sides_of_every_key(rows: list) -> None:
    _, made = built(rows)
    assert not made.broken.any()
    into, out = made.before[1:-1], made.after[1:-1]
    assert np.allclose(into[:, 1] * out[:, 0], out[:, 1] * into[:, 0], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(node_lists, st.lists(st.floats(0.001, 0.999), min_size=1, max_size=5, unique=True))
def test_splitting_changes_nothing(rows: list, places: list) -> None:
    _, made = built(rows)
    times = np.unique(np.concatenate([made.times, np.array(places) * made.times[-1]]))
    # closer than a millisecond no sheet puts two keys
    times = times[np.concatenate([[True], np.diff(times) > 1e-3])]
    times = np.union1d(times, made.times)
    if np.diff(times).min() < 1e-3:
        return
    cut = made.split(times)
    assert np.array_equal(cut.times, times)
    fine = np.linspace(0, made.times[-1], 301)
    assert np.allclose(sampled(made, fine), sampled(cut, fine), atol=1e-6)


def test_a_hold_drifts_on_with_its_last_move_unless_still() -> None:
    keys = [key(10, 20.0, 4.0), key(40, 0.0, 30.0)]
    moving = nodes(keys, 60, False, "x")
    assert [(n.frame, n.value) for n in moving] == [
        (0, 0),
        (4, 0),
        (10, 20),
        (30, pytest.approx(20 + 20 * HOLD_DRIFT_RATIO)),
        (40, 0),
        (60, pytest.approx(-(20 + 20 * HOLD_DRIFT_RATIO) * HOLD_DRIFT_RATIO)),
    ]
    assert [n.value for n in nodes(keys, 60, True, "x")] == [0, 0, 20, 20, 0, 0]


def test_still_columns_hold_to_rounding() -> None:
    made = column(nodes([key(10, 0.3, 4.0), key(40, 0.0, 30.0)], 60, True, "x"), RATE)
    held = sampled(made, np.linspace(10, 30, 81) / RATE)
    assert np.abs(held - 0.3).max() < 1e-15  # the weights of a Bezier curve sum to one within rounding


def test_overshoot_goes_too_far_by_a_part_of_the_move_and_settles() -> None:
    found = nodes([key(10, 20.0, 4.0, overshoot=(0.2, 5.0, 2))], 60, True, "x")
    assert [(n.frame, n.value) for n in found[2:5]] == [(10, 24), (15, 18), (20, 20)]


def test_slopes_by_hand_make_an_exact_parabola_between_two_corners() -> None:
    up = key(24, 0.0, broken=True, leaving=2.0)
    down = key(34, 0.0, broken=True, arriving=-2.0, handles=EASES["even"])
    made = column(nodes([up, down], 60, True, "x"), RATE)
    t = np.linspace(0, 10 / RATE, 50)
    assert np.allclose(sampled(made, 1 + t), 2 * t - 2 / (10 / RATE) * t * t, atol=1e-12)
    assert (sampled(made, np.linspace(0, 1, 20)) == 0).all()
    assert made.broken.tolist() == [False, True, True, False]


def test_a_line_is_straight() -> None:
    made = column(nodes([key(30, 3.0, 10.0, straight=True)], 60, True, "x"), RATE)
    frames = np.linspace(10, 30, 41)
    assert np.allclose(sampled(made, frames / RATE), 3 * (frames - 10) / 20)


@pytest.mark.parametrize(
    "keys",
    [
        [key(10, 1.0), key(10, 2.0)],
        [key(10, 1.0, 4.0, overshoot=(0.1, 5.0, 1)), key(20, 0.0, 13.0)],
        [key(58, 1.0, 50.0, overshoot=(0.1, 5.0, 1))],
    ],
)
def test_keys_that_do_not_follow_each_other_are_refused(keys: list) -> None:
    with pytest.raises(BadFile, match=r"sheet.txt, line 1: .*frame"):
        nodes(keys, 60, False, "sheet.txt")


SMILE = ColumnRange("mouth.smile", 0.0, 0.0, 1.3)


def test_many_columns_at_once_are_the_columns_one_by_one() -> None:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(12):
        rows = [(int(rng.integers(1, 9)), float(rng.normal()), sorted(EASES)[rng.integers(len(EASES))])] * 3
        own = built(rows)[0]
        leaving = 1.5 if rng.integers(2) else None
        own[1] = own[1]._replace(
            interpolation=own[1].interpolation._replace(broken=bool(rng.integers(2)), leaving=leaving)
        )
        own[-1] = own[-1]._replace(interpolation=own[-1].interpolation._replace(straight=bool(rng.integers(2))))
        found.append(own)
    for one, alone in zip(columns(found, RATE), [column(own, RATE) for own in found]):
        for name in ("times", "values", "before", "after", "broken"):
            assert np.array_equal(getattr(one, name), getattr(alone, name))


def test_drift_stops_at_the_end_of_the_range_and_rest_is_where_a_column_begins() -> None:
    found = nodes([key(10, 1.28, 4.0)], 60, False, "x", SMILE._replace(rest=0.5))
    assert [n.value for n in found] == [0.5, 0.5, 1.28, 1.3]


def test_an_overshoot_beyond_the_range_says_how_far() -> None:
    with pytest.raises(BadFile, match=r"line 1: mouth.smile overshoots to 1.44, 0.14 beyond its range of 0 to 1.3"):
        nodes([key(10, 1.2, 4.0, overshoot=(0.2, 5.0, 1))], 60, True, "x", SMILE)


def test_what_fades_to_nothing_does_not_overshoot_into_less() -> None:
    keys = [key(10, 1.0, 4.0), key(24, 0.0, 20.0, overshoot=(0.2, 4.0, 2))]
    assert [n.value for n in nodes(keys, 60, True, "x", SMILE)] == [0, 0, 1, 1, 0, pytest.approx(0.1), 0, 0]


def test_what_yields_stops_at_its_range() -> None:
    found = nodes([key(10, 1.2, 4.0, overshoot=(0.2, 5.0, 1))], 60, True, "x", SMILE._replace(clamps=True))
    assert [n.value for n in found] == [0, 0, 1.3, 1.2, 1.2]


def test_which_column_is_late_is_told() -> None:
    with pytest.raises(BadFile, match=r"mouth.smile leaves or arrives before"):
        nodes([key(10, 1.0), key(8, 0.5)], 60, True, "x", SMILE)
