"""Poses: copied and pasted they are the same, mirrored twice too, and what lies between keys lies between them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studio.edit.robot import flight, robot

from understudy.character import Channels, rig
from understudy.character.rig.rig import ChannelLayout
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.studio.edit import poses

ALL = list(range(7))


def test_a_pasted_pose_is_the_copied_one() -> None:
    curves = flight()
    pose = poses.copy_pose(curves, 0.6)
    pasted = poses.paste_pose(curves, 2.4, pose, ALL)
    assert np.allclose(pasted.sample([2.4]), curves.sample([0.6]), atol=1e-9)
    assert pasted.key_count == curves.key_count + 7
    some = poses.paste_pose(curves, 2.4, pose, [0])
    assert some.key_count == curves.key_count + 1


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0, 1.4])
def test_a_tween_lies_between_the_keys(share: float) -> None:
    curves = flight()
    made = poses.tween_pose(curves, 1.5, share, ALL)
    one, other = curves.curves[0].values[1:3]
    assert np.allclose(made.curves[0].sample([1.5])[0], one + share * (other - one))
    a, b = curves.curves[2].values[1:3]
    assert np.allclose(made.curves[2].sample([1.5])[0], quaternion.slerp(a, b, share))
    again = poses.tween_pose(made, 1.5, share, ALL)
    assert again.key_count == made.key_count, "a key that is there already is set anew"


def test_beyond_the_keys_there_is_nothing_between() -> None:
    with pytest.raises(InvalidInput, match="both sides"):
        poses.tween_pose(flight(), 3.0, 0.5, ALL)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("hand.L", "hand.R"),
        ("LeftUpLeg", "RightUpLeg"),
        ("upperarm_l", "upperarm_r"),
        ("LThumb", "RThumb"),
        ("mixamorig:RightHand", "mixamorig:LeftHand"),
        ("b_LeftLeg01_015", "b_RightLeg01_015"),
        ("MidFrontLeg2.L", "MidFrontLeg2.R"),
        ("Head", "Head"),
        ("LowerBack", "LowerBack"),
        ("Root", "Root"),
        ("FrontLegL", "FrontLegR"),
    ],
)
def test_names_of_the_other_side(name: str, other: str) -> None:
    assert poses.opposite_name(name) == other
    assert poses.opposite_name(other) == name


def test_a_mirrored_pose_is_the_mirror_image_where_the_character_stands() -> None:
    character = robot().characters[0]
    own, curves = rig.rig_of(character), flight()
    pose = poses.copy_pose(curves, 1.3)
    image = poses.mirror_pose(own, pose)
    again = poses.mirror_pose(own, image)
    for name, values in pose.values.items():
        other = again.values[name]
        assert np.allclose(values, other, atol=1e-9) or np.allclose(values, -other, atol=1e-9)
    laid = ChannelLayout(own, Channels(curves.channels))
    rows = [laid.rows(np.concatenate(list(each.values.values()))[None]) for each in (pose, image)]
    before, after = (own.joints(row)[0, :, :3, 3] for row in rows)
    swap = poses.opposite_joints(character.skeleton)
    root = before[0]
    assert np.allclose(after[0], root, atol=1e-9), "it stays where it is"
    # distances to the root, and heights, are those of the other side
    assert np.allclose(np.linalg.norm(after - after[0], axis=1), np.linalg.norm(before[swap] - root, axis=1), atol=1e-9)
    assert np.allclose(after[:, 1], before[swap, 1], atol=1e-9)


def test_what_has_no_sides_is_not_mirrored() -> None:
    from tests.cli.acrobat import acrobat

    asset = acrobat()
    own = rig.rig_of(asset.characters[0])
    assert not poses.has_pairs(own)
    with pytest.raises(InvalidInput, match="no left and right"):
        poses.mirror_pose(own, poses.CopiedPose({}, {}))
