"""Feet are found by what they do in the clips, not by their names."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.walker import posed, steps, walker

from understudy.character.body.feet import find_feet


@pytest.mark.parametrize("loose", [False, True])
def test_two_feet_and_no_tail(loose: bool) -> None:
    rig = walker(loose)
    names = rig.character.skeleton.names
    found = find_feet(rig.character, [rig.joints(posed(rig, steps()))], 1.7)
    assert [names[foot.joint] for foot in found] == ["sole_a", "sole_b"]
    assert [[names[j] for j in foot.leg] for foot in found] == [["thigh_a", "shin_a"], ["thigh_b", "shin_b"]]
    assert all(foot.attached != loose for foot in found)


def test_what_never_comes_down_has_no_feet() -> None:
    """A body whose limbs all hang in the air: the lowest of them is a tail, and alone."""
    rig = walker()
    feet = steps()
    feet[..., 1] += 0.4
    assert find_feet(rig.character, [rig.joints(posed(rig, feet))], 1.7) == ()


def test_a_leg_that_does_not_turn_is_none() -> None:
    rig = walker(loose=True)
    rows = np.tile(rig.rest, (48, 1))
    for name, sign in (("sole_a", 1.0), ("sole_b", -1.0)):  # feet that leave their legs
        rows[:, 10 * rig.character.skeleton.names.index(name) + 2] += sign * np.sin(np.arange(48) / 5)
    assert find_feet(rig.character, [rig.joints(rows)], 1.7) == ()
