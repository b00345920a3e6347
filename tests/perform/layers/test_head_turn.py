"""The head's share: controls found by trying, joints about their own axes, ranges kept."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.bodies import body

from understudy.character.rig import LayeredRig
from understudy.maths import quaternion
from understudy.perform.layers.head import ControlTurn, head_turn


def turned(rig: object, row: np.ndarray, joint: str) -> np.ndarray:
    """Where a joint that looked along +z at rest looks now."""
    rest, now = rig.joints(np.stack([rig.rest, row]))[:, rig.character.skeleton.index(joint), :3, :3]  # type: ignore[attr-defined]
    return now @ rest.T @ np.array([0, 0, 1.0])


def test_the_dragons_controls(dragon: LayeredRig) -> None:
    turner = head_turn(dragon, dragon.character.skeleton.index("Head"))
    assert isinstance(turner, ControlTurn) and turner.yaw is not None and turner.pitch is not None
    assert dragon.controls.names[turner.yaw.column] == "head.turn"
    assert dragon.controls.names[turner.pitch.column] == "head.nod"
    row = dragon.rest.copy()
    turner.add(row, 0.2, 0.1)
    x, y, z = turned(dragon, row, "Head")
    assert np.arctan2(x, z) == pytest.approx(0.2, abs=0.01) and np.arcsin(y) == pytest.approx(0.1, abs=0.01)


def test_ranges_are_kept_and_never_pull_back(dragon: LayeredRig) -> None:
    turner = head_turn(dragon, dragon.character.skeleton.index("Head"))
    assert turner is not None
    column = dragon.controls.index("head.turn")
    row = dragon.rest.copy()
    row[column] = 50
    turner.add(row, 0.3, 0.0)
    assert row[column] == dragon.controls.high[column]
    row[column] = 70  # the performance's own business
    turner.add(row, 0.3, 0.0)
    assert row[column] == 70


@pytest.mark.parametrize("seed", [None, 8])
def test_neck_and_head_share(seed: int | None) -> None:
    rig = body(seed=seed)
    turner = head_turn(rig, rig.character.skeleton.index("Head"))
    assert turner is not None
    row = rig.rest.copy()
    turner.add(row, 0.2, 0.0)
    x, _, z = turned(rig, row, "Head")
    assert np.arctan2(x, z) == pytest.approx(0.2)
    x, _, z = turned(rig, row, "Neck")
    assert 0.02 < np.arctan2(x, z) < 0.15
    np.testing.assert_allclose(np.linalg.norm(row.reshape(-1, 10)[:, 3:7], axis=1), 1)
    back = row.copy()
    turner.add(back, -0.2, 0.0)
    a, b = (rows.reshape(-1, 10)[:, 3:7] for rows in (back, rig.rest))
    np.testing.assert_allclose(quaternion.angle_between(a, b), 0, atol=1e-7)


def test_nothing_to_turn() -> None:
    assert head_turn(body(lambda name: f"x{name[::-1]}"), 0) is None
