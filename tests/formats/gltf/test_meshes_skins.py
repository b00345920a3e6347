"""Skins and characters: joints, binds, weights, and which nodes belong together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.formats.gltf.minimal import TRIANGLE, Minimal

from understudy.character.rig.rig import DirectRig
from understudy.errors import BadFile
from understudy.formats import gltf

ALL_ON_FIRST = np.tile(np.float32([1, 0, 0, 0]), (3, 1))


def test_the_node_of_a_skinned_mesh_means_nothing(tmp_path: Path) -> None:
    made = Minimal()
    mesh, skin = made.skinned([1], ALL_ON_FIRST)
    made.root["nodes"] = [
        {"name": "body", "mesh": mesh, "skin": skin, "translation": [50, 0, 0]},
        {"name": "bone", "translation": [0, 2, 0]},
    ]
    character = gltf.read(made.save(tmp_path)).character()
    assert character.skeleton.names == ("bone",)
    assert (character.parts[0].skin.inverse_binds == np.eye(4)).all()
    rig = DirectRig(character)
    np.testing.assert_allclose(rig.vertices(rig.rest[None])[0], TRIANGLE + np.array([0, 2, 0]))


def test_nodes_between_joints_are_kept(tmp_path: Path) -> None:
    made = Minimal()
    mesh, skin = made.skinned([1, 3], ALL_ON_FIRST)
    made.root["nodes"] = [
        {"name": "top", "children": [1, 4]},
        {"name": "hip", "children": [2]},
        {"name": "between", "translation": [0, 3, 0], "children": [3]},
        {"name": "knee"},
        {"mesh": mesh, "skin": skin},
    ]
    character = gltf.read(made.save(tmp_path)).character()
    assert character.skeleton.names == ("top", "hip", "between", "knee")
    assert character.joints.tolist() == [1, 3]
    assert character.parts[0].skin.joints.tolist() == [1, 3]


def test_bind_matrices_are_stored_by_columns(tmp_path: Path) -> None:
    made = Minimal()
    matrix = np.eye(4)
    matrix[:3] = np.random.default_rng(3).normal(size=(3, 4))
    mesh, skin = made.skinned([1], ALL_ON_FIRST)
    made.root["skins"][skin]["inverseBindMatrices"] = made.accessor(matrix.T.reshape(1, 16), "MAT4")
    made.root["nodes"] = [{"mesh": mesh, "skin": skin}, {}]
    skin_read = gltf.read(made.save(tmp_path)).character().parts[0].skin
    np.testing.assert_allclose(skin_read.inverse_binds[0], matrix, rtol=1e-6)


def test_weights_are_normalised_and_noted(tmp_path: Path) -> None:
    made = Minimal()
    weights = [[1.5, 0.255, 0, 0], [0, 0, 0, 0], [0.5, 0.5, 0, 0]]
    mesh, skin = made.skinned([1, 2], weights, [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 9, 9]])
    made.root["nodes"] = [{"mesh": mesh, "skin": skin}, {"children": [2]}, {}]
    asset = gltf.read(made.save(tmp_path))
    skin_read = asset.character().parts[0].skin
    np.testing.assert_allclose(skin_read.weights, [[1.5 / 1.755, 0.255 / 1.755], [1, 0], [0.5, 0.5]], atol=1e-7)
    assert skin_read.influences.shape == (3, 2)  # what nobody uses is not kept, nor are its joint numbers believed
    assert "the skin weights of 2 vertices did not sum to 1 (up to 1.755) and were normalised" in asset.notes


def test_all_sets_of_influences_are_kept(tmp_path: Path) -> None:
    made = Minimal()
    mesh, skin = made.skinned(list(range(1, 7)), np.full((3, 4), 0.2), np.tile([0, 1, 2, 3], (3, 1)))
    attributes = made.root["meshes"][mesh]["primitives"][0]["attributes"]
    attributes["JOINTS_1"] = made.accessor(np.tile([4, 5, 0, 0], (3, 1)), "VEC4", np.uint16)
    attributes["WEIGHTS_1"] = made.accessor(np.tile([26, 25, 0, 0], (3, 1)), "VEC4", np.uint8, normalized=True)
    made.root["nodes"] = [{"mesh": mesh, "skin": skin}, *({"children": [i + 2]} for i in range(5)), {}]
    skin_read = gltf.read(made.save(tmp_path)).character().parts[0].skin
    assert skin_read.influences[0].tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(skin_read.weights[0], [0.2, 0.2, 0.2, 0.2, 26 / 255, 25 / 255], atol=1e-6)


def test_negative_weights_are_noted(tmp_path: Path) -> None:
    made = Minimal()
    mesh, skin = made.skinned([1], [[1, -0.5, 0, 0]] * 3)
    made.root["nodes"] = [{"mesh": mesh, "skin": skin}, {}]
    asset = gltf.read(made.save(tmp_path))
    assert "negative skin weights were set to zero (3)" in asset.notes
    assert asset.character().parts[0].skin.weights.tolist() == [[1], [1], [1]]


def test_a_skinned_mesh_without_weights_hangs_on_its_node(tmp_path: Path) -> None:
    made = Minimal()
    mesh = made.mesh()
    skin = made.add("skins", {"joints": [1]})
    made.root["nodes"] = [{"name": "body", "mesh": mesh, "skin": skin}, {"name": "bone"}]
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().parts[0].skin.is_rigid
    assert "skinned meshes without joints and weights were hung on their nodes (1)" in asset.notes


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"joints": []}, "skins[0].joints"),
        ({"joints": [8]}, "skins[0].joints[0]"),
        ({"inverseBindMatrices": 0}, "skins[0].inverseBindMatrices"),
        ({"inverseBindMatrices": 50}, "skins[0].inverseBindMatrices"),
    ],
)
def test_damaged_skins_are_named(tmp_path: Path, change: dict, place: str) -> None:
    made = Minimal()
    mesh, skin = made.skinned([1], ALL_ON_FIRST)
    made.accessor(np.eye(4).reshape(1, 16), "MAT4")
    made.root["nodes"] = [{"mesh": mesh, "skin": skin}, {"children": [2]}, {}]
    made.root["skins"][0].update(change)
    with pytest.raises(BadFile) as caught:
        gltf.read(made.save(tmp_path))
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("key", "values", "kind", "dtype", "place"),
    [
        ("JOINTS_0", np.full((3, 4), 7), "VEC4", np.uint8, "JOINTS_0"),
        ("JOINTS_0", np.zeros((2, 4)), "VEC4", np.uint8, "JOINTS_0"),
        ("WEIGHTS_0", np.zeros((4, 4)), "VEC4", np.float32, "WEIGHTS_0"),
        ("JOINTS_0", np.zeros((3, 4)), "VEC4", np.float32, "JOINTS_0"),
        ("WEIGHTS_0", np.zeros((3, 3)), "VEC3", np.float32, "WEIGHTS_0"),
    ],
)
def test_damaged_weights_are_named(
    tmp_path: Path, key: str, values: object, kind: str, dtype: type, place: str
) -> None:
    made = Minimal()
    mesh, skin = made.skinned([1], ALL_ON_FIRST)
    made.root["meshes"][mesh]["primitives"][0]["attributes"][key] = made.accessor(values, kind, dtype)
    made.root["nodes"] = [{"mesh": mesh, "skin": skin}, {}]
    with pytest.raises(BadFile) as caught:
        gltf.read(made.save(tmp_path))
    assert caught.value.place == f"meshes[0].primitives[0].attributes.{place}"


def test_characters_are_what_skins_tie_together(tmp_path: Path) -> None:
    """Two skinned characters, one of them in two trees; two props and an empty beside them."""
    made = Minimal()
    mesh, _ = made.skinned([1], ALL_ON_FIRST, name="Ann")
    made.add("skins", {"joints": [3, 4], "name": "Bob"})
    prop = made.mesh()
    made.root["nodes"] = [
        {"name": "ann body", "mesh": mesh, "skin": 0},
        {"name": "ann bone"},
        {"name": "bob body", "mesh": mesh, "skin": 1},
        {"name": "bob left"},
        {"name": "bob right"},
        {"name": "table", "mesh": prop},
        {"name": "chair", "mesh": prop},
        {"name": "empty"},
    ]
    ann, bob, props = gltf.read(made.save(tmp_path)).characters
    assert (ann.name, bob.name) == ("Ann", "Bob")
    assert ann.skeleton.names == ("ann bone",) and bob.skeleton.names == ("bob left", "bob right")
    assert props.skeleton.names == ("table", "chair", "empty") and len(props.parts) == 2


def test_a_skin_that_no_mesh_wears_gives_the_joints(tmp_path: Path) -> None:
    made = Minimal()
    made.add("skins", {"joints": [1, 2]})
    made.root["nodes"] = [
        {"name": "rig", "rotation": [1, 0, 0, 0], "children": [1]},
        {"name": "hip", "children": [2]},
        {"name": "knee"},
    ]
    character = gltf.read(made.save(tmp_path)).character()
    assert character.parts == () and len(character.skeleton) == 3
    assert [character.skeleton.names[j] for j in character.joints] == ["hip", "knee"]


def test_cameras_and_lights_are_noted(tmp_path: Path) -> None:
    made = Minimal(extensionsUsed=["KHR_lights_punctual"], cameras=[{"type": "perspective"}])
    mesh = made.mesh()
    light = {"KHR_lights_punctual": {"light": 0}}
    made.root["nodes"] = [
        {"name": "thing", "mesh": mesh, "children": [1, 2]},
        {"name": "eye", "camera": 0},
        {"name": "sun", "extensions": light},
    ]
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().skeleton.names == ("thing",)
    assert {"cameras were left out (1)", "lights were left out (1)"} <= set(asset.notes)


@pytest.mark.parametrize(("scene", "expected"), [("Scene", "made"), (None, "made"), ("Hero", "Hero")])
def test_the_name_of_a_character(tmp_path: Path, scene: str | None, expected: str) -> None:
    made = Minimal()
    made.add("nodes", {"mesh": made.mesh()})
    made.add("scenes", {"nodes": [0], **({"name": scene} if scene else {})})
    assert gltf.read(made.save(tmp_path)).character().name == expected
