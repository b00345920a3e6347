"""What we write as glTF passes the Khronos validator: from every real file that holds a character, and from our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data_folder import DATA, data_files
from tests.fuzz.seeds import motion_asset, small_asset
from tests.judges.gltf_validator import validate

from understudy import cast
from understudy.character import Asset
from understudy.character.rig import flatten_asset
from understudy.formats import read, write

ENDINGS = (".glb", ".gltf")
# glTF has viewers make the tangents of a normal map themselves where a mesh has none, as most meshes do.
GENERATED_TANGENTS = "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE"
FEW = 4  # clips of a cast member that are written; the validator looks at each alike
MADE = {"small": small_asset, "motion": motion_asset}
SOURCES = [
    *data_files("gltf_*/*.glb"),
    *data_files("gltf_*/*.gltf"),
    *data_files("bvh_cmu/02_0*.bvh"),
    *data_files("asf_amc/*.amc"),
    *data_files("*/*.obj")[:3],
    *data_files("usd_openusd/*.usda"),
]


def assert_valid(asset: Asset, folder: Path) -> None:
    """Write both forms, and fail on any error that the validator finds."""
    paths = [folder / f"out{ending}" for ending in ENDINGS]
    for path in paths:
        write(asset, path)
    for verdict in validate(paths):
        assert verdict.errors == 0, "\n".join(verdict.lines("error"))
        warnings = [line for line in verdict.lines("warning") if GENERATED_TANGENTS not in line]
        assert verdict.warnings <= 200 and not warnings, "\n".join(warnings)


@pytest.mark.parametrize("name", MADE)
def test_our_own_characters_are_valid(name, tmp_path):
    assert_valid(MADE[name](), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", cast.names())
def test_the_cast_is_valid(name, tmp_path):
    asset = cast.load(name)
    if len(asset.curves) > FEW:
        asset = Asset(asset.characters, curves=asset.curves[:FEW])  # all seventy takes of the face take a minute
    if any(character.layers is not None for character in asset.characters):
        asset = flatten_asset(
            Asset(asset.characters, curves=asset.curves[:2])
        )  # two clips: baking all takes half a minute
    assert_valid(asset, tmp_path)


@pytest.mark.skipif(not SOURCES, reason=f"real data not found in {DATA}; set UNDERSTUDY_TEST_DATA")
def test_there_are_files_to_convert():
    assert len(SOURCES) >= 40


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_real_files_become_valid_gltf(source, tmp_path):
    assert_valid(read(source), tmp_path)
