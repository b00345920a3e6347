"""Momenta and forces: those of rigid bodies and of throws, which are known."""

from __future__ import annotations

import numpy as np
from tests.transfer import bodies

from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion
from understudy.transfer.physics.momentum import cloud_motion, mass_motion


def test_momentum_and_spin_of_a_rigid_body() -> None:
    skeleton, body = bodies.brick()
    axis, speed = np.array([1.0, 2.0, 2.0]) / 3, 3.0
    velocity = np.array([0.4, -0.2, 1.0])
    errors = []
    for rate in (100.0, 200.0):
        t = (np.arange(21) - 10) / rate
        turn = quaternion.from_axis_angle(np.tile(axis, (21, 1)), speed * t)
        places = velocity * t[:, None] - quaternion.rotate(turn, body.centres[0])  # turns about its centre of mass
        motion = mass_motion(PoseSequence(skeleton, places[:, None], turn[:, None], rate).world, body, rate)
        np.testing.assert_allclose(motion.linear[10], body.mass * velocity, rtol=1e-9)
        r = quaternion.to_matrix(turn[10])
        expected = r @ body.inertias[0] @ r.T @ (speed * axis)
        errors.append(np.abs(motion.spins[10] - expected).max())
        np.testing.assert_allclose(motion.inertias[10], r @ body.inertias[0] @ r.T, atol=1e-12)
    assert errors[0] < 1e-3
    assert 3.5 < errors[0] / errors[1] < 4.5  # central differences: second order


def test_angular_momentum_about_a_point_is_spin_and_orbit() -> None:
    skeleton, body = bodies.walker()
    motion = mass_motion(bodies.flight(skeleton).world, body, bodies.RATE)
    about = np.array([1.0, 2.0, 3.0])
    expected = motion.spins + np.cross(motion.centres - about, motion.linear)
    np.testing.assert_allclose(motion.angular(np.tile(about, (len(motion), 1))), expected)


def test_a_throw_needs_no_force_and_no_moment() -> None:
    skeleton, body = bodies.brick()
    poses = bodies.flight(skeleton)
    force, moment = mass_motion(poses.world, body, poses.rate).required_forces()
    np.testing.assert_allclose(force, 0.0, atol=1e-8)
    np.testing.assert_allclose(moment, 0.0, atol=1e-8)


def test_standing_needs_the_weight() -> None:
    skeleton, body = bodies.walker()
    force, moment = mass_motion(PoseSequence.rest(skeleton, 5).world, body, 30.0).required_forces(gravity=1.6)
    np.testing.assert_allclose(force, np.tile([0.0, 1.6 * body.mass, 0.0], (5, 1)), atol=1e-9)
    np.testing.assert_allclose(moment, 0.0, atol=1e-9)


def test_links_turning_against_each_other_leave_the_whole_as_their_sum() -> None:
    skeleton, body = bodies.walker()
    t = np.arange(30) / 60
    rotations = np.broadcast_to(skeleton.rotations, (30, len(skeleton), 4)).copy()
    for joint, swing in ((1, 1.0), (4, -1.0)):
        rotations[:, joint] = quaternion.from_axis_angle(np.tile([1.0, 0, 0], (30, 1)), swing * np.sin(5 * t))
    poses = PoseSequence(skeleton, np.broadcast_to(skeleton.translations, (30, len(skeleton), 3)), rotations, 60.0)
    motion = mass_motion(poses.world, body, 60.0)
    total, places = np.zeros(3), []
    for j in range(len(skeleton)):  # the slow oracle: every link as six points of the same moments
        spread = 0.5 * np.trace(body.inertias[j]) * np.eye(3) - body.inertias[j]
        value, axes = np.linalg.eigh(spread / body.masses[j])
        corners = np.concatenate([axes.T * np.sqrt(3 * value)[:, None], -axes.T * np.sqrt(3 * value)[:, None]])
        local = body.centres[j] + corners
        points = np.einsum("fab,pb->fpa", poses.world[:, j, :3, :3], local) + poses.world[:, j, None, :3, 3]
        velocity = 30.0 * (points[16] - points[14])
        total += body.masses[j] / 6 * np.cross(points[15] - motion.centres[15], velocity).sum(axis=0)
        places.append(body.masses[j] * points.mean(axis=1))
    np.testing.assert_allclose(np.sum(places, axis=0) / body.mass, motion.centres, atol=1e-12)
    np.testing.assert_allclose(motion.spins[15], total, atol=2e-3 * np.abs(total).max())


def test_markers_weigh_the_same() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(6, 5, 3))
    motion = cloud_motion(points, 10.0)
    np.testing.assert_allclose(motion.centres, points.mean(axis=1))
    away = points - points.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(motion.step_spins[2], 10.0 * np.cross(away[2], away[3]).mean(axis=0))
    assert len(motion) == 6


def test_one_frame_stands_still() -> None:
    skeleton, body = bodies.walker()
    motion = mass_motion(PoseSequence.rest(skeleton).world, body, 30.0)
    assert not motion.velocities.any() and not motion.spins.any()
    np.testing.assert_allclose(motion.required_forces()[0], [[0.0, 9.81 * body.mass, 0.0]])
