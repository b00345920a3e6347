"""The camera frames without cropping, closely, and follows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import InvalidInput
from understudy.render.camera import Camera, frame_camera, frame_clip


def cloud(seed: int, count: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 3)) * rng.uniform(0.05, 3.0, size=3) + rng.normal(size=3) * 5.0


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    azimuth=st.floats(-4.0, 4.0),
    elevation=st.floats(-1.55, 1.55),
    fov=st.floats(0.1, 2.0),
    aspect=st.floats(0.3, 3.0),
    margin=st.floats(0.0, 0.4),
)
def test_all_points_lie_inside_the_margin_and_one_touches_it(seed, azimuth, elevation, fov, aspect, margin):
    points = cloud(seed)
    camera = frame_camera(points, azimuth, elevation, fov, aspect, margin)
    seen = camera.project(points)
    assert np.abs(seen[:, :2]).max() <= 1.0 - margin + 1e-6
    assert seen[:, 2].min() >= camera.near and seen[:, 2].max() <= camera.far
    # Tight: nothing could come closer, unless the eye would otherwise stand within the figure.
    close = seen[:, 2].min() < 0.26 * np.ptp(points, axis=0).max()
    assert close or np.abs(seen[:, :2]).max() >= 1.0 - margin - 1e-6


def test_the_picture_is_the_right_way_round():
    camera = frame_camera(cloud(3), azimuth=0.0, elevation=0.2)
    middle = np.array(camera.target)
    x, y, depth = camera.project(middle[None] + [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]]).T
    assert x[1] > x[0] and y[2] > y[0] and depth[3] < depth[0]
    assert frame_camera(cloud(3), azimuth=0.7).azimuth == pytest.approx(0.7)


def test_view_is_rigid_and_sees_the_target_ahead():
    camera = Camera((1.0, 2.0, 3.0), (0.5, 0.0, -1.0))
    np.testing.assert_allclose(camera.view[:3, :3] @ camera.view[:3, :3].T, np.eye(3), atol=1e-12)
    ahead = camera.view @ np.array([*camera.target, 1.0])
    np.testing.assert_allclose(ahead[:2], 0.0, atol=1e-12)
    assert ahead[2] < 0


def test_the_ground_below_a_jump_is_seen():
    jump = cloud(5) * 0.1 + [0.0, 5.0, 0.0]
    camera = frame_camera(jump, ground=0.0)
    below = np.array([[jump[:, 0].mean(), 0.0, jump[:, 2].mean()]])
    assert np.abs(camera.project(below)[:, :2]).max() <= 0.91


@pytest.mark.parametrize("follow", [False, True])
def test_a_walk_is_never_cropped(follow):
    steps = np.arange(90)[:, None, None]
    frames = cloud(7, 40) * 0.2 + steps * [0.05, 0.0, 0.03] + 0.2 * np.sin(steps / 4.0)
    cameras = frame_clip(frames, follow=follow, ground=0.0)
    for camera, frame in zip(cameras, frames):
        assert np.abs(camera.project(frame)[:, :2]).max() <= 0.9 + 1e-6
    eyes = np.array([camera.eye for camera in cameras])
    assert (np.ptp(eyes, axis=0).max() > 2.0) == follow
    assert np.ptp(eyes[:, 1]) == 0.0


def test_following_is_closer_and_smooth():
    frames = cloud(7, 40) * 0.2 + np.arange(200)[:, None, None] * [0.05, 0.0, 0.0]
    still, moving = frame_clip(frames), frame_clip(frames, follow=True)
    size = [np.ptp(c[100].project(frames[100])[:, 1]) for c in (still, moving)]
    assert size[1] > 2.0 * size[0]
    speed = np.diff([camera.eye[0] for camera in moving])
    assert np.abs(np.diff(speed)).max() < 0.003


def test_without_smoothing_the_figure_stays_in_the_middle():
    rng = np.random.default_rng(0)
    frames = cloud(7, 40) * 0.2 + 3.0 * rng.normal(size=(30, 1, 3))
    cameras = frame_clip(frames, follow=True, smoothing=0.0, level=False)
    middles = np.array([camera.project(frame.mean(axis=0)[None])[0] for camera, frame in zip(cameras, frames)])
    np.testing.assert_allclose(middles, np.tile(middles[0], (30, 1)), atol=1e-9)


def test_what_cannot_be_framed_is_refused():
    with pytest.raises(InvalidInput, match="at least one"):
        frame_camera(np.zeros((0, 3)))
    with pytest.raises(InvalidInput, match="finite"):
        frame_camera([[0.0, np.nan, 0.0]])
    with pytest.raises(InvalidInput, match="field of view"):
        frame_camera([[0.0, 0.0, 0.0]], fov=4.0)
    assert np.isfinite(frame_camera([[1.0, 2.0, 3.0]]).eye).all()
