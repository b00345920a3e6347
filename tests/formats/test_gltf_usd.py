"""Every real glTF file to USD and back: the same joints and vertices at every frame."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import DATA, data_files

from understudy.character.rig.rig import DirectRig
from understudy.formats import gltf, read, write

pytest.importorskip("pxr")
from pxr import Usd, UsdValidation

FILES = [*data_files("gltf_*/*.glb"), *data_files("gltf_*/*.gltf")]


LONG = {"Knight"}  # 76 clips, which take as long as all other files together


@pytest.mark.skipif(not FILES, reason=f"real data not found in {DATA}; set UNDERSTUDY_TEST_DATA")
@pytest.mark.parametrize(
    "path", [pytest.param(f, marks=pytest.mark.long if f.stem in LONG else (), id=f.stem) for f in FILES]
)
def test_there_and_back(path, tmp_path):
    before = gltf.read(path)
    there, back = tmp_path / "there.usda", tmp_path / "back.glb"
    write(before, there)
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(there)))
    assert [error.GetMessage() for error in errors] == []
    usd = read(there)
    gltf.write(usd, back)
    after = read(back)
    assert [a.name for a in before.animations] == [a.name for a in usd.animations]
    for one, two, three in zip(before.characters, usd.characters, after.characters, strict=True):
        rigs = [DirectRig(character) for character in (one, two, three)]
        assert one.skeleton.names == two.skeleton.names
        assert one.joints.tolist() == two.joints.tolist()
        for animation in before.animations:
            if len(rigs[0].unmatched_channels(animation.channels)) == len(animation.channels):
                continue
            compare(rigs, [animation, usd.animation(animation.name), after.animation(animation.name)])


def compare(rigs, animations):
    times = animations[0].frame_times()
    rows = [rig.pose(animation, times) for rig, animation in zip(rigs, animations)]
    names = rigs[0].character.skeleton.names
    want = rigs[0].joints(rows[0])
    vertices = rigs[0].vertices(rows[0])
    for rig, row in zip(rigs[1:], rows[1:]):
        order = [rig.character.skeleton.index(name) for name in names]
        assert np.abs(rig.joints(row)[:, order] - want).max() < 1e-6
        if vertices.size:
            height = np.ptp(vertices.reshape(-1, 3), axis=0).max()
            assert np.abs(rig.vertices(row) - vertices).max() < 1e-5 * height
