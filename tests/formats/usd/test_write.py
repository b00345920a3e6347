"""What we write satisfies OpenUSD's own validators, and holds exactly what UsdSkel alone would round."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.formats.usd.cases import PIXEL, posed, random_asset, random_character, random_curves

from understudy.character import Asset, Character
from understudy.errors import InvalidInput
from understudy.formats import read, write

pytest.importorskip("pxr")
from pxr import Usd, UsdSkel, UsdValidation

ENDINGS = (".usda", ".usdc", ".usdz")


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_validator_is_content(tmp_path, ending):
    path = tmp_path / f"file{ending}"
    write(random_asset(np.random.default_rng(0), scales=(0.5, 2.0)), path)
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    assert [error.GetMessage() for error in errors] == []


def joints_of(path):
    stage = Usd.Stage.Open(str(path))
    return list(UsdSkel.Skeleton(stage.GetPrimAtPath("/hero/Skeleton")).GetJointsAttr().Get())


@pytest.mark.parametrize("scale", [0.01, 100.0, 1.37, 1.0])
def test_scales_that_no_half_float_holds(tmp_path, scale):
    rng = np.random.default_rng(1)
    character = random_character(rng, scales=(scale, scale))
    asset = Asset([character], curves=[random_curves(rng, character)])
    path = tmp_path / "file.usda"
    assert not write(asset, path)
    helpers = [p for p in joints_of(path) if p.endswith("_scale")]
    assert len(helpers) == (3 if scale in (0.01, 1.37) else 0)  # 100 and 1 are half floats
    back, times = read(path), np.arange(20) / 24
    want, have = posed(asset, asset.curves[0], times), posed(back, back.curves[0], times)
    assert np.abs(want[0] - have[0]).max() <= 1e-6 * np.abs(want[0]).max()
    assert not any(c.kind == "scale" for c in back.curves[0].channels)


def test_scales_that_change_come_back_in_full_and_are_noted(tmp_path):
    rng = np.random.default_rng(2)
    character = random_character(rng)
    curves = random_curves(rng, character, scale=lambda keys: rng.uniform(0.5, 1.5, size=(keys, 1)) * np.ones(3))
    asset = Asset([character], curves=[curves])
    notes = write(asset, tmp_path / "file.usda")
    assert any("half floats" in note and "walk" in note for note in notes)
    back, times = read(tmp_path / "file.usda"), np.arange(20) / 24
    want, have = posed(asset, curves, times)[0], posed(back, back.curves[0], times)[0]
    assert np.abs(want - have).max() <= 1e-6 * np.abs(want).max()


def test_skins_that_agree_need_no_helpers(tmp_path):
    character = random_character(np.random.default_rng(3))
    part = character.parts[0]
    same = Character("hero", character.skeleton, [part, type(part)("copy", part.mesh, part.skin)])
    write(Asset([same]), tmp_path / "file.usda")
    assert len(joints_of(tmp_path / "file.usda")) == len(character.skeleton)


def test_materials_and_pictures_come_back(tmp_path):
    asset = random_asset(np.random.default_rng(4))
    for ending in ENDINGS:
        path = tmp_path / f"file{ending}"
        write(asset, path)
        for want, have in zip(asset.characters[0].parts[0].mesh.materials, materials_by_name(read(path))):
            assert (want.name, want.colour, want.alpha_mode) == (have.name, have.colour, have.alpha_mode)
            assert (want.metallic, want.roughness, want.emissive) == (have.metallic, have.roughness, have.emissive)
            assert set(want.textures) == set(have.textures)
            for slot, texture in want.textures.items():
                assert have.textures[slot].image.data == PIXEL
                assert have.textures[slot].uv_set == texture.uv_set
    assert len(list((tmp_path / "textures").iterdir())) == 1


def materials_by_name(asset):
    return sorted(asset.characters[0].parts[0].mesh.materials, key=lambda material: material.name)


def test_each_face_keeps_its_material(tmp_path):
    asset = random_asset(np.random.default_rng(5))
    write(asset, tmp_path / "file.usda")
    want = asset.characters[0].parts[0].mesh
    have = read(tmp_path / "file.usda").characters[0].parts[0].mesh
    assert [want.material(t).name for t in range(9)] == [have.material(t).name for t in range(9)]


def test_nothing_to_write_is_told(tmp_path):
    with pytest.raises(InvalidInput, match="nothing to write"):
        write(Asset(), tmp_path / "file.usda")
    assert not list(tmp_path.iterdir())


def test_a_package_that_did_not_fit_is_not_called_written(tmp_path):
    (tmp_path / "layer.usda").write_text("#usda 1.0\n" + "# long\n" * 5_000)
    code = f"""
import resource
from pathlib import Path
from understudy.errors import Unsupported
from understudy.formats.usd.writer import _pack
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    _pack(Path({str(tmp_path / "x.usdz")!r}), Path({str(tmp_path)!r}), ["layer.usda"])
except Unsupported as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "no space left" in done.stdout
