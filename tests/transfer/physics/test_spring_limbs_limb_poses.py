from __future__ import annotations

import numpy as np
from tests.transfer.small import pairs, source

from understudy.character.body.poses import PoseSequence, squared_pose_distances
from understudy.maths import quaternion
from understudy.transfer.physics.spring_limbs import SpringLimb, pair_nearness, start_poses


def test_weights_are_those_of_near_pairs() -> None:
    given = pairs()
    weights = pair_nearness(given, given.source)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (weights.argmax(axis=1) == np.arange(len(given))).all()


def test_a_posed_tail_is_held_near_its_pair() -> None:
    given = pairs()
    rotations = np.array(given.poses.rotations)
    tail = given.poses.skeleton.index("Tail1")
    rotations[8, tail] = -quaternion.from_rotation_vector(np.array([0.8, 0.0, 0.0]))  # either sign is the same turn
    posed = PoseSequence(given.poses.skeleton, given.poses.translations, rotations, 30.0)
    given = type(given)(given.source, given.target, posed, given.names, given.motions, given.times, given.markers)
    frame = round(float(given.times[8]) * 30)
    found = start_poses(given, source().local, (SpringLimb(("Tail1",)),), 30.0)
    angle = quaternion.angle_between(found.rotations[:, tail], quaternion.identity())
    assert abs(angle[frame] - 0.8) < 0.2 and angle.argmax() in range(frame - 4, frame + 5)
    assert np.abs(np.diff(angle)).max() < 0.5


def test_distances_of_poses() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(6, 40)) + 100, rng.normal(size=(5, 40)) + 100
    slow = ((a[:, None] - b) ** 2).sum(axis=-1)
    np.testing.assert_allclose(squared_pose_distances(a, b), slow, rtol=1e-9)
    assert squared_pose_distances(a, a).diagonal().max() < 1e-9
