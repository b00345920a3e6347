"""Markers that can be seen."""

from __future__ import annotations

import numpy as np

from understudy import rig
from understudy.character import Asset, Channel, Clip
from understudy.studio.markers import RADIUS, visible


def capture() -> Asset:
    """Two markers for four frames, one of them hidden in the middle and the other never seen."""
    values = np.zeros((4, 9))
    values[:, 0] = [0.0, np.nan, np.nan, 3.0]
    values[1:3, :3] = np.nan
    values[:, 3:6] = np.nan
    values[:, 6:] = np.arange(12).reshape(4, 3)
    return Asset(clips=[Clip("gait", [Channel(name, "marker") for name in ("LASI", "gone", "RASI")], values, 100.0)])


def test_each_marker_is_a_small_solid_where_it_was_seen() -> None:
    asset = visible(capture(), "gait")
    own = rig.of(asset.character())
    found = own.vertices(own.pose(asset.clips[0])).reshape(4, 3, 6, 3)
    np.testing.assert_allclose(found[:, 2].mean(axis=1), np.arange(12).reshape(4, 3), atol=1e-6)
    size = np.ptp(found, axis=2).max(axis=2)  # (4 frames, 3 markers)
    np.testing.assert_allclose(size[:, 2], 2 * RADIUS, rtol=1e-4)
    np.testing.assert_allclose(size[:, 0], [2 * RADIUS, 0, 0, 2 * RADIUS], atol=1e-6)
    assert (size[:, 1] == 0).all() and np.isfinite(found).all()


def test_what_has_no_markers_stays() -> None:
    face = Asset(clips=[Clip("take", [Channel("", "weights", ("jawOpen",))], [[0.5]], 60.0)])
    assert visible(face, "x") is face
