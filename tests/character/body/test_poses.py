from __future__ import annotations

import numpy as np
import pytest
from tests.transfer import small

from understudy import cast
from understudy.character import rig
from understudy.character.body.poses import PoseSequence, clip_of, concatenate_poses, poses_of
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform


@pytest.fixture(scope="module")
def hop() -> PoseSequence:
    asset = cast.load("lamp")
    return poses_of(asset, "hop")


def some_frames(count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    turns = quaternion.from_rotation_vector(rng.normal(size=(count, 3)))
    return transform.compose(rng.normal(size=(count, 3)), turns)


def test_joints_are_where_the_rig_has_them(hop: PoseSequence) -> None:
    asset = cast.load("lamp")
    found = rig.rig_of(asset.character())
    np.testing.assert_allclose(hop.world, found.joints(found.pose(asset.animation("hop"))), atol=1e-12)


def test_another_rate_has_other_frames_of_the_same_motion(hop: PoseSequence) -> None:
    twice = poses_of(cast.load("lamp"), "hop", rate=2 * hop.rate)
    assert twice.rate == 2 * hop.rate
    np.testing.assert_allclose(twice.world[::2][: len(hop)], hop.world, atol=1e-9)


def test_moving_premultiplies_the_world(hop: PoseSequence) -> None:
    frames = some_frames(len(hop))
    np.testing.assert_allclose(hop.apply_transform(frames).world, frames[:, None] @ hop.world, atol=1e-12)
    back = hop.apply_transform(frames).apply_transform(transform.invert_rigid(frames))
    np.testing.assert_allclose(back.world, hop.world, atol=1e-12)


def test_a_clip_and_back(hop: PoseSequence) -> None:
    clip = clip_of(hop, "again", start=2.0, about="a hop")
    assert (clip.start, clip.about, len(clip)) == (2.0, "a hop", len(hop))
    np.testing.assert_allclose(poses_of(cast.load("lamp").character(), clip).world, hop.world, atol=1e-9)


def test_a_clip_leaves_out_what_rests() -> None:
    poses = PoseSequence.rest(small.hopper().character().skeleton, 3)
    assert [c.target for c in clip_of(poses, "still").channels] == ["Base", "Base"]


def test_rows_and_joining(hop: PoseSequence) -> None:
    assert len(hop.row(3)) == 1
    both = concatenate_poses([hop.rows(slice(0, 5)), hop.rows(slice(5, None))])
    np.testing.assert_array_equal(both.translations, hop.translations)
    np.testing.assert_array_equal(both.rotations, hop.rotations)


def test_wrong_shapes_are_refused(hop: PoseSequence) -> None:
    with pytest.raises(InvalidInput, match="rotations"):
        PoseSequence(hop.skeleton, hop.translations, hop.rotations[:-1], 24.0)
    with pytest.raises(InvalidInput, match="rate"):
        PoseSequence(hop.skeleton, hop.translations, hop.rotations, 0.0)
    with pytest.raises(InvalidInput, match="no animation"):
        poses_of(cast.load("lamp").character(), None)
