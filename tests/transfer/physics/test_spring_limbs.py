from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.reference import transfer as reference
from tests.transfer.small import hopper

from understudy.character import Channel, Clip
from understudy.character.body.poses import PoseSequence
from understudy.errors import InvalidInput
from understudy.formats import read
from understudy.maths import quaternion, transform
from understudy.transfer.physics import physics_kernels
from understudy.transfer.physics.spring_limbs import (
    SpringLimb,
    apply_limb_keys,
    limbs_by_name,
    limbs_from_joints,
    looseness,
    swing,
)

TAIL = SpringLimb(("Tail1", "Tail2", "Tail3"))


def shaken(frames: int = 40) -> PoseSequence:
    """The hopper, moved to the side and back, and turned."""
    poses = PoseSequence.rest(hopper().character().skeleton, frames, 30.0)
    times = np.arange(frames) / 30
    turns = quaternion.from_rotation_vector(np.outer(0.5 * np.sin(5 * times), [0.0, 1.0, 0.0]))
    return poses.apply_transform(transform.compose(np.outer(0.3 * np.sin(8 * times), [1.0, 0.0, 0.0]), turns))


def bent(poses: PoseSequence, other: PoseSequence) -> float:
    return float(quaternion.angle_between(poses.rotations, other.rotations).max())


def test_nothing_moves_at_rest_and_on_a_steady_way() -> None:
    rest = PoseSequence.rest(hopper().character().skeleton, 30, 30.0)
    way = np.tile(np.eye(4), (30, 1, 1))
    way[:, 2, 3] = np.arange(30) / 30 * 2.0
    assert bent(swing(rest, [TAIL]), rest) < 1e-4
    steady = swing(rest.apply_transform(way), [TAIL])
    # the start itself is a jolt, which must have faded
    assert quaternion.angle_between(steady.rotations[-1], rest.rotations[-1]).max() < 0.02


def test_a_shaken_tail_swings_and_keeps_its_length() -> None:
    poses = shaken()
    found = swing(poses, [TAIL])
    assert 0.02 < bent(found, poses) < np.radians(75.1)
    joints = [poses.skeleton.index(joint) for joint in TAIL.joints]
    lengths = np.linalg.norm(np.diff(found.world[:, joints][..., :3, 3], axis=1), axis=-1)
    np.testing.assert_allclose(lengths, 0.05, atol=1e-9)
    others = [j for j in range(len(poses.skeleton)) if j not in joints]
    np.testing.assert_array_equal(found.rotations[:, others], quaternion.unroll(poses.rotations)[:, others])


def test_more_damping_swings_less_in_the_end() -> None:
    poses = shaken(20)
    still = poses.rows([*range(20), *([19] * 40)])
    left = [
        quaternion.angle_between(swing(still, [SpringLimb(TAIL.joints, damping=d)]).rotations[-1], still.rotations[-1])
        for d in (0.1, 1.0)
    ]
    assert left[1].max() < left[0].max()


def test_the_kernel_agrees_with_its_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    poses = shaken(12)
    limb = SpringLimb(TAIL.joints, sag=0.3)
    compiled = swing(poses, [limb])
    monkeypatch.setattr(physics_kernels, "swing", reference.swing)
    assert bent(swing(poses, [limb]), compiled) < 1e-5


def test_keys_are_what_it_swings_about_and_loose_says_how_far() -> None:
    target = hopper().character()
    poses = shaken()
    turn = quaternion.from_rotation_vector(np.array([0.6, 0.0, 0.0]))
    channels = [Channel("Tail1", "rotation"), Channel("Tail1", "controls", ("loose",))]
    keys = Clip("tail", channels, np.tile([*turn, 0.0], (2, 1)), 30.0)
    goals = apply_limb_keys(poses, [TAIL], target, keys)
    np.testing.assert_allclose(goals.rotations[:, 3], np.tile(turn, (40, 1)), atol=1e-9)
    loose = looseness(TAIL, keys, 40, 30.0)
    assert loose.max() == 0
    assert bent(swing(goals, [TAIL], [loose]), goals) < 1e-6
    assert bent(swing(goals, [TAIL]), goals) > 0.02
    assert looseness(TAIL, None, 5, 30.0).min() == 1


def test_limbs_are_told_by_name() -> None:
    assert [limb.joints for limb in limbs_by_name(hopper().character())] == [TAIL.joints]
    husky = read(data_file("gltf_quaternius/animals_pack_Husky.glb")).character()
    assert [limb.joints[0] for limb in limbs_by_name(husky)] == ["Ear1.L", "Ear1.R", "Tail1"]
    snake = read(data_file("gltf_quaternius/easy_enemies_pack_Snake.glb")).character()
    assert limbs_by_name(snake) == ()


def test_a_limb_is_a_chain() -> None:
    skeleton = hopper().character().skeleton
    assert limbs_from_joints(skeleton, ["Tail2"])[0].joints == ("Tail2", "Tail3")
    with pytest.raises(InvalidInput, match="not the parent"):
        swing(PoseSequence.rest(skeleton, 2), [SpringLimb(("Tail1", "Tail3"))])
    with pytest.raises(InvalidInput, match="at least one joint"):
        SpringLimb(())
    with pytest.raises(InvalidInput, match="damping"):
        SpringLimb(("Tail1",), damping=-1)


def test_however_hard_it_is_shaken_it_does_not_curl_up() -> None:
    times = np.arange(60) / 30
    rest = PoseSequence.rest(hopper().character().skeleton, 60, 30.0)
    turns = quaternion.from_rotation_vector(np.outer(2.5 * np.sin(25 * times), [1.0, 0.0, 0.0]))
    poses = rest.apply_transform(transform.compose(np.outer(9.0 + 3.0 * np.sin(20 * times), [0.0, 1.0, 0.0]), turns))
    most = bent(swing(poses, [SpringLimb(TAIL.joints, most=60.0)]), poses)
    assert np.radians(15.0) < most <= np.radians(20.0)  # a third of it for each of the three joints


def test_a_limb_lies_on_the_floor_and_keeps_its_keys_where_it_is_not_loose() -> None:
    skeleton = hopper().character().skeleton
    rest = PoseSequence.rest(skeleton, 40, 30.0)
    sunk = np.tile(np.eye(4), (40, 1, 1))
    joints = [skeleton.index(joint) for joint in TAIL.joints]
    sunk[:, 1, 3] = -np.linspace(0.0, rest.world[0, joints[0], 1, 3] - 0.005, 40)
    pitch = quaternion.from_rotation_vector(np.tile([-0.9, 0.0, 0.0], (40, 1)))
    poses = rest.apply_transform(sunk)
    rotations = np.array(poses.rotations)
    rotations[:, joints[0]] = quaternion.multiply(rotations[:, joints[0]], pitch)
    poses = PoseSequence(skeleton, poses.translations, rotations, 30.0)
    assert poses.world[:, joints, 1, 3].min() < -0.03
    assert swing(poses, [TAIL]).world[:, joints, 1, 3].min() > -1e-9
    assert bent(swing(poses, [TAIL], [np.zeros(40)]), poses) < 1e-6
