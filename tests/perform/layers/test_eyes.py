"""Eyes: found under every name, and turned so that the joints' own axes meet the point."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.perform.layers.bodies import ARKIT, body
from tests.perform.layers.playing import sight
from tests.reference import perform as reference

from understudy import formats
from understudy.character.rig import DirectRig, LayeredRig
from understudy.character.rig import rig_of as of
from understudy.maths import quaternion
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.layers.eye_drives import Angles, ControlDrive, JointDrive, ShapeDrive
from understudy.perform.layers.eyes import MAX_VERGENCE_RAD, Eyes, gaze_columns, to_local


def test_the_dragons_controls(dragon: LayeredRig) -> None:
    names = {"eyes.x", "eyes.y", "eyes.verge", "eyes.yaw.L", "eyes.yaw.R", "eyes.pitch.L", "eyes.pitch.R"}
    eyes = Eyes.from_rig(dragon)
    assert eyes is not None and isinstance(eyes.drive, ControlDrive)
    assert set(eyes.drive.names) == names == set(gaze_columns(dragon))
    assert eyes.reach == pytest.approx(np.radians([35, 25]))


def test_the_dragon_looks_at_points(dragon: LayeredRig) -> None:
    rng = np.random.default_rng(0)
    eyes = Eyes.from_rig(dragon)
    assert eyes is not None
    moved = [
        dragon.controls.index(n) for n in ("head.turn", "head.nod", "head.roll", "neck.lean", "neck.twist", "neck.side")
    ]
    ahead = [np.array([0, 0, 1.0])] * 2
    for _ in range(30):
        row = dragon.rest.copy()
        row[moved] = 0.5 * rng.uniform(dragon.controls.low[moved], dragon.controls.high[moved])
        frame = eyes.head.evaluate_row(row)
        yaw, pitch = rng.uniform(-0.45, 0.45), rng.uniform(-0.25, 0.25)
        centre, way = np.array(eyes.centre(frame)), np.array(eyes.direction(frame, yaw, pitch))
        point = centre + rng.uniform(0.6, 5) * way
        eyes.drive.write(row, eyes.angles(frame, tuple(point)))
        places, ways = sight(dragon, row, ("Eye.L", "Eye.R"), ahead)
        wanted = (point - places) / np.linalg.norm(point - places, axis=1, keepdims=True)
        # rigid turns of the eyes in the head; what is left is the head's bend of neck.side, and rounding
        assert np.degrees(np.arccos(np.clip((ways * wanted).sum(1), -1, 1))).max() < 0.05


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_body_with_any_axes_looks_at_points(seed: int | None, turned: bool) -> None:
    rig = body(lambda name: f"mixamorig:{name}", seed=seed, turned=turned)
    eyes = Eyes.from_rig(rig)
    assert eyes is not None and isinstance(eyes.drive, JointDrive)
    joints = ("mixamorig:LeftEye", "mixamorig:RightEye")
    forward = np.array([0, 0, -1.0 if turned else 1.0])
    rest = rig.joints(rig.rest[None])[0]
    axes = [rest[rig.character.skeleton.index(joint), :3, :3].T @ forward for joint in joints]
    row = rig.rest.copy()
    neck = rig.channels.slice("mixamorig:Neck", "rotation")
    row[neck] = quaternion.multiply(row[neck], quaternion.from_axis_angle(np.array([0.3, 1.0, 0.2]), 0.5))
    frame = eyes.head.evaluate_row(row)
    point = np.array(eyes.centre(frame)) + 0.8 * np.array(eyes.direction(frame, 0.3, -0.2))
    angles = eyes.angles(frame, tuple(point))
    eyes.drive.write(row, angles)
    places, ways = sight(rig, row, joints, axes)
    wanted = (point - places) / np.linalg.norm(point - places, axis=1, keepdims=True)
    np.testing.assert_allclose(ways, wanted, atol=1e-9)
    assert eyes.drive.read(row) == pytest.approx(angles)
    assert angles.verge > 0


def test_shapes() -> None:
    rig = body(eyes=False, shapes=ARKIT)
    eyes = Eyes.from_rig(rig)
    assert eyes is not None and isinstance(eyes.drive, ShapeDrive)
    np.testing.assert_allclose(eyes.centre(eyes.head.evaluate_row(rig.rest)), [0, 1.68, 0.1], atol=1e-6)
    row = rig.rest.copy()
    eyes.drive.write(row, eyes.angles(eyes.head.evaluate_row(row), (1.0, 1.9, 1.1)))
    weights = dict(zip(ARKIT, row[rig.channels.slice("Face", "weights")]))
    assert weights["eyeLookOutLeft"] > 0.5 and weights["eyeLookInRight"] > weights["eyeLookOutLeft"]
    assert weights["eyeLookInLeft"] == weights["eyeLookOutRight"] == weights["eyeLookDownLeft"] == 0
    assert 0 < weights["eyeLookUpLeft"] < 0.5
    assert len(gaze_columns(rig)) == 8


def test_short_names_and_the_other_way_round() -> None:
    short = tuple(name.replace("Left", "_L").replace("Right", "_R") for name in ARKIT)
    rig = body(eyes=False, shapes=short, turned=True)
    eyes = Eyes.from_rig(rig)
    assert eyes is not None
    np.testing.assert_allclose(eyes.direction(eyes.head.evaluate_row(rig.rest), 0, 0), [0, 0, -1], atol=1e-9)


DRIVES = ("dragon", "joints", "shapes")


def rig_of(kind: str, dragon: LayeredRig) -> LayeredRig | DirectRig:
    if kind == "dragon":
        return dragon
    return body(seed=3) if kind == "joints" else body(eyes=False, shapes=ARKIT)


@pytest.mark.parametrize("kind", DRIVES)
def test_what_is_written_is_read(kind: str, dragon: LayeredRig) -> None:
    rig = rig_of(kind, dragon)
    eyes = Eyes.from_rig(rig)
    assert eyes is not None
    rng = np.random.default_rng(6)
    for _ in range(20):
        angles = Angles(*rng.uniform(-0.4, 0.4, 2), rng.uniform(0, 0.15), rng.uniform(-0.03, 0.03))
        row = rig.rest.copy()
        eyes.drive.write(row, angles)
        assert eyes.drive.read(row) == pytest.approx(angles, abs=1e-9)


def test_the_kernels_of_controls_agree_with_their_oracles(dragon: LayeredRig) -> None:
    eyes = Eyes.from_rig(dragon)
    assert eyes is not None and isinstance(eyes.drive, ControlDrive)
    rng = np.random.default_rng(7)
    for _ in range(20):
        angles = Angles(*rng.uniform(-1, 1, 2), *rng.uniform(-0.3, 0.3, 2))  # beyond the ranges too
        a, b = dragon.rest.copy(), dragon.rest.copy()
        eyes.drive.write(a, angles)
        reference.write_eye_angles(eyes.drive, b, angles)
        np.testing.assert_allclose(a, b, atol=1e-12)
        assert (a >= dragon.controls.low).all() and (a <= dragon.controls.high).all()
        assert eyes.drive.read(a) == pytest.approx(reference.read_eye_angles(eyes.drive, a))


def test_eyes_stay_within_reach_everywhere(dragon: LayeredRig) -> None:
    eyes = Eyes.from_rig(dragon)
    assert eyes is not None
    frame = eyes.head.evaluate_row(dragon.rest)
    for way in np.random.default_rng(8).normal(size=(300, 3)):
        point = np.array(eyes.centre(frame)) + way
        yaw, pitch, verge, _ = eyes.angles(frame, tuple(point))
        assert np.hypot(yaw / eyes.reach[0], pitch / eyes.reach[1]) <= 1 + 1e-9
        assert 0 <= verge <= MAX_VERGENCE_RAD


def test_no_jump_while_a_point_goes_round_the_head(dragon: LayeredRig) -> None:
    eyes = Eyes.from_rig(dragon)
    assert eyes is not None
    frame = eyes.head.evaluate_row(dragon.rest)
    centre = np.array(eyes.centre(frame))
    turn = np.linspace(0, 2 * np.pi, 2001)
    around = centre + 2 * np.stack([np.sin(turn), 0.1 + 0 * turn, np.cos(turn)], axis=1)
    angles = np.array([eyes.angles(frame, tuple(point)) for point in around])
    assert np.abs(np.diff(angles, axis=0)).max() < np.radians(1.5)  # a step is 0.18 degrees, and the fade steepens it
    assert abs(angles[1000]).max() < 1e-9  # behind: ahead


def test_inside_is_the_inverse() -> None:
    rng = np.random.default_rng(9)
    matrix, place, point = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    frame = tuple(np.column_stack([matrix, place]).ravel())
    np.testing.assert_allclose(matrix @ to_local(frame, tuple(point)) + place, point, atol=1e-9)
    assert to_local((0.0,) * 12, (1.0, 2.0, 3.0)) == (0.0, 0.0, 0.0)


def test_no_eyes() -> None:
    rig = body(eyes=False)
    assert Eyes.from_rig(rig) is None and gaze_columns(rig) == ()


def test_real_characters_without_eyes() -> None:
    rig = of(formats.read(data_file("gltf_kaykit/Knight.glb")).character())
    assert isinstance(rig, DirectRig) and Eyes.from_rig(rig) is None


@pytest.mark.parametrize("kind", DRIVES)
def test_learning_understands_what_is_kept_apart(kind: str, dragon: LayeredRig) -> None:
    rig = rig_of(kind, dragon)
    eyes = Eyes.from_rig(rig)
    assert eyes is not None
    rows = np.tile(rig.rest, (40, 1))
    swing = np.sin(np.linspace(0, 6, 40))
    for row, s in zip(rows, swing):
        eyes.drive.write(row, Angles(0.2 * s, 0.1 * s * s, 0.05 + 0.02 * s, 0.01 * s))
    encoder = PoseEncoder.fit(rig.channels, [rows], 24.0, rig.rest, None, gaze_columns(rig))
    assert len(encoder.names) and not encoder.learned.any()
