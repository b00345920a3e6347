"""Gaze: it arrives, it holds while the head turns, it replays, it holds still when told to, it gives way to a clip."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.bodies import ARKIT, body
from tests.perform.layers.playing import held, play, sight

from understudy.character.rig import LayeredRig
from understudy.errors import InvalidInput
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.head import MAX_FOLLOW_RAD
from understudy.perform.layers.layer import Layer, LayerContext

EYES = ("Eye.L", "Eye.R")
AHEAD = [np.array([0, 0, 1.0])] * 2


@pytest.fixture(scope="module")
def gaze(dragon: LayeredRig) -> Gaze:
    found = Gaze.from_rig(dragon)
    assert found is not None
    return found


def off_target(rig: LayeredRig, row: np.ndarray, point: np.ndarray) -> float:
    """Degrees between where the eyes look and a point, of the worse eye."""
    places, ways = sight(rig, row, EYES, AHEAD)
    wanted = (point - places) / np.linalg.norm(point - places, axis=1, keepdims=True)
    return float(np.degrees(np.arccos(np.clip((ways * wanted).sum(axis=1), -1, 1))).max())


def test_it_is_a_layer(gaze: Gaze) -> None:
    assert isinstance(gaze, Layer)
    assert gaze.excluded_columns == gaze.eyes.drive.names


def test_it_looks_at_what_it_is_told(dragon: LayeredRig, gaze: Gaze) -> None:
    camera = np.array(gaze.points["camera"])
    aside = (0.5, 0.6, 1.2)
    rows = play([gaze], held(dragon, 3), lambda t: "camera" if t < 1 else aside, stillness=1.0)
    assert off_target(dragon, rows[20], camera) < 0.01
    assert off_target(dragon, rows[24], np.array(aside)) > 1  # on the way
    assert off_target(dragon, rows[28], np.array(aside)) < 0.05  # the eyes are there, the head still comes
    assert off_target(dragon, rows[-1], np.array(aside)) < 0.01


def test_eyes_hold_a_point_while_the_head_turns(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = held(dragon, 2)
    rows[:, dragon.controls.index("head.turn")] = 15 * np.sin(np.linspace(0, 6, len(rows)))
    rows[:, dragon.controls.index("head.nod")] = 8 * np.cos(np.linspace(0, 9, len(rows)))
    point = np.array([0.2, 0.5, 2.0])
    for row in play([gaze], rows, tuple(point), stillness=1.0):
        assert off_target(dragon, row, point) < 0.02


def test_eyes_lead_the_head(dragon: LayeredRig, gaze: Gaze) -> None:
    eye, head = dragon.controls.index("eyes.x"), dragon.controls.index("head.turn")
    aside = (1.0, 0.45, 1.3)
    rows = play([gaze], held(dragon, 3), lambda t: "camera" if t < 1 else aside, rate=60, stillness=1.0)
    x, turn = rows[:, eye], rows[:, head]
    start = 60
    eyes_half = np.flatnonzero(x[start:] > 0.5 * x[start:].max())[0]
    head_half = np.flatnonzero(turn[start:] > 0.5 * turn[-1])[0]
    assert eyes_half < 0.08 * 60 < head_half
    assert x[start:].max() > x[-1] + 2  # and turn back as it comes
    assert 3 < turn[-1] <= np.degrees(MAX_FOLLOW_RAD[0])
    assert off_target(dragon, rows[-1], np.array(aside)) < 0.05


def test_a_head_that_is_shaken_is_not_held_back(dragon: LayeredRig, gaze: Gaze) -> None:
    turn = dragon.controls.index("head.turn")
    rows = held(dragon, 4)
    rows[:, turn] = 30 * np.sin(2 * np.pi * 1.5 * np.arange(len(rows)) / 24)
    out = play([gaze], rows, "camera", stillness=1.0)
    assert np.abs(out[:, turn] - rows[:, turn]).max() < 1.5
    rows[:, turn] = 30
    assert (
        15 < play([gaze], rows, "camera", stillness=1.0)[-1, turn] < 25
    )  # one that is held there comes part of the way


def test_a_moving_point_is_followed_without_jumps(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = play([gaze], held(dragon, 3), lambda t: (0.8 * np.sin(t), 0.5, 2.0), rate=60, stillness=1.0)
    x = rows[:, dragon.controls.index("eyes.x")]
    assert np.abs(np.diff(x)).max() < 0.8  # degrees a frame; the point itself moves 0.4


def test_replay_is_exact_and_seeds_differ(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = held(dragon, 10)
    once, twice, other = (play([gaze], rows, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(once, twice)
    assert not np.array_equal(once, other)


def test_a_state_can_be_kept_and_taken_up_again(dragon: LayeredRig, gaze: Gaze) -> None:
    state, kept = gaze.init(3), None
    for frame in range(60):
        if frame == 30:
            kept = state
        state, row = gaze.step(state, dragon.rest, LayerContext(frame / 24, 1 / 24))
    for frame in range(30, 60):
        kept, again = gaze.step(kept, dragon.rest, LayerContext(frame / 24, 1 / 24))
    assert kept == state and np.array_equal(row, again)


@pytest.mark.parametrize("look", [None, "forward", "camera", (0.7, 0.2, 0.8), (0.0, 0.5, -1.0)])
def test_stillness_is_still(dragon: LayeredRig, gaze: Gaze, look: object) -> None:
    rows = play([gaze], held(dragon, 4), look, stillness=1.0)  # type: ignore[arg-type]
    assert np.ptp(rows, axis=0).max() == 0.0
    assert np.array_equal(rows, play([gaze], held(dragon, 4), look, liveliness=0.0))  # type: ignore[arg-type]


def test_stillness_comes_to_rest(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = held(dragon, 6)
    state = gaze.init(1)
    out = []
    for frame, row in enumerate(rows):
        look = (1.0, 0.3, 1.0) if frame < 60 else "camera"
        state, row = gaze.step(state, row, LayerContext(frame / 24, 1 / 24, look, stillness=0.0 if frame < 60 else 1.0))
        out.append(row)
    assert np.ptp(np.array(out)[120:], axis=0).max() == 0.0


def shifts(rows: np.ndarray, rig: LayeredRig) -> int:
    x, y = rows[:, rig.controls.index("eyes.x")], rows[:, rig.controls.index("eyes.y")]
    moving = np.hypot(np.diff(x), np.diff(y)) > 0.2
    return int((moving[1:] & ~moving[:-1]).sum())


def test_liveliness_is_the_rate_of_saccades(dragon: LayeredRig, gaze: Gaze) -> None:
    counts = [shifts(play([gaze], held(dragon, 120), liveliness=life), dragon) for life in (0.3, 1.0, 2.0)]
    assert counts[0] < 0.6 * counts[1] and counts[1] < 0.8 * counts[2]
    assert 40 < counts[1] < 160  # in two minutes


def test_fixations_are_uneven(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = play([gaze], held(dragon, 120), rate=60)
    x, y = (rows[:, dragon.controls.index(name)] for name in ("eyes.x", "eyes.y"))
    still = np.hypot(np.diff(x), np.diff(y)) < 0.02
    starts = np.flatnonzero(still[1:] & ~still[:-1])
    spans = np.diff(starts) / 60
    assert 0.3 < spans.std() / spans.mean() < 1.5  # a metronome has 0
    assert spans.min() > 0.1


def test_shifts_on_a_point_are_small(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = play([gaze], held(dragon, 60), "camera")
    off = [off_target(dragon, row, np.array(gaze.points["camera"])) for row in rows]
    assert 0.3 < np.mean(off) < 2.5 and np.max(off) < 9


def test_wandering_eyes_go_with_the_head(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = held(dragon, 6)
    rows[:, dragon.controls.index("head.turn")] = np.clip(np.linspace(-60, 60, len(rows)), -50, 50)
    out = play([gaze], rows)
    assert np.abs(out[:, dragon.controls.index("eyes.x")]).max() < 30
    assert np.abs(out[-24:, dragon.controls.index("eyes.x")].mean()) < 15


def test_a_clip_keeps_its_own_eyes_and_both_ways_are_smooth(dragon: LayeredRig, gaze: Gaze) -> None:
    rows = held(dragon, 4, 120)
    own = dragon.controls.index("eyes.x")
    rows[:, own] = 20 * np.sin(np.arange(len(rows)) / 40)
    out = play([gaze], rows, "camera", rate=120, played=lambda t: 1 <= t < 2.5, stillness=1.0)
    inside = slice(round(1.5 * 120), round(2.5 * 120))
    assert np.array_equal(out[inside], rows[inside])
    assert off_target(dragon, out[60], np.array(gaze.points["camera"])) < 0.01
    assert off_target(dragon, out[-1], np.array(gaze.points["camera"])) < 0.01
    # at most what a smooth change of 20 degrees in 0.16 s makes at its fastest, 15/8 of the mean
    assert np.abs(np.diff(out[:, own])).max() < 1.875 * 20 / 0.16 / 120 + 0.5


def test_points_by_name(dragon: LayeredRig, gaze: Gaze) -> None:
    known = gaze.with_points({"bird": (0.3, 1.0, 1.5), "camera": (0, 0.5, 1.0)})
    rows = play([known], held(dragon, 0.5), "bird", stillness=1.0)
    assert off_target(dragon, rows[-1], np.array([0.3, 1.0, 1.5])) < 0.05
    with pytest.raises(InvalidInput, match=r"no point to look at 'fish'; available: 'forward', 'camera', 'bird'"):
        play([known], held(dragon, 0.1), "fish")
    with pytest.raises(InvalidInput, match="point 'bird'"):
        gaze.with_points({"bird": (1, 2)})


def test_without_its_head(dragon: LayeredRig) -> None:
    alone = Gaze.from_rig(dragon, head=False)
    assert alone is not None
    rows = play([alone], held(dragon, 1), (1.0, 0.4, 1.0))
    others = np.setdiff1d(np.arange(rows.shape[1]), [dragon.controls.index(name) for name in alone.excluded_columns])
    assert np.array_equal(rows[:, others], held(dragon, 1)[:, others])


@pytest.mark.parametrize("seed", [None, 2])
def test_a_body_looks_aside_with_eyes_neck_and_lids(seed: int | None) -> None:
    rig = body(seed=seed, shapes=ARKIT)
    gaze = Gaze.from_rig(rig)
    assert gaze is not None and gaze.turner is not None
    point = np.array([0.9, 1.3, 1.0])
    row = play([gaze], held(rig, 1), tuple(point), stillness=1.0)[-1]
    rest = rig.joints(rig.rest[None])[0]
    joints = ("LeftEye", "RightEye")
    axes = [rest[rig.character.skeleton.index(joint), :3, :3].T @ [0, 0, 1.0] for joint in joints]
    places, ways = sight(rig, row, joints, axes)
    wanted = (point - places) / np.linalg.norm(point - places, axis=1, keepdims=True)
    assert np.degrees(np.arccos((ways * wanted).sum(axis=1))).max() < 0.05
    head = rig.character.skeleton.index("Head")
    turned = rig.joints(row[None])[0, head, :3, :3] @ rest[head, :3, :3].T @ [0, 0, 1.0]
    assert np.degrees(np.arctan2(turned[0], turned[2])) > 5 and turned[1] < -0.01  # left and down
    weights = dict(zip(ARKIT, row[rig.channels.slice("Face", "weights")]))
    assert 0 < weights["eyeBlinkLeft"] < 0.4


def test_nothing_to_look_with() -> None:
    assert Gaze.from_rig(body(eyes=False)) is None
