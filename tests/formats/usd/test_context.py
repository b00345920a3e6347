"""Changing units and the up axis is one similarity: all that it does to a scene agrees."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.formats.usd.context import UnitFrame
from understudy.maths import quaternion, transform


@pytest.fixture(params=[UnitFrame(), UnitFrame(0.01), UnitFrame(1.0, True), UnitFrame(0.0254, True)], ids=str)
def frame(request: pytest.FixtureRequest) -> UnitFrame:
    return request.param


def test_a_transform_moves_points_alike_before_and_after(frame: UnitFrame) -> None:
    rng = np.random.default_rng(1)
    matrix = transform.compose(rng.normal(size=3), quaternion.normalise(rng.normal(size=4)), rng.uniform(0.5, 2, 3))
    points = rng.normal(size=(20, 3))
    moved = transform.apply(frame.matrices(matrix), frame.points(points))
    np.testing.assert_allclose(moved, frame.points(transform.apply(matrix, points)), atol=1e-12)


def test_the_parts_of_a_transform_change_as_the_whole(frame: UnitFrame) -> None:
    rng = np.random.default_rng(2)
    t, q = rng.normal(size=(5, 3)), quaternion.normalise(rng.normal(size=(5, 4)))
    s = rng.uniform(0.5, 2, (5, 3))
    whole = frame.matrices(transform.compose(t, q, s))
    np.testing.assert_allclose(
        whole, transform.compose(frame.points(t), frame.rotations(q), frame.scales(s)), atol=1e-12
    )


def test_up_is_up() -> None:
    np.testing.assert_allclose(UnitFrame(0.01, True).points(np.array([0.0, 0.0, 100.0])), [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(UnitFrame(0.01, True).directions(np.array([0.0, 0.0, 1.0])), [0.0, 1.0, 0.0], atol=1e-15)
