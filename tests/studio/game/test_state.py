"""The table: level from side to side, leaning towards the player, before the character and on its ground."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.learned import lamp_rig

from understudy.studio.game.state import BoardPlacement, place_board


def test_squares_are_a_grid_that_leans() -> None:
    table = BoardPlacement((0.1, 0.2, 0.5), 0.6, 0.4)
    places = np.array([table.square(number) for number in range(9)]).reshape(3, 3, 3)
    np.testing.assert_allclose(places[1, 1], table.centre)
    across, down = places[:, 1:] - places[:, :-1], places[1:] - places[:-1]
    np.testing.assert_allclose(across, np.broadcast_to([0.2, 0, 0], across.shape), atol=1e-12)
    step = 0.2 * np.array([0, -math.sin(0.4), math.cos(0.4)])
    np.testing.assert_allclose(down, np.broadcast_to(step, down.shape), atol=1e-12)


@pytest.mark.parametrize("number", [-1, 9])
def test_there_are_nine(number: int) -> None:
    with pytest.raises(IndexError):
        BoardPlacement((0, 0, 0), 1.0).square(number)


def test_it_stands_before_the_character_and_above_its_ground() -> None:
    rig = lamp_rig()
    points = rig.vertices(rig.rest[None])[0]
    low, high = points.min(axis=0), points.max(axis=0)
    table = place_board(rig)
    squares = np.array([table.square(number) for number in range(9)])
    assert squares[:, 2].min() > high[2]
    assert squares[:, 1].min() > low[1]
    assert squares[:, 1].max() < high[1]
    np.testing.assert_allclose(squares[:, 0].mean(), (low[0] + high[0]) / 2, atol=1e-9)
