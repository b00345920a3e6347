"""Who stands still has the weight above the feet."""

from __future__ import annotations

import numpy as np
from tests.transfer import bodies

from understudy.character.body.contacts import ContactPhases
from understudy.character.body.poses import PoseSequence
from understudy.maths import transform
from understudy.transfer.physics.momentum import mass_motion
from understudy.transfer.standing_feet import balance_over_feet, lean_angles, nearest_support_point

FRAMES = 120


def test_the_nearest_place_of_what_is_spanned() -> None:
    square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    places = np.array([[0.2, -0.3], [2.0, 0.5], [3.0, 3.0], [0.0, 0.0]])
    points, down = np.repeat(square[None], 4, axis=0), np.ones((4, 4), bool)
    np.testing.assert_allclose(
        nearest_support_point(places, points, down), [[0.2, -0.3], [1.0, 0.5], [1.0, 1.0], [0.0, 0.0]]
    )
    down[:, 2:] = False  # an edge is left
    np.testing.assert_allclose(
        nearest_support_point(places, points, down), [[1.0, -0.3], [1.0, 0.5], [1.0, 1.0], [1.0, 0.0]]
    )
    np.testing.assert_allclose(nearest_support_point(places, points, np.zeros((4, 4), bool)), places)


def test_a_tilted_brick_is_set_upright_above_its_corners() -> None:
    skeleton, body = bodies.brick()
    points = np.repeat(body.contact_positions(PoseSequence.rest(skeleton).world), FRAMES, axis=0)
    still = PoseSequence.rest(skeleton, FRAMES, 60.0)
    tilted = still.apply_transform(transform.compose([0.35, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]))
    phases, hips = ContactPhases(body.names, np.ones((FRAMES, 4), bool)), np.array([0, 0, 1, 1])
    before, after = (
        mass_motion(p.world, body, 60.0).centres[60, 0]
        for p in (tilted, balance_over_feet(tilted, body, phases, points, hips))
    )
    assert before > 0.34 and 0.19 < after < 0.24  # the corners are 0.2 from the middle
    assert not lean_angles(still, body, phases, points, hips)[0].any()


def test_who_goes_or_stands_on_one_foot_is_not_leaned() -> None:
    skeleton, body = bodies.brick()
    points = np.repeat(body.contact_positions(PoseSequence.rest(skeleton).world), FRAMES, axis=0)
    frames = np.broadcast_to(np.eye(4), (FRAMES, 4, 4)).copy()
    frames[:, 0, 3] = 0.35 + 3.0 * np.arange(FRAMES) / 60
    hips, down = np.array([0, 0, 1, 1]), np.ones((FRAMES, 4), bool)
    going = PoseSequence.rest(skeleton, FRAMES, 60.0).apply_transform(frames)
    assert np.abs(lean_angles(going, body, ContactPhases(body.names, down), points, hips)[0][5:20]).max() < 0.05
    down[60:, :2] = False
    aside = PoseSequence.rest(skeleton, FRAMES, 60.0).apply_transform(frames[:1])
    lean = lean_angles(aside, body, ContactPhases(body.names, down), points, hips)[0]
    assert lean[30, 0] < -0.1 and not lean[115:].any()
