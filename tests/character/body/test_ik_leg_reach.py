"""Legs reach what they can, by as little as they can, within their limits, and smoothly."""

from __future__ import annotations

import numpy as np
from tests.transfer import bodies

from understudy.character.body.ik import reach_with_limbs
from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion

LEGS = np.array([1, 2, 3, 4, 5, 6])


def crouched(frames: int = 6) -> PoseSequence:
    """The walker with bent knees."""
    skeleton, _ = bodies.walker()
    rotations = np.broadcast_to(skeleton.rotations, (frames, len(skeleton), 4)).copy()
    for joint, angle in ((1, -0.5), (2, 1.0), (3, -0.5), (4, -0.5), (5, 1.0), (6, -0.5)):
        rotations[:, joint] = quaternion.from_rotation_vector([angle, 0.0, 0.0])
    return PoseSequence(skeleton, np.broadcast_to(skeleton.translations, (frames, len(skeleton), 3)), rotations, 30.0)


def solved(poses: PoseSequence, goals: np.ndarray, limits: dict | None = None) -> PoseSequence:
    body = bodies.walker()[1]
    carriers = np.array([c.joint for c in body.contacts])
    found = reach_with_limbs(poses, LEGS, carriers, body.contact_positions(poses.world), goals, limits)
    assert found is not None
    return found


def test_nothing_to_do_is_nothing_done() -> None:
    poses, body = crouched(), bodies.walker()[1]
    same = solved(poses, body.contact_positions(poses.world))
    np.testing.assert_allclose(same.world, poses.world, atol=1e-9)


def test_feet_come_to_their_goals_and_the_hips_stay() -> None:
    poses, body = crouched(), bodies.walker()[1]
    shift = np.random.default_rng(0).normal(size=(len(poses), 2, 3)) * 0.04
    goals = body.contact_positions(poses.world) + np.repeat(shift, 2, axis=1)
    found = solved(poses, goals)
    np.testing.assert_allclose(body.contact_positions(found.world), goals, atol=1e-4)
    assert np.abs(found.world[:, 0, :3, 3] - poses.world[:, 0, :3, 3]).max() < 0.02  # of up to 0.1
    np.testing.assert_array_equal(found.rotations[:, 7], poses.rotations[:, 7])
    root = quaternion.to_rotation_vector(found.rotations[:, 0])
    assert np.abs(root[:, [0, 2]]).max() < 0.02  # it hardly tilts
    assert np.abs(root[:, 1]).max() < 0.1
    np.testing.assert_allclose(found.translations[:, 1:], poses.translations[:, 1:])


def test_hips_give_way_where_legs_are_too_short() -> None:
    poses, body = crouched(2), bodies.walker()[1]
    goals = body.contact_positions(poses.world) - [0.0, 0.3, 0.0]
    found = solved(poses, goals)
    np.testing.assert_allclose(body.contact_positions(found.world), goals, atol=2e-3)
    assert (found.world[:, 0, 1, 3] < poses.world[:, 0, 1, 3] - 0.1).all()


def test_limits_hold_and_hinges_stay_hinges() -> None:
    poses, body = crouched(4), bodies.walker()[1]
    limits = {f"{side}Leg": {"x": (0.0, 70.0)} for side in ("Left", "Right")}
    goals = body.contact_positions(poses.world) + np.array([0.0, 0.12, 0.05])
    found = solved(poses, goals, limits)
    knees = quaternion.to_rotation_vector(found.rotations[:, [2, 5]])
    np.testing.assert_allclose(knees[..., 1:], 0.0, atol=1e-9)
    assert knees[..., 0].min() >= -1e-9 and knees[..., 0].max() <= np.radians(70) + 1e-9


def test_a_start_beyond_its_limits_goes_no_further() -> None:
    poses, body = crouched(2), bodies.walker()[1]
    limits = {"LeftLeg": {"x": (0.0, 30.0)}}  # bent by 57 degrees already
    goals = body.contact_positions(poses.world) + np.array([0.0, 0.1, 0.0])
    found = solved(poses, goals, limits)
    assert quaternion.to_rotation_vector(found.rotations[:, 2])[:, 0].max() <= 1.0 + 1e-9


def test_a_smooth_motion_stays_smooth() -> None:
    poses, body = crouched(30), bodies.walker()[1]
    t = np.arange(30)[:, None, None] / 30
    goals = body.contact_positions(poses.world) + 0.05 * np.sin(np.array([5.0, 4.0, 6.0]) * t)
    found = solved(poses, goals)
    steps = np.abs(np.diff(found.world[..., :3, 3], 2, axis=0)).max()
    assert steps < 4 * np.abs(np.diff(goals, 2, axis=0)).max()
