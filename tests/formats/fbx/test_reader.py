"""Reading: space and units, layers, meshes, textures, skins and shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.formats.fbx.scenes import FbxFile, keys
from tests.fuzz.seeds import PIXEL

from understudy.character import kinematics
from understudy.character.rig import DirectRig
from understudy.errors import BadFile
from understudy.formats import read
from understudy.formats.fbx.document import FbxNode
from understudy.formats.fbx.scene import entry, leaf, matrix, properties

Z_UP = {"UpAxis": 2, "UpAxisSign": 1, "FrontAxis": 1, "FrontAxisSign": -1, "CoordAxis": 0, "CoordAxisSign": 1}


def positions(path: Path) -> dict[str, np.ndarray]:
    skeleton = read(path).character().skeleton
    world = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    world = world[:, :3, 3]
    return dict(zip(skeleton.names, world))


def test_units_and_axes_become_metres_with_y_up(tmp_path: Path) -> None:
    file = FbxFile(UnitScaleFactor=2.54, **Z_UP)  # inches
    root = file.model("root", T=(1.0, 2.0, 3.0), R=(0.0, 0.0, 90.0))
    file.model("child", root, T=(10.0, 0.0, 0.0))
    placed = positions(file.save(tmp_path / "inches.fbx"))
    assert placed["root"] == pytest.approx(np.array([1.0, 3.0, -2.0]) * 0.0254)
    assert placed["child"] == pytest.approx(np.array([1.0, 3.0, -12.0]) * 0.0254)


def test_the_scale_by_which_blender_turns_metres_into_centimetres_goes(tmp_path: Path) -> None:
    file = FbxFile(UnitScaleFactor=1.0)
    root = file.model("Armature", T=(100.0, 0.0, 0.0), R=(-90.0, 0.0, 0.0), S=(100.0,) * 3)
    bone = file.model("Bone", root, T=(0.0, 0.0, 2.0))
    (layer,) = file.stack("take")
    file.curves(layer, root, "Lcl Translation", {"X": keys((0.0, 1.0), (0.0, 300.0))}, Y=0.0, Z=0.0)
    file.curves(layer, bone, "Lcl Translation", {"Z": keys((0.0, 1.0), (2.0, 4.0))}, X=0.0, Y=0.0)
    asset = read(file.save(tmp_path / "blender.fbx"))
    skeleton = asset.character().skeleton
    assert skeleton.scales == pytest.approx(1.0)
    assert skeleton.translations == pytest.approx(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]))
    rig = DirectRig(asset.character())
    assert rig.joints(rig.pose(asset.curves[0], [1.0]))[0, 1, :3, 3] == pytest.approx([3.0, 4.0, 0.0])


def test_curves_of_a_turned_root_follow_the_axes(tmp_path: Path) -> None:
    file = FbxFile(UnitScaleFactor=100.0, **Z_UP)
    root = file.model("root")
    (layer,) = file.stack("take")
    columns = {name: keys((0.0, 1.0), (0.0, end)) for name, end in (("X", 1.0), ("Y", 2.0), ("Z", 3.0))}
    file.curves(layer, root, "Lcl Translation", columns)
    file.curves(layer, root, "Lcl Rotation", {"Z": keys((0.0, 1.0), (0.0, 90.0))}, X=0.0, Y=0.0)
    asset = read(file.save(tmp_path / "turned.fbx"))
    moves = next(curve for curve in asset.curves[0].curves if curve.channel.kind == "translation")
    assert moves.times.tolist() == [0.0, 1.0]  # a curve as it was
    rig = DirectRig(asset.character())
    end = rig.joints(rig.pose(asset.curves[0], [1.0]))[0, 0]
    assert end[:3, 3] == pytest.approx([1.0, 3.0, -2.0])
    assert end[:3, :3] @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 0.0, -1.0], abs=1e-6)  # x goes to the file's y


def test_layers_add_up(tmp_path: Path) -> None:
    file = FbxFile()
    node = file.model("node", T=(9.0, 0.0, 0.0))
    layers = file.stack("take", {}, {"BlendMode": 0, "Weight": 50.0}, {"BlendMode": 2, "Weight": 25.0})
    for layer, start in zip(layers, (0.0, 1.0, 2.0)):
        file.curves(layer, node, "Lcl Translation", {"X": keys((0.0, 1.0), (start, start + 3))}, Y=1.0, Z=0.5)
        file.curves(layer, node, "Lcl Scaling", {"X": keys((0.0, 1.0), (start + 1, start + 3))}, Y=1.0, Z=0.5)
    asset = read(file.save(tmp_path / "layers.fbx"))
    rig = DirectRig(asset.character())
    end = rig.joints(rig.pose(asset.curves[0], [0.0, 1.0]))[:, 0]
    assert end[:, :3, 3] == pytest.approx(np.array([[0.875, 1.375, 0.6875], [5.0, 1.375, 0.6875]]))  # as ufbx gives
    scales = [(1.0 * 2**0.5) ** 0.75 * 3**0.25, (3.0 * 4**0.5) ** 0.75 * 5**0.25]
    assert end[:, 0, 0] == pytest.approx(scales)


def test_angles_that_jump_between_frames_do_not_spin_the_joint(tmp_path: Path) -> None:
    file = FbxFile()
    node = file.model("node")
    (layer,) = file.stack("take")
    times = np.arange(3) / 24
    # the second frame is the first, turned by 2 degrees, in other angles: x + 180, 180 - y, z + 180
    columns = {"X": (10.0, 192.0, 14.0), "Y": (20.0, 160.0, 20.0), "Z": (30.0, 210.0, 30.0)}
    file.curves(layer, node, "Lcl Rotation", {name: keys(times, values) for name, values in columns.items()})
    asset = read(file.save(tmp_path / "jump.fbx"))
    rig = DirectRig(asset.character())
    posed = rig.joints(rig.pose(asset.curves[0], np.linspace(0, times[-1], 33)))[:, 0, :3, :3]
    steps = np.einsum("fij,fij->f", posed[1:], posed[:-1])
    assert np.degrees(np.arccos(np.clip((steps - 1) / 2, -1, 1))).max() < 0.2


def mesh_file(weights: tuple[float, float] = (0.5, 0.5), **video: object) -> FbxFile:
    """A square of two triangles' worth, half on each of two bones, with UVs, colours, a texture and two shapes."""
    file = FbxFile()
    bones = [file.model("left"), file.model("right", T=(1.0, 0.0, 0.0))]
    model = file.add("Model", "square", "Mesh", [properties(entry("InheritType", 1))])
    file.connect(model, 0)

    def layer(kind: str, mapping: str, reference: str, *data: FbxNode) -> FbxNode:
        head = [leaf("MappingInformationType", mapping), leaf("ReferenceInformationType", reference)]
        return FbxNode(f"LayerElement{kind}", [0], [*head, *data])

    geometry = file.add(
        "Geometry",
        "square",
        "Mesh",
        [
            leaf("Vertices", np.array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0], np.float64)),
            leaf("PolygonVertexIndex", np.array([0, 1, 2, -4], np.int32)),
            layer("Normal", "ByVertice", "Direct", leaf("Normals", np.tile([0.0, 0, 1], 4))),
            layer(
                "UV",
                "ByPolygonVertex",
                "IndexToDirect",
                leaf("UV", np.array([0, 0, 1, 0, 1, 1.0])),
                leaf("UVIndex", np.array([0, 1, 2, 0], np.int32)),
            ),
            layer("Color", "ByPolygon", "Direct", leaf("Colors", np.array([1.0, 0.5, 0, 1]))),
        ],
    )
    file.connect(geometry, model)
    material = file.add("Material", "paint", "", [properties(entry("DiffuseColor", 0.5, 0.25, 0.125, kind="colour"))])
    file.connect(material, model)
    if video:
        texture = file.add("Texture", "picture", "", [])
        file.connect(texture, material, "DiffuseColor")
        file.connect(file.add("Video", "picture", "Clip", [leaf(k, v) for k, v in video.items()]), texture)
    skin = file.add("Deformer", "skin", "Skin", [])
    file.connect(skin, geometry)
    for i, bone in enumerate(bones):
        children = [
            leaf("Indexes", np.array([0, 3] if i == 0 else [1, 2], np.int32)),
            leaf("Weights", np.array(weights) if i == 0 else np.full(2, 0.5)),  # not 1: to be normalised
            matrix("Transform", np.linalg.inv(np.array([[1, 0, 0, i], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))),
        ]
        cluster = file.add("Deformer", f"c{i}", "Cluster", children, "SubDeformer")
        file.connect(cluster, skin)
        file.connect(bone, cluster)
    shapes = file.add("Deformer", "face", "BlendShape", [])
    file.connect(shapes, geometry)
    fields = [leaf("FullWeights", np.array([50.0, 100.0])), properties(entry("DeformPercent", 25.0))]
    channel = file.add("Deformer", "face.smile", "BlendShapeChannel", fields, "SubDeformer")
    file.connect(channel, shapes)
    for height in (1.0, 4.0):
        offset = [leaf("Indexes", np.array([2], np.int32)), leaf("Vertices", np.array([0, 0, height]))]
        file.connect(file.add("Geometry", "target", "Shape", offset), channel)
    (layer_number,) = file.stack("take")
    file.curves(layer_number, channel, "DeformPercent", {"DeformPercent": keys((0.0, 1.0), (0.0, 100.0))})
    return file


def test_weights_that_are_no_numbers_are_borrowed(tmp_path: Path) -> None:
    """A vertex without a usable weight moves with its nearest neighbour, not with the mesh's own node."""
    for weight in (np.nan, -1.0, np.inf):
        asset = read(mesh_file((0.5, weight)).save(tmp_path / "mesh.fbx"))
        part = asset.character().parts[0]
        assert asset.character().skeleton.names[:2] == ("left", "right")
        assert part.skin.weights.sum(axis=1) == pytest.approx(1.0)
        own, *neighbours = ([*part.skin.influences[v], *part.skin.weights[v]] for v in (3, 0, 2))
        assert own in neighbours
        assert any("neighbours (1)" in note for note in asset.notes)


def test_a_mesh_with_everything(tmp_path: Path) -> None:
    asset = read(mesh_file(Content=PIXEL, RelativeFilename="pictures\\paint.png").save(tmp_path / "mesh.fbx"))
    character = asset.character()
    part = character.parts[0]
    mesh = part.mesh
    assert character.skeleton.names == ("left", "right")  # the mesh's own node has no effect
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.uvs[0][0].tolist() == [[0, 1], [1, 1], [1, 0]]
    assert mesh.colours is not None and mesh.colours[0, 0] == pytest.approx([1, 0.21404, 0, 1], abs=1e-4)
    texture = mesh.material().textures["colour"]
    assert (texture.image.name, texture.image.mime, texture.image.data) == ("paint.png", "image/png", PIXEL)
    assert part.skin.weights == pytest.approx(1.0)
    assert mesh.shapes is not None and mesh.shapes.names == ("smile",)
    assert mesh.shapes.defaults.tolist() == [0.25] and mesh.shapes.stop_of.tolist() == [0.5, 1.0]
    rig = DirectRig(character)
    heights = rig.vertices(rig.pose(asset.curves[0], [0.0, 0.25, 0.5, 0.75, 1.0]))[:, 2, 2]
    assert heights == pytest.approx([0.0, 0.5, 1.0, 2.5, 4.0])


def test_pictures_are_read_beside_the_file_and_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(PIXEL)
    (folder / "near.png").write_bytes(PIXEL)
    for name, size in (("near.png", len(PIXEL)), ("C:\\work\\near.png", len(PIXEL)), ("../secret.png", 0)):
        asset = read(mesh_file(RelativeFilename=name).save(folder / "mesh.fbx"))
        image = asset.character().parts[0].mesh.material().textures["colour"].image
        assert len(image.data) == size, name
        assert bool(size) != any("not found beside the file" in note for note in asset.notes)


def test_vertices_without_weights_hang_on_the_node_of_their_mesh(tmp_path: Path) -> None:
    file = mesh_file()
    clusters = [node for node in file.objects if node.properties[2] == "Cluster"]
    clusters[1].children[0].properties[0] = np.array([1, 1], np.int32)
    asset = read(file.save(tmp_path / "bare.fbx"))
    character = asset.character()
    assert character.skeleton.names == ("left", "right", "square")
    rig = DirectRig(character)
    assert rig.vertices(rig.rest[None])[0, 2] == pytest.approx([1.0, 1.0, 0.5])


def test_a_polygon_beyond_the_vertices_is_refused(tmp_path: Path) -> None:
    file = mesh_file()
    geometry = next(node for node in file.objects if node.properties[2] == "Mesh" and node.name == "Geometry")
    geometry.children[1].properties[0] = np.array([0, 1, 2, -9], np.int32)
    with pytest.raises(BadFile, match="holds vertex 8, but there are 4"):
        read(file.save(tmp_path / "beyond.fbx"))


def test_nodes_in_a_ring_are_refused(tmp_path: Path) -> None:
    file = FbxFile()
    first = file.model("a")
    second = file.model("b", first)
    file.connections.pop(0)
    file.connect(first, second)
    with pytest.raises(BadFile, match="cycle"):
        read(file.save(tmp_path / "ring.fbx"))
