"""A description holds all that a page needs: skinned by it, vertices lie where the rig puts them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.rig.layered_character import character as layered_character
from tests.data_folder import data_file
from tests.render.viewport.puppets import puppet, random_rows
from tests.render.viewport.reading import Described

from understudy import formats
from understudy.character import Character, Image, Material, Mesh, Part, SkinBinding, Texture, rig
from understudy.character.rig import DirectRig, LayeredRig
from understudy.render.viewport.description import bounds, describe, images
from understudy.render.viewport.surface import JOINTS_FORM, VERTICES_FORM, FramePacker


@pytest.mark.parametrize("method", ["linear", "dual"])
@pytest.mark.parametrize("influences", [1, 4, 8])
def test_skinned_as_the_rig_skins(method: str, influences: int) -> None:
    character = puppet(influences, method)
    direct = DirectRig(character)
    packer = FramePacker(direct)
    found = Described(describe(direct, packer=packer))
    rows = random_rows(direct, 3)
    for row, true in zip(rows, direct.vertices(rows)):
        drawn = found.skinned(packer.pack(row)[2])
        np.testing.assert_allclose(drawn, true[found["origins"]], atol=2e-6)


@pytest.mark.parametrize("name", ["gltf_threejs/RobotExpressive.glb", "gltf_khronos/MorphStressTest.glb"])
def test_real_characters(name: str) -> None:
    asset = formats.read(data_file(name))
    found_rig = rig.rig_of(asset.character())
    packer = FramePacker(found_rig)
    animation = asset.animations[0]
    found = Described(describe(found_rig, animation, packer))
    rows = found_rig.pose(animation)[::40]
    size = np.ptp(np.array(found.header["bounds"]), axis=0).max()
    for row, true in zip(rows, found_rig.vertices(rows)):
        drawn = found.skinned(packer.pack(row)[2])
        np.testing.assert_allclose(drawn, true[found["origins"]], atol=3e-6 * size)


def test_triangles_are_those_of_the_character() -> None:
    direct = DirectRig(puppet())
    found = Described(describe(direct))
    drawn = [found.array(draw["triangles"]) for part in found.header["parts"] for draw in part["draws"]]
    np.testing.assert_array_equal(found["origins"][np.concatenate(drawn)], direct.character.triangles)


def test_the_frame_at_rest_comes_along() -> None:
    direct = DirectRig(puppet())
    found = Described(describe(direct))
    np.testing.assert_array_equal(
        found["rest"].view(np.uint8), np.frombuffer(FramePacker(direct).pack(direct.rest)[2], np.uint8)
    )


def test_a_layered_character_is_streamed() -> None:
    layered = LayeredRig(layered_character())
    found = Described(describe(layered))
    assert found.header["form"] == VERTICES_FORM and found.header["vertices"] == layered.character.vertex_count
    assert len(found["rest"]) == 3 * layered.character.vertex_count
    np.testing.assert_array_equal(found["corners"], layered.character.triangles)
    assert len(found["seams"]) == layered.character.vertex_count


def test_motion_without_a_mesh_is_a_stick_figure() -> None:
    character = Character("bare", puppet().skeleton)
    direct = DirectRig(character)
    packer = FramePacker(direct)
    found = Described(describe(direct, packer=packer))
    assert found.header["form"] == JOINTS_FORM and found.header["parts"][0]["name"] == "bones"
    row = random_rows(direct, 1)[0]
    drawn = found.skinned(packer.pack(row)[2])
    joints = direct.joints(row[None])[0, :, :3, 3]
    tips = np.linalg.norm(drawn[:, None] - joints[1:], axis=2).min(axis=0)
    np.testing.assert_allclose(tips, 0, atol=1e-6)  # each bone ends in its joint, however that slides


def test_bounds_hold_the_whole_animation() -> None:
    direct = DirectRig(puppet())
    low, high = bounds(direct)
    points = direct.vertices(direct.rest[None])[0]
    np.testing.assert_allclose([low, high], [points.min(axis=0), points.max(axis=0)], atol=1e-6)


def test_nothing_to_draw_is_still_described() -> None:
    found = Described(describe(DirectRig(Character("nobody", puppet().skeleton, [], bones=[]))))
    assert found["positions"].size == 0


def test_materials_and_pictures_are_told_once() -> None:
    picture = Image("skin", "image/png", b"\x89PNG")
    lost = Image("gone", "", b"")
    painted = Material("skin", textures={"colour": Texture(picture, sampler={"wrapS": 33071}), "normal": Texture(lost)})
    white = Material("white", extra={"extensions": {"KHR_materials_unlit": {}}})
    vertices, triangles = np.eye(3), [[0, 1, 2]]
    parts = [
        Part(name, Mesh(name, vertices, triangles, materials=[material]), SkinBinding.rigid(0, 3))
        for name, material in (("a", painted), ("b", painted), ("c", white), ("d", Material()))
    ]
    direct = DirectRig(Character("painted", puppet().skeleton, parts))
    found = Described(describe(direct))
    entries = found.header["materials"]
    assert [part["draws"][0]["material"] for part in found.header["parts"]] == [0, 0, 1, 2]
    assert list(entries[0]["textures"]) == ["colour"] and entries[0]["textures"]["colour"]["wrap"] == [33071, 10497]
    assert images(direct) == (picture,)
    assert entries[1]["unlit"] and entries[1]["colour"][0] == 1.0
    assert max(entries[2]["colour"][:3]) < 1.0  # a material that says nothing leaves room for light
