from __future__ import annotations

import numpy as np
import pytest
from tests.express.acting.puppet import LOOKS, RATE, puppet

from understudy.character import Clip, rig
from understudy.errors import InvalidInput
from understudy.express.from_clips import HEAD_ANGLE_NAMES, sequences_of


def test_weights_and_head_of_marked_clips() -> None:
    asset = puppet()
    takes = sequences_of(rig.rig_of(asset.character()), asset.clips)
    assert takes[0].names == ("jawOpen", "mouthSmileLeft", "browInnerUp", *HEAD_ANGLE_NAMES)
    assert [take.peak for take in takes] == [12] * 6 and {take.label for take in takes} == set(LOOKS)
    assert np.allclose(takes[0].points[12, :3, 0], 0.8 * np.array(LOOKS["happy"]))
    assert takes[2].points[12, 3, 0] == pytest.approx(0.4) and not takes[0].points[:, 3:].any()


def test_heads_that_never_turn_are_left_out() -> None:
    asset = puppet(heads=False)
    assert sequences_of(rig.rig_of(asset.character()), asset.clips)[0].names == (
        "jawOpen",
        "mouthSmileLeft",
        "browInnerUp",
    )


def test_landmarks_are_vertices() -> None:
    asset = puppet()
    found = rig.rig_of(asset.character())
    takes = sequences_of(found, asset.clips, [3, 5, 7])
    assert takes[0].names == ("lm00", "lm01", "lm02") and takes[0].points.shape == (31, 3, 3)
    assert np.allclose(takes[1].points, found.vertices(found.pose(asset.clips[1]))[:, [3, 5, 7]], atol=1e-6)


def test_a_rate_of_ones_own() -> None:
    asset = puppet()
    take = sequences_of(rig.rig_of(asset.character()), asset.clips, rate=2 * RATE)[0]
    assert len(take) == 61 and take.peak == 24 and take.rate == 2 * RATE


def test_a_clip_without_a_peak_is_cut_about_its_farthest_frame() -> None:
    asset = puppet()
    found = rig.rig_of(asset.character())
    whole = asset.clips[0]
    slow = Clip("slow", whole.channels, np.repeat(whole.values, 6, axis=0), RATE, labels=("happy",))
    take = sequences_of(found, [slow])[0]
    assert len(take) < len(slow) and "marks no peak" in take.notes[0]
    assert not take.points[0].any() and not take.points[-1].any()
    moved = np.abs(take.displacements[:, :3]).sum(axis=(1, 2))
    assert moved[take.peak] == pytest.approx(moved.max(), rel=1e-6)
    assert moved.max() == pytest.approx(np.abs(whole.values[:, -3:]).sum(axis=1).max())


def test_what_cannot_be_a_take_is_told() -> None:
    asset = puppet()
    found = rig.rig_of(asset.character())
    bare = Clip("bare", asset.clips[0].channels, asset.clips[0].values, RATE)
    with pytest.raises(InvalidInput, match="should have a label such as 'happiness', but 'bare' has none"):
        sequences_of(found, [bare])
    with pytest.raises(InvalidInput, match="no clip that moves character 'puppet'"):
        sequences_of(found, [])
    still = Clip("still", asset.clips[0].channels, np.repeat(asset.clips[0].values[:1], 9, axis=0), RATE, labels=("x",))
    with pytest.raises(InvalidInput, match="move no shape weight and no control"):
        sequences_of(found, [still])
