"""A deformer as part of a character: the rig plays it, and files keep it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.deform.tubes import tube

import understudy as us
from understudy import cast, formats, storage
from understudy.character import Asset, Channel, Character, Clip, Material, Mesh, Part, Shapes, SkinBinding
from understudy.character.rig import rig_of
from understudy.deform.playable import asset_of_examples
from understudy.deform.skin import Skin
from understudy.errors import BadFile, InvalidInput, Unsupported
from understudy.perform.pose_model import is_model
from understudy.render.viewport.surface import VERTICES_FORM, FramePacker


@cache
def skinned_tube() -> Asset:
    """A tube with a face's shape and material, a rigid hat, and two clips, played by pose space deformation."""
    examples = tube(np.linspace(0, 1.8, 12), np.linspace(0, 1.2, 12))
    skin = Skin("pose-space").fit(examples)
    asset, _ = asset_of_examples(skin.deformer_, examples, "tube")
    character = asset.character()
    body = character.parts[0]
    smile = np.zeros((1, len(body.mesh.vertices), 3))
    smile[0, :5] = (0.0, 0.03, 0.01)
    mesh = Mesh(
        "tube", body.mesh.vertices, body.mesh.triangles, materials=[Material("skin")], shapes=Shapes(["smile"], smile)
    )
    plain = Character("tube", character.skeleton, [replace(body, mesh=mesh)])
    rows = asset.clips[0]
    smiling = Channel("tube", "weights", ("smile",))
    values = np.concatenate([rows.values, np.linspace(0, 1, len(rows))[:, None]], axis=1)
    clips = [rows, Clip("smiling", [*rows.channels, smiling], values, rows.rate)]
    return Asset([skin.attach_to(plain)], clips)


def test_the_rig_plays_the_deformer() -> None:
    asset = skinned_tube()
    character = asset.character()
    rig = rig_of(character)
    rows = rig.pose(asset.clip("poses"))
    assert character.deformer is not None
    np.testing.assert_allclose(rig.vertices(rows), character.deformer.deformer.deform(rig.joints(rows)), atol=1e-7)
    plain = rig_of(replace(character, deformer=None))
    assert np.abs(rig.vertices(rows) - plain.vertices(rows)).max() > 0.01, "it differs from the skin below"
    np.testing.assert_array_equal(rig.points(rows, [3, 40]), rig.vertices(rows)[:, [3, 40]])


def test_shapes_move_as_they_do_with_the_skin() -> None:
    asset = skinned_tube()
    rig, plain = (rig_of(c) for c in (asset.character(), replace(asset.character(), deformer=None)))
    still, smiling = (rig.pose(asset.clip(name)) for name in ("poses", "smiling"))
    moved = rig.vertices(smiling) - rig.vertices(still)
    np.testing.assert_allclose(moved, plain.vertices(smiling) - plain.vertices(still), atol=1e-6)
    assert np.abs(moved[-1]).max() > 0.02


def test_a_file_keeps_it(tmp_path: Path) -> None:
    asset, path = skinned_tube(), tmp_path / "tube.understudy"
    us.save(asset, path)
    again = us.load(path)
    assert again.format == "skinned" and not is_model(path) and storage.holds_character(path)
    for clip in asset.clips:
        one, other = (rig_of(a.character()) for a in (asset, again))
        np.testing.assert_allclose(
            other.vertices(other.pose(again.clip(clip.name))), one.vertices(one.pose(clip)), atol=2e-5
        )


def test_vertices_that_gltf_splits_find_their_deformer(tmp_path: Path) -> None:
    """Texture coordinates of corners cost copies of vertices in glTF; every copy follows its vertex."""
    asset = skinned_tube()
    character = asset.character()
    part = character.parts[0]
    uvs = np.random.default_rng(0).random((len(part.mesh.triangles), 3, 2)).astype(np.float32)
    mesh = Mesh("tube", part.mesh.vertices, part.mesh.triangles, uvs=[uvs])
    seamed = Asset([replace(character, parts=[replace(part, mesh=mesh)])], asset.clips[:1])
    formats.write(seamed, tmp_path / "x.understudy")
    again = formats.read(tmp_path / "x.understudy")
    assert again.character().vertex_count > character.vertex_count
    corners = [
        rig_of(a.character()).vertices(rig_of(a.character()).pose(a.clip("poses")))[:, a.character().triangles.ravel()]
        for a in (seamed, again)
    ]
    np.testing.assert_allclose(np.sort(corners[0], axis=1), np.sort(corners[1], axis=1), atol=2e-5)


def test_models_and_the_page_keep_it() -> None:
    character = skinned_tube().character()
    again = cast.restore_character("", cast.character_to_bytes(character))
    assert again.deformer is not None and FramePacker(rig_of(again)).form == VERTICES_FORM


def test_another_character_is_refused() -> None:
    skin, character = Skin("linear").fit(tube(np.linspace(0, 1, 4), np.zeros(4))), skinned_tube().character()
    bare = replace(character, deformer=None)
    assert skin.attach_to(bare).deformer is not None
    with pytest.raises(InvalidInput, match="joints that 'lamp' does not have"):
        skin.attach_to(us.load("lamp").character())
    part = bare.parts[0]
    order = np.random.default_rng(0).permutation(len(part.mesh.vertices))
    binding = SkinBinding(
        part.skin.joints, part.skin.inverse_binds, part.skin.influences[order], part.skin.weights[order]
    )
    mixed = replace(bare, parts=[Part("tube", Mesh("tube", part.mesh.vertices[order], part.mesh.triangles), binding)])
    with pytest.raises(InvalidInput, match="in their order"):
        skin.attach_to(mixed)


def test_other_files_of_the_ending_are_told_apart(tmp_path: Path) -> None:
    skin = Skin("linear").fit(tube(np.linspace(0, 1, 4), np.zeros(4)))
    skin.save(tmp_path / "skin.understudy")
    with pytest.raises(Unsupported, match="holds a skin, not a character"):
        formats.read(tmp_path / "skin.understudy")
    assert isinstance(us.load(tmp_path / "skin.understudy"), us.Skin) and not formats.readable(
        tmp_path / "skin.understudy"
    )
    assert us.load(tmp_path / "skin.understudy").attach_to(replace(skinned_tube().character(), deformer=None)).deformer
    formats.write(skinned_tube(), tmp_path / "x.understudy")
    header, arrays = storage.read(tmp_path / "x.understudy")
    storage.write(tmp_path / "x.understudy", header, {**arrays, "deformer0.vertices": arrays["deformer0.vertices"] + 9})
    with pytest.raises(BadFile, match="not a sound character"):
        formats.read(tmp_path / "x.understudy")


def test_an_index_beyond_its_array_is_refused_before_a_kernel_sees_it(tmp_path: Path) -> None:
    us.save(skinned_tube(), tmp_path / "tube.understudy")
    header, arrays = storage.read(tmp_path / "tube.understudy")
    whole = [name for name, array in arrays.items() if array.dtype.kind == "i" and array.size]
    assert any("joints" in name for name in whole)
    for name in whole:
        wild = arrays[name].copy()
        wild.reshape(-1)[-1] = 10**9
        storage.write(tmp_path / "wild.understudy", header, {**arrays, name: wild})
        with pytest.raises(BadFile, match="is not a sound character with a deformer"):
            us.load(tmp_path / "wild.understudy")
