"""The projected fit: poses and weights that were put in come out, and so do a person's own proportions."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.express.synthetic import CAMERA, face_basis, take

from understudy.express.face_fit import (
    FaceModel,
    HeadPose,
    fit_frame,
    fit_neutral,
    initial_pose,
    landmark_weights,
    landmarks_of,
)
from understudy.express.sequence import landmark_names
from understudy.maths import quaternion


def subject(alpha: float = 1e-6) -> FaceModel:
    basis = face_basis()
    return FaceModel(CAMERA, basis.rest, basis.deltas, np.ones(68), alpha)


@pytest.mark.parametrize("turn", [(0, 0, 0), (0, 0.7, 0), (0.4, -0.5, 0.2), (0, 0, 1.2)])
def test_a_still_head_is_found_from_nothing(turn: tuple[float, ...]) -> None:
    rotation = quaternion.to_matrix(quaternion.exp(np.array(turn, float)))
    truth = HeadPose(rotation, np.array([0.1, -0.05, -0.7]), np.zeros(len(face_basis().names)))
    pixels = landmarks_of(subject(), truth)
    found = fit_frame(subject(), pixels, initial_pose(subject(), pixels), rigid=True)
    np.testing.assert_allclose(found.rotation, truth.rotation, atol=1e-4)
    np.testing.assert_allclose(found.shift, truth.shift, atol=1e-4)
    assert found.error < 0.01


def test_pose_and_weights_together() -> None:
    weights, rotations, pixels = take()
    frame = 20
    found = fit_frame(subject(), pixels[frame], initial_pose(subject(), pixels[frame]))
    assert found.error < 0.05, "pixels"
    np.testing.assert_allclose(found.rotation, rotations[frame], atol=0.01)
    assert np.abs(found.weights - weights[frame]).mean() < 0.02
    assert found.weights.min() >= 0 and found.weights.max() <= 1


def test_every_step_goes_down() -> None:
    _, _, pixels = take()
    pose = initial_pose(subject(), pixels[20])
    errors = []
    for _ in range(6):
        pose = fit_frame(subject(), pixels[20], pose, rounds=1)
        errors.append(pose.error)
    assert all(after < before * 1.01 + 1e-3 for before, after in pairwise(errors)), errors


def test_a_persons_own_proportions() -> None:
    """Someone with a wider face and longer nose: once their neutral is known, their smile is the model's smile."""
    own = subject()
    wide = replace(own, neutral=own.neutral * [1.15, 0.95, 1.0])
    rest = HeadPose(np.eye(3), np.array([0, 0, -0.7]), np.zeros(len(face_basis().names)))
    smile = replace(rest, weights=np.eye(len(rest.weights))[face_basis().names.index("mouthSmileLeft")] * 0.7)
    known, pose = fit_neutral(own, landmarks_of(wide, rest))
    np.testing.assert_allclose(landmarks_of(known, pose), landmarks_of(wide, rest), atol=1e-6)
    found = fit_frame(replace(known, alpha=3e-3), landmarks_of(wide, smile), pose)
    assert abs(found.weights[face_basis().names.index("mouthSmileLeft")] - 0.7) < 0.1
    without = fit_frame(replace(own, alpha=3e-3), landmarks_of(wide, smile), rest)
    assert np.abs(found.weights - smile.weights).sum() < 0.3 * np.abs(without.weights - smile.weights).sum()


def test_the_outline_counts_less() -> None:
    trust = landmark_weights(landmark_names())
    assert trust[0] < 1 and trust[16] < 1 and np.all(trust[[8, *range(17, 68)]] == 1)
    assert np.all(landmark_weights(("chin", "brow")) == 1)
