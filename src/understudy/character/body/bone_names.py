"""Which joint is which bone of a human body, by name, and which way a character faces at rest.

Names are Unity's HumanBodyBones, as VRM and the VMC protocol use them: Hips, Spine, LeftUpperArm. Recognised are Mixamo
(`mixamorig:LeftForeArm`), CMU's BVH (`LeftUpLeg`), Unreal (`lowerarm_l`), Rigify (`DEF-upper_arm.L`), VRM and VRoid
(`J_Bip_L_UpperArm`), and names spelled alike. The spine is found by its position between hips and head, because each
convention counts it differently.

understudy's convention is to stand along +Y and to face +Z, but files differ (VRM 0 faces -Z). `find_facing` tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput

SIDES = {"l": "Left", "left": "Left", "r": "Right", "right": "Right"}
# Words of a name that do not identify the bone.
IGNORED_WORDS = {
    "mixamorig",
    "def",
    "org",
    "mch",
    "j",
    "bip",
    "bip01",
    "bip001",
    "adj",
    "c",
    "b",
    "jnt",
    "joint",
    "bone",
    "cc",
    "base",
    "skeleton",
    "armature",
    "rig",
    "valve",
    "biped",
    "bn",
    "bdy",
    "character",
}
CENTRAL_BONE_WORDS = {"Hips": ("hips", "hip", "pelvis"), "Neck": ("neck",), "Head": ("head",), "Jaw": ("jaw",)}
# Words of the joint without its side, the surest first; "arm" is an upper arm in every convention.
PAIRED_BONE_WORDS = {
    "Eye": ("eye", "eyeball", "faceeye"),
    "Shoulder": ("shoulder", "clavicle", "collar"),
    "UpperArm": ("upperarm", "arm", "uparm"),
    "LowerArm": ("lowerarm", "forearm", "elbow"),
    "Hand": ("hand", "wrist", "palm"),
    "UpperLeg": ("upperleg", "upleg", "thigh"),
    "LowerLeg": ("lowerleg", "leg", "lowleg", "calf", "shin", "knee"),
    "Foot": ("foot", "ankle"),
    "Toes": ("toes", "toe", "toebase", "ball"),
}
FINGERS = {
    "thumb": "Thumb",
    "index": "Index",
    "middle": "Middle",
    "mid": "Middle",
    "ring": "Ring",
    "pinky": "Little",
    "little": "Little",
}
SEGMENTS = ("Proximal", "Intermediate", "Distal")
# Part of a body that a joint may be, and its spellings without side, numbers and IGNORED_WORDS. Some words name a bone
# in one convention and another in the next: a "Leg" is the lower one beside an "UpLeg", a "Shoulder" is the upper arm
# beside a "Collar", a "Foot" the toes beside an "Ankle". The other joints of the limb decide (`transfer.bone_map`).
PART_WORDS = {
    "Hips": "hips pelvis hip",
    "Spine": "spine chest torso upperchest lowerchest lowerback midback upperback back abdomen waist belly tummy "
    "stomach chestlower chestupper abdomenlower abdomenupper spinelower spinemiddle spineupper ribcage ribs thorax",
    "Neck": "neck necklower neckupper necktwist",
    "Head": "head skull",
    "Jaw": "jaw",
    "Eye": "eye eyeball faceeye",
    "Clavicle": "clavicle clav collar collarbone scapula",
    "Shoulder": "shoulder shldr",
    "UpperArm": "upperarm uparm armupper bicep biceps humerus shldrbend upperarmbend",
    "Arm": "arm",
    "LowerArm": "lowerarm loarm lowarm armlower forearm elbow forearmbend ulna",
    "Hand": "hand wrist fist palm",
    "Hip": "hip hipjoint pelvis",
    "UpperLeg": "upperleg upleg legupper thigh femur thighbend",
    "Leg": "leg",
    "LowerLeg": "lowerleg loleg lowleg midleg leglower shin calf knee tibia crus",
    "Ankle": "ankle",
    "Foot": "foot",
    "Toes": "toes toe toebase ball toeroot football metatarsals",
}
PART_BY_WORD = {word: part for part, words in PART_WORDS.items() if part != "Hip" for word in words.split()}
# A joint whose name has one of these words moves others and is no part of the body.
CONTROL_WORDS = {"ik", "fk", "pole", "target", "ctrl", "control", "mch", "handle", "effector", "goal", "poletarget"}
TWIST_WORDS = {"twist", "roll"}
PALM_WORDS = {"metacarpal", "meta", "palm", "base"}
END_WORDS = {"end", "nub", "tip", "site", "slot", "socket", "attach"}
ANIMAL_WORDS = {"front", "back", "fore", "hind", "rear"}  # before "leg", "foot" or "shoulder"
SPINE_BONES_BY_COUNT = {1: ("Spine",), 2: ("Spine", "Chest"), 3: ("Spine", "Chest", "UpperChest")}
NON_EYE_WORDS = {
    "lid",
    "lids",
    "eyelid",
    "eyelids",
    "brow",
    "brows",
    "eyebrow",
    "lash",
    "lashes",
    "end",
    "nub",
    "target",
    "ctrl",
}
UP_AXIS = np.array([0.0, 1.0, 0.0])
# Of the size of the body: less is a pair of helper joints in the middle, not a left and a right.
MIN_EVIDENCE_RATIO = 0.01
MIN_HEAD_RATIO = 0.2  # of the size of the body: a person's head is above the body, an animal's in front of it
PAIRS_WEIGHT = 0.9  # of left and right joints: less than any other vote, as names may be an onlooker's
MIN_SYMMETRY_VERTICES, MAX_SYMMETRY_VERTICES = 20, 2000


def human_bones(body: Skeleton | Character) -> dict[str, int]:
    """Unity's name -> joint, for the bones that are recognised; each at most once, the surest spelling first.

    The bones of an avatar (VRM) are those that its file names.
    """
    if isinstance(body, Character):
        if body.avatar is not None and body.avatar.bones:
            index = {name: joint for joint, name in enumerate(body.skeleton.names)}
            return {bone: index[name] for bone, name in body.avatar.bones.items() if name in index}
        return human_bones(body.skeleton)
    skeleton = body
    names = [split_side(name) for name in skeleton.names]
    bones: dict[str, int] = {}
    for bone, stems in CENTRAL_BONE_WORDS.items():
        _add_bone(bones, bone, stems, ((j, stem) for j, (side, stem, _) in enumerate(names) if not side))
    for bone, stems in PAIRED_BONE_WORDS.items():
        for side in ("Left", "Right"):
            _add_bone(
                bones, side + bone, stems, ((j, stem) for j, (other, stem, _) in enumerate(names) if other == side)
            )
    _add_fingers(bones, names)
    _add_spine(bones, skeleton)
    return bones


def _add_bone(bones: dict[str, int], bone: str, stems: tuple[str, ...], joints: Iterable[tuple[int, str]]) -> None:
    """Add the first joint (number, stem) that has the surest of the stems and is no other bone."""
    by_stem: dict[str, int] = {}
    for joint, stem in joints:
        by_stem.setdefault(stem, joint)
    taken = set(bones.values())
    best = next((by_stem[stem] for stem in stems if stem in by_stem and by_stem[stem] not in taken), None)
    if best is not None:
        bones[bone] = best


def _add_fingers(bones: dict[str, int], names: list[tuple[str, str, str]]) -> None:
    for joint, (side, stem, number) in enumerate(names):
        finger = stem.removeprefix("hand").removeprefix("f")
        for word, name in FINGERS.items():
            if not side or not finger.startswith(word):
                continue
            rest = finger.removeprefix(word).capitalize()
            if rest in SEGMENTS:
                bones.setdefault(f"{side}{name}{rest}", joint)
            elif not rest and number in ("1", "2", "3", "01", "02", "03"):
                bones.setdefault(f"{side}{name}{SEGMENTS[int(number) - 1]}", joint)


def _add_spine(bones: dict[str, int], skeleton: Skeleton) -> None:
    if "Hips" not in bones or "Head" not in bones:
        return
    chain = skeleton.ancestors(bones["Neck" if "Neck" in bones else "Head"])[1:]
    if bones["Hips"] not in chain:
        return
    between = chain[: chain.index(bones["Hips"])][::-1]
    if between:
        names = SPINE_BONES_BY_COUNT[min(len(between), 3)]
        joints = between if len(between) < 3 else [between[0], between[len(between) // 2], between[-1]]
        bones.update(zip(names, joints))


def eye_joints(body: Skeleton | Character) -> tuple[int, int] | None:
    """The joints of the left and of the right eye, where both are found; of an avatar (VRM), those that it names."""
    if isinstance(body, Character):
        if body.avatar is not None and body.avatar.bones:
            bones = human_bones(body)
            return (bones["LeftEye"], bones["RightEye"]) if {"LeftEye", "RightEye"} <= set(bones) else None
        return eye_joints(body.skeleton)
    skeleton = body
    pair: list[int] = []
    for wanted in ("Left", "Right"):
        fitting = [
            joint for joint, name in enumerate(skeleton.names) if _is_eye(name) and split_side(name)[0] == wanted
        ]
        if not fitting:
            return None
        pair.append(min(fitting, key=lambda joint: (len(skeleton.names[joint]), joint)))
    return pair[0], pair[1]


def _is_eye(name: str) -> bool:
    parts = name_words(name)
    return any(word in ("eye", "eyeball", "leye", "reye") for word in parts) and not NON_EYE_WORDS.intersection(parts)


@dataclass(frozen=True)
class BoneName:
    """What a joint's name says: side ("Left", "Right" or ""), part of the body, and number as it is written.

    `part` is a key of PART_WORDS, a finger ("Thumb"), "Twist" or "Control", or empty for all other names.
    """

    side: str
    part: str
    number: str = ""
    is_palm: bool = False  # the first bone of a finger, inside the hand
    is_animal: bool = False  # a fore or hind leg

    def is_same_part(self, other: BoneName) -> bool:
        """Whether both name the same part of the same side, whatever the number."""
        return (self.side, self.part) == (other.side, other.part)


def read_bone_name(name: str) -> BoneName:
    """What the name of a joint says, in any of the usual conventions.

    Args:
        name: The name, with or without prefixes: `mixamorig:LeftArm`, `Bip01 L Calf`, `DEF-shin.L.001`.

    Example:
        >>> from understudy.character.body.bone_names import read_bone_name
        >>> read_bone_name("DEF-upper_arm.L")
        BoneName(side='Left', part='UpperArm', number='', is_palm=False, is_animal=False)
    """
    side, stem, number = split_side(name)
    words = [word for word in name_words(name) if word not in SIDES]
    if CONTROL_WORDS.intersection(words):
        return BoneName(side, "Control", number)
    if END_WORDS.intersection(words) or name.startswith("__"):  # MakeHuman's offsets between bones
        return BoneName(side, "")
    if ANIMAL_WORDS.intersection(words[:1]) and {"leg", "foot", "shoulder"}.intersection(words):
        return BoneName(side, "", is_animal=True)
    numbers = [word for word in words if word.isdigit()]
    finger = next((FINGERS[word] for word in words if word in FINGERS), "")
    finger = finger or ("Finger" if stem == "finger" else "")
    if finger and stem not in PART_BY_WORD:
        first = numbers[0] if finger == "Finger" and numbers else number
        if finger == "Finger" and len(numbers) > 1 and "bip" in words:
            first = numbers[-1]
        return BoneName(side, finger, first, bool(PALM_WORDS.intersection(words)))
    if stem in PART_BY_WORD:
        part = PART_BY_WORD[stem]
    elif TWIST_WORDS.intersection(words):
        part = "Twist"
    else:
        part = ""
    if side and stem in PART_WORDS["Hip"].split():
        part = "Hip"
    if side and part in ("Spine", "Neck", "Head", "Jaw"):  # half a ribcage, or a thing on one side of the head
        part = ""
    return BoneName(side, part, number)


def split_side(name: str) -> tuple[str, str, str]:
    """Side ("Left", "Right" or ""), the rest of the name in one word, and its last number ("" where there is none)."""
    parts = [word for word in name_words(name) if word not in IGNORED_WORDS]
    if parts and not any(word in SIDES for word in parts):
        parts = [*_split_side_prefix(parts[0]), *parts[1:]]
    side = next((SIDES[word] for word in parts if word in SIDES), "")
    numbers = [word for word in parts if word.isdigit()]
    return side, "".join(w for w in parts if w not in SIDES and not w.isdigit()), numbers[-1] if numbers else ""


def _split_side_prefix(word: str) -> list[str]:
    """`lthumb` -> l, thumb and `leftarm` -> left, arm, where the rest is a word of a body."""
    for prefix in ("left", "right", "l", "r"):
        rest = word.removeprefix(prefix)
        if rest != word and (rest in PART_BY_WORD or rest in FINGERS):
            return [prefix, rest]
    return [word]


def name_words(name: str) -> list[str]:
    """`mixamorig:LeftForeArm` -> left, fore, arm: lower case, cut at separators, capitals and digits."""
    last = re.split(r"[:|/]", name)[-1]
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", last)]


@dataclass(frozen=True, eq=False)
class Facing:
    """Which way a character stands and looks at rest.

    `axes` (3, 3) has the columns left, up and forward, each along an axis of the world; `evidence` names what told it.
    """

    axes: Array
    evidence: tuple[str, ...]

    @property
    def up(self) -> str:
        """The upward axis, as "+y"."""
        return _axis_name(self.axes[:, 1])

    @property
    def forward(self) -> str:
        """The axis that the character looks along, as "-z"."""
        return _axis_name(self.axes[:, 2])


def find_facing(rig: PosedRig, up: str | None = None, facing: str | None = None) -> Facing:
    """Which way a character stands and looks at rest, from all that its file says about it.

    Up is where the legs come from; +Y without legs. Forward is voted for by pairs of left and right joints, by the way
    from the feet to the toes, from the head to the eyes, and from the middle of the body to the head where that is in
    front of it, as in animals. Any other vote wins against the pairs: some files name the sides as an onlooker sees
    them. Without any vote, the plane of symmetry of a skinned mesh tells the axis, and + is assumed. What a user said
    of the character (`Character.facing`) counts before all of this.

    Args:
        rig: The rig, in whose rest pose the character is looked at.
        up: The upward axis ("y", "-z"), where it is known.
        facing: The axis that the character looks along, where it is known.

    Returns:
        The facing.

    Raises:
        InvalidInput: If `up` or `facing` is no axis, or both are along the same one.
    """
    if up is None and facing is None and rig.character.facing:
        up, facing = "+y", rig.character.facing
    places = rig.joints(rig.rest[None])[0, :, :3, 3]
    bones = human_bones(rig.character)
    upward = _upward(places, bones) if up is None else axis_vector(up)
    if facing is not None:
        forward = axis_vector(facing)
        if forward @ upward:
            raise InvalidInput(f"a character cannot look along {facing}, which is its up axis")
        return Facing(_axes(upward, forward), ("given",))
    level = 1.0 - np.abs(upward)
    votes = _facing_votes(rig.character, places, bones, upward, level)
    total = sum((weight * vector for _, weight, vector in votes), np.zeros(3))
    if not np.abs(total).max() > 0.0:
        return _facing_by_symmetry(rig, upward, level)
    axis = int(np.argmax(np.abs(total)))
    forward = np.sign(total[axis]) * np.eye(3)[axis]
    return Facing(_axes(upward, forward), tuple(name for name, _, vector in votes if vector @ forward > 0.5))


def _facing_votes(
    character: Character, places: Array, bones: dict[str, int], upward: Array, level: Array
) -> list[tuple[str, float, Array]]:
    """Evidence, weight, and a unit vector in the plane of the floor."""
    size = float(np.ptp(places, axis=0).max(initial=0.0))
    names = character.skeleton.names
    across = np.zeros(3)
    for left, right in _side_pairs(names):
        across += places[left] - places[right]
    across = _snap(across * level) * (np.linalg.norm(across * level) > MIN_EVIDENCE_RATIO * size)
    parents = character.skeleton.parents
    toes = [j for j, name in enumerate(names) if "toe" in "".join(name_words(name)) and parents[j] >= 0]
    toes = [bones[side] for side in ("LeftToes", "RightToes") if side in bones] or toes
    ways = [places[j] - places[parents[j]] for j in toes if parents[j] >= 0]
    along = sum(ways, np.zeros(3)) * level
    head, eyes = bones.get("Head"), eye_joints(character)
    look = np.zeros(3) if head is None or eyes is None else (places[list(eyes)].mean(axis=0) - places[head]) * level
    # nodes of rigid meshes may be anywhere; the joints of a skin are inside the body
    boned = not character.parts or _is_skinned(character)
    below = np.zeros(len(parents), bool)  # the head and what hangs on it
    for joint, parent in enumerate(parents.tolist()):
        below[joint] = joint == head or (parent >= 0 and below[parent])
    body = character.joints[~below[character.joints]]
    front = (
        (places[head] - places[body].mean(axis=0)) * level if head is not None and boned and len(body) else np.zeros(3)
    )
    votes = [
        ("left and right joints", PAIRS_WEIGHT, np.cross(across, upward), 0.0),
        ("toes", 1.0, along, MIN_EVIDENCE_RATIO * size),
        ("eyes", 1.0, look, MIN_EVIDENCE_RATIO * size),
        ("head", 1.0, front, MIN_HEAD_RATIO * size),
    ]
    return [(n, w, v / np.linalg.norm(v)) for n, w, v, least in votes if np.linalg.norm(v) > least]


def _side_pairs(names: tuple[str, ...]) -> list[tuple[int, int]]:
    """Joints of the left and of the right whose names differ only in the side."""
    left: dict[tuple[str, str], int] = {}
    right: dict[tuple[str, str], int] = {}
    for joint, name in enumerate(names):
        side, stem, number = split_side(name)
        if side:
            (left if side == "Left" else right).setdefault((stem, number), joint)
    return [(left[key], right[key]) for key in left if key in right]


def _upward(places: Array, bones: dict[str, int]) -> Array:
    """The axis that points from the feet to the hips; +Y where there are no legs, or they do not point along one."""
    legs = [
        (bones[side + "UpperLeg"], bones[side + "Foot"])
        for side in ("Left", "Right")
        if side + "Foot" in bones and side + "UpperLeg" in bones
    ]
    way = sum((places[top] - places[foot] for top, foot in legs), np.zeros(3))
    axis = int(np.argmax(np.abs(way)))
    # 0.8: within 37 degrees of the axis; a leg that is raised or bent in the rest pose says nothing
    if not np.abs(way[axis]) > 0.8 * np.linalg.norm(way):
        return UP_AXIS
    return np.asarray(np.sign(way[axis]) * np.eye(3)[axis])


def _facing_by_symmetry(rig: PosedRig, upward: Array, level: Array) -> Facing:
    """Forward along the plane in which the mesh is its own mirror image, if only one of the two planes is such."""
    horizontal = np.flatnonzero(level)
    forward = np.eye(3)[2 if 2 in horizontal else horizontal[-1]]
    vertices = rig.vertices(rig.rest[None])[0] if rig.character.vertex_count else np.zeros((0, 3))
    if len(vertices) < MIN_SYMMETRY_VERTICES or not _is_skinned(rig.character):
        return Facing(_axes(upward, forward), ())
    from scipy.spatial import cKDTree  # few characters need it

    points = vertices[:: 1 + len(vertices) // MAX_SYMMETRY_VERTICES].astype(np.float64)
    tree, middle = cKDTree(points), (points.max(axis=0) + points.min(axis=0)) / 2
    errors = {}
    for axis in horizontal.tolist():
        mirror = points.copy()
        mirror[:, axis] = 2 * middle[axis] - mirror[:, axis]
        errors[axis] = float(tree.query(mirror)[0].mean())
    best, other = sorted(horizontal.tolist(), key=lambda axis: errors[axis])
    width, length = np.ptp(points, axis=0)[[best, other]]
    # twice as good tells a plane from chance; something flat is always its own mirror image
    if errors[best] > 0.5 * errors[other] or width < 0.2 * length:
        return Facing(_axes(upward, forward), ())
    return Facing(_axes(upward, np.eye(3)[other]), ("symmetry",))


def _is_skinned(character: Character) -> bool:
    return not all(part.skin.is_rigid for part in character.parts)


def facing_axes(rig: PosedRig) -> Array:
    """(3, 3) columns left, up, forward of a character at rest; see `find_facing`."""
    return find_facing(rig).axes


def axis_vector(name: str) -> Array:
    """The unit vector of an axis written "y", "+y" or "-y"."""
    letter = name.strip().lower().lstrip("+-")
    if letter not in ("x", "y", "z") or len(name.strip()) > 2:
        raise InvalidInput(f"an axis should be x, y, z, -x, -y or -z, but is {name!r}")
    return np.asarray((-1.0 if name.strip().startswith("-") else 1.0) * np.eye(3)["xyz".index(letter)])


def _axis_name(vector: Array) -> str:
    axis = int(np.argmax(np.abs(vector)))
    return f"{'+' if vector[axis] > 0 else '-'}{'xyz'[axis]}"


def _snap(vector: Array) -> Array:
    """The axis nearest to a vector: a character faces an axis, though its rest pose may be asymmetric."""
    axis = int(np.argmax(np.abs(vector)))
    return np.asarray(np.sign(vector[axis]) * np.eye(3)[axis])


def _axes(upward: Array, forward: Array) -> Array:
    return np.stack([np.cross(upward, forward), upward, forward], axis=1)
