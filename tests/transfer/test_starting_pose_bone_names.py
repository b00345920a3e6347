from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.transfer.small import hopper, source

from understudy.character.body.markers import markers_of
from understudy.errors import InvalidInput
from understudy.formats import read
from understudy.transfer.source import SourceMotion
from understudy.transfer.starting_pose import BoneNames, parts_of


def test_onto_the_same_body_it_is_the_same_pose() -> None:
    given = source()
    assert given.poses is not None and given.markers is not None
    plain = BoneNames.from_source(given, given.poses.skeleton, given.markers)
    np.testing.assert_allclose(plain.map(given.local[::7]).points, given.local[::7], atol=1e-6)


def test_only_bones_of_the_same_name_turn() -> None:
    given, target = source(), hopper().character()
    plain = BoneNames.from_source(given, target.skeleton, markers_of(target))
    poses = plain.poses(given.local)
    moved = np.abs(poses.rotations - target.skeleton.rotations).max(axis=(0, 2)) > 1e-3
    assert {target.skeleton.names[j] for j in np.flatnonzero(moved)} == {"Head", "Trunk"} - {"Trunk"}


def test_fore_legs_are_arms() -> None:
    skeleton = read(data_file("gltf_quaternius/animals_pack_Husky.glb")).character().skeleton
    found = {skeleton.names[joint]: part for joint, part in parts_of(skeleton).items()}
    assert found["FrontUpperLeg.L"] == "left upper arm" and found["BackLowerLeg.R"] == "right lower leg"
    assert found["Head"] == "head" and "Tail1" not in found and "Ear1.L" not in found


def test_bare_markers_have_no_bones() -> None:
    given, target = source(), hopper().character()
    bare = SourceMotion("cloud", given.points, given.frames, 30.0, None, given.names)
    with pytest.raises(InvalidInput, match="bare markers"):
        BoneNames.from_source(bare, target.skeleton, markers_of(target))
