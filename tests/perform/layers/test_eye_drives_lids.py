"""Lids: found by name, and how far they are shut by whatever."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.bodies import body

from understudy import cast
from understudy.character.rig import LayeredRig
from understudy.perform.layers.eye_drives import lids_of


def test_the_dragons_lids(dragon: LayeredRig) -> None:
    left, right = lids_of(dragon)
    assert [dragon.controls.names[lid.columns[0]] for lid in (left, right)] == ["lids.blink.L", "lids.blink.R"]
    assert left.closure(dragon.rest) == 0
    row = dragon.rest.copy()
    row[dragon.controls.index("lids.upper.L")] = -63  # as low as the blink brings it
    assert left.closure(row) == pytest.approx(1.0, abs=0.02) and right.closure(row) == 0
    left.shut_to(row, 0.4)
    assert row[left.columns[0]] == 0.4
    left.shut_to(row, 0.2)
    assert row[left.columns[0]] == 0.4  # a blink never opens an eye


def test_the_measure_follows_the_lid_itself(dragon: LayeredRig) -> None:
    left, _ = lids_of(dragon)
    joint = dragon.character.skeleton.index("LidUpper.L")
    for row in cast.poses("dragon", groups=True).values():
        opened = dragon.rest.copy()
        shut = opened.copy()
        shut[left.columns[0]] = 1
        turns = dragon.local_transforms(np.stack([opened, shut, row]))[1][:, joint]
        angles = 2 * np.degrees(np.arccos(np.clip(np.abs(turns @ turns[0]), 0, 1)))
        lowered = dragon.parameters(row[None])[0, dragon.layers.components.index(("LidUpper.L", "rx"))]
        expected = angles[2] / angles[1] if lowered > 0 else 0.0
        assert left.closure(row) == pytest.approx(min(expected, 1.0), abs=0.03)


@pytest.mark.parametrize(
    ("shapes", "count"),
    [
        (("eyeBlinkLeft", "eyeBlinkRight"), 2),
        (("eyeBlink_L", "eyeBlink_R"), 2),
        (("Blink_L", "Blink_R", "Blink"), 2),
        (("Blink",), 1),
        (("jawOpen",), 0),
        (("Blinker",), 0),
    ],
)
def test_shapes(shapes: tuple[str, ...], count: int) -> None:
    rig = body(shapes=shapes)
    lids = lids_of(rig)
    assert len(lids) == count
    if count:
        row = rig.rest.copy()
        lids[0].shut_to(row, 0.7)
        assert lids[0].closure(row) == pytest.approx(0.7) and np.count_nonzero(row != rig.rest) == 1
