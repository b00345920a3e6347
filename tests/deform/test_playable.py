from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.deform.test_character_file import skinned_tube
from tests.deform.tubes import tube
from tests.judges.gltf_validator import validate

from understudy import formats
from understudy.character.rig import rig_of
from understudy.deform.deformer import Deformer
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.pose_space import PoseSpaceDeformation
from understudy.deform.playable import PlayableAsset, asset_of_examples, factor_shapes, make_playable, write


def shown(path: Path, clip: str = "poses") -> np.ndarray:
    asset = formats.read(path)
    rig = rig_of(asset.character())
    return rig.vertices(rig.pose(asset.clip(clip)))


def played(deformer: Deformer, examples: Examples, **settings: Any) -> PlayableAsset:
    return make_playable(asset_of_examples(deformer, examples, "tube")[0], **settings)


def test_a_linear_skin_plays_as_it_is(bending: Examples, tmp_path: Path) -> None:
    skin = LinearSkin.fit(bending)
    made = played(skin, bending)
    assert made.shapes == 0 and made.worst < 1e-5
    formats.write(made.asset, tmp_path / "x.glb")
    np.testing.assert_allclose(shown(tmp_path / "x.glb"), skin.deform(bending.transforms), atol=1e-4)


@pytest.mark.parametrize("ending", [".glb", ".fbx"])
def test_what_others_play_is_as_near_as_was_said(bending: Examples, tmp_path: Path, ending: str) -> None:
    deformer = PoseSpaceDeformation.fit(bending)
    made = played(deformer, bending, tolerance=1e-4)
    assert 0 < made.shapes <= 12 and made.rms < 2e-4 * bending.size and made.frames == len(bending)
    formats.write(made.asset, tmp_path / f"x{ending}")
    error = np.linalg.norm(shown(tmp_path / f"x{ending}") - deformer.deform(bending.transforms), axis=-1)
    assert error.max() == pytest.approx(made.worst, abs=1e-4)
    assert np.sqrt((error**2).mean()) == pytest.approx(made.rms, abs=2e-5)
    if ending == ".glb":
        verdict = validate([tmp_path / "x.glb"])[0]
        assert verdict.errors == 0, verdict.messages


def test_fewer_shapes_are_further_off(bending: Examples) -> None:
    deformer = PoseSpaceDeformation.fit(bending)
    errors = [played(deformer, bending, most=most).rms for most in (0, 1, 3, 12)]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.1 * errors[0]


def test_a_twist_that_flattens_the_blend_is_played_all_the_same() -> None:
    twisted = tube(np.zeros(7), np.linspace(0, np.pi, 7), weights=False)
    made = played(PoseSpaceDeformation.fit(twisted), twisted)
    assert made.worst < 0.01 * twisted.size and "flatten" in made.notes[0]


def test_every_clip_part_and_material_is_kept(tmp_path: Path) -> None:
    """Two clips, a face's shape, two parts of which one hangs rigidly, materials: nothing but the deformer is lost."""
    asset = skinned_tube()
    made = make_playable(asset)
    notes = write(asset, tmp_path / "x.glb")
    assert made.loss in notes
    again = formats.read(tmp_path / "x.glb")
    before, after = asset.character(), again.character()
    assert [clip.name for clip in again.animations] == [clip.name for clip in asset.animations]
    assert [part.name for part in after.parts] == [part.name for part in before.parts]
    materials = [[m.name for m in part.mesh.materials] for part in before.parts]
    assert [[m.name for m in part.mesh.materials] for part in after.parts] == materials
    assert after.shapes["tube"][0] == "smile" and after.deformer is None
    for clip in asset.clips:
        rig = rig_of(before)
        error = np.abs(shown(tmp_path / "x.glb", clip.name) - rig.vertices(rig.pose(clip)))
        assert error.max() < made.worst + 1e-4, clip.name


def test_the_fewest_shapes() -> None:
    random = np.random.default_rng(0)
    fields = np.einsum("es,svc->evc", random.normal(size=(9, 2)), random.normal(size=(2, 20, 3)))
    shapes = factor_shapes(fields, 32, 1e-6).reshape(-1, 60)
    assert len(shapes) == 2
    np.testing.assert_allclose(shapes @ shapes.T, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(fields.reshape(9, 60) @ shapes.T @ shapes, fields.reshape(9, 60), atol=1e-9)
    assert len(factor_shapes(np.zeros((4, 5, 3)), 32, 1e-9)) == 0
