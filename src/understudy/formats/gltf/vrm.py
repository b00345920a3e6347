"""VRM 0.x and 1.0: avatars as glTF with extensions, in and out.

Extensions are kept as they are. The numbers in them that refer to nodes, meshes, materials, textures and pictures
are replaced by what they refer to when a file is read, and by the new numbers when it is written (`REFERENCES`). What
understudy itself uses is in `character.asset.Avatar`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from understudy.character import Character, Texture
from understudy.character.asset import (
    EXPRESSION_PRESETS,
    REQUIRED_BONES,
    Avatar,
    Constraint,
    Expression,
    ShapeBind,
    Spring,
    SpringCollider,
    SpringJoint,
)
from understudy.character.mesh import Image
from understudy.errors import BadFile, Unsupported
from understudy.formats.gltf.document import GltfDocument
from understudy.formats.gltf.json_object import JsonObject, finite_json

VRM0, VRM1 = "VRM", "VRMC_vrm"
SPRINGS, CONSTRAINT, ANIMATION = "VRMC_springBone", "VRMC_node_constraint", "VRMC_vrm_animation"
COLLIDERS = "VRMC_springBone_extended_collider"
ROOT_EXTENSIONS = (VRM0, VRM1, SPRINGS, COLLIDERS, ANIMATION)
AXIS_LETTERS = "XYZ"
MAX_SPRING_NUMBER = 1e4  # metres or metres a second; more is damage
LICENCE = "https://vrm.dev/licenses/1.0/"

Pattern = tuple[str, ...]
# Where the extensions refer to one of the lists of the file; * is any key, or any place in a list.
REFERENCES: dict[str, dict[Pattern, str]] = {
    VRM0: {
        ("humanoid", "humanBones", "*", "node"): "nodes",
        ("firstPerson", "firstPersonBone"): "nodes",
        ("firstPerson", "meshAnnotations", "*", "mesh"): "meshes",
        ("blendShapeMaster", "blendShapeGroups", "*", "binds", "*", "mesh"): "meshes",
        ("secondaryAnimation", "boneGroups", "*", "bones", "*"): "nodes",
        ("secondaryAnimation", "boneGroups", "*", "center"): "nodes",
        ("secondaryAnimation", "colliderGroups", "*", "node"): "nodes",
        ("materialProperties", "*", "textureProperties", "*"): "textures",
        ("meta", "texture"): "textures",
    },
    VRM1: {
        ("meta", "thumbnailImage"): "images",
        ("humanoid", "humanBones", "*", "node"): "nodes",
        ("firstPerson", "meshAnnotations", "*", "node"): "nodes",
        ("expressions", "*", "*", "morphTargetBinds", "*", "node"): "nodes",
        ("expressions", "*", "*", "materialColorBinds", "*", "material"): "materials",
        ("expressions", "*", "*", "textureTransformBinds", "*", "material"): "materials",
    },
    SPRINGS: {
        ("colliders", "*", "node"): "nodes",
        ("springs", "*", "joints", "*", "node"): "nodes",
        ("springs", "*", "center"): "nodes",
    },
    ANIMATION: {
        ("humanoid", "humanBones", "*", "node"): "nodes",
        ("expressions", "*", "*", "node"): "nodes",
        ("lookAt", "node"): "nodes",
    },
    CONSTRAINT: {("constraint", "*", "source"): "nodes"},
}
EXPRESSION_PER_VRM0_PRESET = {
    **{"a": "aa", "i": "ih", "u": "ou", "e": "ee", "o": "oh", "joy": "happy", "sorrow": "sad", "fun": "relaxed"},
    **{"blink_l": "blinkLeft", "blink_r": "blinkRight", "lookup": "lookUp", "lookdown": "lookDown"},
    **{"lookleft": "lookLeft", "lookright": "lookRight"},
    **{name: name for name in ("neutral", "angry", "blink", "surprised")},
}
# VRM 1 counts the bones of a thumb from the hand, Unity from the first segment.
UNITY_THUMBS = {"ThumbMetacarpal": "ThumbProximal", "ThumbProximal": "ThumbIntermediate"}
VRM1_THUMBS = {unity: name for name, unity in UNITY_THUMBS.items()}


class NodeReference(NamedTuple):
    """A node that became a joint, a node that shows a part, or the mesh of a part."""

    kind: str  # "joint", "part" or "mesh"
    name: str


class MaterialReference(NamedTuple):
    """A material, by name."""

    name: str


def replace_references(value: Any, patterns: Mapping[Pattern, str], convert: Callable[[str, Any], Any]) -> Any:
    """The same JSON with `convert(list name, item)` in place of each item that a pattern leads to."""
    if () in patterns:
        return convert(patterns[()], value)
    if not patterns:
        return value
    if isinstance(value, dict):
        return {key: replace_references(item, _below(patterns, key), convert) for key, item in value.items()}
    if isinstance(value, list):
        below = _below(patterns, "*")
        return [replace_references(item, below, convert) for item in value]
    return value


def _below(patterns: Mapping[Pattern, str], key: str) -> dict[Pattern, str]:
    return {pattern[1:]: kind for pattern, kind in patterns.items() if pattern and pattern[0] in ("*", key)}


class AvatarReader:
    """Reads the extensions of VRM. `node_of`, `part_of_mesh`, `texture` and `image` say what a number became."""

    def __init__(
        self,
        document: GltfDocument,
        node_of: Callable[[int], NodeReference | None],
        part_of_mesh: Callable[[int], str | None],
        shape_names: Callable[[str], tuple[str, ...]],
        texture: Callable[[JsonObject], Texture | None],
        image: Callable[[int], Image],
    ) -> None:
        self.document, self.node_of, self.part_of_mesh = document, node_of, part_of_mesh
        self.shape_names, self.texture, self.image = shape_names, texture, image

    def read(self) -> Avatar | None:
        """The avatar of a file, or None where it has no such extension. Damaged fields are left out with a note."""
        root = self.document.root.child("extensions")
        settings: dict[str, Any] = {}
        for name in ROOT_EXTENSIONS:
            if name in root and isinstance(root.value[name], dict) and finite_json(root.value[name]):
                settings[name] = replace_references(root.value[name], REFERENCES.get(name, {}), self._thing)
        if not set(settings) & {VRM0, VRM1, ANIMATION}:
            return None
        constraints = self._constraints()
        if constraints:
            settings[CONSTRAINT] = constraints
        try:
            return describe(settings, self.shape_names)
        except (AttributeError, TypeError, ValueError, KeyError, IndexError):
            self.document.note("the description of the avatar (VRM) is damaged and was left out")
            return None

    def _constraints(self) -> dict[str, Any]:
        result = {}
        for number, entry in enumerate(self.document.list("nodes")):
            extensions = entry.value.get("extensions")
            if isinstance(extensions, dict) and isinstance(extensions.get(CONSTRAINT), dict):
                node = self.node_of(number)
                if node is not None and finite_json(extensions[CONSTRAINT]):
                    value = replace_references(extensions[CONSTRAINT], REFERENCES[CONSTRAINT], self._thing)
                    result[node.name] = value
        return result

    def _thing(self, kind: str, number: Any) -> Any:
        """What a number in one of the lists became; -1, VRM 0's word for nothing, where there is no such thing."""
        if type(number) is not int or not 0 <= number < len(self.document.list(kind)):
            if number != -1:
                self.document.count("references of the avatar (VRM) to things that do not exist were dropped ({})")
            return -1
        if kind == "nodes":
            return self.node_of(number) or -1
        if kind == "meshes":
            part = self.part_of_mesh(number)
            return -1 if part is None else NodeReference("mesh", part)
        if kind == "materials":
            return MaterialReference(self.document.list(kind)[number].text("name") or f"material_{number}")
        try:
            if kind == "images":
                return self.image(number)
            return self.texture(JsonObject(self.document.path, {"index": number}, ("extensions", VRM0))) or -1
        except BadFile as error:
            self.document.leave_out("pictures of the avatar", error)
            return -1


def describe(settings: Mapping[str, Any], shape_names: Callable[[str], tuple[str, ...]]) -> Avatar:
    """The plain data of an avatar from its extensions, whose references are resolved."""
    if VRM0 in settings:
        return _describe_vrm0(settings, shape_names)
    vrm = settings.get(VRM1) or settings[ANIMATION]
    bones = {
        unity_name(bone): value["node"].name
        for bone, value in vrm.get("humanoid", {}).get("humanBones", {}).items()
        if isinstance(value.get("node"), NodeReference)
    }
    expressions = []
    for group in ("preset", "custom"):
        for name, value in (vrm.get("expressions", {}).get(group) or {}).items():
            binds = [
                (bind["node"], bind["index"], float(bind.get("weight", 1)))
                for bind in value.get("morphTargetBinds") or ()
            ]
            overrides = {"blink": "overrideBlink", "look_at": "overrideLookAt", "mouth": "overrideMouth"}
            given = {key: value[field] for key, field in overrides.items() if value.get(field, "none") != "none"}
            materials = len(value.get("materialColorBinds") or ()) + len(value.get("textureTransformBinds") or ())
            expressions.append(
                Expression(name, _binds(binds, shape_names), materials, bool(value.get("isBinary")), given)
            )
    look_at = vrm.get("lookAt", {}).get("type", "") if VRM1 in settings else ""
    title = vrm.get("meta", {}).get("name", "")
    version = str(vrm.get("specVersion", "1.0"))
    return Avatar(
        version,
        bones,
        tuple(expressions),
        str(look_at),
        _springs(settings),
        _constraints(settings),
        str(title),
        settings,
    )


def _describe_vrm0(settings: Mapping[str, Any], shape_names: Callable[[str], tuple[str, ...]]) -> Avatar:
    vrm = settings[VRM0]
    bones = {
        item["bone"][0].upper() + item["bone"][1:]: item["node"].name
        for item in vrm.get("humanoid", {}).get("humanBones") or ()
        if isinstance(item.get("node"), NodeReference)
    }
    expressions: dict[str, Expression] = {}
    for group in vrm.get("blendShapeMaster", {}).get("blendShapeGroups") or ():
        preset = EXPRESSION_PER_VRM0_PRESET.get(str(group.get("presetName", "")).lower())
        name = preset or str(group.get("name", ""))
        binds = [
            (bind["mesh"], bind["index"], float(bind.get("weight", 100)) / 100) for bind in group.get("binds") or ()
        ]
        materials = len(group.get("materialValues") or ())
        expression = Expression(name, _binds(binds, shape_names), materials, bool(group.get("isBinary")))
        expressions.setdefault(name, expression)
    look_at = {"Bone": "bone", "BlendShape": "expression"}.get(vrm.get("firstPerson", {}).get("lookAtTypeName", ""), "")
    title = str(vrm.get("meta", {}).get("title", ""))
    return Avatar("0.0", bones, tuple(expressions.values()), look_at, _springs_vrm0(vrm), {}, title, settings)


def _constraints(settings: Mapping[str, Any]) -> dict[str, Constraint]:
    result = {}
    for joint, value in (settings.get(CONSTRAINT) or {}).items():
        for kind, one in value.get("constraint", {}).items():
            if kind in ("roll", "aim", "rotation") and isinstance(source := one.get("source"), NodeReference):
                word = str(one.get("rollAxis", one.get("aimAxis", "PositiveX")))
                axis = [0.0, 0.0, 0.0]
                if word[-1:] in AXIS_LETTERS:
                    axis[AXIS_LETTERS.index(word[-1])] = -1.0 if word.startswith("Negative") else 1.0
                weight = min(max(_number(one.get("weight"), 1.0), 0.0), 1.0)
                result[joint] = Constraint(kind, source.name, (axis[0], axis[1], axis[2]), weight)
    return result


def _springs(settings: Mapping[str, Any]) -> tuple[Spring, ...]:
    """The springs of VRM 1, with the colliders of their groups."""
    stored = settings.get(SPRINGS) or {}
    colliders = [_collider(value) for value in stored.get("colliders") or ()]
    groups = [list(group.get("colliders") or ()) for group in stored.get("colliderGroups") or ()]
    springs = []
    for spring in stored.get("springs") or ():
        joints = []
        for value in spring.get("joints") or ():
            if isinstance(value.get("node"), NodeReference):
                power = _number(value.get("gravityPower"), 0.0)
                gravity = tuple(power * x for x in _vector(value.get("gravityDir"), (0.0, -1.0, 0.0)))
                joints.append(
                    SpringJoint(
                        value["node"].name,
                        _number(value.get("stiffness"), 1.0),
                        (gravity[0], gravity[1], gravity[2]),
                        min(max(_number(value.get("dragForce"), 0.5), 0.0), 1.0),
                        _number(value.get("hitRadius"), 0.0),
                    )
                )
        numbers = [c for g in spring.get("colliderGroups") or () if _is_index(g, groups) for c in groups[g]]
        found = [colliders[c] for c in dict.fromkeys(n for n in numbers if _is_index(n, colliders))]
        centre = spring.get("center")
        name = centre.name if isinstance(centre, NodeReference) else ""
        springs.append(Spring(tuple(joints), False, name, tuple(one for one in found if one is not None)))
    return tuple(springs)


def _springs_vrm0(vrm: Mapping[str, Any]) -> tuple[Spring, ...]:
    """The springs of VRM 0: trees, and balls whose offsets have the z of Unity's space."""
    stored = vrm.get("secondaryAnimation") or {}
    groups = []
    for group in stored.get("colliderGroups") or ():
        balls = []
        for ball in group.get("colliders") or () if isinstance(group.get("node"), NodeReference) else ():
            x, y, z = _vector(ball.get("offset"), (0.0, 0.0, 0.0))
            balls.append(SpringCollider(group["node"].name, (x, y, -z), (x, y, -z), _number(ball.get("radius"), 0.0)))
        groups.append(balls)
    springs = []
    for group in stored.get("boneGroups") or ():
        power = _number(group.get("gravityPower"), 0.0)
        x, y, z = _vector(group.get("gravityDir"), (0.0, -1.0, 0.0))
        settings = (
            _number(group.get("stiffiness"), 1.0),  # the specification's own spelling
            (power * x, power * y, power * z),
            min(max(_number(group.get("dragForce"), 0.4), 0.0), 1.0),
            _number(group.get("hitRadius"), 0.0),
        )
        roots = [bone for bone in group.get("bones") or () if isinstance(bone, NodeReference)]
        centre = group.get("center")
        name = centre.name if isinstance(centre, NodeReference) else ""
        balls = [ball for g in group.get("colliderGroups") or () if _is_index(g, groups) for ball in groups[g]]
        springs.append(Spring(tuple(SpringJoint(root.name, *settings) for root in roots), True, name, tuple(balls)))
    return tuple(springs)


def _collider(value: Mapping[str, Any]) -> SpringCollider | None:
    extended = (value.get("extensions") or {}).get(COLLIDERS) or {}
    shape = extended.get("shape") or value.get("shape") or {}
    kind = next((kind for kind in ("sphere", "capsule", "plane") if shape.get(kind)), "")
    if not isinstance(value.get("node"), NodeReference) or not kind:
        return None
    at = shape[kind]
    name, centre = value["node"].name, _vector(at.get("offset"), (0.0, 0.0, 0.0))
    if kind == "plane":
        x, y, z = _vector(at.get("normal"), (0.0, 0.0, 1.0))
        return SpringCollider(name, centre, (centre[0] + x, centre[1] + y, centre[2] + z), 0.0, is_plane=True)
    end = _vector(at.get("tail"), centre) if kind == "capsule" else centre
    return SpringCollider(name, centre, end, _number(at.get("radius"), 0.0), bool(at.get("inside")))


def _is_index(number: Any, things: Sequence[Any]) -> bool:
    return type(number) is int and 0 <= number < len(things)


def _number(value: Any, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < MAX_SPRING_NUMBER else otherwise


def _vector(value: Any, otherwise: tuple[float, float, float]) -> tuple[float, float, float]:
    """Three numbers of a list, or of an object with x, y and z."""
    if isinstance(value, Mapping):
        value = [value.get(axis) for axis in "xyz"]
    if not isinstance(value, list) or len(value) != 3:
        return otherwise
    return tuple(_number(x, other) for x, other in zip(value, otherwise))  # type: ignore[return-value]


def _binds(binds: list[tuple[Any, Any, float]], shape_names: Callable[[str], tuple[str, ...]]) -> tuple[ShapeBind, ...]:
    result = []
    for node, index, weight in binds:
        names = shape_names(node.name) if isinstance(node, NodeReference) else ()
        if type(index) is int and 0 <= index < len(names):
            result.append(ShapeBind(node.name, names[index], weight))
    return tuple(result)


def unity_name(bone: str) -> str:
    """Unity's name of a bone of VRM 1: leftThumbMetacarpal is LeftThumbProximal."""
    name = bone[:1].upper() + bone[1:]
    for old, new in UNITY_THUMBS.items():
        if name.endswith(old):
            return name[: -len(old)] + new
    return name


def vrm1_name(bone: str) -> str:
    """VRM 1's name of a bone with Unity's name."""
    for old, new in VRM1_THUMBS.items():
        if bone.endswith(old):
            bone = bone[: -len(old)] + new
            break
    return bone[:1].lower() + bone[1:]


# ---- writing


def make_avatar(character: Character, path: Path) -> Avatar:
    """An avatar of VRM 1 for a character that has none: bones by the names of its joints, expressions by its shapes.

    Raises:
        Unsupported: If bones are missing that VRM requires.
    """
    from understudy.character.body.bone_names import human_bones

    names = character.skeleton.names
    bones = {bone: names[joint] for bone, joint in human_bones(character).items() if bone != "Jaw"}
    missing = [bone for bone in REQUIRED_BONES if bone not in bones]
    if missing:
        raise Unsupported(path, f"a VRM avatar needs a humanoid, but no joint is named like: {', '.join(missing)}")
    parts = {part: {name.lower(): i for i, name in enumerate(shapes)} for part, shapes in character.shapes.items()}
    aliases = {"blinkLeft": "eyeblinkleft", "blinkRight": "eyeblinkright", "aa": "jawopen"}
    preset: dict[str, Any] = {}
    for name in EXPRESSION_PRESETS:
        binds = [
            {"node": NodeReference("part", part), "index": shapes[word], "weight": 1.0}
            for part, shapes in parts.items()
            for word in [next((w for w in (name.lower(), aliases.get(name, "")) if w in shapes), "")]
            if word
        ]
        if binds:
            preset[name] = {"morphTargetBinds": binds, "isBinary": False}
    vrm: dict[str, Any] = {
        "specVersion": "1.0",
        "meta": {"name": character.name, "authors": ["unknown"], "licenseUrl": LICENCE},
        "humanoid": {"humanBones": {vrm1_name(bone): {"node": NodeReference("joint", j)} for bone, j in bones.items()}},
    }
    if preset:
        vrm["expressions"] = {"preset": preset}
    return describe({VRM1: vrm}, lambda part: character.shapes.get(part, ()))


class AvatarWriter:
    """Writes the extensions of an avatar with the numbers that nodes, materials and pictures have in the new file."""

    def __init__(
        self, lists: dict[str, list[dict[str, Any]]], joints: Mapping[str, int], parts: Mapping[str, int]
    ) -> None:
        self.lists, self.joints, self.parts = lists, joints, parts
        self.lost = 0

    def extensions(
        self, avatar: Avatar, texture: Callable[[Texture], int | None], image: Callable[[Image], int | None]
    ) -> dict[str, Any]:
        """The extensions of the root of the file; those of nodes are put onto them."""

        def number(kind: str, thing: Any) -> Any:
            if isinstance(thing, Texture):
                result = texture(thing)
            elif isinstance(thing, Image):
                result = image(thing)
            else:
                result = self._number(thing)
            self.lost += result is None
            return -1 if result is None else result

        result: dict[str, Any] = {}
        for name, value in avatar.settings.items():
            if name == CONSTRAINT:
                for joint, constraint in value.items():
                    if joint in self.joints:
                        item = self.lists["nodes"][self.joints[joint]]
                        written = replace_references(constraint, REFERENCES[CONSTRAINT], number)
                        item.setdefault("extensions", {})[CONSTRAINT] = written
                continue
            result[name] = replace_references(value, REFERENCES.get(name, {}), number)
        if VRM0 in result and isinstance(result[VRM0].get("materialProperties"), list):
            result[VRM0]["materialProperties"] = self._material_properties(result[VRM0]["materialProperties"])
        return result

    def _number(self, thing: Any) -> int | None:
        if isinstance(thing, MaterialReference):
            names = [item.get("name") for item in self.lists.get("materials", [])]
            return names.index(thing.name) if thing.name in names else None
        if not isinstance(thing, NodeReference):
            return -1
        if thing.kind == "joint":
            return self.joints.get(thing.name)
        node = self.parts.get(thing.name)
        if thing.kind == "part" or node is None:
            return node
        return int(self.lists["nodes"][node]["mesh"])

    def _material_properties(self, properties: list[Any]) -> list[Any]:
        """VRM 0 lists the settings of each material in the order of the materials, which may have changed."""
        known = {item.get("name"): item for item in properties if isinstance(item, dict)}
        plain = {"shader": "VRM_USE_GLTFSHADER", "renderQueue": 2000, "floatProperties": {}, "vectorProperties": {}}
        plain |= {"textureProperties": {}, "keywordMap": {}, "tagMap": {}}
        names = [item.get("name") for item in self.lists.get("materials", [])]
        return [known.get(name, {"name": name, **plain}) for name in names]
