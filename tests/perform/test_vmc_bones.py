"""Bones for other programs: left-handed, and a person's turns that any avatar can wear."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.bodies import BODY, body

from understudy.character.rig import DirectRig, LayeredRig
from understudy.maths import quaternion
from understudy.perform.vmc import VmcBones, to_unity

MIRRORS = [np.diag([-1.0, 1, 1]), np.diag([1.0, 1, -1])]


def posed(rig: DirectRig, seed: int = 0, size: float = 0.5) -> np.ndarray:
    """The body with every joint turned in the world, whatever its axes are: the same pose for every choice of them."""
    rng = np.random.default_rng(seed)
    turns = quaternion.from_rotation_vector(size * rng.normal(size=(len(BODY), 3)))
    rest = rig.joints(rig.rest[None])[0]
    whole = rig.rest.copy()
    row = whole[: 10 * len(BODY)].reshape(-1, 10)
    parents = rig.character.skeleton.parents
    bind = quaternion.from_matrix(rest)
    for joint, parent in enumerate(parents):
        above = quaternion.IDENTITY if parent < 0 else bind[parent]
        # parent_from_joint = B_p^-1 n B_j, with n the turn in the world's axes
        row[joint, 3:7] = quaternion.multiply(
            quaternion.conjugate(above), quaternion.multiply(turns[joint], bind[joint])
        )
    return whole


@pytest.mark.parametrize("mirror", [0, 1, 2])
def test_the_mirror_is_a_mirror(mirror: int) -> None:
    rng = np.random.default_rng(mirror)
    places, turns = rng.normal(size=(20, 3)), quaternion.normalise(rng.normal(size=(20, 4)))
    m = np.diag(np.where(np.arange(3) == mirror, -1.0, 1.0))
    seen, seen_turns = to_unity(places, turns, mirror)
    np.testing.assert_allclose(seen, places @ m, atol=1e-15)
    np.testing.assert_allclose(quaternion.to_matrix(seen_turns), m @ quaternion.to_matrix(turns) @ m, atol=1e-12)
    again = to_unity(seen, seen_turns, mirror)
    assert np.array_equal(again[0], places) and np.array_equal(again[1], turns)


def unity_worlds(bones: VmcBones, row: np.ndarray) -> dict[str, np.ndarray]:
    """What a receiver makes of it: world transforms from local ones down the tree of what was sent."""
    places, turns = bones.poses(row)
    worlds: dict[int, np.ndarray] = {}
    for joint, parent in enumerate(bones.parents):
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = quaternion.to_matrix(turns[joint]), places[joint]
        worlds[joint] = local if parent < 0 else worlds[int(parent)] @ local
    return {name: worlds[joint] for joint, name in enumerate(bones.names)}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("human", [False, True])
def test_a_receiver_gets_the_pose_in_its_mirror(human: bool, turned: bool) -> None:
    rig = body(seed=3, turned=turned)
    row = posed(rig)
    bones = VmcBones.from_rig(rig, human)
    m = MIRRORS[turned]
    rest, world = rig.joints(np.stack([rig.rest, row]))
    for joint, (name, received) in enumerate(unity_worlds(bones, row).items()):
        np.testing.assert_allclose(received[:3, 3], m @ world[joint, :3, 3], atol=1e-9, err_msg=name)
        expected = world[joint, :3, :3] @ (rest[joint, :3, :3].T if human else np.eye(3))
        np.testing.assert_allclose(received[:3, :3], m @ expected @ m, atol=1e-9, err_msg=name)


def test_people_are_told_the_same_whatever_their_axes() -> None:
    rigs = [body(seed=seed) for seed in (None, 1, 2)]
    sent = [VmcBones.from_rig(rig).poses(posed(rig)) for rig in rigs]
    for places, turns in sent[1:]:
        np.testing.assert_allclose(places, sent[0][0], atol=1e-9)
        np.testing.assert_allclose(quaternion.angle_between(turns, sent[0][1]), 0, atol=1e-7)
    places, turns = VmcBones.from_rig(rigs[1]).poses(rigs[1].rest)
    np.testing.assert_allclose(quaternion.angle_between(turns, quaternion.identity((len(turns),))), 0, atol=1e-7)


def test_left_is_left() -> None:
    """Unity's +x is to the right of a character that looks along +z."""
    bones = VmcBones.from_rig(body())
    assert bones.human
    worlds = unity_worlds(bones, bones.rig.rest)
    assert worlds["LeftHand"][0, 3] < 0 < worlds["RightHand"][0, 3]
    turned = VmcBones.from_rig(body(turned=True))
    assert unity_worlds(turned, turned.rig.rest)["LeftHand"][0, 3] < 0
    assert unity_worlds(turned, turned.rig.rest)["LeftEye"][2, 3] > 0


def test_a_bone_is_told_in_the_next_bone_above() -> None:
    rig = body(lambda name: {"Spine1": "helper"}.get(name, name))
    bones = VmcBones.from_rig(rig)
    index = rig.character.skeleton.index
    assert set(bones.names) >= {"Hips", "Chest", "UpperChest", "LeftUpperArm", "RightLowerLeg", "Head"}
    assert len(set(bones.names)) == len(bones.names)
    assert bones.parents[index("Hips")] == -1 and bones.parents[index("LeftUpLeg")] == index("Hips")


def test_the_dragon_is_sent_as_it_is(dragon: LayeredRig) -> None:
    bones = VmcBones.from_rig(dragon)
    assert not bones.human and bones.names == dragon.character.skeleton.names
    row = np.random.default_rng(5).uniform(dragon.controls.low, dragon.controls.high)
    places, turns = bones.poses(row)
    translations, rotations, _ = dragon.local_transforms(row[None])
    np.testing.assert_allclose(places, translations[0] * [-1, 1, 1])
    np.testing.assert_allclose(turns, rotations[0] * [1, -1, -1, 1])
