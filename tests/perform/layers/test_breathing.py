"""Breathing: slow, smooth, never periodic, and still when told to."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.perform.layers.bodies import body
from tests.perform.layers.playing import held, play

from understudy import formats
from understudy.character.rig import LayeredRig, rig_of
from understudy.perform.layers.breathing import Breathing, air_flow, lung_volume
from understudy.perform.layers.layer import Layer


@pytest.fixture(scope="module")
def breathing(dragon: LayeredRig) -> Breathing:
    found = Breathing.from_rig(dragon)
    assert found is not None
    return found


def test_it_is_a_layer(breathing: Breathing) -> None:
    assert isinstance(breathing, Layer)


def test_only_what_breathes_moves(dragon: LayeredRig, breathing: Breathing) -> None:
    rows = play([breathing], held(dragon, 30))
    moved = {dragon.controls.names[i] for i in np.flatnonzero(np.ptp(rows, axis=0))}
    assert moved == {"neck.breath", "nose.flare.L", "nose.flare.R"}
    assert (rows >= dragon.controls.low).all() and (rows <= dragon.controls.high).all()


def breaths(rows: np.ndarray, rig: LayeredRig) -> tuple[np.ndarray, np.ndarray]:
    """Frames where a breath is deepest, and how deep."""
    value = rows[:, rig.controls.index("neck.breath")]
    tops = np.flatnonzero((value[1:-1] > value[:-2]) & (value[1:-1] >= value[2:])) + 1
    return tops, value[tops]


def test_no_two_breaths_are_alike(dragon: LayeredRig, breathing: Breathing) -> None:
    tops, depth = breaths(play([breathing], held(dragon, 180)), dragon)
    spans = np.diff(tops) / 24
    assert 10 < len(tops) / 3 < 20  # a minute
    assert spans.std() > 0.2 and depth.std() > 0.03
    assert len(np.unique(depth.round(4))) == len(depth)


def test_smooth(dragon: LayeredRig, breathing: Breathing) -> None:
    rows = play([breathing], held(dragon, 60, 120), rate=120)
    value = rows[:, dragon.controls.index("neck.breath")]
    assert np.abs(np.diff(value)).max() < 0.02
    assert np.abs(np.diff(value, 2)).max() < 5e-4  # no corner: the slope changes little from frame to frame


def test_dials(dragon: LayeredRig, breathing: Breathing) -> None:
    calm, usual, lively = (
        breaths(play([breathing], held(dragon, 120), liveliness=life), dragon) for life in (0.3, 1, 2)
    )
    assert len(calm[0]) < len(usual[0]) < len(lively[0])
    assert calm[1].mean() < usual[1].mean() < lively[1].mean()
    rows = held(dragon, 10)
    assert np.array_equal(play([breathing], rows, stillness=1.0), rows)
    assert np.array_equal(play([breathing], rows, played=lambda t: True), rows)


def test_it_stops_and_starts_gently(dragon: LayeredRig, breathing: Breathing) -> None:
    rows = held(dragon, 20)
    out = play([breathing], rows, played=lambda t: 5 < t < 12)
    assert np.array_equal(out[8 * 24 : 12 * 24], rows[8 * 24 : 12 * 24])
    assert np.abs(np.diff(out[:, dragon.controls.index("neck.breath")])).max() < 0.05


def test_a_breath_of_the_performance_is_kept(dragon: LayeredRig, breathing: Breathing) -> None:
    own = dragon.controls.index("neck.breath")
    rows = held(dragon, 20)
    rows[:, own] = 1.4
    out = play([breathing], rows)[:, own]
    assert out.min() >= 1.4 and out.max() <= dragon.controls.high[own]


def test_replay(dragon: LayeredRig, breathing: Breathing) -> None:
    rows = held(dragon, 20)
    assert np.array_equal(*(play([breathing], rows, seed=4) for _ in range(2)))
    assert not np.array_equal(play([breathing], rows, seed=4), play([breathing], rows, seed=5))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seed", [None, 4])
def test_a_body_lifts_its_chest_and_keeps_its_head(seed: int | None, turned: bool) -> None:
    rig = body(seed=seed, turned=turned)
    found = Breathing.from_rig(rig)
    assert found is not None
    row = rig.rest.copy()
    found.drive.add_all(row[None], [1.0], [0.0])
    rest, full = rig.joints(np.stack([rig.rest, row]))
    index = rig.character.skeleton.index
    forward = np.array([0, 0, -1.0 if turned else 1.0])
    chest = full[index("Spine2"), :3, :3] @ rest[index("Spine2"), :3, :3].T @ forward
    assert 0.01 < chest[1] < 0.05  # its front goes up
    head = full[index("Head"), :3, :3] @ rest[index("Head"), :3, :3].T
    np.testing.assert_allclose(head, np.eye(3), atol=1e-4)
    for side in ("Left", "Right"):
        lifted = full[index(f"{side}Arm"), 1, 3] - rest[index(f"{side}Arm"), 1, 3]
        assert 0.001 < lifted < 0.02
        np.testing.assert_allclose(full[index(f"{side}Foot")], rest[index(f"{side}Foot")], atol=1e-12)
    assert np.abs(full - rest)[:, :3, 3].max() < 0.02  # metres
    turns = row.reshape(-1, 10)[:, 3:7]
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1, atol=1e-12)


def test_four_legs_keep_their_feet_on_the_ground() -> None:
    for name in ("gltf_khronos/Fox.glb", "gltf_quaternius/animals_pack_Horse.glb"):
        rig = rig_of(formats.read(data_file(name)).character())
        found = Breathing.from_rig(rig)
        if found is None:
            continue
        row = rig.rest.copy()
        found.drive.add_all(row[None], [1.0], [1.0])
        rest, full = rig.joints(np.stack([rig.rest, row]))[:, :, :3, 3]
        low = rest[:, 1] < rest[:, 1].min() + 0.1 * np.ptp(rest[:, 1])
        np.testing.assert_allclose(full[low], rest[low], atol=1e-9)


@pytest.mark.parametrize("name", ["gltf_threejs/RobotExpressive.glb", "gltf_kaykit/Knight.glb", "bvh_cmu/79_69.bvh"])
def test_real_bodies_breathe_and_stand(name: str) -> None:
    rig = rig_of(formats.read(data_file(name)).character())
    found = Breathing.from_rig(rig)
    assert found is not None
    row = rig.rest.copy()
    found.drive.add_all(row[None], [1.0], [1.0])
    rest, full = rig.joints(np.stack([rig.rest, row]))[:, :, :3, 3]
    legs = [
        i for i, joint in enumerate(rig.character.skeleton.names) if "leg" in joint.lower() or "foot" in joint.lower()
    ]
    np.testing.assert_array_equal(full[legs], rest[legs])
    assert 0 < np.abs(full - rest).max() < 0.03 * np.ptp(rest[:, 1])


def test_nothing_breathes_without_a_chest() -> None:
    assert Breathing.from_rig(body(lambda name: f"x{name[::-1]}")) is None


def test_the_shape_of_a_breath() -> None:
    x = np.linspace(0, 1, 1001)
    lungs, nose = np.array([lung_volume(v) for v in x]), np.array([air_flow(v) for v in x])
    assert lungs[0] == lungs[-1] == nose[0] == nose[-1] == 0 and lungs.max() == 1 and nose.max() == pytest.approx(1)
    assert x[lungs.argmax()] == pytest.approx(0.4) and x[nose.argmax()] < x[lungs.argmax()]
