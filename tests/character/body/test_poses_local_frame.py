from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.character.body import poses
from understudy.maths import quaternion

angles = st.floats(-3.0, 3.0)


def one(vector: list[float]) -> np.ndarray:
    return np.array([vector])


@given(angles, angles, angles)
@settings(max_examples=40, deadline=None)
def test_the_frame_stands_on_the_floor_and_is_rigid(x: float, y: float, z: float) -> None:
    turn = quaternion.from_rotation_vector([x, y, z])
    frame = poses.frames_of(
        one([x, y, z]), quaternion.rotate(turn, one([0, 0, 1])), quaternion.rotate(turn, one([0, 1, 0]))
    )[0]
    np.testing.assert_allclose(frame[:3, :3].T @ frame[:3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(frame[:3, :3]), 1.0)
    np.testing.assert_allclose(frame[:3, 1], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(frame[:3, 3], [x, 0, z])


@given(angles, st.floats(-2.5, 2.5))
@settings(max_examples=40, deadline=None)
def test_a_bent_body_keeps_the_heading_it_would_stand_up_with(yaw: float, bend: float) -> None:
    """Bending forwards or back, by any angle, turns up and front together: righted, the front is what it was."""
    heading = quaternion.from_rotation_vector([0, yaw, 0])
    turn = quaternion.multiply(heading, quaternion.from_rotation_vector([bend, 0, 0]))
    front, up = quaternion.rotate(turn, one([0, 0, 1])), quaternion.rotate(turn, one([0, 1, 0]))
    frame = poses.frames_of(np.zeros((1, 3)), front, up)[0]
    np.testing.assert_allclose(frame[:3, 2], quaternion.rotate(heading, [0, 0, 1]), atol=1e-9)


def test_upside_down_has_a_heading_all_the_same() -> None:
    frame = poses.frames_of(np.zeros((1, 3)), one([0, 0, 1]), one([0, -1, 0]))[0]
    assert np.isfinite(frame).all()
    np.testing.assert_allclose(np.linalg.norm(frame[:3, 2]), 1.0)


def test_points_are_seen_from_the_frame() -> None:
    rng = np.random.default_rng(0)
    frames, points = poses.frames_of(*rng.normal(size=(3, 5, 3))), rng.normal(size=(5, 7, 3))
    local = poses.to_local(frames, points)
    back = np.einsum("fij,fpj->fpi", frames[:, :3, :3], local) + frames[:, None, :3, 3]
    np.testing.assert_allclose(back, points)
