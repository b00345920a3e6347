from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.transfer import source

NAMES = tuple(f"m{i}" for i in range(8))


def swinging(frames: int = 80) -> np.ndarray:
    """A body that turns, walks and swings two limbs: (F, 8, 3)."""
    t = np.arange(frames) / 20
    rest = np.random.default_rng(2).uniform(-0.5, 0.5, (8, 3)) + np.array([0, 1, 0])
    points = np.tile(rest, (frames, 1, 1))
    points[:, 4:6, 2] += 0.3 * np.sin(2.5 * t)[:, None]
    points[:, 6:8, 2] -= 0.2 * np.sin(2.5 * t)[:, None]
    turn = quaternion.from_rotation_vector(np.outer(0.3 * t, [0, 1, 0]))
    return quaternion.rotate(turn[:, None], points) + np.stack([0.2 * t, 0 * t, 0.5 * t], axis=1)[:, None]


def test_a_gap_is_filled_from_the_others_better_than_by_a_line() -> None:
    truth = swinging()
    given = truth.copy()
    given[20:45, 5] = np.nan
    notes: list[str] = []
    names, points = source.fill_gaps(NAMES, given, notes)
    line = truth[19, 5] + (truth[45, 5] - truth[19, 5]) * (np.arange(1, 26) / 26)[:, None]
    missed = np.abs(points[20:45, 5] - truth[20:45, 5]).max()
    assert names == NAMES
    assert missed < 0.01 < 0.1 < np.abs(line - truth[20:45, 5]).max()
    seen = np.isfinite(given)
    np.testing.assert_array_equal(points[seen], given[seen])
    assert "the longest of 25 frames" in notes[0]


def test_markers_hardly_seen_are_left_out_by_name() -> None:
    given = swinging()
    given[5:, 2] = np.nan
    notes: list[str] = []
    names, points = source.fill_gaps(NAMES, given, notes)
    assert "m2" not in names and points.shape[1] == 7
    assert "'m2'" in notes[0]


def test_too_few_markers_are_refused() -> None:
    given = swinging()
    given[5:, 2:] = np.nan
    with pytest.raises(InvalidInput, match="should have 3 that are seen in half of its frames, but has 2"):
        source.fill_gaps(NAMES, given, [])


def test_frames_out_of_view() -> None:
    unseen = np.zeros((50, 4), bool)
    unseen[:12] = True
    unseen[40:, :3] = True
    assert source.frames_in_view(unseen) == slice(12, 40)
    assert source.frames_in_view(np.ones((5, 4), bool)) == slice(0, 0)


def test_the_turn_of_a_body() -> None:
    points = swinging()
    _, turn = source.fit_body_heading(points[:, :4])
    expected = quaternion.to_matrix(quaternion.from_rotation_vector(np.outer(0.3 * np.arange(80) / 20, [0, 1, 0])))
    np.testing.assert_allclose(turn, expected, atol=1e-9)
