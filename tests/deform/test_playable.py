from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.deform.tubes import tube
from tests.judges.gltf_validator import validate

from understudy import formats
from understudy.character.rig import rig_of
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.pose_space import PoseSpaceDeformation
from understudy.deform.playable import factor_shapes, make_playable


def shown(path: Path) -> np.ndarray:
    asset = formats.read(path)
    rig = rig_of(asset.character())
    return rig.vertices(rig.pose(asset.clip("poses")))


def test_a_linear_skin_plays_as_it_is(bending: Examples, tmp_path: Path) -> None:
    skin = LinearSkin.fit(bending)
    played = make_playable(skin, bending)
    assert played.shapes == 0 and played.worst < 1e-5
    formats.write(played.asset, tmp_path / "x.glb")
    np.testing.assert_allclose(shown(tmp_path / "x.glb"), skin.deform(bending.transforms), atol=1e-4)


def test_what_gltf_plays_is_as_near_as_was_said(bending: Examples, tmp_path: Path) -> None:
    deformer = PoseSpaceDeformation.fit(bending)
    played = make_playable(deformer, bending, tolerance=1e-4)
    assert 0 < played.shapes <= 12 and played.rms < 2e-4 * bending.size
    formats.write(played.asset, tmp_path / "x.glb")
    error = np.linalg.norm(shown(tmp_path / "x.glb") - deformer.deform(bending.transforms), axis=-1)
    assert error.max() == pytest.approx(played.worst, abs=1e-4)
    verdict = validate([tmp_path / "x.glb"])[0]
    assert verdict.errors == 0, verdict.messages


def test_fewer_shapes_are_further_off(bending: Examples) -> None:
    deformer = PoseSpaceDeformation.fit(bending)
    errors = [make_playable(deformer, bending, most=most).rms for most in (0, 1, 3, 12)]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.1 * errors[0]


def test_a_twist_that_flattens_the_blend_is_played_all_the_same() -> None:
    twisted = tube(np.zeros(7), np.linspace(0, np.pi, 7), weights=False)
    played = make_playable(PoseSpaceDeformation.fit(twisted), twisted)
    assert played.worst < 0.01 * twisted.size and "flatten" in played.notes[0]


def test_the_fewest_shapes() -> None:
    random = np.random.default_rng(0)
    fields = np.einsum("es,svc->evc", random.normal(size=(9, 2)), random.normal(size=(2, 20, 3)))
    shapes, weights = factor_shapes(fields, 32, 1e-9)
    assert len(shapes) == 2 and np.abs(weights).max(axis=0) == pytest.approx([1, 1])
    np.testing.assert_allclose(np.einsum("es,svc->evc", weights, shapes), fields, atol=1e-9)
    assert len(factor_shapes(np.zeros((4, 5, 3)), 32, 1e-9)[0]) == 0
