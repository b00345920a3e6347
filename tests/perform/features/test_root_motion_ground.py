"""Laws of the ground under a character."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.perform.features import root_motion
from understudy.perform.features.root_motion import GroundFrame

number = st.floats(-5, 5)
paths = st.lists(st.tuples(number, number, number), min_size=2, max_size=12).map(np.array)


@given(paths)
def test_velocities_lead_along_their_path(path: np.ndarray) -> None:
    found, after = root_motion.ground_path(
        root_motion.ground_velocities(path, 24.0), GroundFrame(*path[0].tolist()), 24.0
    )
    np.testing.assert_allclose(found, path, atol=1e-9)
    last = 2 * path[-1, 2] - path[-2, 2]  # the last frame goes on as the one before
    np.testing.assert_allclose(after.heading, last, atol=1e-9)


@given(paths, number, number, number)
def test_velocities_are_blind_to_where_a_take_stands(path: np.ndarray, x: float, z: float, turn: float) -> None:
    sine, cosine = np.sin(turn), np.cos(turn)
    moved = np.stack(
        [x + cosine * path[:, 0] + sine * path[:, 1], z + cosine * path[:, 1] - sine * path[:, 0], path[:, 2] + turn],
        axis=1,
    )
    np.testing.assert_allclose(
        root_motion.ground_velocities(moved, 30.0), root_motion.ground_velocities(path, 30.0), atol=1e-7
    )


def test_forward_is_where_the_heading_points() -> None:
    assert GroundFrame().step_ground(0, 1, 0, 2.0) == GroundFrame(0, 2.0, 0)
    faces_x = GroundFrame(1, 1, 0.5 * np.pi)
    ahead, aside = faces_x.step_ground(0, 1, 0, 1.0), faces_x.step_ground(1, 0, 0, 1.0)
    np.testing.assert_allclose([ahead.x, ahead.z], [2, 1])
    np.testing.assert_allclose([aside.x, aside.z], [1, 0], atol=1e-12)


@given(paths, st.integers(1, 11))
def test_in_parts_is_the_same_as_at_once(velocities: np.ndarray, cut: int) -> None:
    start = GroundFrame(0.3, -0.7, 2.0)
    whole, end = root_motion.ground_path(velocities, start, 24.0)
    first, between = root_motion.ground_path(velocities[:cut], start, 24.0)
    second, after = root_motion.ground_path(velocities[cut:], between, 24.0)
    assert (np.concatenate([first, second]) == whole).all()
    assert after == end


def test_one_frame_stands_still() -> None:
    assert (root_motion.ground_velocities(np.array([[1.0, 2.0, 3.0]]), 24.0) == 0).all()
