"""Laws of the encoder: what goes in comes out, at once or row by row; poses compare; what is apart stays apart."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data_folder import data_file
from tests.perform.features import walkers

from understudy.character import Channel, Channels
from understudy.character.rig import DirectRig
from understudy.errors import InvalidInput
from understudy.formats import registry
from understudy.perform.features.encoder import TRAVEL_FEATURE_NAMES, PoseEncoder
from understudy.perform.features.root_motion import GroundFrame, find_root
from understudy.perform.library import ClipLibrary


def fitted(rig: DirectRig, takes: list[np.ndarray], apart: tuple[str, ...] = ()) -> PoseEncoder:
    root = find_root(rig.character.skeleton, rig.channels, takes, rig.rest)
    return PoseEncoder.fit(rig.channels, takes, walkers.RATE, rig.rest, root, apart)


def controls(count: int = 6) -> Channels:
    return Channels(Channel(f"{'eyes' if i < 2 else 'face'}.c{i}", "controls", ("value",)) for i in range(count))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 1000),
    st.lists(st.tuples(st.integers(1, 40), st.floats(0, 2), st.floats(-3, 3)), min_size=1, max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_decode_undoes_encode(seed: int, moves: list[tuple[int, float, float]], z_up: bool, scattered: bool) -> None:
    rig = walkers.rig(z_up, 0.01 if z_up else 1.0)
    starts = [(3.0 * i, -i, i) if scattered else (0.0, 0.0, 0.0) for i in range(len(moves))]
    takes = [walkers.take(rig, f, seed + i, v, t, start) for i, ((f, v, t), start) in enumerate(zip(moves, starts))]
    encoder = fitted(rig, takes)
    for rows in takes:
        back = encoder.decode(encoder.encode(rows), encoder.ground_of(rows))
        assert walkers.same_poses(rig, rows, back)


def test_row_by_row_is_the_same_as_at_once() -> None:
    rig = walkers.rig()
    takes = [walkers.take(rig, 60, 1, 1.2, 0.5), walkers.take(rig, 40, 2)]
    encoder = fitted(rig, takes)
    assert encoder.names[-3:] == TRAVEL_FEATURE_NAMES
    features = encoder.encode(takes[0])
    start = GroundFrame(1.0, 2.0, 3.0)
    whole = encoder.decode(features, start)
    ground = start
    for frame, one in enumerate(features):
        assert (encoder.decode(one[None], ground)[0] == whole[frame]).all()
        ground = encoder.ground_after(one, ground)
    assert ground == encoder.ground_after(features, start)


def test_rows_on_grounds_of_their_own_are_those_of_a_take() -> None:
    rig = walkers.rig()
    takes = [walkers.take(rig, 60, 1, 1.2, 0.5)]
    encoder = fitted(rig, takes)
    features = encoder.encode(takes[0])
    shuffled = np.random.default_rng(0).permutation(60)
    rows = encoder.place(features[shuffled], encoder.grounds(takes[0])[shuffled])
    assert walkers.same_poses(rig, rows, takes[0][shuffled])


def test_another_rate_goes_as_far_in_the_same_time() -> None:
    rig = walkers.rig()
    takes = [walkers.take(rig, 90, 1, 1.2, 0.0)]
    encoder = fitted(rig, takes)
    features = encoder.encode(takes[0])[30:60].mean(axis=0)
    slow = encoder.ground_after(np.tile(features, (24, 1)), rate=24.0)
    fast = encoder.ground_after(np.tile(features, (120, 1)), rate=120.0)
    np.testing.assert_allclose([slow.x, slow.z, slow.heading], [fast.x, fast.z, fast.heading], atol=0.01)
    assert abs(slow.z - 1.2) < 0.05


def test_features_do_not_know_where_a_captured_take_was() -> None:
    rig = walkers.rig()
    here, there = (walkers.take(rig, 60, 3, 1.0, 0.0, start) for start in ((5.0, 0, 0), (-4.0, 2.0, 2.0)))
    encoder = fitted(rig, [here, there])
    found = dict(zip(encoder.names, np.abs(encoder.encode(here) - encoder.encode(there)).max(axis=0)))
    # hips sway in the world's frame in these takes, all else is the same motion
    swaying = [name for name in found if name.startswith("Hips") or name in TRAVEL_FEATURE_NAMES]
    assert all(found[name] < 1e-9 for name in found if name not in swaying)
    assert all(found[name] < 0.5 for name in swaying)


def test_in_place_takes_have_no_velocity() -> None:
    rig = walkers.rig()
    walk, idle = walkers.take(rig, 60, 1, 1.2), walkers.take(rig, 40, 2)
    encoder = fitted(rig, [walk, idle])
    travel = np.isin(encoder.names, TRAVEL_FEATURE_NAMES)
    assert (encoder.encode(idle)[:, travel] == 0).all()
    assert np.abs(encoder.encode(walk)[:, travel]).max() > 1.0


def test_columns_that_never_move_are_left_out_and_come_back() -> None:
    rng = np.random.default_rng(1)
    channels = controls()
    rows = rng.normal(size=(30, 6))
    rows[:, 1], rows[:, 4] = 0.3, -7.0
    encoder = PoseEncoder.fit(channels, [rows[:10], rows[10:]], 24.0, np.zeros(6))
    assert len(encoder) == 4
    assert encoder.names == tuple(channels.names[i] for i in (0, 2, 3, 5))
    np.testing.assert_array_equal(encoder.decode(encoder.encode(rows)), rows)


def test_a_column_that_differs_only_between_takes_moves() -> None:
    rows = np.zeros((5, 6))
    other = rows.copy()
    other[:, 2] = 1.0
    assert len(PoseEncoder.fit(controls(), [rows, other], 24.0, np.zeros(6))) == 1


@pytest.mark.parametrize("apart", ["eyes.*", "eyes.c*.controls.value", "eyes.c?"])
def test_what_is_kept_apart_is_encoded_but_not_learned(apart: str) -> None:
    rows = np.random.default_rng(2).normal(size=(20, 6))
    encoder = PoseEncoder.fit(controls(), [rows], 24.0, np.zeros(6), apart=[apart])
    np.testing.assert_array_equal(encoder.learned, [False, False, True, True, True, True])
    np.testing.assert_array_equal(encoder.decode(encoder.encode(rows)), rows)


def test_joints_can_be_kept_apart() -> None:
    rig = walkers.rig()
    encoder = fitted(rig, [walkers.take(rig, 30, 1)], apart=("Chest",))
    assert {name.split(".")[0] for name, kept in zip(encoder.names, encoder.learned) if not kept} == {"Chest"}


def test_comes_back_from_its_parts() -> None:
    rig = walkers.rig(z_up=True)
    takes = [walkers.take(rig, 60, 1, 1.2, 0.5), walkers.take(rig, 40, 2)]
    encoder = fitted(rig, takes, apart=("Chest",))
    again = PoseEncoder.from_parts(json.loads(json.dumps(encoder.header())), encoder.arrays())
    assert again.names == encoder.names
    assert again.channels == encoder.channels
    np.testing.assert_array_equal(again.learned, encoder.learned)
    features = encoder.encode(takes[0])
    np.testing.assert_allclose(again.encode(takes[0]), features, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(
        again.decode(features, GroundFrame(1, 2, 3)), encoder.decode(features, GroundFrame(1, 2, 3))
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plain", np.array([10_000])),
        ("turning", np.array([0])),
        ("turns", np.array([-1])),
        ("circling", np.array([500])),
        ("circling", np.array([0])),
        ("travel", np.array([3])),
        ("base", np.zeros(3)),
        ("reference", np.zeros((1, 4))),
        ("learned", np.zeros(2, bool)),
        ("still", np.array(["a"])),
    ],
)
def test_damaged_parts_are_refused(name: str, value: np.ndarray) -> None:
    rig = walkers.rig()
    encoder = fitted(rig, [walkers.take(rig, 40, 1, 1.2)])
    with pytest.raises(InvalidInput):
        PoseEncoder.from_parts(encoder.header(), {**encoder.arrays(), name: value})
    if name != "circling":  # which older files lack
        with pytest.raises(InvalidInput, match="encoder is damaged"):
            PoseEncoder.from_parts(encoder.header(), {k: v for k, v in encoder.arrays().items() if k != name})


@pytest.mark.parametrize("key", ["channels", "rate", "root"])
def test_damaged_headers_are_refused(key: str) -> None:
    rig = walkers.rig()
    encoder = fitted(rig, [walkers.take(rig, 40, 1, 1.2)])
    for header in ({k: v for k, v in encoder.header().items() if k != key}, {**encoder.header(), key: 7 - 8}):
        with pytest.raises(InvalidInput):
            PoseEncoder.from_parts(header, encoder.arrays())


def test_mistakes_are_told() -> None:
    rows = np.random.default_rng(2).normal(size=(20, 6))
    encoder = PoseEncoder.fit(controls(), [rows], 24.0, np.zeros(6))
    with pytest.raises(InvalidInput, match=r"rows should have shape \(F, 6\)"):
        encoder.encode(rows[:, :5])
    with pytest.raises(InvalidInput, match=r"features should have shape \(F, 6\)"):
        encoder.decode(rows[0])
    with pytest.raises(InvalidInput, match="no channel of the rig is named so"):
        PoseEncoder.fit(controls(), [rows], 24.0, np.zeros(6), apart=["ears.*"])


REAL = (
    "gltf_khronos/Fox.glb",
    "gltf_kaykit/Knight.glb",
    "gltf_threejs/RobotExpressive.glb",
    "gltf_quaternius/dinosaurs_pack_Trex.glb",
    "gltf_quaternius/animals_pack_Horse.glb",
    "bvh_cmu/79_69.bvh",
    "bvh_cmu/05_02.bvh",
)


@pytest.mark.parametrize("name", REAL)
def test_real_clips_come_back(name: str) -> None:
    library = ClipLibrary.from_asset(registry.read(data_file(name)))
    rows = [take.rows for take in library.takes]
    encoder = PoseEncoder.fit(library.rig.channels, rows, library.rate, library.rig.rest, library.root)
    assert isinstance(library.rig, DirectRig)
    for take in rows:
        features = encoder.encode(take)
        assert walkers.same_poses(library.rig, take, encoder.decode(features, encoder.ground_of(take)))
        columns = library.rig.channels.columns_of("rotation").reshape(-1, 4)
        decoded = encoder.decode(features, encoder.ground_of(take))[:, columns]
        along = np.einsum("fri,fri->fr", decoded[1:], decoded[:-1])
        assert along.min() > -1e-9, "decoded rotations stay on one side, as those of clips do"


def test_which_real_characters_travel() -> None:
    joints = {}
    for name in (*REAL[:6], "bvh_cmu/02_01.bvh"):
        root = ClipLibrary.from_asset(registry.read(data_file(name))).root
        joints[name.split("/")[1]] = None if root is None else (root.joint, root.on_floor, root.at_home)
    assert joints == {
        "Fox.glb": None,
        "Knight.glb": ("root", True, True),
        "RobotExpressive.glb": None,
        "dinosaurs_pack_Trex.glb": None,
        "animals_pack_Horse.glb": None,
        "79_69.bvh": None,
        "02_01.bvh": ("Hips", False, False),
    }
