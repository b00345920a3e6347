"""The head's frame: the quick walk down its chain against the rig itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.bodies import body

from understudy.character import Character, Controls, RigLayers, Skeleton
from understudy.character.rig import LayeredRig
from understudy.maths import quaternion
from understudy.perform.layers.eyes import HeadFrame


def test_of_controls(dragon: LayeredRig) -> None:
    rng = np.random.default_rng(3)
    head = HeadFrame(dragon, dragon.character.skeleton.index("Head"))
    low, high = dragon.controls.low, dragon.controls.high
    for _ in range(20):
        row = rng.uniform(low - 0.3 * (high - low), high + 0.3 * (high - low))  # beyond the ranges as well
        np.testing.assert_allclose(head.evaluate_row(row), head.evaluate_by_rig(row), atol=1e-14)


def test_of_joints() -> None:
    rng = np.random.default_rng(4)
    rig = body(seed=5)
    head = HeadFrame(rig, rig.character.skeleton.index("Head"))
    for _ in range(20):
        row = rig.rest.copy().reshape(-1, 10)
        row[:, :3] += 0.1 * rng.normal(size=(len(row), 3))
        row[:, 3:7] = quaternion.normalise(rng.normal(size=(len(row), 4)))
        row[:, 7:] = rng.uniform(0.5, 2.0, (len(row), 3))
        np.testing.assert_allclose(head.evaluate_row(row.ravel()), head.evaluate_by_rig(row.ravel()), atol=1e-13)


def test_rules_that_are_no_sum_are_left_to_the_rig() -> None:
    controls = Controls(("a", "b"), ("neck",) * 2, ("bones",) * 2, ("degrees",) * 2, [0, 0], [0, 0], [1, 1])
    layers = RigLayers(
        controls,
        [("Head", "ry")],
        drive_parameter=[0],
        drive_control=[0],
        drive_gain=[0.4],
        toward_parameter=[0],
        toward_control=[1],
        toward_target=[1.2],
    )
    rig = LayeredRig(Character("toy", Skeleton(("Root", "Head"), [-1, 0], [[0, 0, 0], [0, 1, 0]]), layers=layers))
    head = HeadFrame(rig, 1)
    row = np.array([0.7, 0.5])
    assert head.evaluate_row(row) == head.evaluate_by_rig(row)
    angle = 0.5 * 0.7 * 0.4 + 0.5 * 1.2
    assert head.evaluate_row(row)[2] == pytest.approx(np.sin(angle))
