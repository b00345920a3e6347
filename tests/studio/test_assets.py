"""Markers that can be seen."""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Channel, Clip, rig
from understudy.studio.assets import MARKER_RADIUS_M, add_marker_character


def capture() -> Asset:
    """Two markers for four frames, one of them hidden in the middle and the other never seen."""
    values = np.zeros((4, 9))
    values[:, 0] = [0.0, np.nan, np.nan, 3.0]
    values[1:3, :3] = np.nan
    values[:, 3:6] = np.nan
    values[:, 6:] = np.arange(12).reshape(4, 3)
    return Asset(clips=[Clip("gait", [Channel(name, "marker") for name in ("LASI", "gone", "RASI")], values, 100.0)])


def test_each_marker_is_a_small_solid_where_it_was_seen() -> None:
    asset = add_marker_character(capture(), "gait")
    own = rig.rig_of(asset.character())
    found = own.vertices(own.pose(asset.clips[0])).reshape(4, 3, 6, 3)
    np.testing.assert_allclose(found[:, 2].mean(axis=1), np.arange(12).reshape(4, 3), atol=1e-6)
    size = np.ptp(found, axis=2).max(axis=2)  # (4 frames, 3 markers)
    np.testing.assert_allclose(size[:, 2], 2 * MARKER_RADIUS_M, rtol=1e-4)
    np.testing.assert_allclose(size[:, 0], [2 * MARKER_RADIUS_M, 0, 0, 2 * MARKER_RADIUS_M], atol=1e-6)
    assert (size[:, 1] == 0).all() and np.isfinite(found).all()


def test_what_has_no_markers_stays() -> None:
    face = Asset(clips=[Clip("take", [Channel("", "weights", ("jawOpen",))], [[0.5]], 60.0)])
    assert add_marker_character(face, "x") is face
