"""Measures: of motions whose slide, penetration and jumps are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.transfer import bodies, small

from understudy.character import Character, Skeleton
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import body_height, body_of
from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion
from understudy.transfer.measures import (
    flight_seconds,
    foot_gaps,
    jerk,
    jump_ratios,
    jumps,
    limb_errors,
    measure_motion,
    measure_skin,
    missing_wrenches,
    penetration,
    slide_speeds,
)
from understudy.transfer.physics.momentum import mass_motion


def crouched(frames: int = 6) -> PoseSequence:
    """The walker with bent knees."""
    skeleton, _ = bodies.walker()
    rotations = np.broadcast_to(skeleton.rotations, (frames, len(skeleton), 4)).copy()
    for joint, angle in ((1, -0.5), (2, 1.0), (3, -0.5), (4, -0.5), (5, 1.0), (6, -0.5)):
        rotations[:, joint] = quaternion.from_rotation_vector([angle, 0.0, 0.0])
    return PoseSequence(skeleton, np.broadcast_to(skeleton.translations, (frames, len(skeleton), 3)), rotations, 30.0)


def jumping(rise: float) -> tuple[PoseSequence, ContactPhases]:
    """The walker jumps for 0.4 s at 60 fps: the way up and down is a sine, which is not how things fall."""
    body = bodies.walker()[1]
    poses = crouched(72)
    poses = PoseSequence(poses.skeleton, poses.translations, poses.rotations, 60.0)
    up = np.zeros(72)
    up[24:48] = rise * np.square(np.sin(np.pi * (np.arange(24) + 0.5) / 24))
    frames = np.tile(np.eye(4), (72, 1, 1))
    frames[:, 1, 3] = up - body.contact_positions(poses.world)[0, :, 1].min()
    down = np.ones((72, 4), bool)
    down[24:48] = False
    return poses.apply_transform(frames), ContactPhases(body.names, down)


def test_slide_and_penetration_are_what_they_are() -> None:
    t = np.arange(10) / 30
    positions = np.stack([np.zeros(10), np.full(10, -0.02), 0.3 * t], axis=1)[:, None]
    phases = ContactPhases(("a",), np.ones((10, 1), bool))
    np.testing.assert_allclose(slide_speeds(positions, phases, 30.0), 0.3)
    assert penetration(positions) == pytest.approx(0.02)
    assert slide_speeds(positions, ContactPhases(("a",), np.zeros((10, 1), bool)), 30.0).size == 0


def test_a_jump_is_as_high_as_it_is() -> None:
    body = bodies.walker()[1]
    poses, phases = jumping(0.25)
    (jump,) = jumps(mass_motion(poses.world, body, 60.0), phases, None, None)
    assert jump["height_m"] == pytest.approx(0.25, abs=0.005)
    assert jump["end_s"] - jump["start_s"] == pytest.approx(0.4)


def test_a_constant_acceleration_has_no_jerk() -> None:
    skeleton, body = bodies.brick()
    t = np.arange(12)[:, None] / 60
    poses = PoseSequence(skeleton, (t * t * [0.0, 2.0, 1.0])[:, None], np.tile([0.0, 0, 0, 1], (12, 1, 1)), 60.0)
    assert jerk(poses.world, body, 60.0) < 1e-6


def test_the_report_is_plain_numbers_and_tells_of_the_source() -> None:
    source, target = small.source(), small.hopper().character()
    body = body_of(target)
    poses = PoseSequence.rest(target.skeleton, len(source), 30.0)
    phases = ContactPhases(body.names, np.ones((len(source), len(body.names)), bool))
    found = measure_motion(poses, body, phases, source, body_of(small.actor().character()))
    json.dumps(found)
    assert found["slide_max_cm_s"] == 0 and found["momentum_error"] == pytest.approx(1.0)
    assert found["missing_force"] < 0.05
    assert {"momentum_correlation", "size_ratio", "jumps", "force_in_air"} <= set(found)
    assert body_height(body, poses) > 0.5


def box_character() -> Character:
    """A box of one metre on one joint, and a small one below the floor on another."""
    skeleton = Skeleton(["Box", "Prop"], [-1, 0], np.zeros((2, 3)))
    vertices, triangles = bodies.box([-0.2, 0, -0.2], [0.2, 1, 0.2])
    prop, faces = bodies.box([0.3, -0.2, -0.1], [0.4, 0.1, 0.1])
    owners = np.repeat([0, 1], [len(vertices), len(prop)])
    both = np.concatenate([triangles, faces + len(vertices)])
    return bodies.of_mesh(skeleton, np.concatenate([vertices, prop]), both, owners)


def moves_of(places: np.ndarray, rate: float = 60.0) -> PoseSequence:
    character = box_character()
    poses = PoseSequence.rest(character.skeleton, len(places), rate)
    frames = np.tile(np.eye(4), (len(places), 1, 1))
    frames[:, :3, 3] = places
    return poses.apply_transform(frames)


def test_the_skin_slides_as_fast_and_lies_as_deep_as_it_does() -> None:
    t = np.arange(150) / 60
    places = np.stack([0.3 * t, np.where(t > 2, -0.04, 0.0), 0 * t], axis=1)
    without = np.array([False, True])
    skin = measure_skin(box_character(), moves_of(places), without)
    assert skin["slide_cm_s"] == pytest.approx(30.0, rel=1e-3)
    assert skin["depth_percent"] == pytest.approx(4.0, rel=1e-3)
    assert measure_skin(box_character(), moves_of(places))["depth_percent"] > 15  # with the prop


def test_skin_that_turns_about_a_corner_does_not_slide() -> None:
    t = np.arange(60) / 60
    poses = moves_of(np.zeros((60, 3)))
    frames = np.tile(np.eye(4), (60, 1, 1))
    frames[:, 1, 3] = 0.5 * t  # it rises: what is above the floor may move
    frames[:, 0, 3] = 3 * t
    lifted = measure_skin(box_character(), poses.apply_transform(frames), np.array([False, True]))
    assert lifted["slide_cm_s"] < 320 and (lifted["lowest"][5:] > 0.015).all()
    air = flight_seconds(lifted["lowest"], np.zeros(60, bool), 60.0)
    assert air["false_flight_s"] == pytest.approx(58 / 60, abs=0.02) and air["flights_made"] == 1


def test_limbs_that_point_elsewhere_differ_by_that_angle() -> None:
    skeleton, _ = bodies.walker()
    poses = PoseSequence.rest(skeleton, 4, 30.0)
    bones = {
        f"{side}{bone}": skeleton.index(f"{side}{name}")
        for side in ("Left", "Right")
        for bone, name in (("UpperLeg", "UpLeg"), ("LowerLeg", "Leg"), ("Foot", "Foot"))
    }
    turned = np.array(poses.rotations)
    turned[:, bones["LeftUpperLeg"]] = [np.sin(0.1), 0, 0, np.cos(0.1)]
    other = PoseSequence(skeleton, poses.translations, turned, 30.0)
    assert limb_errors(other, bones, poses, bones)["legs_degrees"] == pytest.approx(np.degrees(0.2) / 2, rel=1e-6)
    assert foot_gaps(other, bones) < 1e-9
    moved = np.array(poses.translations)
    moved[:, bones["LeftFoot"]] *= 1.5
    assert foot_gaps(PoseSequence(skeleton, moved, turned, 30.0), bones) == pytest.approx(0.5)


def test_a_jump_on_the_parabola_misses_no_force_in_the_air_and_its_full_height() -> None:
    body = bodies.walker()[1]
    poses, phases = jumping(0.25)
    motion = mass_motion(poses.world, body, 60.0)
    flight = ~phases.down.any(axis=1)
    assert jump_ratios(motion, motion, flight, 1.0) == pytest.approx([1.0])
    points = body.contact_positions(poses.world)
    skeleton, brick = bodies.brick()
    throw = bodies.flight(skeleton)
    thrown, off = mass_motion(throw.world, brick, 60.0), np.zeros((len(throw), 4), bool)
    assert missing_wrenches(thrown, brick.contact_positions(throw.world), off, 9.81, 1.0)["missing_force"] < 1e-6
    standing = mass_motion(np.repeat(poses.world[:1], 9, axis=0), body, 60.0)
    still = missing_wrenches(standing, np.repeat(points[:1], 9, axis=0), np.ones((9, points.shape[1]), bool), 9.81, 1.7)
    assert still["missing_force"] < 1e-6 and still["missing_moment"] < 1e-6
    in_air = np.zeros((9, points.shape[1]), bool)
    floating = missing_wrenches(standing, np.repeat(points[:1], 9, axis=0), in_air, 9.81, 1.7)
    assert floating["missing_force"] == pytest.approx(1.0)
