"""Goals of contact points: still and on the floor while down, smooth between, distances of a foot kept."""

from __future__ import annotations

import numpy as np
from tests.character.body.test_contacts import hopping

from understudy.character.body.contacts import ContactPhases, find_contact_phases
from understudy.maths import quaternion
from understudy.transfer.contact_goals import (
    blend_through_flight,
    contact_weights,
    find_contact_goals,
    make_feet_rigid,
    rigid_fit,
)


def shaky() -> tuple[np.ndarray, ContactPhases]:
    phases = find_contact_phases(hopping(), 30.0, 1.0)
    creep = np.stack([0.02 * np.sin(np.arange(90) / 9), 0.01 * np.cos(np.arange(90) / 5), np.zeros(90)], axis=1)
    return hopping() + creep[:, None], phases


def test_down_is_still_on_the_floor_at_the_mean() -> None:
    positions, phases = shaky()
    goals = find_contact_goals(positions, phases)
    for a, b in phases.runs(0):
        np.testing.assert_allclose(goals[a:b, 0], np.tile(goals[a, 0], (b - a, 1)))
        np.testing.assert_allclose(goals[a, 0, [0, 2]], positions[a:b, 0][:, [0, 2]].mean(axis=0))
        assert goals[a, 0, 1] == 0


def test_flight_is_corrected_by_smoothstep_between_the_two_corrections() -> None:
    positions, phases = shaky()
    goals = find_contact_goals(positions, phases)
    (_, a), (b, _) = phases.runs(0)
    before, after = (goals - positions)[a - 1, 0], (goals - positions)[b, 0]
    h = (np.arange(a, b) - (a - 1))[:, None] / (b - (a - 1))
    w = h * h * (3 - 2 * h)
    expected = positions[a:b, 0] + (1 - w) * before + w * after
    expected[:, 1] = np.maximum(expected[:, 1], 0)  # never below the floor
    np.testing.assert_allclose(goals[a:b, 0], expected, atol=1e-12)


def test_without_contact_nothing_changes() -> None:
    positions = np.random.default_rng(0).normal(size=(20, 2, 3))
    nobody = ContactPhases(("a", "b"), np.zeros((20, 2), bool))
    np.testing.assert_array_equal(find_contact_goals(positions, nobody), positions)
    np.testing.assert_array_equal(blend_through_flight(positions, 0 * positions, nobody), positions)


def test_heel_and_toe_keep_their_distance_while_both_are_down() -> None:
    frames = 30
    toe = np.stack([np.linspace(0, 0.06, frames), np.zeros(frames), np.zeros(frames)], axis=1)
    heel = np.stack([np.linspace(0, 0.01, frames), np.zeros(frames), np.full(frames, -0.2)], axis=1)
    down = np.ones((frames, 2), bool)
    down[:10, 0] = False
    down[20:, 1] = False
    apart = np.array([[0.0, 0.25], [0.25, 0.0]]), np.zeros((2, 2))
    goals = find_contact_goals(np.stack([toe, heel], axis=1), ContactPhases(("toe", "heel"), down), apart)
    np.testing.assert_allclose(np.linalg.norm(goals[15, 0] - goals[15, 1]), 0.25, atol=1e-5)


def test_a_lifted_heel_goes_with_its_toe() -> None:
    rng = np.random.default_rng(3)
    positions = rng.normal(size=(8, 2, 3))
    positions[..., 1] = np.abs(positions[..., 1])  # above the floor
    down = np.zeros((8, 2), bool)
    down[:, 0] = True
    phases = ContactPhases(("toe", "heel"), down)
    goals = positions + np.array([0.1, 0.0, -0.2])
    goals[:, 1] += 5.0  # far out of reach
    feet = make_feet_rigid(positions, goals, phases, contact_weights(phases, 30.0), np.zeros(2, np.int64))
    np.testing.assert_allclose(feet[:, 0], goals[:, 0])
    reach = np.linalg.norm(positions[:, 1] - positions[:, 0], axis=1)
    np.testing.assert_allclose(np.linalg.norm(feet[:, 1] - feet[:, 0], axis=1), reach, rtol=1e-6)


def test_firmness_is_one_while_down_and_falls_smoothly() -> None:
    down = np.zeros((40, 1), bool)
    down[15:22] = True
    firm = contact_weights(ContactPhases(("a",), down), 30.0)[:, 0]
    assert (firm[15:22] == 1).all() and firm[0] == firm[-1] == firm.min() > 0
    assert (np.diff(firm[:16]) >= 0).all() and (np.diff(firm[21:]) <= 0).all()


def test_a_rigid_motion_is_found_again_and_a_line_is_not_twisted() -> None:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(5, 4, 3))
    turn = quaternion.to_matrix(quaternion.from_rotation_vector(rng.normal(size=(5, 3))))
    goals = np.einsum("fij,fkj->fki", turn, points) + rng.normal(size=(5, 1, 3))
    moves = rigid_fit(points, goals, np.ones((5, 4)))
    again = np.einsum("fij,fkj->fki", moves[:, :3, :3], points) + moves[:, None, :3, 3]
    np.testing.assert_allclose(again, goals, atol=1e-5)
    line = np.array([[[0.0, 0, 0], [0.0, 0, 1.0]]])
    np.testing.assert_allclose(rigid_fit(line, line, np.ones((1, 2)))[0], np.eye(4), atol=1e-9)
