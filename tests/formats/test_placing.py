"""What a user says of a file's axes and size: everything is turned and scaled, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file

import understudy as us
from understudy.character import Asset, Channel, Character, Clip, Skeleton
from understudy.character.body.bone_names import axis_vector, find_facing
from understudy.character.rig import rig_of
from understudy.errors import InvalidInput
from understudy.formats.conventions import place


def points(asset: Asset, clip: int, times: np.ndarray) -> np.ndarray:
    """(M, J + V, 3) the joints that the file has, and the vertices, of the first character."""
    rig = rig_of(asset.character())
    rows = rig.pose(asset.animations[clip], times)
    joints = [rig.character.skeleton.index(name) for name in rig.character.skeleton.names if name != "Turn"]
    return np.concatenate([rig.joints(rows)[:, joints][..., :3, 3], rig.vertices(rows)], axis=1)


@pytest.mark.parametrize(
    "name", ["gltf_khronos/Fox.glb", "bvh_cmu/02_01.bvh", "gltf_quaternius/easy_enemies_pack_Spider.glb"]
)
def test_every_pose_is_turned_and_scaled(name: str) -> None:
    asset = us.load(data_file(name))
    last = asset.animations[-1]
    times = last.start + last.duration * np.array([0.0, 0.4, 1.0])
    before = points(asset, len(asset.animations) - 1, times)
    size = np.ptp(before[0], axis=0).max()
    for up, facing in (("z", "x"), ("-x", "y"), ("y", "-z"), ("y", "z")):
        turned = place(asset, up, facing, 2.5)
        matrix = np.stack([np.cross(axis_vector(up), axis_vector(facing)), axis_vector(up), axis_vector(facing)])
        after = points(turned, len(asset.animations) - 1, times)
        assert np.abs(after - 2.5 * before @ matrix.T).max() < 1e-5 * 2.5 * size
        found = find_facing(rig_of(turned.character()))
        assert (found.up, found.forward, found.evidence) == ("+y", "+z", ("given",))
        assert turned.animations is not asset.animations and len(turned.curves) == len(asset.curves)
        assert all(a is b for a, b in zip(turned.curves, asset.curves))  # to the bit


def test_what_is_not_given_is_found() -> None:
    """A body along Z that looks along -Y, as Blender has it."""
    names = ("hips", "thigh.L", "thigh.R", "foot.L", "foot.R")
    offsets = [(0, 0, 1), (0.1, 0, 0), (-0.1, 0, 0), (0, 0, -1), (0, 0, -1)]
    asset = Asset([Character("legs", Skeleton(names, [-1, 0, 0, 1, 2], offsets))])
    rig = rig_of(place(asset, up="z").character())
    places = rig.joints(rig.rest[None])[0, :, :3, 3]
    np.testing.assert_allclose(places[0], (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(places[1], (0.1, 1, 0), atol=1e-12)


def test_avatars_of_version_0_look_along_minus_z() -> None:
    from tests.data_folder import field_file

    placed = us.load(field_file("vrm/Godette.vrm"), facing="-z").character()
    plain = us.load(field_file("vrm/Godette.vrm")).character()
    np.testing.assert_allclose(placed.skeleton.translations, plain.skeleton.translations, atol=1e-9)
    assert find_facing(rig_of(placed)).forward == "-z"


def test_scale_is_metres_per_unit_where_the_file_names_none_and_else_a_factor() -> None:
    bvh, fox = data_file("bvh_cmu/02_01.bvh"), data_file("gltf_khronos/Fox.glb")
    for path in (bvh, fox):
        one, two = (us.load(path, scale=scale) for scale in (1.0, 2.0))
        a, b = (points(asset, 0, np.zeros(1)) for asset in (one, two))
        np.testing.assert_allclose(b, 2 * a, atol=1e-5)


def test_markers_turn_with_the_characters() -> None:
    clip = Clip("take", [Channel("LFHD", "marker")], [[1.0, 2.0, 3.0], [np.nan] * 3], 100.0)
    asset = Asset([Character("body", Skeleton(["root"], [-1], [[0.0, 0, 0]]))], [clip])
    turned = place(asset, "z", "x", 10.0).clips[0].values
    np.testing.assert_allclose(turned[0], (20, 30, 10))
    assert np.isnan(turned[1]).all()


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="controls"):
        place(us.load("dragon"), up="z")
    with pytest.raises(InvalidInput, match="no character"):
        place(Asset([], [Clip("take", [Channel("LFHD", "marker")], [[1.0, 2.0, 3.0]], 100.0)]), up="z")
    with pytest.raises(InvalidInput, match="up axis"):
        place(us.load("lamp"), up="z", facing="-z")
    with pytest.raises(InvalidInput, match="built-in"):
        us.load("lamp", up="z")
