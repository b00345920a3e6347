"""Forces needed and given: derivatives are exact, standing is balanced, a throw needs nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.transfer import bodies

from understudy.character.body.contacts import ContactPhases
from understudy.character.body.poses import PoseSequence
from understudy.transfer.physics.contact_model import (
    ForceProblem,
    displacement_frames,
    force_jacobians,
    forces,
    problem_of,
    relax_to_floor,
    residuals,
)
from understudy.transfer.physics.momentum import mass_motion


def wriggling() -> ForceProblem:
    """The brick sways a little over its corners, one of which is lifted for some time."""
    skeleton, body = bodies.brick()
    rng = np.random.default_rng(5)
    poses = PoseSequence.rest(skeleton, 12, bodies.RATE)
    frames = displacement_frames(np.zeros((12, 3)), 0.002 * rng.normal(size=(12, 4)))
    down = np.ones((12, 4), bool)
    down[4:8, 2] = False
    return problem_of(
        poses.apply_transform(frames).world, body, ContactPhases(body.names, down), bodies.RATE, 1.0, 9.81
    )


@pytest.mark.parametrize("seed", range(3))
def test_derivatives(seed: int) -> None:
    problem, rng = wriggling(), np.random.default_rng(seed)
    moved, pressed = 0.01 * rng.normal(size=(12, 4)), problem.at_rest()[1] + 3e-4 * rng.normal(size=(12, 4, 3))
    by_moves, by_press = force_jacobians(problem, moved, pressed)
    frame = int(rng.integers(2, 10))

    def ends(which: str, index: tuple[int, ...], step: float) -> np.ndarray:
        found = []
        for sign in (1, -1):
            shift, press = moved.copy(), pressed.copy()
            (shift if which == "moved" else press)[index] += sign * step
            found.append(residuals(problem, shift, press)[frame])
        return (found[0] - found[1]) / (2 * step)

    for s in range(3):
        for i in range(4):
            expected = ends("moved", (frame + s - 1, i), 1e-6)
            np.testing.assert_allclose(by_moves[frame, :, s, i], expected, rtol=1e-6, atol=1e-5)
    for k in range(4):
        for i in range(3):
            expected = ends("pressed", (frame, k, i), 1e-8)
            np.testing.assert_allclose(by_press[frame, :, 3 * k + i], expected, rtol=1e-4, atol=1e-2)


def test_standing_is_balanced_by_pressing_each_corner_with_its_share() -> None:
    skeleton, body = bodies.brick()
    poses, down = PoseSequence.rest(skeleton, 5), np.ones((5, 4), bool)
    problem = problem_of(poses.world, body, ContactPhases(body.names, down), 30.0, 1.0, 9.81)
    still, start = problem.at_rest()
    assert np.abs(residuals(problem, still, start)).max() < 0.02
    pressed = relax_to_floor(problem, still)
    needed, given, _, tipping = forces(problem, still, pressed)
    np.testing.assert_allclose(given[1:-1], needed[1:-1], atol=0.01 * problem.weight)
    np.testing.assert_allclose(tipping[1:-1], 0.0, atol=0.01 * problem.weight)


def test_a_leaning_body_puts_its_weight_on_its_toes_and_a_tipping_one_cannot_be_held() -> None:
    skeleton, body = bodies.brick()
    down = ContactPhases(body.names, np.ones((5, 4), bool))
    for ahead, held in ((0.2, True), (0.8, False)):
        heavy = type(body)(body.masses, [[0.0, 0.1, ahead]], body.inertias, body.contacts)
        problem = problem_of(PoseSequence.rest(skeleton, 5).world, heavy, down, 30.0, 1.0, 9.81)
        still = np.zeros((5, 4))
        pressed = relax_to_floor(problem, still)
        missing = np.abs(residuals(problem, still, pressed)[2]).max()
        assert (missing < 0.02) == held
        assert pressed[2, [0, 2], 1].mean() < pressed[2, [1, 3], 1].mean()


def test_in_flight_the_floor_gives_nothing() -> None:
    skeleton, body = bodies.brick()
    poses = bodies.flight(skeleton, 20)
    nobody = ContactPhases(body.names, np.zeros((20, 4), bool))
    problem = problem_of(poses.world, body, nobody, bodies.RATE, 1.0, 9.81)
    assert np.abs(residuals(problem, *problem.at_rest())).max() < 1e-6


def test_displacing_the_motion_is_moving_the_figure() -> None:
    skeleton, body = bodies.walker()
    poses = bodies.flight(skeleton, 10)
    nobody = ContactPhases(body.names, np.zeros((10, 4), bool))
    problem = problem_of(poses.world, body, nobody, bodies.RATE, 1.0, 9.81)
    moved = 0.1 * np.random.default_rng(2).normal(size=(10, 4))
    shifted = mass_motion(
        poses.apply_transform(displacement_frames(problem.motion.centres, moved)).world, body, bodies.RATE
    )
    force, moment = shifted.required_forces()
    needed, _, turning, _ = forces(problem, moved, problem.at_rest()[1])
    np.testing.assert_allclose(needed[1:-1], force[1:-1], rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(turning[1:-1], moment[1:-1], rtol=1e-7, atol=1e-6)
