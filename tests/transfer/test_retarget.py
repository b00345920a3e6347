"""Plain retarget: limb directions are the source's, whatever both rest poses are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy import cast, formats
from understudy.character import Character, Skeleton
from understudy.character.body.poses import PoseSequence, poses_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.transfer.bone_map import BoneMap, bone_map
from understudy.transfer.by_bones import transfer_by_bones
from understudy.transfer.retarget import retarget, size_ratio
from understudy.transfer.source import source_of

LIMBS = [
    (side + a, side + b)
    for side in ("Left", "Right")
    for a, b in (("UpperArm", "LowerArm"), ("LowerArm", "Hand"), ("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"))
]


def directions(poses: PoseSequence, body: BoneMap) -> Array:
    places = poses.world[..., :3, 3]
    ways = np.stack([places[:, body.bones[b]] - places[:, body.bones[a]] for a, b in LIMBS], axis=1)
    return ways / np.linalg.norm(ways, axis=2, keepdims=True)


def with_rest_turns(character: Character, turns: dict[str, Array]) -> Character:
    """The character with other rest rotations: bare bones."""
    s = character.skeleton
    rotations = np.array(s.rotations)
    for name, turn in turns.items():
        rotations[s.index(name)] = quaternion.multiply(turn, rotations[s.index(name)])
    return Character("other", Skeleton(s.names, s.parents, s.translations, rotations), bones=character.joints)


@pytest.fixture(scope="module")
def actor() -> Character:
    return cast.load("actor").character()


@pytest.fixture(scope="module")
def motion() -> PoseSequence:
    return poses_of(cast.load("actor"), "happiness", rate=20)


def test_the_same_body_gives_the_same_pose(actor: Character, motion: PoseSequence) -> None:
    same = retarget(motion, actor, actor)
    assert np.abs(same.world[..., :3, :3] - motion.world[..., :3, :3]).max() < 1e-6
    away = same.world[..., :3, 3] - motion.world[..., :3, 3]
    assert np.ptp(away, axis=(0, 1)).max() < 1e-6 and np.abs(away[..., [0, 2]]).max() < 1e-6  # but for the floor


def test_another_rest_pose_gives_the_same_limb_directions(actor: Character, motion: PoseSequence) -> None:
    a = np.radians(40)
    lowered = {
        "LeftArm": quaternion.from_axis_angle([0, 0, 1], -a),
        "RightArm": quaternion.from_axis_angle([0, 0, 1], a),
        "LeftUpLeg": quaternion.from_axis_angle([0, 0, 1], 0.3),
        "RightUpLeg": quaternion.from_axis_angle([0, 0, 1], -0.3),
    }
    other = with_rest_turns(actor, lowered)
    result = retarget(motion, actor, other)
    assert np.abs(directions(result, bone_map(other)) - directions(motion, bone_map(actor))).max() < 1e-6


@pytest.mark.parametrize("axis", [(0, np.pi / 2), (1, np.pi), (2, -np.pi / 2)])
def test_the_facing_at_rest_does_not_matter(actor: Character, motion: PoseSequence, axis: tuple[int, float]) -> None:
    turn = quaternion.from_axis_angle([0, 1, 0], axis[1])
    other = with_rest_turns(actor, {actor.skeleton.names[int(actor.skeleton.roots[0])]: turn})
    result = retarget(motion, actor, other)
    assert np.abs(directions(result, bone_map(other)) - directions(motion, bone_map(actor))).max() < 1e-6


@pytest.mark.parametrize("size", [0.2, 5.0])
def test_a_larger_body_takes_larger_steps(actor: Character, motion: PoseSequence, size: float) -> None:
    s = actor.skeleton
    other = Character("other", Skeleton(s.names, s.parents, size * s.translations, s.rotations), bones=actor.joints)
    plain = Character("plain", Skeleton(s.names, s.parents, s.translations, s.rotations), bones=actor.joints)
    assert np.isclose(size_ratio(bone_map(plain), bone_map(other)), size)
    result, same = retarget(motion, plain, other), retarget(motion, plain, plain)
    assert np.abs(result.world[..., :3, 3] - size * same.world[..., :3, 3]).max() < 1e-6 * size


def test_a_character_that_faces_back_at_rest_walks_the_other_way(actor: Character) -> None:
    """The whole transfer keeps to where the target faces; its limbs are those of the source, turned with it."""
    asset = cast.load("actor")
    back = with_rest_turns(actor, {actor.skeleton.names[0]: quaternion.from_axis_angle([0, 1, 0], np.pi)})
    source = source_of(asset, "fear", rate=12)
    assert source.poses is not None
    result = transfer_by_bones(source, actor, back, physics=False).poses
    turned = directions(source.poses, bone_map(actor)) * [-1, 1, -1]
    assert np.abs(directions(result, bone_map(back)) - turned).max() < 1e-6


def test_contacts_of_a_transfer_can_be_given(actor: Character, tmp_path: Path) -> None:
    source = source_of(cast.load("actor"), "surprise", rate=12)
    path = tmp_path / "contacts.toml"
    path.write_text('[contacts]\n"LeftFoot.toe" = [[0.0, 0.5]]\n')
    given = transfer_by_bones(source, actor, actor, contacts=path)
    assert given.report["contacts"]["LeftFoot.toe"] == [[0.0, 0.5]]
    assert not any(spans for name, spans in given.report["contacts"].items() if name != "LeftFoot.toe")
    one = transfer_by_bones(source, actor, actor, contact_points=["LeftFoot"])
    assert one.report["contacts"]["LeftFoot.heel"] and not one.report["contacts"]["RightFoot.heel"]
    with pytest.raises(InvalidInput, match="feet, hands or shins, but are Head"):
        transfer_by_bones(source, actor, actor, contact_points=["Head"])


def test_a_foot_that_hangs_on_no_leg_stays_at_its_shin(actor: Character, motion: PoseSequence) -> None:
    robot = bone_map(formats.read(data_file("gltf_threejs/RobotExpressive.glb")).character())
    world = retarget(motion, actor, robot).world[..., :3, 3]
    for side in ("Left", "Right"):
        shin, foot = robot.bones[side + "LowerLeg"], robot.bones[side + "Foot"]
        rest = np.linalg.norm(robot.places[foot] - robot.places[shin])
        assert np.abs(np.linalg.norm(world[:, foot] - world[:, shin], axis=1) - rest).max() < 1e-4 * rest
