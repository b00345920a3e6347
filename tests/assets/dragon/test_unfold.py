"""Motion that would flip triangles is evened out, and everything else is left as it was."""

from __future__ import annotations

import numpy as np

from assets.dragon import places
from assets.dragon.body import SkinSurface
from assets.dragon.places import Places
from assets.sculpting.fields import average
from assets.sculpting.geometry import grid

SIDE = 21


def sheet() -> Places:
    """A flat square of 21 x 21 vertices, 0.02 apart, facing forward."""
    x, y = np.meshgrid(np.arange(SIDE) * 0.02 - 0.2, np.arange(SIDE) * 0.02 - 0.2)
    points = np.stack([x.ravel(), y.ravel(), np.full(x.size, 0.4)], axis=1)
    triangles = grid(SIDE, SIDE)
    flat = np.zeros(len(points))
    mirror = np.arange(len(points)).reshape(SIDE, SIDE)[:, ::-1].ravel()
    mean = average(triangles, len(points))
    return Places(SkinSurface(points, points, triangles, mirror, flat, flat, flat, mean))


def test_gentle_motion_is_not_touched() -> None:
    p = sheet()
    delta = 0.05 * np.sin(8 * p.points[:, :1]) * np.array([0.0, 0.0, 1.0])
    np.testing.assert_array_equal(places.unfold(p, delta, (-1.0, 1.0)), delta)


def test_a_fold_is_taken_out() -> None:
    p = sheet()
    tear = np.where(np.abs(p.points[:, :1]) < 0.011, 0.05, 0.0) * np.array([1.0, 0.0, 0.0])
    assert len(places.in_danger(p, tear))
    mended = places.unfold(p, tear, (-1.0, 1.0))
    assert not len(places.in_danger(p, mended)) and not len(places.in_danger(p, -mended))
    assert np.abs(mended).max() > 0.005
    far = np.abs(p.points[:, 0]) > 0.18
    np.testing.assert_array_equal(mended[far], tear[far])


def test_what_joints_carry_counts_but_stays() -> None:
    p = sheet()
    carried = np.where(np.abs(p.points[:, :1]) < 0.011, 0.05, 0.0) * np.array([1.0, 0.0, 0.0])
    added = places.unfold(p, np.zeros_like(carried), (1.0,), carried)
    assert not len(places.in_danger(p, added + carried))
    assert np.abs(added).max() > 0.005
