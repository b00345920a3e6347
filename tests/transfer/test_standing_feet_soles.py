"""Soles: flat while they stand, as posed in flight, toes straight where heel and toe both stand."""

from __future__ import annotations

import numpy as np
from tests.transfer import bodies
from tests.transfer.test_standing_contact_correction import creeping

from understudy import cast
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import body_of
from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion
from understudy.transfer.contact_goals import FLIGHT_POINT_WEIGHT, contact_weights
from understudy.transfer.standing import plant_contacts
from understudy.transfer.standing_base import stance_of
from understudy.transfer.standing_feet import foot_flattening


def test_a_rolled_foot_is_wanted_flat_where_it_stands_and_as_posed_in_flight() -> None:
    poses, phases = creeping()
    body = bodies.walker()[1]
    soles = foot_flattening(body, stance_of(poses, body, phases))
    assert soles.contacts == ((1, 0), (3, 2))  # heel, toe
    rotations = np.array(poses.rotations)
    roll = np.broadcast_to(quaternion.from_rotation_vector([0.0, 0.0, 0.5]), rotations[:, 3].shape)
    rotations[:, 3] = quaternion.multiply(rotations[:, 3], roll)
    poses = PoseSequence(poses.skeleton, poses.translations, rotations, poses.rate)
    points, sides = body.contact_positions(poses.world), soles.positions(poses)
    still = np.ones(points.shape[:2])
    flat, firm = soles.goals(points, points, sides, still)
    # across the foot, level, and as far from its middle as at rest
    along, across = points[:, 0] - points[:, 1], flat[:, 0] - points[:, :2].mean(axis=1)
    np.testing.assert_allclose((along * across).sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(across[:, 1], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(across, axis=1), soles.widths[0])
    assert np.abs(sides[:, 0, 1] - flat[:, 0, 1]).max() > 0.02  # it was rolled
    assert (firm > 0).all()
    free, _ = soles.goals(points, points, sides, np.full(points.shape[:2], FLIGHT_POINT_WEIGHT))
    np.testing.assert_allclose(free, sides, atol=1e-9)


def test_feet_that_stand_are_level() -> None:
    poses, phases = creeping()
    body = bodies.walker()[1]
    rotations = np.array(poses.rotations)
    roll = np.broadcast_to(quaternion.from_rotation_vector([0.0, 0.0, 0.4]), rotations[:, 3].shape)
    rotations[:, [3, 6]] = quaternion.multiply(rotations[:, [3, 6]], roll[:, None])
    found = plant_contacts(PoseSequence(poses.skeleton, poses.translations, rotations, poses.rate), body, phases)
    stands = phases.down[:, 0] & phases.down[:, 1]
    assert np.abs(found.world[stands, 3, 1, 0]).max() < 0.03  # its side axis is level


def test_toes_are_straight_where_heel_and_toe_stand() -> None:
    asset = cast.load("penguin")
    skeleton, body = asset.character().skeleton, body_of(asset.character())
    poses = PoseSequence.rest(skeleton, 60, 30.0)
    toe = skeleton.index("LeftToe")
    rotations = np.array(poses.rotations)
    rotations[:, toe] = quaternion.multiply(rotations[:, toe], quaternion.from_rotation_vector([-0.5, 0.0, 0.0]))
    poses = PoseSequence(skeleton, poses.translations, rotations, 30.0)
    down = np.ones((60, len(body.contacts)), bool)
    heel = body.names.index("LeftFoot.heel")
    down[30:, heel] = False
    phases = ContactPhases(body.names, down)
    soles = foot_flattening(body, stance_of(poses, body, phases))
    assert soles.rigid(body, skeleton)[body.names.index("LeftToe.toe")] == skeleton.index("LeftFoot")
    found = soles.flatten(poses, body, contact_weights(phases, 30.0), body.contact_positions(poses.world))
    turned = quaternion.to_rotation_vector(
        quaternion.multiply(quaternion.conjugate(skeleton.rotations[toe]), found.rotations[:, toe])
    )[:, 0]
    np.testing.assert_allclose(turned[:30], 0.0, atol=1e-9)
    np.testing.assert_allclose(turned[40:], -0.5, atol=1e-9)
    assert (np.diff(turned) < 1e-12).all()


def test_toes_are_the_straighter_the_lower_the_heel_should_be() -> None:
    asset = cast.load("penguin")
    skeleton, body = asset.character().skeleton, body_of(asset.character())
    foot, toe = skeleton.index("LeftFoot"), skeleton.index("LeftToe")
    rotations = np.array(PoseSequence.rest(skeleton, 5, 30.0).rotations)
    rotations[:, foot] = quaternion.multiply(rotations[:, foot], quaternion.from_rotation_vector([0.4, 0.0, 0.0]))
    rotations[:, toe] = quaternion.multiply(rotations[:, toe], quaternion.from_rotation_vector([-0.4, 0.0, 0.0]))
    poses = PoseSequence(skeleton, PoseSequence.rest(skeleton, 5).translations, rotations, 30.0)
    ball, heel = body.names.index("LeftToe.toe"), body.names.index("LeftFoot.heel")
    down = np.zeros((5, len(body.contacts)), bool)
    down[:, ball] = True
    phases = ContactPhases(body.names, down)
    soles = foot_flattening(body, stance_of(poses, body, phases))
    holds = np.where(down, 1.0, FLIGHT_POINT_WEIGHT)
    points = body.contact_positions(poses.world)
    assert points[0, heel, 1] > points[0, ball, 1]
    half = points.copy()
    half[:, heel, 1] = 0.5 * (points[:, heel, 1] + points[:, ball, 1])
    for goals, kept in ((points, -0.4), (half, -0.2)):
        found = soles.flatten(poses, body, holds, goals).rotations[:, toe]
        turned = quaternion.to_rotation_vector(
            quaternion.multiply(quaternion.conjugate(skeleton.rotations[toe]), found)
        )
        np.testing.assert_allclose(turned[:, 0], kept, atol=1e-6)
