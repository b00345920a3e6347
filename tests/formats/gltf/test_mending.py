"""Small faults of files are mended and noted; the rest of the file is read as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data_folder import field_file
from tests.formats.gltf.minimal import TRIANGLE, Minimal, one_triangle

from understudy import formats
from understudy.character.mesh import nearest_sound_vertices
from understudy.character.rig import DirectRig
from understudy.formats import gltf, read

# Two triangles that share the edge 1-2, and one far away that repeats vertex 3 at the same place (a seam).
VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1.2, 0], [1, 1.2, 0], [2, 1, 0], [2, 2, 0]], np.float32)
TRIANGLES = np.array([[0, 1, 2], [2, 1, 3], [4, 5, 6]])


def strip(weights: Any, influences: Any = None, joints: tuple[int, ...] = (1, 2), **fields: Any) -> Minimal:
    """The three triangles above on two joints, one above the other."""
    made = Minimal()
    mesh = made.mesh(VERTICES)
    primitive = made.root["meshes"][mesh]["primitives"][0]
    primitive["indices"] = made.accessor(TRIANGLES.reshape(-1), "SCALAR", np.uint16)
    influences = np.tile([0, 1, 0, 0], (len(VERTICES), 1)) if influences is None else influences
    primitive["attributes"]["JOINTS_0"] = made.accessor(influences, "VEC4", np.uint8)
    primitive["attributes"]["WEIGHTS_0"] = made.accessor(weights, "VEC4")
    skin = made.add("skins", {"joints": list(joints), **fields})
    made.root["nodes"] = [{"mesh": mesh, "skin": skin}, {"children": [2]}, {"translation": [0, 1, 0]}]
    return made


def shares(height: Any) -> np.ndarray:
    """(V, 4) weights of two joints by a share."""
    height = np.asarray(height, float)
    return np.stack([1 - height, height, 0 * height, 0 * height], axis=1)


def test_weights_that_are_no_numbers_are_borrowed(tmp_path: Path) -> None:
    weights = shares([0, 0.25, 0.5, 0.75, 0, 1, 1])
    weights[[2, 4]] = np.nan
    asset = gltf.read(strip(weights).save(tmp_path))
    skin = asset.character().parts[0].skin
    # vertex 2 from 3, its nearest neighbour by an edge; vertex 4 from vertex 3, which is at its place
    np.testing.assert_allclose(skin.weights[:, 1], [0, 0.25, 0, 0.75, 0.75, 1, 1])
    place = "meshes[0].primitives[0].attributes.WEIGHTS_0"
    assert f"vertices of {place} without sound weights got those of their neighbours (2)" in asset.notes


def test_neighbours_are_those_along_the_edges(tmp_path: Path) -> None:
    """Two fingers side by side: the other finger is nearer in space, the own one along the edges."""
    finger = np.array([[0, 0, 0], [0.2, 0, 0], [0, 1, 0], [0.2, 1, 0], [0, 2, 0]], float)
    triangles = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4]])
    vertices = np.concatenate([finger, finger + np.array([0.3, 0, 0])])
    broken = np.zeros(10, bool)
    broken[[2, 3, 4]] = True
    donors = nearest_sound_vertices(vertices, np.concatenate([triangles, triangles + 5]), broken)
    assert set(donors) <= {0, 1}
    alone = nearest_sound_vertices(vertices, triangles[:0], broken)
    assert set(alone) <= {7, 8, 9}


def test_a_mesh_without_any_sound_weight_is_read(tmp_path: Path) -> None:
    asset = gltf.read(strip(np.full((7, 4), np.nan)).save(tmp_path))
    assert (asset.character().parts[0].skin.weights.sum(axis=1) == 1).all()
    assert any("skin auto" in note for note in asset.notes)


def test_weights_on_joints_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    influences = np.tile([0, 1, 0, 0], (7, 1))
    influences[1, 1] = influences[5, 1] = 9
    asset = gltf.read(strip(shares([0, 0.25, 0.5, 0.75, 0, 1, 1]), influences).save(tmp_path))
    skin = asset.character().parts[0].skin
    on_second = np.where(skin.influences == 1, skin.weights, 0).sum(axis=1)
    np.testing.assert_allclose(on_second, [0, 0, 0.5, 0.75, 0, 1, 1])  # vertex 5 has none left and borrows from 6
    place = "meshes[0].primitives[0].attributes.JOINTS_0"
    assert f"weights of {place} on joints that do not exist were left out (2)" in asset.notes


def test_a_joint_that_a_skin_names_twice_counts_once(tmp_path: Path) -> None:
    influences = np.tile([0, 2, 0, 0], (7, 1))
    asset = gltf.read(strip(shares(np.full(7, 0.5)), influences, joints=(1, 2, 1)).save(tmp_path))
    skin = asset.character().parts[0].skin
    assert skin.joints.tolist() == [0, 1] and (skin.influences == 0).all()
    assert "skins[0].joints names a node twice; its first bind matrix counts" in asset.notes
    gltf.write(asset, tmp_path / "again.glb")
    assert not [note for note in read(tmp_path / "again.glb").notes if "twice" in note]


@pytest.mark.parametrize("fault", ["missing", "nan"])
def test_bind_matrices_come_from_the_rest_pose(tmp_path: Path, fault: str) -> None:
    made = strip(shares(np.ones(7)))
    matrices = np.stack([np.eye(4), np.full((4, 4), np.nan)])[: 1 if fault == "missing" else 2]
    made.root["skins"][0]["inverseBindMatrices"] = made.accessor(matrices.reshape(-1, 16), "MAT4")
    asset = gltf.read(made.save(tmp_path))
    rig = DirectRig(asset.character())
    np.testing.assert_allclose(rig.vertices(rig.rest[None])[0], VERTICES, atol=1e-7)
    assert any(note.startswith("skins[0].inverseBindMatrices: matrices") for note in asset.notes)


def test_vertices_without_a_place_are_hidden(tmp_path: Path) -> None:
    made = Minimal()
    positions = VERTICES.copy()
    positions[6, 1] = np.nan
    mesh = made.mesh(positions)
    made.root["meshes"][mesh]["primitives"][0]["indices"] = made.accessor(TRIANGLES.reshape(-1), "SCALAR", np.uint16)
    made.add("nodes", {"mesh": mesh})
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().triangles.tolist() == TRIANGLES[:2].tolist()
    assert asset.character().vertex_count == len(VERTICES)  # numbers of vertices mean the same as in the file
    assert "vertices of accessors[0] whose position is no number were hidden (1)" in asset.notes


def test_triangles_of_vertices_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    made = one_triangle()
    primitive = made.root["meshes"][0]["primitives"][0]
    primitive["indices"] = made.accessor([0, 1, 2, 0, 2, 300], "SCALAR", np.uint16)
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().triangles.tolist() == [[0, 1, 2]]
    place = "meshes[0].primitives[0].indices"
    assert f"triangles of {place} with vertices that do not exist were left out (1)" in asset.notes


def test_attributes_of_another_length_are_left_out(tmp_path: Path) -> None:
    made = one_triangle()
    primitive = made.root["meshes"][0]["primitives"][0]
    primitive["attributes"]["NORMAL"] = made.accessor(VERTICES, "VEC3")
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().parts[0].mesh.normals is None
    assert any("attributes.NORMAL has 7 elements" in note for note in asset.notes)


@pytest.mark.parametrize(("weights", "expected"), [([1], [1, 0, 0]), ([1, 2, 3, 4], [1, 2, 3])])
def test_default_weights_of_another_number_are_cut_or_filled(tmp_path: Path, weights: list, expected: list) -> None:
    made = Minimal()
    made.mesh(targets=[TRIANGLE] * 3, weights=weights)
    made.add("nodes", {"mesh": 0})
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().parts[0].mesh.shapes.defaults.tolist() == expected
    assert any("meshes[0].weights" in note for note in asset.notes)


def test_nodes_without_a_rotation_are_not_turned(tmp_path: Path) -> None:
    made = one_triangle()
    made.root["nodes"][0]["rotation"] = [0, 0, 0, 0]
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().skeleton.rotations.tolist() == [[0, 0, 0, 1]]
    assert any("nodes[0].rotation" in note for note in asset.notes)


def test_joints_without_size_are_posed_and_written(tmp_path: Path) -> None:
    made = strip(shares(np.linspace(0, 1, 7)))
    made.root["nodes"][2]["scale"] = [0, 0, 0]
    made.animate(2, "scale", made.sampler([0, 1], [[0, 0, 0], [1, 1, 1]], "VEC3"))
    asset = gltf.read(made.save(tmp_path))
    rig = DirectRig(asset.character())
    vertices = rig.vertices(rig.pose(asset.animations[0], np.array([0.0, 0.5, 1.0])))
    assert np.isfinite(vertices).all()
    for name in ("again.glb", "again.bvh"):
        formats.write(asset, tmp_path / name)
        assert len(read(tmp_path / name).character().skeleton) == len(asset.character().skeleton)


@pytest.mark.parametrize("frames", [0, 1])
def test_empty_and_one_frame_clips_are_no_fault(tmp_path: Path, frames: int) -> None:
    made = one_triangle()
    made.animate(0, "translation", made.sampler([0, 1], np.zeros((2, 3)), "VEC3"), name="sound")
    made.animate(0, "translation", made.sampler(np.zeros(frames), np.ones((frames, 3)), "VEC3"), name="short")
    made.add("animations", {"name": "empty", "channels": [], "samplers": []})
    asset = gltf.read(made.save(tmp_path))
    assert [animation.name for animation in asset.animations] == ["sound", "short"][: 1 + frames]
    assert "animation 'empty' moves nothing that was read and was left out" in asset.notes


def test_the_wasp_opens() -> None:
    """12 of its 21,692 weights are NaN, of three vertices at one place: they move with the vertices around them."""
    asset = read(field_file("glb/Wasp.glb"))
    notes = [note for note in asset.notes if "sound weights" in note]
    assert len(notes) == 2 and all(note.endswith("got those of their neighbours (3)") for note in notes)
    character = asset.character()
    rig = DirectRig(character)
    animation = asset.animations[0]
    vertices = rig.vertices(rig.pose(animation, animation.start + np.linspace(0, animation.duration, 5)))
    edges = np.concatenate([character.triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    rest = rig.vertices(rig.rest[None])[0]
    length, moving = (
        np.linalg.norm(v[..., edges[:, 0], :] - v[..., edges[:, 1], :], axis=-1) for v in (rest, vertices)
    )
    size = np.ptp(rest, axis=0).max()
    assert (moving - length).max() < 0.2 * size  # no spike to another joint
