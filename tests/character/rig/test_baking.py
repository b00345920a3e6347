"""Baking: several characters side by side, only what a user calls joints, sizes bounded."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.rig.test_direct import character

from understudy.character import Asset, Channel, Character, Clip, Skeleton
from understudy.character.rig import DirectRig, bake, baking
from understudy.errors import InvalidInput


def asset(frames: int = 3) -> Asset:
    clip = Clip("move", [Channel("b", "translation")], np.arange(3 * frames).reshape(frames, 3), 24, start=0.5)
    return Asset([character(), Character("bystander", Skeleton(["x"], [-1], [[1, 2, 3]]))], [clip])


def test_bake_is_the_rig_over_the_clip() -> None:
    baked = bake(asset())
    rig = DirectRig(asset().characters[0])
    values = rig.pose(asset().clips[0])
    np.testing.assert_allclose(baked.times, 0.5 + np.arange(3) / 24)
    np.testing.assert_array_equal(baked.vertices, rig.vertices(values))
    np.testing.assert_array_equal(baked.joints[:, :3], rig.joints(values))
    assert baked.joint_names == ("a", "b", "c", "x")
    assert baked.parents is not None and baked.parents.tolist() == [-1, 0, 1, -1]


def test_still_characters_bake_their_rest_pose() -> None:
    still = bake(Asset([character()]))
    assert still.times.tolist() == [0]
    with pytest.raises(InvalidInput, match="moves nothing"):
        bake(asset(), character="bystander")


def test_too_large_is_refused_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="frames; at most"):
        bake(asset(100), rate=1e8)
    monkeypatch.setattr(baking, "MAX_BAKE_BYTES", 14 * 12 * 99)
    with pytest.raises(InvalidInput, match=r"100 frames of 14 vertices would take .* GB"):
        bake(asset(100))
