"""Proportions: a face beside itself is 1, a shut eye stays a shut eye, and only known landmarks are compared."""

from __future__ import annotations

import numpy as np
from tests.express.takes import neutral_face

from understudy.express.landmark_filters import SCALE_RATIO_LIMITS, proportions
from understudy.express.sequence import landmark_names

EYE = range(36, 42)


def wide_eyed(opening: float) -> np.ndarray:
    """A face whose right eye is open `opening` times as far."""
    face = neutral_face()
    middle = face[list(EYE), 1].mean()
    face[list(EYE), 1] = middle + opening * (face[list(EYE), 1] - middle)
    return face


def test_a_face_beside_itself() -> None:
    face = neutral_face()
    np.testing.assert_allclose(proportions(face, face, landmark_names()), 1)
    np.testing.assert_allclose(proportions(face[:, :2], face[:, :2], landmark_names()), 1)


def test_a_shut_eye_stays_a_shut_eye() -> None:
    person, character = neutral_face(), wide_eyed(2.0)
    shutting = np.zeros_like(person)
    shutting[[37, 38], 1] = person[[41, 40], 1] - person[[37, 38], 1]
    moved = character + shutting * proportions(character, person, landmark_names())
    np.testing.assert_allclose(moved[[37, 38], 1], character[[41, 40], 1], atol=1e-9)
    factors = proportions(character, person, landmark_names())
    np.testing.assert_allclose(factors[list(EYE)], np.broadcast_to([1, 2, 1], (6, 3)))
    np.testing.assert_allclose(factors[42:48], 1)


def test_a_larger_mouth_moves_farther_all_ways() -> None:
    face = neutral_face()
    large = face.copy()
    large[48:68] = face[48:68].mean(axis=0) + 1.5 * (face[48:68] - face[48:68].mean(axis=0))
    factors = proportions(large, face, landmark_names())
    np.testing.assert_allclose(factors[48:68], 1.5)
    np.testing.assert_allclose(factors[:48], 1)


def test_nothing_is_taken_too_far() -> None:
    assert proportions(wide_eyed(50.0), neutral_face(), landmark_names()).max() == SCALE_RATIO_LIMITS[1]
    assert proportions(wide_eyed(0.0), neutral_face(), landmark_names()).min() == SCALE_RATIO_LIMITS[0]
    assert np.isfinite(proportions(neutral_face(), wide_eyed(0.0), landmark_names())).all()


def test_other_landmarks_are_left_alone() -> None:
    points = np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_array_equal(proportions(points, 2 * points, ("a", "b", "c")), 1)
    np.testing.assert_array_equal(proportions(points[:1], 2 * points[:1], ("lm08",)), 1)
