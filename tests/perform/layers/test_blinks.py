"""Blinks: uneven, whole, fast down and slow up, none on shut eyes, with large jumps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.perform.layers.bodies import ARKIT, body
from tests.perform.layers.playing import held, play

from understudy.character.rig import LayeredRig
from understudy.perform.layers.blinks import Blinks
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.layer import Layer


@pytest.fixture(scope="module")
def blinks(dragon: LayeredRig) -> Blinks:
    found = Blinks.from_rig(dragon)
    assert found is not None
    return found


def lid(rows: np.ndarray, rig: LayeredRig, side: str = "L") -> np.ndarray:
    return rows[:, rig.controls.index(f"lids.blink.{side}")]


def begins(amount: np.ndarray) -> np.ndarray:
    return np.flatnonzero((amount[1:] > 0) & (amount[:-1] == 0))


def test_it_is_a_layer(blinks: Blinks) -> None:
    assert isinstance(blinks, Layer)


@pytest.mark.parametrize("rate", [24.0, 60.0])
def test_blinks_are_uneven_and_whole(dragon: LayeredRig, blinks: Blinks, rate: float) -> None:
    amount = lid(play([blinks], held(dragon, 300, rate), rate=rate), dragon)
    starts = begins(amount)
    assert 8 < len(starts) / 5 < 22  # a minute
    spans = np.diff(starts) / rate
    assert spans.std() / spans.mean() > 0.4
    assert (spans < 0.7).any() and (spans > 4).any()  # double blinks, and long gazes
    for a, b in pairwise(starts):
        assert amount[a : b + 1].max() == 1.0  # every one is seen shut
    assert amount.min() == 0 and amount.max() == 1


def test_lids_fall_fast_and_rise_slowly(dragon: LayeredRig, blinks: Blinks) -> None:
    amount = lid(play([blinks], held(dragon, 30, 240), rate=240), dragon)
    start = begins(amount)[0]
    one = amount[start : start + 240]
    falling = np.flatnonzero(one == 1)[0]
    rising = np.flatnonzero(one[falling:] == 0)[0] - (one == 1).sum()
    assert 0.05 < falling / 240 < 0.16
    assert rising > 1.5 * falling
    assert np.abs(np.diff(one)).max() < 0.15  # no pop


def test_both_eyes_together(dragon: LayeredRig, blinks: Blinks) -> None:
    rows = play([blinks], held(dragon, 30))
    assert np.array_equal(lid(rows, dragon, "L"), lid(rows, dragon, "R"))


def test_a_squint_is_never_opened(dragon: LayeredRig, blinks: Blinks) -> None:
    rows = held(dragon, 60)
    rows[:, dragon.controls.index("lids.blink.L")] = 0.3
    amount = lid(play([blinks], rows), dragon)
    assert amount.min() == 0.3 and amount.max() == 1.0


@pytest.mark.parametrize("how", ["lids.blink", "lids.upper"])
def test_shut_eyes_do_not_blink(dragon: LayeredRig, blinks: Blinks, how: str) -> None:
    rows = held(dragon, 60)
    for side in "LR":
        rows[:, dragon.controls.index(f"{how}.{side}")] = 0.9 if how == "lids.blink" else -60
    assert np.array_equal(play([blinks], rows), rows)


def test_a_wink_still_blinks(dragon: LayeredRig, blinks: Blinks) -> None:
    rows = held(dragon, 60)
    rows[:, dragon.controls.index("lids.blink.L")] = 1.0
    out = play([blinks], rows)
    assert lid(out, dragon, "R").max() == 1.0 and (lid(out, dragon, "L") == 1.0).all()


def test_dials(dragon: LayeredRig, blinks: Blinks) -> None:
    counts = [len(begins(lid(play([blinks], held(dragon, 200), liveliness=life), dragon))) for life in (0.4, 1.0, 2.0)]
    assert counts[0] < counts[1] < counts[2]
    rows = held(dragon, 60)
    assert np.array_equal(play([blinks], rows, stillness=1.0), rows)
    assert np.array_equal(play([blinks], rows, played=lambda t: True), rows)


def test_a_blink_under_way_is_finished_when_told_to_be_still(dragon: LayeredRig, blinks: Blinks) -> None:
    rows = held(dragon, 60, 60)
    start = begins(lid(play([blinks], rows, rate=60), dragon))[0] + 3
    amount = lid(play([blinks], rows, rate=60, played=lambda t: t * 60 >= start), dragon)
    assert np.abs(np.diff(amount)).max() < 0.45 and amount[start + 60 :].max() == 0


def test_large_jumps_of_the_eyes_bring_blinks(dragon: LayeredRig, blinks: Blinks) -> None:
    gaze = Gaze.from_rig(dragon)
    assert gaze is not None
    sides = ((1.0, 0.4, 1.2), (-1.0, 0.4, 1.2))
    rows = play([gaze, blinks], held(dragon, 120), lambda t: sides[int(t / 2) % 2])
    starts = begins(lid(rows, dragon)) / 24
    with_jump = np.abs(starts - 2 * np.round(starts / 2)) < 0.15
    assert 0.4 < with_jump.sum() / 59 < 0.95
    calm = begins(lid(play([gaze, blinks], held(dragon, 120), sides[0]), dragon)) / 24
    assert len(calm) < len(starts)


def test_a_crowd_does_not_blink_together(dragon: LayeredRig, blinks: Blinks) -> None:
    first = [begins(lid(play([blinks], held(dragon, 30), seed=seed), dragon))[0] for seed in range(12)]
    assert len(set(first)) > 9
    same = [play([blinks], held(dragon, 30), seed=3) for _ in range(2)]
    assert np.array_equal(*same)


def test_shapes_and_none() -> None:
    rig = body(shapes=ARKIT)
    found = Blinks.from_rig(rig)
    assert found is not None
    rows = play([found], held(rig, 30))
    weights = rows[:, rig.channels.slice("Face", "weights")]
    assert set(np.flatnonzero(np.ptp(weights, axis=0))) == {ARKIT.index("eyeBlinkLeft"), ARKIT.index("eyeBlinkRight")}
    assert Blinks.from_rig(body()) is None
