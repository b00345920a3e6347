"""Writing the parts of a character: geometry, materials with embedded textures, skins and blend shapes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import numpy as np

from understudy.character import Character, Image, Material, Mesh, Part, SkinBinding, Texture
from understudy.checks import Array
from understudy.formats.fbx.document import FbxNode
from understudy.formats.fbx.nodes import HELPER_PROPERTY
from understudy.formats.fbx.read_materials import GLTF_CLAMP
from understudy.formats.fbx.scene import (
    UNIT_CENTIMETRES,
    SceneBuilder,
    entry,
    leaf,
    matrix,
    properties,
    to_centimetres,
)
from understudy.maths import colour, euler, transform

TEXTURE_PROPERTIES = {"colour": "DiffuseColor", "normal": "NormalMap", "emissive": "EmissiveColor"}
PICTURE_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
SKINNING_TYPES = {"linear": "Linear", "dual": "DualQuaternion"}
FLAT_DETERMINANT = 1e-30
MAX_PLACE_ERROR = 1e-4  # of a transform's entries: matrices of exporters are float32, and products of several


class PartWriter:
    """Writes parts, and remembers what drives their shapes and where their bones were bound."""

    def __init__(self, builder: SceneBuilder) -> None:
        self.builder = builder
        self.channels: list[tuple[str, str, int]] = []  # part, shape, blend shape channel
        self.poses: dict[int, Array] = {}  # (4, 4) where a model was bound, in centimetres
        self._materials: list[tuple[Material, tuple[str, ...], int]] = []
        self._videos: list[tuple[Image, int]] = []

    def part(self, character: Character, part: Part, joints: list[int], rest: Array) -> None:
        """Write one part of a character whose joints are the models `joints`, at `rest` (J, 4, 4) in the world."""
        builder = self.builder
        rigid = part.skin.is_rigid
        placed = np.eye(4) if rigid else _bind_place(part.skin, rest)
        children = [
            leaf("Version", 232),
            properties(entry("InheritType", 1), *_placement(placed), entry(HELPER_PROPERTY, part.name, kind="user")),
            leaf("Shading", True),
            leaf("Culling", "CullingOff"),
        ]
        model = builder.add("Model", part.name, "Mesh", children)
        builder.connect(model, joints[int(part.skin.joints[0])] if rigid else 0)
        uv_names = tuple(f"UVMap_{i}" if i else "UVMap" for i in range(len(part.mesh.uvs)))
        geometry = builder.add("Geometry", part.mesh.name, "Mesh", _geometry(part.mesh, uv_names))
        builder.connect(geometry, model)
        for material in part.mesh.materials:
            builder.connect(self._material(material, uv_names), model)
        if part.mesh.shapes is not None:
            self._shapes(part, geometry)
        if not rigid:
            self._skin(character, part, geometry, joints, placed)
            self.poses[model] = to_centimetres(placed)

    def _skin(self, character: Character, part: Part, geometry: int, joints: list[int], placed: Array) -> None:
        builder, skin = self.builder, part.skin
        kind = [
            leaf("Version", 101),
            leaf("Link_DeformAcuracy", 50.0),
            leaf("SkinningType", SKINNING_TYPES[skin.method]),
        ]
        deformer = builder.add("Deformer", part.name, "Skin", kind)
        builder.connect(deformer, geometry)
        used, column = np.nonzero(skin.weights)
        bone = skin.influences[used, column]
        order = np.argsort(bone, kind="stable")
        used, column, bone = used[order], column[order], bone[order]
        ends = np.searchsorted(bone, np.arange(len(skin.joints) + 1))
        for number, joint in enumerate(skin.joints.tolist()):
            members = slice(ends[number], ends[number + 1])
            bind = skin.inverse_binds[number]
            link = to_centimetres(placed if _is_flat(bind) else placed @ np.linalg.inv(bind))
            children = [leaf("Version", 100), leaf("UserData", "", "")]
            if ends[number] < ends[number + 1]:
                weights = skin.weights[used[members], column[members]].astype(np.float64)
                children += [leaf("Indexes", used[members].astype(np.int32)), leaf("Weights", weights)]
            children += [matrix("Transform", to_centimetres(bind)), matrix("TransformLink", link)]
            name = character.skeleton.names[joint]
            cluster = builder.add("Deformer", name, "Cluster", children, "SubDeformer")
            builder.connect(cluster, deformer)
            builder.connect(joints[joint], cluster)
            self.poses.setdefault(joints[joint], link)

    def _shapes(self, part: Part, geometry: int) -> None:
        builder, shapes = self.builder, part.mesh.shapes
        assert shapes is not None
        deformer = builder.add("Deformer", part.name, "BlendShape", [leaf("Version", 100)])
        builder.connect(deformer, geometry)
        for number, name in enumerate(shapes.names):
            targets = np.flatnonzero(shapes.shape_of == number)
            targets = targets[np.argsort(shapes.stop_of[targets])]
            usable = targets[shapes.stop_of[targets] > 0]
            if len(usable) < len(targets):
                builder.count("shape targets at negative weights were lost ({})", len(targets) - len(usable))
            if not len(usable):
                continue
            percent = 100.0 * float(shapes.defaults[number])
            children = [
                leaf("Version", 100),
                leaf("DeformPercent", percent),
                leaf("FullWeights", 100.0 * np.asarray(shapes.stop_of[usable], np.float64)),
                properties(entry("DeformPercent", percent)),
            ]
            channel = builder.add("Deformer", name, "BlendShapeChannel", children, "SubDeformer")
            builder.connect(channel, deformer)
            self.channels.append((part.name, name, channel))
            for target in usable.tolist():
                normals = None if shapes.normals is None else shapes.normals[target]
                shape = builder.add("Geometry", name, "Shape", _target(shapes.deltas[target], normals))
                builder.connect(shape, channel)

    def _material(self, material: Material, uv_names: tuple[str, ...]) -> int:
        for known, names, number in self._materials:
            if names == uv_names and (known is material or known == material):
                return number
        builder = self.builder
        diffuse, glow = map(float, material.colour[:3]), map(float, material.emissive)
        opacity = float(material.colour[3])
        fields = properties(
            entry("ShadingModel", "phong", kind="text"),
            entry("DiffuseColor", *diffuse, kind="colour"),
            entry("DiffuseFactor", 1.0),
            entry("EmissiveColor", *glow, kind="colour"),
            entry("EmissiveFactor", 1.0),
            entry("TransparentColor", 1.0, 1.0, 1.0, kind="colour"),
            entry("TransparencyFactor", 1.0 - opacity),
            entry("Opacity", opacity),
            entry("Shininess", 100.0 * (1.0 - float(material.roughness)) ** 2),
            entry("ReflectionFactor", float(material.metallic)),
        )
        children = [leaf("Version", 102), leaf("ShadingModel", "phong"), leaf("MultiLayer", 0), fields]
        number = builder.add("Material", material.name, "", children)
        for slot, texture in material.textures.items():
            if slot not in TEXTURE_PROPERTIES:
                builder.count(f"{slot} textures were lost: FBX has no place for them that tools read ({{}})")
            elif texture.uv_set >= len(uv_names):
                builder.count("textures on meshes without UVs were lost ({})")
            elif not texture.image.data:
                builder.note(f"picture {texture.image.name!r} was lost: its bytes are missing")
            else:
                source = self._texture(texture, uv_names[texture.uv_set])
                builder.connect(source, number, TEXTURE_PROPERTIES[slot])
                if slot == "colour" and material.alpha_mode != "OPAQUE":
                    builder.connect(source, number, "TransparentColor")
        if "colour" in material.textures and tuple(material.colour[:3]) != (1.0, 1.0, 1.0):
            builder.note("colour factors beside a texture may be lost: some tools replace one by the other")
        self._materials.append((material, uv_names, number))
        return number

    def _texture(self, texture: Texture, uv_name: str) -> int:
        builder, image = self.builder, texture.image
        file = _file_name(image)
        wraps = [
            entry(place, int(texture.sampler.get(field) == GLTF_CLAMP), kind="integer")
            for place, field in (("WrapModeU", "wrapS"), ("WrapModeV", "wrapT"))
            if field in texture.sampler
        ]
        children = [
            leaf("Type", "TextureVideoClip"),
            leaf("Version", 202),
            leaf("TextureName", f"{image.name}\0\1Texture"),
            leaf("FileName", file),
            leaf("RelativeFilename", file),
            properties(entry("UVSet", uv_name, kind="text"), entry("UseMaterial", 1, kind="integer"), *wraps),
        ]
        number = builder.add("Texture", image.name, "", children)
        builder.connect(self._video(image, file), number)
        return number

    def _video(self, image: Image, file: str) -> int:
        for known, number in self._videos:
            if known is image or known == image:
                return number
        children = [
            leaf("Type", "Clip"),
            properties(entry("Path", file, kind="text")),
            leaf("UseMipMap", 0),
            leaf("Filename", file),
            leaf("RelativeFilename", file),
            leaf("Content", bytes(image.data)),
        ]
        number = self.builder.add("Video", image.name, "Clip", children)
        self._videos.append((image, number))
        return number


def _is_flat(matrix: Array) -> bool:
    return abs(np.linalg.det(matrix[:3, :3])) < FLAT_DETERMINANT


def _bind_place(skin: SkinBinding, rest: Array) -> Array:
    """(4, 4) where a skinned mesh stands, such that its first bone was bound where it rests (`rest`, (J, 4, 4)).

    A skin moves its mesh wherever the mesh's own node is. But tools pose bones by where they were bound, and a mesh in
    metres below joints of a scale of 100 would have bones of another size than its joints.
    """
    first = int(np.argmin(skin.joints))
    place = rest[skin.joints[first]] @ skin.inverse_binds[first]
    is_usual = np.abs(place - np.eye(4)).max() < MAX_PLACE_ERROR
    if is_usual or _is_flat(place) or transform.shear_error(place) > MAX_PLACE_ERROR:
        return np.eye(4)
    return place


def _placement(placed: Array) -> list[FbxNode]:
    """The transform of a model at a place (4, 4) in the world; nothing where it is the identity."""
    if (placed == np.eye(4)).all():
        return []
    translation, rotation, scale = transform.decompose(placed)
    return [
        entry("Lcl Translation", *(translation * UNIT_CENTIMETRES).tolist()),
        entry("Lcl Rotation", *np.degrees(euler.to_euler(rotation, "zyx"))[::-1].tolist()),
        entry("Lcl Scaling", *scale.tolist()),
    ]


def _file_name(image: Image) -> str:
    """A file name for an embedded picture, with the ending of what it is."""
    name = PurePosixPath(image.name.replace("\\", "/")).name or "image"
    ending = PICTURE_ENDINGS.get(image.mime, "")
    return name if not ending or name.lower().endswith((ending, ".jpeg")) else name + ending


def _geometry(mesh: Mesh, uv_names: tuple[str, ...]) -> list[FbxNode]:
    corners = mesh.triangles.astype(np.int32)
    index = corners.copy()
    index[:, 2] = ~index[:, 2]
    vertices = mesh.vertices.astype(np.float64) * UNIT_CENTIMETRES
    nodes = [
        leaf("GeometryVersion", 124),
        leaf("Vertices", vertices.reshape(-1)),
        leaf("PolygonVertexIndex", index.reshape(-1)),
    ]
    kinds: list[tuple[str, int]] = []
    if mesh.normals is not None:
        normals = mesh.normals if mesh.normals.ndim == 3 else mesh.normals[corners]
        nodes.append(_layer("Normal", 0, "", "ByPolygonVertex", "Direct", leaf("Normals", _flat(normals))))
        kinds.append(("LayerElementNormal", 0))
    for number, (name, uv) in enumerate(zip(uv_names, mesh.uvs)):
        upward = np.stack([uv[..., 0], 1 - uv[..., 1].astype(np.float64)], axis=-1)
        data = [leaf("UV", _flat(upward)), leaf("UVIndex", _corner_index(uv, corners))]
        nodes.append(_layer("UV", number, name, "ByPolygonVertex", "IndexToDirect", *data))
        kinds.append(("LayerElementUV", number))
    if mesh.colours is not None:
        shown = np.concatenate([colour.to_srgb(mesh.colours[..., :3]), mesh.colours[..., 3:]], axis=-1)
        data = [leaf("Colors", _flat(shown)), leaf("ColorIndex", _corner_index(mesh.colours, corners))]
        nodes.append(_layer("Color", 0, "Col", "ByPolygonVertex", "IndexToDirect", *data))
        kinds.append(("LayerElementColor", 0))
    of = np.zeros(1, np.int32) if mesh.material_of is None else mesh.material_of.astype(np.int32)
    mapping = "AllSame" if mesh.material_of is None else "ByPolygon"
    nodes.append(_layer("Material", 0, "", mapping, "IndexToDirect", leaf("Materials", of)))
    kinds.append(("LayerElementMaterial", 0))
    for number in range(max(1, len(uv_names))):
        members = [kind for kind in kinds if kind[1] == number]
        elements = [FbxNode("LayerElement", [], [leaf("Type", k), leaf("TypedIndex", n)]) for k, n in members]
        nodes.append(FbxNode("Layer", [number], [leaf("Version", 100), *elements]))
    return nodes


def _layer(kind: str, number: int, name: str, mapping: str, reference: str, *data: FbxNode) -> FbxNode:
    head = [
        leaf("Version", 101),
        leaf("Name", name),
        leaf("MappingInformationType", mapping),
        leaf("ReferenceInformationType", reference),
    ]
    return FbxNode(f"LayerElement{kind}", [number], [*head, *data])


def _corner_index(values: Array, corners: Array) -> Array:
    """(3 T,) which value each corner of a triangle has."""
    return np.arange(corners.size, dtype=np.int32) if values.ndim == 3 else corners.reshape(-1)


def _flat(values: Any) -> Array:
    return np.asarray(values, np.float64).reshape(-1)


def _target(deltas: Array, normals: Array | None) -> list[FbxNode]:
    """A target with the vertices that it moves."""
    moves = (deltas != 0).any(axis=1)
    if normals is not None:
        moves = moves | (normals != 0).any(axis=1)
    index = np.flatnonzero(moves) if moves.any() else np.zeros(1, np.int64)
    turns = np.zeros((len(index), 3)) if normals is None else normals[index]
    return [
        leaf("Version", 100),
        leaf("Indexes", index.astype(np.int32)),
        leaf("Vertices", _flat(deltas[index].astype(np.float64) * UNIT_CENTIMETRES)),
        leaf("Normals", _flat(turns)),
    ]
