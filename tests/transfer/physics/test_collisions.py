from __future__ import annotations

import numpy as np
from tests.reference import transfer as reference
from tests.transfer.small import hopper, pairs

from understudy.character.body.ik import solve_ik
from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion
from understudy.transfer.physics import physics_kernels
from understudy.transfer.physics.collisions import (
    capsules_of,
    excess_depths,
    find_capsule_contacts,
    resolve_collisions,
)

EVERYTHING = ()


def folded(angle: float) -> PoseSequence:
    """The hopper with its tail turned down and forward under it, 12 frames, from rest to `angle`."""
    target = hopper().character()
    rotations = np.array(PoseSequence.rest(target.skeleton, 12, 30.0).rotations)
    turns = quaternion.from_rotation_vector(np.outer(np.linspace(0, angle, 12), [-1.0, 0.0, 0.0]))
    for joint in ("Tail1", "Tail2"):
        rotations[:, target.skeleton.index(joint)] = turns
    rest = PoseSequence.rest(target.skeleton, 12, 30.0)
    return PoseSequence(target.skeleton, rest.translations, rotations, 30.0)


def test_distances_against_many_points() -> None:
    rng = np.random.default_rng(3)
    start, end = rng.normal(size=(4, 3, 3)), rng.normal(size=(4, 3, 3))
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    distance, normal = np.empty((4, 3)), np.empty((4, 3, 3))
    physics_kernels.distances(start, end, first, second, distance, normal)
    shares = np.linspace(0, 1, 201)[:, None]
    for f in range(4):
        for c in range(3):
            a = start[f, first[c]] + shares * (end[f, first[c]] - start[f, first[c]])
            b = start[f, second[c]] + shares * (end[f, second[c]] - start[f, second[c]])
            nearest = np.linalg.norm(a[:, None] - b, axis=-1).min()
            assert distance[f, c] <= nearest + 1e-9 and distance[f, c] > nearest - 0.02


def test_the_kernel_agrees_with_its_oracle() -> None:
    rng = np.random.default_rng(4)
    start, end = rng.normal(size=(5, 4, 3)), rng.normal(size=(5, 4, 3))
    end[0, 0] = start[0, 0]  # a bone without length
    first, second = np.array([0, 0, 1]), np.array([1, 3, 2])
    ours, theirs = (np.empty((5, 3)), np.empty((5, 3, 3))), (np.empty((5, 3)), np.empty((5, 3, 3)))
    reference.distances(start, end, first, second, *ours)
    physics_kernels.distances(start, end, first, second, *theirs)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-9)


def test_what_was_posed_is_allowed() -> None:
    given = pairs(skip=EVERYTHING)
    capsules = capsules_of(hopper().character(), given)
    itself, floor = excess_depths(capsules, given.poses.world)
    assert itself.max() < 1e-9 and floor.max() < 1e-9
    kept = resolve_collisions(given.poses, capsules, given.markers, np.ones(len(given)), 1e-4)
    np.testing.assert_array_equal(kept.rotations, given.poses.rotations)


def test_a_folded_tail_comes_out_of_the_body() -> None:
    given = pairs(skip=EVERYTHING)
    target = hopper().character()
    capsules = capsules_of(target, given)
    poses = folded(1.9)
    before = sum(part.max() for part in excess_depths(capsules, poses.world))
    assert before > 0.02

    def solve(points: np.ndarray, start: PoseSequence) -> PoseSequence:
        return solve_ik(given.markers, target.skeleton, points, start=start)

    mended = resolve_collisions(poses, capsules, given.markers, np.ones(12), 1e-6, solve)
    after = sum(part.max() for part in excess_depths(capsules, mended.world))
    assert after < 0.5 * before
    sure = resolve_collisions(poses, capsules, given.markers, np.zeros(12), 1.0, solve)
    np.testing.assert_array_equal(sure.rotations, poses.rotations)  # where the mapping is sure, nothing is moved


def test_depth_falls_as_links_part() -> None:
    capsules = capsules_of(hopper().character(), pairs(skip=EVERYTHING))
    depth = find_capsule_contacts(capsules, folded(1.5).world).depth.max(axis=1)
    assert depth[-1] > depth[0]
