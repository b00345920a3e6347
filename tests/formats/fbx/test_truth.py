"""Real files: FBX against the glTF files that the same authors made of the same scenes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from tests.data_folder import data_file, field_file

from understudy.character import Character, Part, SkinBinding
from understudy.character.rig import DirectRig
from understudy.formats import read, write

TWINS = {
    "Trex": "dinosaurs_pack_Trex",
    "Stegosaurus": "dinosaurs_pack_Stegosaurus",
    "Spider": "easy_enemies_pack_Spider",
    "Frog": "easy_enemies_pack_Frog",
    "Rat": "easy_enemies_pack_Rat",
    "Snake": "easy_enemies_pack_Snake",
}


def with_four_influences(character: Character) -> Character:
    """The skin as the exporter of the glTF files cut it: the four largest weights of each vertex."""
    parts = []
    for part in character.parts:
        skin = part.skin
        weights = SkinBinding.normalise(skin.weights[:, :4])[0]
        skin = SkinBinding(skin.joints, skin.inverse_binds, skin.influences[:, :4], weights)
        parts.append(Part(part.name, part.mesh, skin))
    return Character(character.name, character.skeleton, parts)


@pytest.mark.parametrize("name", TWINS)
def test_an_fbx_file_moves_as_its_gltf_twin(name: str) -> None:
    one = read(field_file(f"fbx/{name}.fbx"))
    two = read(data_file(f"gltf_quaternius/{TWINS[name]}.glb"))
    first, second = DirectRig(with_four_influences(one.character())), DirectRig(two.character())
    common = {clip.name.rpartition("|")[2]: clip for clip in two.animations}
    assert {clip.name.rpartition("|")[2] for clip in one.animations} == set(common)
    for clip in one.animations:
        twin = common[clip.name.rpartition("|")[2]]
        times = np.linspace(clip.start, clip.start + clip.duration, 5)
        ours, theirs = first.vertices(first.pose(clip, times)), second.vertices(second.pose(twin, times))
        size = np.ptp(theirs[0], axis=0).max()
        for a, b in zip(ours, theirs):  # the twins have split vertices at seams, so each looks for the nearest
            gap = max(cKDTree(a).query(b)[0].max(), cKDTree(b).query(a)[0].max())
            assert gap < 1e-4 * size, clip.name


@pytest.mark.parametrize("name", ("Samba Dancing", "Robot", "morph_test", "RotationTest", "Male_Casual"))
def test_a_real_file_survives(name: str, tmp_path) -> None:
    from tests.formats.fbx.test_round_trip import assert_same_motion

    asset = read(field_file(f"fbx/{name}.fbx"))
    write(asset, tmp_path / "out.fbx")
    assert_same_motion(asset, read(tmp_path / "out.fbx"))
