"""Trying controls: each that can move a joint, within its range."""

from __future__ import annotations

import numpy as np

from understudy.character.rig import LayeredRig
from understudy.perform.layers.eye_drives import probe_controls


def test_every_control_that_moves_a_joint_is_tried_alone(dragon: LayeredRig) -> None:
    columns, step, rows = probe_controls(dragon)
    assert np.array_equal(rows[0], dragon.rest)
    moved = rows[1:] != dragon.rest
    assert (moved.sum(axis=1) == 1).all() and np.array_equal(moved.argmax(axis=1), columns)
    np.testing.assert_allclose(rows[np.arange(1, len(rows)), columns] - dragon.rest[columns], step)
    assert (rows >= dragon.controls.low).all() and (rows <= dragon.controls.high).all()
    rng = np.random.default_rng(0)
    others = np.setdiff1d(np.arange(len(dragon.controls)), columns)
    row = dragon.rest.copy()
    row[others] = rng.uniform(dragon.controls.low[others], dragon.controls.high[others])
    np.testing.assert_array_equal(*dragon.joints(np.stack([dragon.rest, row])))
