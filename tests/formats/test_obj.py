"""OBJ meshes: every form of a face, seams, materials, and damage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data_folder import data_file, data_files

from understudy.errors import UnderstudyError
from understudy.formats import obj

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
UVS = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
NORMALS = "vn 0 0 1\nvn 0 0 -1\n"


def load(tmp_path, text):
    path = tmp_path / "thing.obj"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return obj.read(path)


def mesh_of(tmp_path, text):
    return load(tmp_path, text).characters[0].parts[0].mesh


@pytest.mark.parametrize(
    ("face", "has_uv", "has_normal"),
    [
        ("1 2 3 4", False, False),
        ("1/1 2/2 3/3 4/4", True, False),
        ("1//1 2//1 3//1 4//1", False, True),
        ("1/1/1 2/2/1 3/3/1 4/4/1", True, True),
        ("1/1/ 2/2/ 3/3/ 4/4/", True, False),
        ("-4 -3 -2 -1", False, False),
        ("-4/-4/-2 -3/-3/-2 -2/-2/-2 -1/-1/-2", True, True),
        ("1/1/1 2/2 3//1 4", True, True),
        ("  1\t2   3 4  # a square", False, False),
        ("1 2 \\\n3 4", False, False),
    ],
)
def test_forms_of_faces(tmp_path, face, has_uv, has_normal):
    mesh = mesh_of(tmp_path, SQUARE + UVS + NORMALS + f"f {face}\n")
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    np.testing.assert_array_equal(mesh.vertices, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert bool(mesh.uvs) == has_uv and (mesh.normals is not None) == has_normal
    if has_uv and "2/2 3//1" not in face:
        np.testing.assert_array_equal(mesh.uvs[0], [[0, 1], [1, 1], [1, 0], [0, 0]])  # v downwards
    if has_normal and "2/2 3//1" not in face:
        np.testing.assert_array_equal(mesh.normals, [[0, 0, 1]] * 4)


def test_negative_indices_count_from_where_the_face_stands(tmp_path):
    mesh = mesh_of(tmp_path, "v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 -1\nv 5 0 0\nv 6 0 0\nv 6 1 0\nf -3 -2 -1\n")
    assert mesh.triangles.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_seams_are_kept_per_corner_and_vertices_are_not_split(tmp_path):
    mesh = mesh_of(tmp_path, SQUARE + UVS + NORMALS + "f 1/1/1 2/2/1 3/3/1\nf 1/4/1 3/2/2 4/4/1\n")
    assert len(mesh.vertices) == 4
    assert mesh.uvs[0].shape == (2, 3, 2) and mesh.normals.shape == (2, 3, 3)
    np.testing.assert_array_equal(mesh.uvs[0][1], [[0, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(mesh.normals[1, :, 2], [1, -1, 1])
    split, origin = mesh.per_vertex()
    np.testing.assert_array_equal(split.vertices, mesh.vertices[origin])


def test_equal_normals_under_two_numbers_are_no_seam(tmp_path):
    mesh = mesh_of(tmp_path, SQUARE + "vn 0 0 1\nvn 0 0 1\nf 1//1 2//1 3//1\nf 1//2 3//2 4//2\n")
    assert mesh.normals.shape == (4, 3)


def test_colours_and_weights_of_vertices(tmp_path):
    colours = mesh_of(tmp_path, "v 0 0 0 1 0 0\nv 1 0 0 0 .5 0\nv 1 1 0 0 0 1\nf 1 2 3\n").colours
    np.testing.assert_allclose(colours, [[1, 0, 0, 1], [0, 0.5, 0, 1], [0, 0, 1, 1]])
    bytes_ = mesh_of(tmp_path, "v 0 0 0 255 0 0\nv 1 0 0 0 51 0\nv 1 1 0 0 0 255\nf 1 2 3\n").colours
    np.testing.assert_allclose(bytes_[1], [0, 0.2, 0, 1])
    assert mesh_of(tmp_path, "v 0 0 0 1.0\nv 1 0 0 1.0\nv 1 1 0 1.0\nf 1 2 3\n").colours is None
    mixed = mesh_of(tmp_path, "v 0 0 0 1 0 0\nv 1 0 0\nv 1 1 0 1\nf 1 2 3\n")
    assert mixed.colours is None
    np.testing.assert_array_equal(mixed.vertices, [[0, 0, 0], [1, 0, 0], [1, 1, 0]])


def test_groups_objects_and_materials_of_each_triangle(tmp_path):
    (tmp_path / "paint.mtl").write_text(
        "newmtl red\nKd 1 0 0\nNs 250\nd 0.5\nmap_Kd -s 1 1 1 skin pic.png\n# note\n"
        "newmtl blue\nKd 0 0 1\nKe 0 1 0\nPm 1\n"
    )
    (tmp_path / "skin pic.png").write_bytes(b"\x89PNG...")
    text = (
        "mtllib paint.mtl\n" + SQUARE + "o box\ng front  side\nf 1 2 3\nusemtl red\nf 1 2 3 4\n"
        "g back\nusemtl blue\nf 1 3 4\nusemtl green\nf 2 3 4\n"
    )
    asset = load(tmp_path, text)
    mesh = asset.characters[0].parts[0].mesh
    assert [m.name for m in mesh.materials] == ["red", "blue", "green", "default"]
    assert list(mesh.material_of) == [3, 0, 0, 1, 2]
    assert mesh.extra["groups"] == ("front side", "back") and list(mesh.extra["group_of"]) == [0, 0, 0, 1, 1]
    assert mesh.extra["objects"] == ("box",) and list(mesh.extra["object_of"]) == [0] * 5
    red, blue = mesh.materials[:2]
    assert red.colour == (1, 0, 0, 0.5) and red.alpha_mode == "BLEND" and red.roughness == pytest.approx(0.5)
    assert red.textures["colour"].image.name == "skin pic.png" and red.textures["colour"].image.mime == "image/png"
    assert blue.colour == (0, 0, 1, 1) and blue.emissive == (0, 1, 0) and blue.metallic == 1
    assert any("'green'" in note for note in asset.notes)


def test_libraries_and_images_stay_within_the_folder(tmp_path):
    (tmp_path / "secret.mtl").write_text("newmtl red\nKd 1 0 0\n")
    (tmp_path / "secret.png").write_bytes(b"secret")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "own.mtl").write_text("newmtl blue\nmap_Kd ../secret.png\nKd x y z\nmap_Bump b.png\n")
    asset = load(inner, "mtllib ../secret.mtl\nmtllib own.mtl\nmtllib gone.mtl\n" + SQUARE + "usemtl blue\nf 1 2 3\n")
    assert asset.characters[0].parts[0].mesh.materials[0].textures == {}
    for word in ("'../secret.mtl' is not beside", "'gone.mtl'", "'../secret.png' is not beside", "map_Bump"):
        assert any(word in note for note in asset.notes), word


def test_other_lines_small_faces_and_size_are_noted(tmp_path):
    asset = load(tmp_path, "v 0 0 0\nv 100 0 0\nv 0 180 0\nl 1 2\ncurv 0 1 1 2\ns off\nf 1 2\nf 1 2 3\n")
    for word in ("1 'l'", "fewer than three", "180 units"):
        assert any(word in note for note in asset.notes), word
    assert len(asset.characters[0].parts[0].mesh.triangles) == 1


def test_points_without_faces(tmp_path):
    mesh = mesh_of(tmp_path, SQUARE)
    assert len(mesh.vertices) == 4 and mesh.triangles.shape == (0, 3)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(tmp_path, end):
    assert len(mesh_of(tmp_path, (SQUARE + "f 1 2 3\n").replace("\n", end)).triangles) == 1


def test_it_hangs_on_one_joint(tmp_path):
    character = load(tmp_path, SQUARE + "f 1 2 3\n").characters[0]
    assert character.skeleton.names == ("root",) and character.parts[0].skin.is_rigid


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "vertices"),
        ("f 1 2 3\n", "vertices"),
        (SQUARE + "v 1 2\n", "line 5"),
        (SQUARE + "v 1 2 x\n", "line 5"),
        (SQUARE + "v 1 2 nan\n", "line 5"),
        (SQUARE + "vn 1 2\n", "line 5"),
        (SQUARE + "f 1 2 5\n", "line 5: a face names v 5"),
        (SQUARE + "f 1 2 0\n", "line 5: a face names v 0"),
        (SQUARE + "f 1 2 -5\n", "line 5: -5 counts back"),
        (SQUARE + "f 1 2 3\nf 1/1 2/1 3/1\n", "line 6: a face names vt 1"),
        (SQUARE + "f 1 2 1000000000\n", "line 5: a face names v 1000000000"),
        (SQUARE + "f 1 2 1e20\n", "beyond any mesh"),
        (SQUARE + "f 1 2 3.5\n", "line 5"),
        (SQUARE + "f 1 2 3/4/5/6\n", "not of the form"),
        (SQUARE + "f a b c\n", "line 5"),
        (b"\x00\x01binary", "binary"),
    ],
)
def test_damage(tmp_path, text, reason):
    with pytest.raises(UnderstudyError, match=reason) as caught:
        load(tmp_path, text)
    assert "thing.obj" in str(caught.value) and "\n" not in str(caught.value)


WHOLE = (
    SQUARE + UVS + NORMALS + "mtllib a.mtl\nusemtl a\no b\ng c\nf 1/1/1 2/2/1 3/3/2\nf -1 -2 -3 -4\nf 1//1 2//2 4//1\n"
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutations_raise_our_errors_only(tmp_path_factory, data):
    content = bytearray(WHOLE.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[at] = data.draw(st.integers(0, 255))
        else:
            del content[at : at + data.draw(st.integers(1, 10))]
        if not content:
            break
    try:
        load(tmp_path_factory.mktemp("fuzz"), bytes(content))
    except UnderstudyError as error:
        assert str(error)


def test_real_face():
    mesh = obj.read(data_file("face_ict/generic_neutral_mesh.obj")).characters[0].parts[0].mesh
    assert len(mesh.vertices) == 26719 and len(mesh.triangles) == 548 + 2 * 25836
    assert len(mesh.materials) == 12
    with np.load(data_file("face_ict/ict_expressions.npz")) as shapes:
        np.testing.assert_allclose(mesh.vertices, shapes["neutral"], atol=1e-4)


@pytest.mark.parametrize("path", data_files("**/*.obj"), ids=lambda path: path.stem)
def test_real_files_load(path):
    character = obj.read(path).characters[0]
    assert character.vertex_count > 10_000 and len(character.triangles) > 10_000
