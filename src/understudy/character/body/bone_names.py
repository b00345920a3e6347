"""Which joint is which bone of a human body, by name, and which way a character faces at rest.

Names are Unity's HumanBodyBones, as VRM and the VMC protocol use them: Hips, Spine, LeftUpperArm. Recognised are Mixamo
(`mixamorig:LeftForeArm`), CMU's BVH (`LeftUpLeg`), Unreal (`lowerarm_l`), Rigify (`DEF-upper_arm.L`), VRM and VRoid
(`J_Bip_L_UpperArm`), and names spelled alike. The spine is found by its position between hips and head, because each
convention counts it differently.

understudy's convention is to face +Z, but files differ (VRM 0 faces -Z). The lines from right to left joints of the
pairs give the direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.rig import PosedRig
from understudy.checks import Array

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


def split_side(name: str) -> tuple[str, str, str]:
    """Side ("Left", "Right" or ""), the rest of the name in one word, and its last number ("" where there is none)."""
    parts = [word for word in name_words(name) if word not in IGNORED_WORDS]
    if parts and parts[0][0] in "lr" and parts[0][1:] in ("thumb", "hip"):  # CMU's LThumb
        parts = [parts[0][0], parts[0][1:], *parts[1:]]
    side = next((SIDES[word] for word in parts if word in SIDES), "")
    numbers = [word for word in parts if word.isdigit()]
    return side, "".join(w for w in parts if w not in SIDES and not w.isdigit()), numbers[-1] if numbers else ""


def name_words(name: str) -> list[str]:
    """`mixamorig:LeftForeArm` -> left, fore, arm: lower case, cut at separators, capitals and digits."""
    last = re.split(r"[:|/]", name)[-1]
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", last)]


def facing_axes(rig: PosedRig) -> Array:
    """(3, 3) columns left, up, forward, by the pairs of joints that differ only in their side; +X, +Y, +Z without."""
    places = rig.joints(rig.rest[None])[0, :, :3, 3]
    left: dict[tuple[str, str], int] = {}
    right: dict[tuple[str, str], int] = {}
    for joint, name in enumerate(rig.character.skeleton.names):
        side, stem, number = split_side(name)
        if side:
            (left if side == "Left" else right).setdefault((stem, number), joint)
    across = np.zeros(3)
    for key in left.keys() & right.keys():
        across += places[left[key]] - places[right[key]]
    across[1] = 0.0
    length = np.linalg.norm(across)
    # A hundredth of the body: less is a pair of helper joints in the middle, not a left and a right.
    if length <= 0.01 * max(float(np.ptp(places[:, 1])), 1e-9):
        return np.eye(3)
    # A character faces an axis, though its rest pose may be asymmetric: the tail to one side, a leg in front.
    axis = int(np.argmax(np.abs(across)))
    across = np.sign(across[axis]) * np.eye(3)[axis]
    return np.stack([across, UP_AXIS, np.cross(across, UP_AXIS)], axis=1)
