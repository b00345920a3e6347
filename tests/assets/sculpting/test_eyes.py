"""Cartoon eyes: a round ball, lids that meet, shapes that mirror, paint in the right places."""

from __future__ import annotations

import numpy as np

from assets.members.penguin import EYE
from assets.sculpting import eyes
from assets.sculpting.clay import eye_frame, turn


def test_the_ball_is_round_and_looks_along_its_frame() -> None:
    ball = eyes.ball(EYE)
    assert np.allclose(np.linalg.norm(ball.vertices - EYE.place, axis=1), EYE.radius)
    gaze = (ball.vertices[0] - EYE.place) / EYE.radius
    inward = eye_frame(EYE.yaw - EYE.toe_in, EYE.pitch)[2]
    assert gaze @ inward > np.cos(np.radians(0.5))


def test_lids_open_wide_and_meet_when_shut() -> None:
    a = np.linspace(-1, 1, 21)
    upper, lower = (edge.at(a) for edge in eyes.SHUT_EDGES)
    assert (upper > lower).all() and (upper - lower < 4).all()
    assert EYE.upper.at(np.zeros(1))[0] - EYE.lower.at(np.zeros(1))[0] > 80


def test_shapes_of_the_right_mirror_those_of_the_left() -> None:
    shapes = eyes.eye_shapes(EYE)
    assert set(shapes) == {f"eye{what}{side}" for what in ("Blink", "Squint", "Wide") for side in ("Left", "Right")}
    for name, parts in shapes.items():
        if name.endswith("Left"):
            right = shapes[name.removesuffix("Left") + "Right"]
            for patch, delta in parts.items():
                assert np.allclose(right[patch.removesuffix("L") + "R"], delta * [-1, 1, 1])
                assert np.abs(delta).max() > 1e-3


def test_paint() -> None:
    ring, azimuth = np.array([0.0, 40.0, 90.0]), np.full(3, -np.pi / 2)
    pupil, iris, white = eyes.eye_colours(EYE, ring, azimuth)
    assert pupil.max() < 0.1 and white.min() > 0.5
    assert iris[2] > iris[0]  # blue below


def test_frames_and_turns_are_rotations() -> None:
    for matrix in (eye_frame(15, 2), turn(20, -30, 40)):
        assert np.allclose(matrix @ matrix.T, np.eye(3)) and np.isclose(np.linalg.det(matrix), 1.0)
