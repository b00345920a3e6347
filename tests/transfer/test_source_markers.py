from __future__ import annotations

import numpy as np
import pytest

from understudy.maths import quaternion
from understudy.transfer import source

NAMES = ("LASI", "RASI", "LPSI", "RPSI", "HEAD", "LWRA", "RWRA")
REST = np.array(
    [[0.1, 1, 0.1], [-0.1, 1, 0.1], [0.1, 1, -0.1], [-0.1, 1, -0.1], [0, 1.7, 0], [0.5, 1.1, 0.2], [-0.5, 1.1, 0.2]]
)


def turned(yaw: float) -> np.ndarray:
    turn = quaternion.from_rotation_vector(np.outer(np.linspace(0, yaw, 5), [0, 1, 0]))
    return quaternion.rotate(turn[:, None], REST) + np.array([0.5, 0.0, 2.0])


@pytest.mark.parametrize("yaw", [0.0, 1.2, -2.5])
def test_the_waist_leads(yaw: float) -> None:
    points = turned(yaw)
    points[:, 5, 2] += 0.4  # an arm swings, and the heading stays
    frames = source.marker_frames(NAMES, points, [])
    ahead = np.stack([np.sin(np.linspace(0, yaw, 5)), np.zeros(5), np.cos(np.linspace(0, yaw, 5))], axis=1)
    np.testing.assert_allclose(frames[:, :3, 2], ahead, atol=1e-9)
    np.testing.assert_allclose(frames[:, :3, 3], np.tile([0.5, 0.0, 2.0], (5, 1)), atol=1e-9)


def test_without_names_the_cloud_leads_and_that_is_said() -> None:
    notes: list[str] = []
    frames = source.marker_frames(tuple(f"C{i}" for i in range(7)), turned(1.0), notes)
    np.testing.assert_allclose(frames[-1, :3, 2], [np.sin(1.0), 0, np.cos(1.0)], atol=1e-9)
    assert "no marker's name tells left from right" in notes[0]


@pytest.mark.parametrize(("scale", "metres"), [(1.0, 1.0), (100.0, 0.01), (1000.0, 0.001)])
def test_the_unit_is_guessed_from_the_size(scale: float, metres: float) -> None:
    notes: list[str] = []
    assert source.guess_unit(turned(0.3) * scale, notes) == metres
    assert bool(notes) == (scale != 1.0)
