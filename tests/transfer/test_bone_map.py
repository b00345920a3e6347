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
