"""Every file of the real data loads and bakes, or is refused with one sentence that names it; quirks are noted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import DATA, FIELD, data_file, data_files

from understudy.character import Asset
from understudy.character.rig import bake
from understudy.errors import BadFile, Unsupported
from understudy.formats import read

FOLDERS = sorted({path.parent for path in (*data_files("**/*"), *FIELD.glob("**/*")) if path.is_file()})
BAKED_FRAMES = 5  # of a clip, over all of its time
# Sound files of kinds that nothing here reads: by ending, or because their content is of another kind.
REFUSED_ENDINGS = {".md", ".txt", ".json", ".png", ".bin", ".license", ".target", ".mhskel", ".mhw"}
REFUSED_FILES = {
    "ict_expressions.npz",
    "bone_meshseq.npz",
    "alex_rom_3_lm68_on_ICT.npz",
    "alex_rom_3_events.csv",
    "clip_attrs.csv",
    "neutral_face_coordinates.csv",
    "OpenFace_Test.csv",
}


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS or [None], ids=lambda folder: folder.name if folder else "absent")
def test_each_file_loads_or_is_refused_by_name(folder: Path | None) -> None:
    if folder is None:
        pytest.skip(f"real data not found in {DATA}; set UNDERSTUDY_TEST_DATA")
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        expected = path.suffix.lower() in REFUSED_ENDINGS or path.name in REFUSED_FILES
        try:
            asset = read(path)
        except (BadFile, Unsupported) as error:
            assert expected, str(error)
            assert path.name in str(error) and "\n" not in str(error)
        else:
            assert not expected, f"{path.name} was read"
            assert asset.characters or asset.animations
            check_bakes(asset)


def check_bakes(asset: Asset) -> None:
    """First, middle and last clip; or the rest pose."""
    names = [animation.name for animation in asset.animations] or [None]
    for name in {names[0], names[len(names) // 2], names[-1]} if asset.characters else ():
        seconds = 0.0 if name is None else asset.animation(name).duration
        result = bake(asset, name, max(BAKED_FRAMES / seconds, 0.02) if seconds > 0.1 else None)
        assert np.isfinite(result.vertices).all() and np.isfinite(result.joints).all(), name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gltf_threejs/RobotExpressive.glb", "1.755"),
        ("bvh_cmu/02_01.bvh", "T-pose"),
        ("bvh_cmu/02_01.bvh", "5.644 cm"),
        ("face_livelink/alex_rom_3.csv", "missing"),
        ("c3d_btk/Dance.c3d", "DATA_START"),
        ("gltf_kenney/character.glb", "colormap.png"),
    ],
)
def test_quirks_are_noted(name: str, words: str) -> None:
    notes = read(data_file(name)).notes
    assert any(words in note for note in notes), notes


def test_skeletons_without_a_mesh_have_their_joints_and_clips() -> None:
    asset = read(data_file("gltf_kaykit/Med_General.glb"))
    assert (len(asset.character().joints), asset.character().vertex_count, len(asset.animations)) == (23, 0, 15)
