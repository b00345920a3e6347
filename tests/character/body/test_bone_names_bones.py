"""Bones by name: the conventions that users bring, the same body under each."""

from __future__ import annotations

import pytest
from tests.data_folder import data_file
from tests.perform.layers.bodies import BODY, body

from understudy import formats
from understudy.character import Skeleton
from understudy.character.body.bone_names import eye_joints, human_bones, name_words

UNITY = {
    "Hips": "Hips",
    "Spine": "Spine",
    "Spine1": "Chest",
    "Spine2": "UpperChest",
    "Neck": "Neck",
    "Head": "Head",
    "LeftEye": "LeftEye",
    "LeftShoulder": "LeftShoulder",
    "LeftArm": "LeftUpperArm",
    "LeftForeArm": "LeftLowerArm",
    "LeftHand": "LeftHand",
    "LeftUpLeg": "LeftUpperLeg",
    "LeftLeg": "LeftLowerLeg",
    "LeftFoot": "LeftFoot",
}
UNITY |= {name.replace("Left", "Right"): bone.replace("Left", "Right") for name, bone in UNITY.items()}
UNREAL = {
    "Hips": "pelvis",
    "Spine": "spine_01",
    "Spine1": "spine_02",
    "Spine2": "spine_03",
    "Neck": "neck_01",
    "Head": "head",
    "LeftEye": "eye_l",
    "LeftShoulder": "clavicle_l",
    "LeftArm": "upperarm_l",
    "LeftForeArm": "lowerarm_l",
    "LeftHand": "hand_l",
    "LeftUpLeg": "thigh_l",
    "LeftLeg": "calf_l",
    "LeftFoot": "foot_l",
}
UNREAL |= {name.replace("Left", "Right"): bone.replace("_l", "_r") for name, bone in UNREAL.items()}
RIGIFY = {
    **UNREAL,  # a character whose right side was named by somebody else
    "LeftShoulder": "DEF-shoulder.L",
    "LeftArm": "DEF-upper_arm.L",
    "LeftForeArm": "DEF-forearm.L",
    "LeftHand": "DEF-hand.L",
    "LeftUpLeg": "DEF-thigh.L",
    "LeftLeg": "DEF-shin.L",
    "LeftFoot": "DEF-foot.L",
    "LeftEye": "DEF-eye.L",
}
VROID = {}
for _name, _bone in UNITY.items():
    _side = next((side for side in ("Left", "Right") if side in _bone), "")
    VROID[_name] = f"J_Bip_{_side[:1] or 'C'}_{_bone.removeprefix(_side)}"
CONVENTIONS = {
    "mixamo": lambda name: f"mixamorig:{name}",
    "unreal": lambda name: UNREAL[name],
    "rigify": lambda name: RIGIFY[name],
    "vrm": lambda name: UNITY[name][0].lower() + UNITY[name][1:],
    "vroid": lambda name: VROID[name],
}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_each_convention_names_the_same_body(convention: str) -> None:
    rig = body(CONVENTIONS[convention])
    found = human_bones(rig.character.skeleton)
    plain = [name for name, _, _ in BODY]
    expected = {UNITY[name]: joint for joint, name in enumerate(plain)}
    assert found == expected
    assert eye_joints(rig.character.skeleton) == (plain.index("LeftEye"), plain.index("RightEye"))


def test_a_joint_is_one_bone_at_most() -> None:
    rig = body()
    found = human_bones(rig.character.skeleton)
    assert len(set(found.values())) == len(found)


def test_cmu_and_fingers() -> None:
    names = (
        "Hips",
        "LowerBack",
        "Spine",
        "Spine1",
        "Neck",
        "Neck1",
        "Head",
        "LeftHand",
        "LeftHandIndex1",
        "LThumb",
        "thumb_02_l",
    )
    skeleton = Skeleton(names, [-1, 0, 1, 2, 3, 4, 5, 3, 7, 7, 7], [[0, 0.1, 0]] * len(names))
    found = {bone: skeleton.names[joint] for bone, joint in human_bones(skeleton).items()}
    assert found["Spine"] == "LowerBack" and found["Chest"] == "Spine" and found["UpperChest"] == "Spine1"
    assert found["Neck"] == "Neck" and found["Head"] == "Head"
    assert found["LeftIndexProximal"] == "LeftHandIndex1" and found["LeftThumbIntermediate"] == "thumb_02_l"


@pytest.mark.parametrize(
    ("name", "is_eye"),
    [
        ("LeftEye", True),
        ("eye.L", True),
        ("mixamorig:LeftEye", True),
        ("eyelid_L", False),
        ("EyeBrow.L", False),
        ("EyeTarget_L", False),
    ],
)
def test_what_is_an_eye(name: str, is_eye: bool) -> None:
    other = name.replace("Left", "Right").replace(".L", ".R").replace("_L", "_R")
    skeleton = Skeleton(("Head", name, other), [-1, 0, 0], [[0, 0, 0]] * 3)
    assert (eye_joints(skeleton) == (1, 2)) is is_eye


def test_words() -> None:
    assert name_words("mixamorig:LeftForeArm") == ["left", "fore", "arm"]
    assert name_words("J_Bip_L_UpperArm") == ["j", "bip", "l", "upper", "arm"]
    assert name_words("spine.001") == ["spine", "001"]


def test_real_bodies() -> None:
    knight = formats.read(data_file("gltf_kaykit/Knight.glb")).character().skeleton
    found = {bone: knight.names[joint] for bone, joint in human_bones(knight).items()}
    assert found["Hips"] == "hips" and found["Chest"] == "chest" and found["Head"] == "head"
    assert found["LeftUpperArm"] == "upperarm.l" and found["RightLowerLeg"] == "lowerleg.r"
    cmu = formats.read(data_file("bvh_cmu/79_69.bvh")).character().skeleton
    found = {bone: cmu.names[joint] for bone, joint in human_bones(cmu).items()}
    assert found["LeftUpperLeg"] == "LeftUpLeg" and found["RightLowerArm"] == "RightForeArm"
