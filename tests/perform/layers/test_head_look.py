"""Characters without eyes look by turning the head: to the point, no further than a neck goes, and never at once."""

from __future__ import annotations

from math import degrees, radians

import numpy as np
import pytest
from tests.perform.layers.bodies import body

from understudy.character.rig import DirectRig, LayeredRig
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.perform.layers import layers_of
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.head import MAX_LOOK_RAD, HeadLook
from understudy.perform.layers.layer import LayerContext

RATE = 24.0
ASIDE = (1.5, 1.9, 2.0)
BODIES = [{}, {"seed": 3}, {"seed": 5, "turned": True}]


def looked(layer: HeadLook, row: np.ndarray, looks: list, played: bool = False, state=None) -> tuple:
    """The state, and the rows (F, C), one for each of what is looked at."""
    state = layer.init(0) if state is None else state
    rows = []
    for frame, look in enumerate(looks):
        state, shown = layer.step(state, row, LayerContext(frame / RATE, 1 / RATE, look=look, played=played))
        rows.append(shown)
    return state, np.array(rows)


def off(layer: HeadLook, row: np.ndarray, point: tuple) -> float:
    """Radians between where the face points and where a point is."""
    frame = layer.head.evaluate_row(row)
    way = np.array(point) - np.array(frame)[[3, 7, 11]]
    return float(np.arccos(np.clip(np.dot(layer._axis(frame, 2), way / np.linalg.norm(way)), -1, 1)))


def of(rig: DirectRig) -> HeadLook:
    found = HeadLook.from_rig(rig)
    assert found is not None
    return found


@pytest.mark.parametrize("options", BODIES)
def test_the_face_turns_to_the_point(options: dict) -> None:
    rig = body(eyes=False, **options)
    layer = of(rig)
    point = tuple(np.array(ASIDE) * ([-1, 1, -1] if options.get("turned") else [1, 1, 1]))
    assert degrees(off(layer, rig.rest, point)) > 35
    state, rows = looked(layer, rig.rest, [point] * 48)
    assert degrees(off(layer, rows[-1], point)) < 3.5
    assert state.turn == state.lead and state.speed == (0.0, 0.0), "it comes to rest"
    turned = np.flatnonzero(rows[-1] != rig.rest)
    names = {rig.channels.names[i].split(".")[0] for i in turned}
    assert names == {"Neck", "Head"}


def test_no_further_than_a_neck_goes_and_not_behind() -> None:
    rig = body(eyes=False)
    layer = of(rig)
    state, _ = looked(layer, rig.rest, [(5.0, 6.0, 0.1)] * 48)
    assert state.turn[0] == pytest.approx(MAX_LOOK_RAD[0]) and state.turn[1] == pytest.approx(MAX_LOOK_RAD[1])
    state, rows = looked(layer, rig.rest, [(0.5, 1.6, -4.0)] * 48)
    assert state.turn == (0.0, 0.0) and np.array_equal(rows[-1], rig.rest)


def test_it_sets_off_gently_and_comes_back() -> None:
    rig = body(eyes=False)
    layer = of(rig)
    state, there = looked(layer, rig.rest, [ASIDE] * 36)
    state, back = looked(layer, rig.rest, ["forward"] * 60, state=state)
    head = rig.channels.slice("Head", "rotation")
    angle = quaternion.angle_between(np.concatenate([there, back])[:, head], rig.rest[head])
    assert np.abs(np.diff(angle, 2)).max() < 0.2 * angle.max(), "neither a jump nor a jolt"
    assert angle[0] < 0.1 * angle.max() and angle[-1] == 0.0 and state.turn == (0.0, 0.0)
    assert np.array_equal(back[-1], rig.rest)


def test_a_head_that_nods_goes_on_to_nod() -> None:
    rig = body(eyes=False)
    layer, head = of(rig), rig.channels.slice("Head", "rotation")
    state, shown, nods = layer.init(0), [], []
    for frame in range(96):
        row = rig.rest.copy()
        nods.append(radians(12) * np.sin(2 * np.pi * 2.0 * frame / RATE))
        row[head] = quaternion.multiply(row[head], quaternion.from_rotation_vector([nods[-1], 0.0, 0.0]))
        state, out = layer.step(state, row, LayerContext(frame / RATE, 1 / RATE, look=(0.0, 1.6, 5.0)))
        frame_of = layer.head.evaluate_row(out)
        shown.append(-np.arcsin(layer._axis(frame_of, 2)[1]))
    assert np.ptp(shown[48:]) > 0.8 * np.ptp(nods[48:])


def test_a_clip_keeps_its_own_head() -> None:
    rig = body(eyes=False)
    layer = of(rig)
    state, rows = looked(layer, rig.rest, [ASIDE] * 12, played=True)
    assert np.array_equal(rows, np.tile(rig.rest, (12, 1))) and state.turn == (0.0, 0.0)


def test_names_and_the_camera() -> None:
    rig = body(eyes=False)
    layer = HeadLook.from_rig(rig, {"ball": ASIDE})
    assert layer is not None
    by_name, by_place = (looked(layer, rig.rest, [look] * 20)[1] for look in ("ball", ASIDE))
    assert np.array_equal(by_name, by_place)
    assert degrees(off(layer, rig.rest, layer.points["camera"])) < 1.0
    with pytest.raises(InvalidInput, match="point to look at"):
        looked(layer, rig.rest, ["nowhere"])


def test_who_has_eyes_uses_them(dragon: LayeredRig) -> None:
    def kinds(rig: DirectRig | LayeredRig) -> set:
        return {type(layer) for layer in layers_of(rig)} & {Gaze, HeadLook}

    assert kinds(body(eyes=True)) == {Gaze} and kinds(body(eyes=False)) == {HeadLook} and kinds(dragon) == {Gaze}


def test_who_has_no_head_does_not_look() -> None:
    assert HeadLook.from_rig(body(rename=lambda name: name.replace("Head", "Knob"), eyes=False)) is None
