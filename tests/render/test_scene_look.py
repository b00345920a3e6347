"""Lights: unit directions that follow the camera smoothly, all the way around."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.render.scene import lights_for, scene_style

NAMES = ("key", "fill", "rim", "back")


def turned(azimuth: float) -> np.ndarray:
    """(4, 2) azimuth and elevation of each light."""
    d = np.array([getattr(lights_for(azimuth), name) for name in NAMES])
    np.testing.assert_allclose(np.linalg.norm(d, axis=1), 1.0)
    return np.column_stack([np.arctan2(d[:, 0], d[:, 2]), np.arcsin(d[:, 1])])


def test_near_the_front_they_travel_three_fifths_of_the_way() -> None:
    step = 1e-3
    moved = turned(step) - turned(-step)
    np.testing.assert_allclose(moved, [[0.6 * 2 * step, 0.0]] * 4, atol=1e-8)


def test_they_turn_on_without_a_jump_and_are_back_after_one_turn() -> None:
    azimuths = np.linspace(-np.pi, np.pi, 721)
    places = np.unwrap(np.array([turned(a)[:, 0] for a in azimuths]), axis=0)
    assert np.diff(places, axis=0).min() > 0 and np.diff(places, axis=0).max() < 0.02
    np.testing.assert_allclose(places[-1] - places[0], 2 * np.pi)


def test_the_key_stays_at_the_cameras_left_and_the_rims_behind_the_figure() -> None:
    for azimuth in np.linspace(-np.pi, np.pi, 73):
        seen = (turned(azimuth)[:, 0] - azimuth + np.pi) % (2 * np.pi) - np.pi  # from the camera
        assert -1.3 < seen[0] < 0.0
        assert abs(seen[2]) > 1.9 and abs(seen[3]) > 1.9


def test_a_look_is_found_by_its_name() -> None:
    assert scene_style("studio").inner.max() < scene_style("warm").inner.min()
    with pytest.raises(InvalidInput, match="available: 'warm', 'studio'"):
        scene_style("beach")
