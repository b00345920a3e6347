from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.transfer import small

from understudy import cast
from understudy.character.body.markers import markers_of
from understudy.character.body.poses import PoseSequence, poses_of
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform


@pytest.fixture(scope="module")
def play() -> PoseSequence:
    return poses_of(small.actor(1.0))


def test_three_a_link_and_never_in_line() -> None:
    for body in (small.actor().character(), small.hopper().character(), cast.load("lamp").character()):
        markers = markers_of(body)
        assert len(markers) % 3 == 0
        assert (np.unique(markers.joints, return_counts=True)[1] == 3).all()
        corners = markers.offsets.reshape(-1, 3, 3)
        sides = np.diff(corners, axis=1)
        area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
        assert (area > 0.05 * np.linalg.norm(sides, axis=2).prod(axis=1)).all()


def test_markers_ride_on_their_joints(play: PoseSequence) -> None:
    markers = markers_of(small.actor().character())
    expected = [
        [
            play.world[f, j, :3, :3] @ offset + play.world[f, j, :3, 3]
            for j, offset in zip(markers.joints, markers.offsets)
        ]
        for f in range(len(play))
    ]
    np.testing.assert_allclose(markers.positions(play.world), expected, atol=1e-12)


@given(st.floats(-3, 3), st.floats(-9, 9), st.floats(-9, 9))
@settings(max_examples=30, deadline=None)
def test_the_local_points_do_not_know_place_and_heading(yaw: float, x: float, z: float) -> None:
    poses, markers = poses_of(small.actor(0.5)), markers_of(small.actor().character())
    away = transform.compose([x, 0, z], quaternion.from_rotation_vector([0, yaw, 0]))
    local = markers.local(poses.world)
    np.testing.assert_allclose(markers.local(poses.apply_transform(away).world), local, atol=1e-9)


def test_the_local_points_do_know_height_and_lean(play: PoseSequence) -> None:
    markers = markers_of(small.actor().character())
    local = markers.local(play.world)
    higher = transform.compose([0, 0.3, 0], [0, 0, 0, 1])
    np.testing.assert_allclose(
        markers.local(play.apply_transform(higher).world) - local, [0, 0.3, 0] + 0 * local, atol=1e-9
    )
    leaning = transform.compose([0, 0, 0], quaternion.from_rotation_vector([0.4, 0, 0]))
    assert np.abs(markers.local(play.apply_transform(leaning).world) - local).max() > 0.1


def test_at_rest_the_local_frame_is_that_of_the_world() -> None:
    body = small.actor().character()
    frames = markers_of(body).frames(PoseSequence.rest(body.skeleton).world)
    np.testing.assert_allclose(frames[0], np.eye(4), atol=1e-12)


def test_front_up_and_root_can_be_given() -> None:
    body = small.actor().character()
    markers = markers_of(body, front=np.array([1.0, 0, 0]), root="Spine")
    assert body.skeleton.names[markers.root] == "Spine"
    np.testing.assert_allclose(markers.frames(PoseSequence.rest(body.skeleton).world)[0, :3, 2], [1, 0, 0], atol=1e-12)
    with pytest.raises(InvalidInput, match="different directions"):
        markers_of(body, front=np.array([0.0, 2, 0]))
