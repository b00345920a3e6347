from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.reference import character as reference
from tests.transfer import small

from understudy import cast, formats
from understudy.character import Skeleton
from understudy.character.body import ik, ik_kernels
from understudy.character.body.ik import IkProblem, solve_ik
from understudy.character.body.joint_limits import degrees_of_freedom, find_free_joints, free_joints_below
from understudy.character.body.markers import markers_of
from understudy.character.body.poses import PoseSequence, poses_of
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform
from understudy.transfer.source import source_of


def a_problem(seed: int = 0, scale: float = 1.0) -> IkProblem:
    """The actor in a random pose, with points that it cannot reach."""
    rng = np.random.default_rng(seed)
    old = small.actor().character().skeleton
    scales = np.full((len(old), 3), 1.0)
    scales[[1, 7]] = scale
    base = quaternion.from_rotation_vector(0.3 * rng.normal(size=(len(old), 3)))
    skeleton = Skeleton(old.names, old.parents, old.translations, base, scales)
    markers = markers_of(skeleton)
    degrees = degrees_of_freedom(
        skeleton, free_joints_below(markers, skeleton), {"Head": {"x": (-50, 50), "y": (-9, 9)}}
    )
    weights = rng.uniform(0.5, 2.0, len(markers))
    return IkProblem(
        skeleton.parents,
        skeleton.scales,
        quaternion.to_matrix(base),
        0.4 * rng.normal(size=(1, len(old), 3)),
        np.array(skeleton.translations)[None],
        markers.joints,
        markers.offsets,
        weights / weights.sum(),
        rng.normal(size=(2, len(markers), 3)),
        degrees,
        1e-5,
    )


def places(problem: IkProblem, turns: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Markers by plain forward kinematics."""
    turned = quaternion.from_rotation_vector(turns)
    rotations = quaternion.multiply(quaternion.from_matrix(problem.base), turned)
    skeleton = Skeleton([str(i) for i in range(len(moves))], problem.parents, moves, rotations, problem.scales)
    world = PoseSequence.rest(skeleton).world[0]
    return transform.apply(world[problem.joints], problem.offsets)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_written_jacobian_is_that_of_the_kinematics(scale: float) -> None:
    problem = a_problem(1, scale)
    turns, moves = problem.turns[0].copy(), problem.moves[0].copy()
    jacobian, misses = reference.jacobian_and_misses(problem, turns, moves, problem.points[0])
    root = np.sqrt(problem.weights)[:, None]
    np.testing.assert_allclose(misses, ((problem.points[0] - places(problem, turns, moves)) * root).ravel(), atol=1e-12)
    d, step = problem.degrees, 1e-6
    for number in range(len(d.joint)):
        rows = moves if d.kind[number] == 0 else turns
        kept = rows[d.joint[number], d.axis[number]]
        two = []
        for way in (step, -step):
            rows[d.joint[number], d.axis[number]] = kept + way
            two.append(places(problem, turns, moves))
        rows[d.joint[number], d.axis[number]] = kept
        slope = ((two[0] - two[1]) / (2 * step) * root).ravel()
        np.testing.assert_allclose(jacobian[:, number], slope, atol=1e-8)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_moments_give_the_equations_of_the_jacobian(scale: float) -> None:
    problem = a_problem(2, scale)
    d, joints = problem.degrees, len(problem.parents)
    jacobian, misses = reference.jacobian_and_misses(problem, problem.turns[0], problem.moves[0], problem.points[0])
    body = (problem.parents, problem.scales, problem.base, problem.joints, problem.offsets, problem.weights)
    degrees = (d.joint, d.kind, d.axis, d.depth, d.chain, d.low, d.high)
    world = tuple(np.zeros((joints, *shape)) for shape in ((3, 3), (3, 3), (3,), (3, 3)))
    ik_kernels.place_joints(body, problem.turns[0], problem.moves[0], world, np.zeros((4, 3, 3)))
    moments, matrix, slope = np.zeros((joints, 16)), np.zeros(d.chain.shape), np.zeros(len(d.joint))
    total = ik_kernels.marker_moments(body, world, problem.points[0], moments)
    ik_kernels.normal_equations(body, degrees, world, moments, np.zeros((len(d.joint), 6)), matrix, slope)
    full = np.zeros((len(d.joint), len(d.joint)))
    for i in range(len(full)):
        chain = d.chain[i, : d.depth[i] + 1]
        full[i, chain] = full[chain, i] = matrix[i, : len(chain)]
    assert total == pytest.approx(misses @ misses)
    np.testing.assert_allclose(full, jacobian.T @ jacobian, atol=1e-12)
    np.testing.assert_allclose(slope, jacobian.T @ misses, atol=1e-12)
    right, factor = slope.copy(), matrix.copy()
    factor[np.arange(len(right)), d.depth] += 0.01
    assert ik_kernels.solve_chains(d.depth, d.chain, factor, right)
    np.testing.assert_allclose(right, np.linalg.solve(full + 0.01 * np.eye(len(full)), slope), atol=1e-10)


def test_the_kernel_agrees_with_its_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    asset = small.actor(0.2)
    source = source_of(asset)
    assert source.markers is not None and source.poses is not None
    points = source.local + 0.02 * np.random.default_rng(0).normal(size=source.local.shape)
    limits = {"Spine": {"x": (-10, 10), "y": (-5, 5)}}
    found = [solve_ik(source.markers, source.poses.skeleton, points, limits=limits)]
    monkeypatch.setattr(ik, "solve_ik_problem", reference.solve_ik_problem)
    found.append(solve_ik(source.markers, source.poses.skeleton, points, limits=limits))
    np.testing.assert_allclose(found[0].translations, found[1].translations, atol=1e-8)
    np.testing.assert_allclose(found[0].rotations, found[1].rotations, atol=1e-8)


def test_markers_of_poses_give_the_poses_back() -> None:
    asset = cast.load("lamp")
    poses = poses_of(asset, "happy")
    markers = markers_of(asset.character())
    points = markers.positions(poses.world)
    found = solve_ik(markers, poses.skeleton, points, freedom=find_free_joints(poses), stiffness=1e-9)
    assert np.linalg.norm(markers.positions(found.world) - points, axis=-1).max() < 1e-4
    assert found.rate == 30.0 and len(found) == len(poses)


def test_limits_hold_to_the_last_digit() -> None:
    asset = cast.load("lamp")
    poses = poses_of(asset, "hop")
    markers = markers_of(asset.character())
    points = markers.positions(poses.world) * 1.3  # out of reach
    found = solve_ik(markers, poses.skeleton, points, limits=cast.limits("lamp"), freedom=find_free_joints(poses))
    turns = np.degrees(quaternion.to_rotation_vector(found.rotations))
    for name, axes in cast.limits("lamp").items():
        for axis in "xyz":
            low, high = axes.get(axis, (0.0, 0.0))
            angles = turns[:, poses.skeleton.index(name), "xyz".index(axis)]
            assert low - 1e-6 <= angles.min() and angles.max() <= high + 1e-6


def test_no_other_pose_nearby_is_better() -> None:
    """At the solution the slope is nothing but what the stiffness and the limits answer for."""
    source = source_of(small.actor(0.1))
    assert source.markers is not None and source.poses is not None
    points = source.local + 0.05 * np.random.default_rng(3).normal(size=source.local.shape)
    skeleton = source.poses.skeleton
    best = solve_ik(source.markers, skeleton, points, stiffness=1e-12)
    cost = ((source.markers.positions(best.world) - points) ** 2).sum()
    rng = np.random.default_rng(4)
    for _ in range(20):
        turn = quaternion.from_rotation_vector(1e-3 * rng.normal(size=(*best.rotations.shape[:2], 3)))
        move = 1e-3 * rng.normal(size=3) * (np.arange(len(skeleton)) == 0)[:, None]
        other = PoseSequence(skeleton, best.translations + move, quaternion.multiply(best.rotations, turn), 30.0)
        assert ((source.markers.positions(other.world) - points) ** 2).sum() > cost


def test_moved_points_move_the_pose() -> None:
    source = source_of(small.actor(0.3))
    assert source.markers is not None and source.poses is not None
    away = transform.compose([4, 0, 2], quaternion.from_rotation_vector([0, 1.5, 0]))
    there = transform.apply(away, source.points.reshape(-1, 3)).reshape(source.points.shape)
    found = solve_ik(source.markers, source.poses.skeleton, there)
    np.testing.assert_allclose(found.world[..., :3, 3], source.poses.apply_transform(away).world[..., :3, 3], atol=2e-3)


def test_what_no_marker_shows_stays_as_it_starts() -> None:
    body = small.hopper().character()
    markers = markers_of(body, skip=["Tail1"])
    start = PoseSequence.rest(body.skeleton)
    rotations = np.array(start.rotations)
    rotations[0, body.skeleton.index("Tail2")] = quaternion.from_rotation_vector([0.5, 0, 0])
    start = PoseSequence(body.skeleton, start.translations, rotations, 24.0)
    found = solve_ik(markers, body.skeleton, np.tile(markers.positions(start.world), (3, 1, 1)), start=start)
    tail = body.skeleton.index("Tail2")
    np.testing.assert_allclose(found.rotations[:, tail], np.tile(rotations[0, tail], (3, 1)), atol=1e-12)
    assert found.rate == 24.0


def test_a_captured_dance_comes_back_within_a_millimetre() -> None:
    source = source_of(formats.read(data_file("bvh_cmu/93_03.bvh")), rate=30.0)
    assert source.markers is not None and source.poses is not None
    found = solve_ik(source.markers, source.poses.skeleton, source.local)
    assert np.linalg.norm(source.markers.positions(found.world) - source.local, axis=-1).max() < 1e-3


def test_wrong_input_is_refused() -> None:
    body = small.hopper().character()
    markers = markers_of(body)
    points = np.zeros((4, len(markers), 3))
    with pytest.raises(InvalidInput, match="points"):
        solve_ik(markers, body.skeleton, points[:, 1:])
    with pytest.raises(InvalidInput, match="one pose or 4, but has 2"):
        solve_ik(markers, body.skeleton, points, start=PoseSequence.rest(body.skeleton, 2))
    with pytest.raises(InvalidInput, match="weights should be zero or more"):
        solve_ik(markers, body.skeleton, points, weights=np.zeros(len(markers)))
