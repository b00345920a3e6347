"""Nodes: the forest, its order, its names and its transforms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.formats.gltf.minimal import Minimal

from understudy.errors import BadFile
from understudy.formats import gltf
from understudy.maths import quaternion, transform


def forest(folder: Path, nodes: list, **root: object) -> Path:
    return Minimal(nodes=nodes, **root).save(folder)


def test_the_walk_goes_down_before_it_goes_on(tmp_path: Path) -> None:
    nodes = [
        {"name": "e"},
        {"name": "c"},
        {"name": "a", "children": [3, 0]},
        {"name": "b", "children": [1, 4]},
        {"name": "d"},
    ]
    skeleton = gltf.read(forest(tmp_path, nodes)).character().skeleton
    assert skeleton.names == ("a", "b", "c", "d", "e")
    assert skeleton.parents.tolist() == [-1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("nodes", "root", "place"),
    [
        ([{"children": [0]}], {}, "nodes[0].children"),
        ([{"children": [1]}, {"children": [2]}, {"children": [1]}], {}, "nodes[2].children[0]"),
        ([{"children": [1]}, {"children": [0]}], {}, "nodes[0].children"),
        ([{"children": [2]}, {"children": [2]}, {}], {}, "nodes[1].children[0]"),
        ([{"children": [1, 1]}, {}], {}, "nodes[0].children[1]"),
        ([{"children": [5]}], {}, "nodes[0].children[0]"),
        ([{"children": ["0"]}], {}, "nodes[0].children[0]"),
        ([{"children": 1}], {}, "nodes[0].children"),
        ([3], {}, "nodes[0]"),
        ([{}], {"scenes": [{"nodes": [4]}]}, "scenes[0].nodes[0]"),
        ([{"children": [1]}, {}], {"scenes": [{"nodes": [1]}]}, "scenes[0].nodes[0]"),
        ([{}], {"scenes": [{"nodes": [0]}], "scene": 3}, "scene"),
        ([{"mesh": 0}], {}, "nodes[0].mesh"),
        ([{"skin": 0}], {}, "nodes[0].skin"),
        ([{"name": 4}], {}, "nodes[0].name"),
        ([{"translation": [1, 2]}], {}, "nodes[0].translation"),
        ([{"translation": [1, 2, "3"]}], {}, "nodes[0].translation[2]"),
        ([{"translation": [1, 2, 1e39]}], {}, "nodes[0].translation[2]"),
        ([{"scale": "big"}], {}, "nodes[0].scale"),
        ([{"matrix": [1] * 15}], {}, "nodes[0].matrix"),
    ],
)
def test_damage_is_named(tmp_path: Path, nodes: list, root: dict, place: str) -> None:
    with pytest.raises(BadFile) as caught:
        gltf.read(forest(tmp_path, nodes, **root))
    assert caught.value.place == place


def test_a_chain_of_any_depth_is_walked(tmp_path: Path) -> None:
    depth = 20_000
    nodes = [{"children": [i + 1]} for i in range(depth)] + [{}]
    assert len(gltf.read(forest(tmp_path, nodes)).character().skeleton) == depth + 1


def test_names_are_distinct_and_joints_keep_theirs(tmp_path: Path) -> None:
    made = Minimal()
    mesh, skin = made.skinned([2], np.tile([1, 0, 0, 0], (3, 1)))
    rigid = made.mesh()
    made.root["nodes"] = [
        {"name": "arm", "mesh": rigid, "children": [1]},
        {"children": [2]},
        {"name": "arm"},
        {"name": "body", "mesh": mesh, "skin": skin},
        {"name": "arm_1"},
    ]
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().skeleton.names == ("arm_2", "node_1", "arm")
    assert "nodes without a name were numbered (1)" in asset.notes
    assert "nodes that shared their name with another were numbered (1)" in asset.notes


def test_a_matrix_is_taken_apart(tmp_path: Path) -> None:
    q = quaternion.normalise([0.1, -0.5, 0.3, 0.8])
    matrix = transform.compose([1, 2, 3], q, [2, 0.5, -1])
    asset = gltf.read(forest(tmp_path, [{"matrix": matrix.T.reshape(-1).tolist()}]))
    skeleton = asset.character().skeleton
    made = transform.compose(skeleton.translations[0], skeleton.rotations[0], skeleton.scales[0])
    np.testing.assert_allclose(made, matrix, atol=1e-12)
    assert not any("shear" in note for note in asset.notes)


def test_shear_is_noted(tmp_path: Path) -> None:
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    assert (
        "matrices of nodes hold shear, which was lost (1)"
        in gltf.read(forest(tmp_path, [{"matrix": matrix.T.reshape(-1).tolist()}])).notes
    )


def test_rotations_are_normalised_and_noted(tmp_path: Path) -> None:
    asset = gltf.read(forest(tmp_path, [{"rotation": [0, 0, 3, 4]}]))
    np.testing.assert_allclose(asset.character().skeleton.rotations[0], [0, 0, 0.6, 0.8])
    assert "rotations of nodes that were not of unit length were normalised (1)" in asset.notes


def test_only_the_default_scene_is_read(tmp_path: Path) -> None:
    nodes = [{"name": "a"}, {"name": "b"}, {"name": "c"}]
    scenes = [{"nodes": [0]}, {"nodes": [1]}]
    assert gltf.read(forest(tmp_path, nodes, scenes=scenes)).character().skeleton.names == ("a",)
    asset = gltf.read(forest(tmp_path, nodes, scenes=scenes, scene=1))
    assert asset.character().skeleton.names == ("b",)
    assert "nodes outside the default scene were left out (2)" in asset.notes


def test_joints_outside_the_scene_come_with_their_skin(tmp_path: Path) -> None:
    made = Minimal()
    mesh, skin = made.skinned([2], np.tile([1, 0, 0, 0], (3, 1)))
    made.root["nodes"] = [
        {"name": "body", "mesh": mesh, "skin": skin},
        {"name": "root", "children": [2]},
        {"name": "bone"},
    ]
    made.root["scenes"] = [{"nodes": [0]}]
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().skeleton.names == ("root", "bone")
    assert "trees of joints outside the default scene were read with it (1)" in asset.notes


def test_what_comes_with_a_skin_may_wear_another(tmp_path: Path) -> None:
    made = Minimal()
    mesh, first = made.skinned([2], np.tile([1, 0, 0, 0], (3, 1)))
    second = made.add("skins", {"joints": [4]})
    made.root["nodes"] = [
        {"name": "body", "mesh": mesh, "skin": first},
        {"name": "root", "children": [2, 3]},
        {"name": "bone"},
        {"name": "hat", "mesh": mesh, "skin": second},
        {"name": "pin"},
    ]
    made.root["scenes"] = [{"nodes": [0]}]
    (character,) = gltf.read(made.save(tmp_path)).characters
    assert character.skeleton.names == ("root", "bone", "pin") and len(character.parts) == 2


def test_names_that_cannot_be_printed_are_repaired(tmp_path: Path) -> None:
    nodes = [{"name": "a\ud800b", "extras": {"kept": "\udc00"}}, {"name": "Kopf \u00e4"}]
    asset = gltf.read(forest(tmp_path, nodes))
    assert asset.character().skeleton.names == ("a?b", "Kopf ä")
    gltf.write(asset, tmp_path / "again.gltf")
    assert gltf.read(tmp_path / "again.gltf").character().skeleton.names == ("a?b", "Kopf ä")
