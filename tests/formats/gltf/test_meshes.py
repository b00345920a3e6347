"""Meshes: primitives, triangles of every mode, attributes, morph targets, shared vertices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.formats.gltf.minimal import TRIANGLE, Minimal, one_triangle

from understudy.character import Mesh
from understudy.errors import BadFile
from understudy.formats import gltf

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]], np.float32)


def meshes(made: Minimal, folder: Path) -> list[Mesh]:
    if "nodes" not in made.root:
        made.add("nodes", {"mesh": 0})
    return [part.mesh for part in gltf.read(made.save(folder)).character().parts]


def test_without_indices_every_three_vertices_are_a_triangle(tmp_path: Path) -> None:
    made = Minimal()
    made.mesh(np.concatenate([TRIANGLE, TRIANGLE, TRIANGLE[:1]]))
    made.add("nodes", {"mesh": 0})
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().triangles.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert "triangles with fewer than three corners were left out (1)" in asset.notes


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_strips_and_fans(tmp_path: Path, dtype: type) -> None:
    expected = {
        4: [[0, 1, 2]],
        5: [[0, 1, 2], [1, 3, 2], [2, 3, 4]],  # the second is turned round, so that all face one way
        6: [[1, 2, 0], [2, 3, 0], [3, 4, 0]],
    }
    for mode, triangles in expected.items():
        made = Minimal()
        made.mesh(SQUARE)
        corners = [0, 1, 2] if mode == 4 else [0, 1, 2, 3, 4]
        made.root["meshes"][0]["primitives"][0] |= {"mode": mode, "indices": made.accessor(corners, "SCALAR", dtype)}
        assert meshes(made, tmp_path)[0].triangles.tolist() == triangles


def test_a_strip_turns_with_triangles_of_no_area(tmp_path: Path) -> None:
    made = Minimal()
    made.mesh(SQUARE)
    corners = made.accessor([0, 1, 2, 2, 3, 4], "SCALAR", np.uint8)
    made.root["meshes"][0]["primitives"][0] |= {"mode": 5, "indices": corners}
    assert meshes(made, tmp_path)[0].triangles.tolist() == [[0, 1, 2], [2, 4, 3]]


def test_points_and_lines_are_noted(tmp_path: Path) -> None:
    made = one_triangle()
    for mode in range(4):
        primitive = {"attributes": {"POSITION": made.accessor(SQUARE, "VEC3")}, "mode": mode}
        made.root["meshes"][0]["primitives"].append(primitive)
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().vertex_count == 3
    assert "primitives of points or lines were left out (4)" in asset.notes


def test_attributes(tmp_path: Path) -> None:
    made = one_triangle()
    attributes = made.root["meshes"][0]["primitives"][0]["attributes"]
    rng = np.random.default_rng(1)
    normals, tangents = rng.random((3, 3), np.float32), rng.random((3, 4), np.float32)
    uvs = [rng.random((3, 2), np.float32) for _ in range(3)]
    attributes |= {"NORMAL": made.accessor(normals, "VEC3"), "TANGENT": made.accessor(tangents, "VEC4")}
    attributes |= {f"TEXCOORD_{i}": made.accessor(uv, "VEC2") for i, uv in enumerate(uvs)}
    attributes["COLOR_0"] = made.accessor([[255, 0, 51]] * 3, "VEC3", np.uint8, normalized=True)
    attributes["COLOR_1"] = made.accessor(tangents, "VEC4")
    attributes["_HEAT"] = made.accessor([1, 2, 3], "SCALAR")
    asset = gltf.read(made.save(tmp_path))
    mesh = asset.character().parts[0].mesh
    assert mesh.normals is not None and (mesh.normals == normals).all()
    assert mesh.tangents is not None and (mesh.tangents == tangents).all()
    assert all((a == b).all() for a, b in zip(mesh.uvs, uvs, strict=True))
    assert mesh.colours is not None
    np.testing.assert_allclose(mesh.colours[0], [1, 0, 0.2, 1], atol=1e-7)
    assert {"the vertex attribute COLOR_1 was left out", "the vertex attribute _HEAT was left out"} <= set(asset.notes)


def test_broken_uvs_become_zero(tmp_path: Path) -> None:
    made = one_triangle()
    uv = made.accessor([[np.nan, 1], [2, np.inf], [3, 4]], "VEC2")
    made.root["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = uv
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().parts[0].mesh.uvs[0].tolist() == [[0, 1], [2, 0], [3, 4]]
    assert "values of TEXCOORD_0 that are not finite were set to zero (2)" in asset.notes


def test_one_mesh_a_primitive_and_shared_vertices_once(tmp_path: Path) -> None:
    made = Minimal(materials=[{"name": "red"}, {"name": "blue"}])
    shared, own = made.accessor(SQUARE, "VEC3"), made.accessor(TRIANGLE, "VEC3")
    first, second = made.accessor([0, 1, 2], "SCALAR", np.uint8), made.accessor([1, 3, 2, 2, 3, 4], "SCALAR", np.uint8)
    primitives = [
        {"attributes": {"POSITION": shared}, "indices": first, "material": 1},
        {"attributes": {"POSITION": own}, "material": 0},
        {"attributes": {"POSITION": shared}, "indices": second, "material": 0},
    ]
    made.add("meshes", {"primitives": primitives, "name": "quilt"})
    both, single = meshes(made, tmp_path)
    assert len(both.vertices) == 5 and both.triangles.tolist() == [[0, 1, 2], [1, 3, 2], [2, 3, 4]]
    assert [m.name for m in both.materials] == ["blue", "red"]
    assert both.material_of is not None and both.material_of.tolist() == [0, 1, 1]
    assert len(single.vertices) == 3 and single.material_of is None and single.materials[0].name == "red"
    assert both.name == single.name == "quilt"


def test_morph_targets_names_and_defaults(tmp_path: Path) -> None:
    made = Minimal()
    targets = [TRIANGLE * 2, TRIANGLE - 1, TRIANGLE + 1]
    made.mesh(targets=targets, weights=[0.5, 0, 1], extras={"targetNames": ["smile", "smile", 7], "kept": [1]})
    made.add("nodes", {"mesh": 0})
    made.add("nodes", {"mesh": 0, "weights": [0, 0.25, 0]})
    first, second = meshes(made, tmp_path)
    assert first.shapes is not None and second.shapes is not None
    assert first.shapes.names == ("smile", "smile_1", "shape_2")
    assert (first.shapes.deltas == np.array(targets)).all() and first.shapes.normals is None
    assert first.shapes.defaults.tolist() == [0.5, 0, 1] and second.shapes.defaults.tolist() == [0, 0.25, 0]
    assert first.extra == {"extras": {"kept": [1]}}


def test_morph_targets_may_leave_out_attributes(tmp_path: Path) -> None:
    made = one_triangle()
    primitive = made.root["meshes"][0]["primitives"][0]
    delta = made.accessor(TRIANGLE, "VEC3")
    primitive["targets"] = [{"NORMAL": delta}, {"POSITION": delta, "TANGENT": delta}]
    asset = gltf.read(made.save(tmp_path))
    shapes = asset.character().parts[0].mesh.shapes
    assert shapes is not None and shapes.normals is not None
    assert not shapes.deltas[0].any() and (shapes.normals[0] == TRIANGLE).all()
    assert (shapes.deltas[1] == TRIANGLE).all() and not shapes.normals[1].any()
    assert "morph targets of TANGENT were left out" in asset.notes


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"attributes": {"POSITION": 9}}, "meshes[0].primitives[0].attributes.POSITION"),
        ({"attributes": {"POSITION": "0"}}, "meshes[0].primitives[0].attributes.POSITION"),
        ({"attributes": 3}, "meshes[0].primitives[0].attributes"),
        ({"indices": 0}, "meshes[0].primitives[0].indices"),
        ({"indices": 1}, "meshes[0].primitives[0].indices"),
        ({"indices": -1}, "meshes[0].primitives[0].indices"),
        ({"mode": 7}, "meshes[0].primitives[0].mode"),
        ({"material": 0}, "meshes[0].primitives[0].material"),
        ({"targets": 4}, "meshes[0].primitives[0].targets"),
    ],
)
def test_damage_is_named(tmp_path: Path, change: dict, place: str) -> None:
    made = one_triangle()
    made.accessor([0, 1, 3], "SCALAR", np.uint8)
    made.accessor(SQUARE, "VEC3")
    made.root["meshes"][0]["primitives"][0].update(change)
    with pytest.raises(BadFile) as caught:
        gltf.read(made.save(tmp_path))
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("mesh", "node", "place"),
    [
        ({"primitives": []}, {}, "meshes[0].primitives"),
        ({"weights": ["a", 1, 2]}, {}, "meshes[0].weights[0]"),
    ],
)
def test_damaged_meshes_are_named(tmp_path: Path, mesh: dict, node: dict, place: str) -> None:
    made = Minimal()
    made.mesh(targets=[TRIANGLE] * 3)
    made.root["meshes"][0].update(mesh)
    made.add("nodes", {"mesh": 0, **node})
    with pytest.raises(BadFile) as caught:
        gltf.read(made.save(tmp_path))
    assert caught.value.place == place


def test_a_mesh_on_many_nodes_is_held_once(tmp_path: Path) -> None:
    made = one_triangle()
    made.root["nodes"] = [{"mesh": 0} for _ in range(50)]
    made.root["scenes"][0]["nodes"] = list(range(50))
    parts = gltf.read(made.save(tmp_path)).character().parts
    assert len({id(part.mesh) for part in parts}) == 1
    assert [int(part.skin.joints[0]) for part in parts] == list(range(50))
    assert len({part.name for part in parts}) == 50


def test_names_of_shapes_may_be_with_the_primitive(tmp_path: Path) -> None:
    """Files of VRM 0 have them there."""
    made = Minimal()
    mesh = made.mesh(targets=[TRIANGLE, TRIANGLE])
    made.root["meshes"][mesh]["primitives"][0]["extras"] = {"targetNames": ["blink", "smile"]}
    made.add("nodes", {"mesh": mesh})
    assert gltf.read(made.save(tmp_path)).character().parts[0].mesh.shapes.names == ("blink", "smile")
