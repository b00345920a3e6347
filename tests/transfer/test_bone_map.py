"""Which joint is which bone: conventions of names, shapes without names, feet that hang on no leg, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy import cast, formats
from understudy.character import Character, Skeleton
from understudy.errors import InvalidInput
from understudy.transfer.bone_map import bone_map


def rename(character: Character, names: list[str]) -> Character:
    s = character.skeleton
    skeleton = Skeleton(names, s.parents, s.translations, s.rotations, s.scales)
    return Character(character.name, skeleton, character.parts, character.joints)


# Names of the actor's joints in other conventions: hips, three of the spine, neck, head, then arm and leg of a side.
CONVENTIONS = {
    "Mixamo": (
        "mixamorig:Hips mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2 mixamorig:Neck mixamorig:Head",
        "mixamorig:{Left}Shoulder mixamorig:{Left}Arm mixamorig:{Left}ForeArm mixamorig:{Left}Hand",
        "mixamorig:{Left}UpLeg mixamorig:{Left}Leg mixamorig:{Left}Foot mixamorig:{Left}ToeBase",
    ),
    "Mixamo, flattened": (
        "mixamorigHips mixamorigSpine mixamorigSpine1 mixamorigSpine2 mixamorigNeck mixamorigHead",
        "mixamorig{Left}Shoulder mixamorig{Left}Arm mixamorig{Left}ForeArm mixamorig{Left}Hand",
        "mixamorig{Left}UpLeg mixamorig{Left}Leg mixamorig{Left}Foot mixamorig{Left}ToeBase",
    ),
    "Ready Player Me": (
        "Hips Spine Spine1 Spine2 Neck Head",
        "{Left}Shoulder {Left}Arm {Left}ForeArm {Left}Hand",
        "{Left}UpLeg {Left}Leg {Left}Foot {Left}ToeBase",
    ),
    "Unreal": (
        "pelvis spine_01 spine_02 spine_03 neck_01 head",
        "clavicle_{l} upperarm_{l} lowerarm_{l} hand_{l}",
        "thigh_{l} calf_{l} foot_{l} ball_{l}",
    ),
    "Rigify": (
        "DEF-spine DEF-spine.001 DEF-spine.002 DEF-spine.003 DEF-spine.004 DEF-spine.006",
        "DEF-shoulder.{L} DEF-upper_arm.{L} DEF-forearm.{L} DEF-hand.{L}",
        "DEF-thigh.{L} DEF-shin.{L} DEF-foot.{L} DEF-toe.{L}",
    ),
    "3ds Max Biped": (
        "Bip01 Pelvis|Bip01 Spine|Bip01 Spine1|Bip01 Spine2|Bip01 Neck|Bip01 Head",
        "Bip01 {L} Clavicle|Bip01 {L} UpperArm|Bip01 {L} Forearm|Bip01 {L} Hand",
        "Bip01 {L} Thigh|Bip01 {L} Calf|Bip01 {L} Foot|Bip01 {L} Toe0",
    ),
    "Valve": (
        "ValveBiped.Bip01_Pelvis ValveBiped.Bip01_Spine ValveBiped.Bip01_Spine1 ValveBiped.Bip01_Spine2 "
        "ValveBiped.Bip01_Neck1 ValveBiped.Bip01_Head1",
        "ValveBiped.Bip01_{L}_Clavicle ValveBiped.Bip01_{L}_UpperArm ValveBiped.Bip01_{L}_Forearm "
        "ValveBiped.Bip01_{L}_Hand",
        "ValveBiped.Bip01_{L}_Thigh ValveBiped.Bip01_{L}_Calf ValveBiped.Bip01_{L}_Foot ValveBiped.Bip01_{L}_Toe0",
    ),
    "VRM": (
        "hips spine chest upperChest neck head",
        "{left}Shoulder {left}UpperArm {left}LowerArm {left}Hand",
        "{left}UpperLeg {left}LowerLeg {left}Foot {left}Toes",
    ),
    "VRoid": (
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest J_Bip_C_Neck J_Bip_C_Head",
        "J_Bip_{L}_Shoulder J_Bip_{L}_UpperArm J_Bip_{L}_LowerArm J_Bip_{L}_Hand",
        "J_Bip_{L}_UpperLeg J_Bip_{L}_LowerLeg J_Bip_{L}_Foot J_Bip_{L}_ToeBase",
    ),
    "BVH, by joints": (
        "Hips Chest Chest2 Chest3 Neck Head",
        "{Left}Collar {Left}Shoulder {Left}Elbow {Left}Wrist",
        "{Left}Hip {Left}Knee {Left}Ankle {Left}Toe",
    ),
    "SMPL": (
        "Pelvis Spine1 Spine2 Spine3 Neck Head",
        "{L}_Collar {L}_Shoulder {L}_Elbow {L}_Wrist",
        "{L}_Hip {L}_Knee {L}_Ankle {L}_Foot",
    ),
    "Daz": (
        "hip abdomenLower abdomenUpper chestLower neckLower head",
        "{l}Collar {l}ShldrBend {l}ForearmBend {l}Hand",
        "{l}ThighBend {l}Shin {l}Foot {l}Toe",
    ),
    "Character Creator": (
        "CC_Base_Hip CC_Base_Waist CC_Base_Spine01 CC_Base_Spine02 CC_Base_NeckTwist01 CC_Base_Head",
        "CC_Base_{L}_Clavicle CC_Base_{L}_Upperarm CC_Base_{L}_Forearm CC_Base_{L}_Hand",
        "CC_Base_{L}_Thigh CC_Base_{L}_Calf CC_Base_{L}_Foot CC_Base_{L}_ToeBase",
    ),
    "Quaternius": (
        "Body Hips Abdomen Torso Neck Head",
        "Shoulder.{L} UpperArm.{L} LowerArm.{L} Fist.{L}",
        "UpperLeg.{L} LowerLeg.{L} Foot.{L} Toe.{L}",
    ),
    "lower case": (
        "hips spine spine1 spine2 neck head",
        "{left}shoulder {left}upperarm {left}lowerarm {left}hand",
        "{left}upperleg {left}lowerleg {left}foot {left}toes",
    ),
}
ACTOR = ("Hips LowerBack Spine Spine1 Neck Head", "{Left}Shoulder {Left}Arm {Left}ForeArm {Left}Hand")
ACTOR = (*ACTOR, "{Left}UpLeg {Left}Leg {Left}Foot {Left}ToeBase")


def spell(words: tuple[str, ...], mirrored: bool = False) -> list[str]:
    names = []
    for text in words:
        for left in ("Left", "Right") if "{" in text else ("",):
            side = {"Left": "Right", "Right": "Left", "": ""}[left] if mirrored else left
            spelled = text.format(Left=side, left=side.lower(), L=side[:1], l=side[:1].lower())
            names += spelled.split("|") if "|" in spelled else spelled.split()
    return names


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_each_convention_names_the_same_bones(convention: str) -> None:
    actor = cast.load("actor").character()
    named = bone_map(actor)
    other = dict(zip(spell(ACTOR), spell(CONVENTIONS[convention])))
    found = bone_map(rename(actor, [other.get(name, f"thing{j}") for j, name in enumerate(actor.skeleton.names)]))
    wanted = {bone: joint for bone, joint in named.bones.items() if not bone.endswith("Proximal")}
    assert not found.missing
    assert {bone: found.bones.get(bone) for bone in wanted} == wanted
    told = [found.evidence[side + bone] for side in ("Left", "Right") for bone in ("UpperLeg", "LowerArm", "Foot")]
    assert set(told) == {"name"}


def test_mirrored_names_give_a_mirrored_map() -> None:
    actor = cast.load("actor").character()
    bare = Character("actor", actor.skeleton, bones=actor.joints)
    names = dict(zip(spell(ACTOR), spell(ACTOR, mirrored=True)))
    swapped = rename(bare, [names.get(name, f"thing{j}") for j, name in enumerate(bare.skeleton.names)])
    plain, found = bone_map(bare), bone_map(swapped)
    for bone in ("UpperLeg", "Foot", "UpperArm", "Hand"):
        assert found.bones["Left" + bone] == plain.bones["Right" + bone]


def test_the_actor_has_all_bones() -> None:
    found = bone_map(cast.load("actor").character())
    assert not found.missing
    assert found.names["LeftUpperLeg"] == "LeftUpLeg" and found.names["RightHand"] == "RightHand"
    assert [found.skeleton.names[j] for j in found.spine] == ["LowerBack", "Spine", "Spine1"]


def test_without_names_the_shape_tells_the_same_bones() -> None:
    actor = cast.load("actor").character()
    named, blind = bone_map(actor), bone_map(rename(actor, [f"joint {j}" for j in range(len(actor.skeleton))]))
    limbs = [bone for bone in named.bones if bone.endswith(("Leg", "Foot", "Toes", "Arm", "Hand"))]
    assert {bone: blind.bones.get(bone) for bone in limbs} == {bone: named.bones[bone] for bone in limbs}
    assert (blind.bones["Hips"], blind.spine, blind.bones["Head"]) == (
        named.bones["Hips"],
        named.spine,
        named.bones["Head"],
    )


@pytest.mark.parametrize("name", ["lamp", "penguin"])
def test_a_body_without_human_limbs_is_refused_with_what_is_missing(name: str) -> None:
    found = bone_map(cast.load(name).character())
    assert found.missing
    with pytest.raises(InvalidInput, match="has no bones for"):
        found.require()


def test_feet_that_hang_on_no_leg_follow_the_shin() -> None:
    character = formats.read(data_file("gltf_threejs/RobotExpressive.glb")).character()
    found = bone_map(character)
    foot, shin = found.bones["LeftFoot"], found.bones["LeftLowerLeg"]
    assert not found.missing and found.new_parents[foot] == shin
    assert character.skeleton.parents[foot] != shin and found.parents[foot] == shin


def test_ik_controls_are_no_bones() -> None:
    found = bone_map(formats.read(data_file("gltf_kaykit/Knight.glb")).character())
    assert not found.missing and found.names["LeftFoot"] == "foot.l" and found.names["RightLowerLeg"] == "lowerleg.r"
    assert not any("IK" in name or "control" in name for name in found.names.values())


def test_a_scaled_body_has_the_same_bones_and_longer_legs() -> None:
    actor = cast.load("actor").character()
    s = actor.skeleton
    large = Character("large", Skeleton(s.names, s.parents, 3 * s.translations, s.rotations), bones=actor.joints)
    small = Character("small", Skeleton(s.names, s.parents, s.translations, s.rotations), bones=actor.joints)
    assert bone_map(large).bones == bone_map(small).bones
    assert np.isclose(bone_map(large).leg_length, 3 * bone_map(small).leg_length)
