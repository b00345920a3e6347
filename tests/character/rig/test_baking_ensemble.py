"""Several characters under one animation: those it moves move, the others rest."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.rig.test_direct import character

from understudy.character import Channel, Character, Clip, Skeleton
from understudy.character.rig import DirectRig, pose_all
from understudy.errors import InvalidInput

BYSTANDER = Character("bystander", Skeleton(["x"], [-1], [[1, 2, 3]]))


def test_each_is_posed_or_rests() -> None:
    clip = Clip("move", [Channel("b", "translation")], [[1, 2, 3], [4, 5, 6]], 24)
    (moved, rows), (still, rest) = pose_all([character(), BYSTANDER], clip, clip.times)
    np.testing.assert_array_equal(rows, DirectRig(character()).pose(clip))
    np.testing.assert_array_equal(rest, np.tile(still.rest, (2, 1)))
    assert [rig.character.name for rig in (moved, still)] == ["test", "bystander"]


def test_without_an_animation_all_rest_and_a_strange_one_is_refused() -> None:
    [(rig, rows)] = pose_all([BYSTANDER], None, np.zeros(3))
    np.testing.assert_array_equal(rows, np.tile(rig.rest, (3, 1)))
    assert pose_all([], None, np.zeros(3)) == []
    clip = Clip("move", [Channel("b", "translation")], [[1, 2, 3]], 24)
    with pytest.raises(InvalidInput, match="moves nothing of character 'bystander'"):
        pose_all([BYSTANDER], clip, clip.times)
