"""Writing an asset as a binary FBX file of version 7.4, in centimetres, y up.

Joints become models with `InheritType` 1, whose transforms are products as ours are, parts become meshes of their own,
and animations become takes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy import __version__
from understudy.character import Asset, Channel, Character, kinematics
from understudy.checks import Array
from understudy.errors import InvalidInput, Unsupported
from understudy.formats.fbx.document import FbxNode
from understudy.formats.fbx.nodes import ROTATION_ORDERS
from understudy.formats.fbx.scene import (
    CUSTOM_TIME_MODE,
    FILE_ID,
    FILE_TIME,
    TIME_MODE_RATES,
    UNIT_CENTIMETRES,
    VERSION,
    SceneBuilder,
    encode,
    entry,
    leaf,
    matrix,
    properties,
    to_centimetres,
)
from understudy.formats.fbx.write_parts import PartWriter
from understudy.formats.fbx.write_takes import JointModel, TakeWriter
from understudy.maths import euler

DEFAULT_ORDER = "zyx"  # Rz Ry Rx, FBX's order 0
DEFAULT_RATE_FPS = 30.0


def write(asset: Asset, path: str | Path) -> list[str]:
    """Write characters, clips and curves; returns what was lost."""
    path = Path(path)
    if asset.animations and not asset.characters:
        raise Unsupported(path, "FBX holds animation only on the nodes of a character, but there is no character here")
    builder = SceneBuilder()
    parts = PartWriter(builder)
    orders = _rotation_orders(asset)
    joints: dict[str, list[JointModel]] = {}
    for character in asset.characters:
        _write_character(builder, parts, character, orders, joints)
    takes = TakeWriter(builder, joints, parts.channels)
    for animation in asset.animations:
        takes.take(animation)
    rates = [animation.rate for animation in asset.animations] or [DEFAULT_RATE_FPS]
    try:
        data = encode(_document(builder, takes.takes, rates[0]))
    except InvalidInput as error:
        raise Unsupported(path, str(error)) from None
    path.write_bytes(data)
    return builder.notes


def _rotation_orders(asset: Asset) -> dict[str, str]:
    """The order of each joint's angles: that of its curves where all of them agree, else FBX's own."""
    orders: dict[str, set[str]] = {}
    for animation in asset.animations:
        channels: list[Channel] = list(animation.channels)
        for channel in channels:
            if channel.kind == "euler":
                orders.setdefault(channel.target, set()).add("".join(channel.columns))
    return {name: next(iter(found)) for name, found in orders.items() if len(found) == 1}


def _write_character(
    builder: SceneBuilder,
    parts: PartWriter,
    character: Character,
    orders: dict[str, str],
    joints: dict[str, list[JointModel]],
) -> None:
    skeleton = character.skeleton
    rest = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    limbs = _limbs(character)
    models: list[int] = []
    for joint, name in enumerate(skeleton.names):
        order = orders.get(name, DEFAULT_ORDER)
        models.append(_write_joint(builder, character, joint, order, limbs[joint]))
        joints.setdefault(name, []).append(JointModel(models[joint], order))
        parent = int(skeleton.parents[joint])
        builder.connect(models[joint], 0 if parent < 0 else models[parent])
    known = len(parts.poses)
    for part in character.parts:
        parts.part(character, part, models, rest)
    if len(parts.poses) > known:
        poses = {model: to_centimetres(world) for model, world in zip(models, rest)} | parts.poses
        nodes = [FbxNode("PoseNode", [], [leaf("Node", np.int64(m)), matrix("Matrix", w)]) for m, w in poses.items()]
        children = [leaf("Type", "BindPose"), leaf("Version", 100), leaf("NbPoseNodes", len(nodes)), *nodes]
        builder.add("Pose", character.name, "BindPose", children)
        parts.poses.clear()


def _limbs(character: Character) -> Array:
    """(J,) which joints are bones: those that a skin uses, and all below them.

    A mesh on a single joint is an object, not an armature of one bone, which Blender's importer would turn on its side.
    """
    limbs = np.zeros(len(character.skeleton), bool)
    if len(limbs) == 1 and all(part.skin.is_rigid for part in character.parts):
        return limbs
    limbs[character.joints] = True
    for joint, parent in enumerate(character.skeleton.parents):
        limbs[joint] |= parent >= 0 and limbs[parent]
    return limbs


def _write_joint(builder: SceneBuilder, character: Character, joint: int, order: str, is_limb: bool) -> int:
    skeleton = character.skeleton
    kind = "LimbNode" if is_limb else "Null"
    angles = np.degrees(euler.to_euler(skeleton.rotations[joint], order))[[order.index(axis) for axis in "xyz"]]
    number = ROTATION_ORDERS.index(order[::-1])
    turned = [entry("RotationActive", 1), entry("RotationOrder", number)] if number else []
    fields = properties(
        *turned,
        entry("InheritType", 1),
        entry("DefaultAttributeIndex", 0),
        entry("Lcl Translation", *(skeleton.translations[joint] * UNIT_CENTIMETRES).tolist()),
        entry("Lcl Rotation", *angles.tolist()),
        entry("Lcl Scaling", *skeleton.scales[joint].tolist()),
    )
    name = skeleton.names[joint]
    model = builder.add(
        "Model", name, kind, [leaf("Version", 232), fields, leaf("Shading", True), leaf("Culling", "CullingOff")]
    )
    flag = leaf("TypeFlags", "Skeleton" if is_limb else "Null")
    builder.connect(builder.add("NodeAttribute", name, kind, [flag]), model)
    return model


def _document(builder: SceneBuilder, takes: list[FbxNode], rate: float) -> list[FbxNode]:
    creator = f"understudy {__version__}"
    header = FbxNode(
        "FBXHeaderExtension",
        [],
        [
            leaf("FBXHeaderVersion", 1003),
            leaf("FBXVersion", VERSION),
            leaf("EncryptionType", 0),
            leaf("Creator", creator),
        ],
    )
    mode = next((m for m, fps in TIME_MODE_RATES.items() if abs(fps - rate) < 1e-3), CUSTOM_TIME_MODE)
    settings = properties(
        *(
            entry(name, value, kind="integer")
            for axis, number in (("UpAxis", 1), ("FrontAxis", 2), ("CoordAxis", 0))
            for name, value in ((axis, number), (f"{axis}Sign", 1))
        ),
        entry("UnitScaleFactor", 1.0),
        entry("OriginalUnitScaleFactor", 1.0),
        entry("TimeMode", mode),
        entry("CustomFrameRate", float(rate)),
    )
    kinds = [
        FbxNode("ObjectType", [kind], [leaf("Count", count)])
        for kind, count in {"GlobalSettings": 1, **builder.kinds}.items()
    ]
    document = FbxNode("Document", [np.int64(1), "Scene", "Scene"], [properties(), leaf("RootNode", np.int64(0))])
    return [
        header,
        leaf("FileId", FILE_ID),
        leaf("CreationTime", FILE_TIME),
        leaf("Creator", creator),
        FbxNode("GlobalSettings", [], [leaf("Version", 1000), settings]),
        FbxNode("Documents", [], [leaf("Count", 1), document]),
        FbxNode("References"),
        FbxNode(
            "Definitions",
            [],
            [leaf("Version", 100), leaf("Count", 1 + sum(builder.kinds.values())), *kinds],
        ),
        FbxNode("Objects", [], builder.objects),
        FbxNode("Connections", [], builder.connections),
        FbxNode("Takes", [], [leaf("Current", ""), *takes]),
    ]
