"""Ratios of size, mass and inertia: those of a figure and its copy of another size are known."""

from __future__ import annotations

import numpy as np
from tests.transfer import bodies

from understudy.character import Skeleton
from understudy.character.body.mass import Body, ContactPoint
from understudy.character.body.poses import PoseSequence
from understudy.transfer.physics.momentum import body_scale, cloud_speeds, mass_motion, unit_speeds


def scaled(factor: float, density: float = 1.0) -> tuple[Skeleton, Body]:
    """The walker with all lengths times `factor`."""
    skeleton, body = bodies.walker()
    small = Skeleton(skeleton.names, skeleton.parents, factor * skeleton.translations)
    mass = density * factor**3
    contacts = [ContactPoint(c.name, c.joint, factor * c.offset) for c in body.contacts]
    return small, Body(mass * body.masses, factor * body.centres, mass * factor**2 * body.inertias, contacts)


def test_a_copy_of_half_the_size() -> None:
    motions, speeds = [], []
    for factor in (1.0, 0.5):
        skeleton, body = scaled(factor)
        world = PoseSequence.rest(skeleton, 3).world
        motions.append(mass_motion(world, body, 30.0))
        speeds.append(unit_speeds(world, skeleton, body))
    scales = body_scale(*motions, *speeds)
    np.testing.assert_allclose(scales.mass, 1 / 8)
    np.testing.assert_allclose(scales.size, 0.5)
    np.testing.assert_allclose(scales.inertia, 1 / 32)
    np.testing.assert_allclose(scales.linear(np.ones((3, 3))), 1 / 16)
    np.testing.assert_allclose(scales.angular(np.ones((3, 3))), 1 / 32)


def test_unit_speeds_are_what_turning_every_joint_gives() -> None:
    skeleton, body = bodies.walker()
    world = PoseSequence.rest(skeleton).world
    centres = np.einsum("jab,jb->ja", world[0, :, :3, :3], body.centres) + world[0, :, :3, 3]
    moved = []
    for joint in range(len(skeleton)):
        below = [j for j in range(len(skeleton)) if joint in skeleton.ancestors(j)]
        for axis in np.eye(3):
            moved += list(np.abs(np.cross(axis, centres[below] - world[0, joint, :3, 3])))
    np.testing.assert_allclose(unit_speeds(world, skeleton, body), np.mean(moved, axis=0))


def test_clouds_scale_too() -> None:
    points = np.random.default_rng(0).normal(size=(4, 9, 3))
    np.testing.assert_allclose(cloud_speeds(3 * points), 3 * cloud_speeds(points))
