"""Meshes, skins and transforms as other programs write them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.formats.usd.cases import posed
from tests.formats.usd.scenes import SCENE, changed, write_text

from understudy.formats import read

pytest.importorskip("pxr")

MATERIAL = """
    def Material "Paint"
    {
        token outputs:surface.connect = </Root/Paint/Look.outputs:surface>
        def Shader "Look"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (0.5, 0.25, 1)
            float inputs:opacity = 0.5
            float inputs:roughness = 0.125
            token outputs:surface
        }
    }
    def Mesh "Skin" ("""


def scene(tmp_path, *pairs):
    return read(write_text(tmp_path, changed(*pairs)))


def test_centimetres_and_z_up_move_everything_alike(tmp_path):
    metres = scene(tmp_path)
    turned = scene(tmp_path, ("metersPerUnit = 1", "metersPerUnit = 0.01"), ('upAxis = "Y"', 'upAxis = "Z"'))
    times = np.linspace(0, 1, 7)
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # what was up along z is up along y
    want, have = posed(metres, metres.curves[0], times), posed(turned, turned.curves[0], times)
    np.testing.assert_allclose(have[1], 0.01 * want[1] @ turn.T, atol=1e-8)
    np.testing.assert_allclose(have[0][..., :3, 3], 0.01 * want[0][..., :3, 3] @ turn.T, atol=1e-12)
    np.testing.assert_allclose(have[0][..., :3, :3], turn @ want[0][..., :3, :3] @ turn.T, atol=1e-12)
    np.testing.assert_allclose(turned.characters[0].skeleton.scales, 1)
    assert any("Z up" in note for note in turned.notes) and any("0.01" in note for note in turned.notes)


def test_transforms_above_become_joints_and_move(tmp_path):
    moving = """
    double3 xformOp:translate.timeSamples = { 0: (0,0,0), 24: (3,0,0) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    rel skel:skeleton"""
    still, walking = scene(tmp_path), scene(tmp_path, ("    rel skel:skeleton", moving))
    assert walking.characters[0].skeleton.names == ("Root", "hip", "knee")
    times = np.linspace(0, 1, 5)
    offset = posed(walking, walking.curves[0], times)[1] - posed(still, still.curves[0], times)[1]
    np.testing.assert_allclose(offset, np.broadcast_to(3 * times[:, None, None] * [1, 0, 0], offset.shape), atol=1e-6)


def test_euler_transforms_are_baked_and_noted(tmp_path):
    moving = """
    float xformOp:rotateX.timeSamples = { 0: 0, 24: 300 }
    uniform token[] xformOpOrder = ["xformOp:rotateX"]
    rel skel:skeleton"""
    asset = scene(tmp_path, ("    rel skel:skeleton", moving))
    assert any("baked at 24 frames a second: Root" in note for note in asset.notes)
    turn = posed(asset, asset.curves[0], np.array([0.5]))[0][0, 0]
    np.testing.assert_allclose(
        turn[:3, :3] @ [0, 1, 0], [0, np.cos(np.radians(150)), np.sin(np.radians(150))], atol=1e-6
    )


def test_a_mesh_without_a_skin_hangs_on_its_transform(tmp_path):
    placed = 'double3 xformOp:translate = (5,0,0)\nuniform token[] xformOpOrder = ["xformOp:translate"]'
    asset = scene(
        tmp_path,
        ("int[] primvars:skel:jointIndices", "int[] primvars:other"),
        ("point3f[] points", f"{placed}\npoint3f[] points"),
    )
    part = asset.characters[0].parts[0]
    assert part.skin.is_rigid
    assert asset.characters[0].skeleton.names[part.skin.joints[0]] == "Skin"
    assert posed(asset, asset.curves[0], [0.0])[1][0, :, 0].min() == 5


def test_constant_influences_and_a_subset_of_joints(tmp_path):
    asset = scene(
        tmp_path,
        ('[0, 0, 1, 1] (\n            interpolation = "vertex"', '[0] (\n            interpolation = "constant"'),
        ('[1, 1, 1, 1] (\n            interpolation = "vertex"', '[1] (\n            interpolation = "constant"'),
        ("point3f[] points", 'uniform token[] skel:joints = ["hip/knee"]\npoint3f[] points'),
    )
    skin = asset.characters[0].parts[0].skin
    assert skin.joints.tolist() == [1] and skin.weights.tolist() == [[1]] * 4


def test_left_handed_faces_holes_and_polygons(tmp_path):
    asset = scene(
        tmp_path,
        ("[4]", "[4, 3, 5]"),
        ("[0, 1, 2, 3]", "[0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0]"),
        ("point3f[] points", 'uniform token orientation = "leftHanded"\nint[] holeIndices = [1]\npoint3f[] points'),
    )
    triangles = asset.characters[0].parts[0].mesh.triangles
    assert triangles[:2].tolist() == [[0, 2, 1], [0, 3, 2]] and len(triangles) == 5
    assert {"holes", "polygons"} <= {word for note in asset.notes for word in note.split()}


@pytest.mark.parametrize(
    ("interpolation", "values", "shape"),
    [
        ("vertex", "[(0,0), (1,0), (1,1), (0,1)]", (4, 2)),
        ("faceVarying", "[(0,0), (1,0), (1,1), (0,1)]", (2, 3, 2)),
        ("uniform", "[(0.5,0.25)]", (2, 3, 2)),
        ("constant", "[(0.5,0.25)]", (4, 2)),
    ],
)
def test_uvs_of_every_interpolation(tmp_path, interpolation, values, shape):
    uv = f'texCoord2f[] primvars:st = {values} (\n interpolation = "{interpolation}"\n)\npoint3f[] points'
    mesh = scene(tmp_path, ("point3f[] points", uv)).characters[0].parts[0].mesh
    assert mesh.uvs[0].shape == shape
    assert mesh.uvs[0].reshape(-1, 2)[0].tolist() in ([0, 1], [0.5, 0.75])  # v points down


def test_indexed_colours_and_values_that_do_not_fit(tmp_path):
    extra = """color3f[] primvars:displayColor = [(1,0,0), (0,1,0)] (
            interpolation = "vertex"
        )
        int[] primvars:displayColor:indices = [0, 1, 1, 0]
        normal3f[] normals = [(0,0,1)] (
            interpolation = "vertex"
        )
        point3f[] points"""
    asset = scene(tmp_path, ("point3f[] points", extra))
    mesh = asset.characters[0].parts[0].mesh
    assert mesh.colours[:, 1].tolist() == [0, 1, 1, 0] and mesh.normals is None
    assert any(note.startswith("normals that do not fit") for note in asset.notes)


def test_materials_of_the_whole_and_of_faces(tmp_path):
    bound = """rel material:binding = </Root/Paint>
        point3f[] points"""
    api = (
        'def Mesh "Skin" (\n        prepend apiSchemas = ["SkelBindingAPI"]',
        'def Mesh "Skin" (\n        prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"]',
    )
    asset = scene(tmp_path, api, ('    def Mesh "Skin" (', MATERIAL), ("point3f[] points", bound))
    material = asset.characters[0].parts[0].mesh.materials[0]
    assert (material.name, material.colour, material.alpha_mode) == ("Paint", (0.5, 0.25, 1.0, 0.5), "BLEND")
    assert material.roughness == 0.125


def test_weights_that_do_not_sum_to_one_are_normalised(tmp_path):
    asset = scene(tmp_path, ("[1, 1, 1, 1] (", "[0.5, 1, 1, 2] ("))
    assert asset.characters[0].parts[0].skin.weights.tolist() == [[1]] * 4
    assert any("normalised: Skin (2 vertices)" in note for note in asset.notes)


def test_several_skel_roots_are_several_characters(tmp_path):
    second = SCENE.split("\n)\n", 1)[1].replace("/Root", "/Twin").replace('"Root"', '"Twin"')
    asset = read(write_text(tmp_path, SCENE + second))
    assert [character.name for character in asset.characters] == ["Root", "Twin"]
    assert len(asset.curves) == 1  # the same motion under the same name


def test_shapes_may_be_sparse_and_have_in_betweens(tmp_path):
    shapes = """uniform token[] skel:blendShapes = ["smile"]
        rel skel:blendShapeTargets = [</Root/Skin/smile>]
        def BlendShape "smile"
        {
            uniform int[] pointIndices = [1, 3]
            uniform vector3f[] offsets = [(1,0,0), (0,1,0)]
            uniform vector3f[] inbetweens:half = [(0,0,1), (0,0,0)] (
                weight = 0.5
            )
        }
        point3f[] points"""
    found = scene(tmp_path, ("point3f[] points", shapes)).characters[0].parts[0].mesh.shapes
    assert found.names == ("smile",) and found.stop_of.tolist() == [1, 0.5]
    assert found.deltas[0].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert found.deltas[1, 1].tolist() == [0, 0, 1]
