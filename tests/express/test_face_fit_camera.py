"""The pinhole camera: there and back, slopes by finite differences, the field of view that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.express.face_fit import PinholeCamera

CAMERA = PinholeCamera.of_picture(640, 480, 60)
POINTS = np.random.default_rng(0).normal(size=(9, 3)) * 0.1 - [0, 0, 0.7]


def test_there_and_back() -> None:
    np.testing.assert_allclose(CAMERA.unproject(CAMERA.project(POINTS), -POINTS[:, 2]), POINTS, atol=1e-12)


def test_right_is_right_and_up_is_up() -> None:
    middle, right, up = CAMERA.project(np.array([[0, 0, -1.0], [0.1, 0, -1], [0, 0.1, -1]]))
    np.testing.assert_allclose(middle, [320, 240])
    assert right[0] > 320 and up[1] < 240
    edge = CAMERA.project(np.array([np.tan(np.radians(30)), 0, -1.0]))
    np.testing.assert_allclose(edge[0], 640)


def test_slopes_are_those_of_finite_differences() -> None:
    for axis in range(3):
        step = 1e-6 * np.eye(3)[axis]
        slope = (CAMERA.project(POINTS + step) - CAMERA.project(POINTS - step)) / 2e-6
        np.testing.assert_allclose(CAMERA.slopes(POINTS)[:, :, axis], slope, rtol=1e-6, atol=1e-4)


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="field of view should lie between 1 and 170 degrees, but is 0"):
        PinholeCamera.of_picture(640, 480, 0)
    with pytest.raises(InvalidInput, match="size of the picture"):
        PinholeCamera.of_picture(640, 0)
