"""Bodies: masses from volume, moments and back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.transfer import bodies

from understudy.character import Character, Skeleton
from understudy.character.body.mass import Body, ContactPoint, body_of
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.transfer.physics.momentum import mass_motion


def test_a_solid_weighs_what_its_volume_does_wherever_its_joint_is() -> None:
    turn = quaternion.from_axis_angle(np.array([[0.3, 0.9, 0.1]]) / np.linalg.norm([0.3, 0.9, 0.1]), np.array([0.7]))
    skeleton = Skeleton(["Box"], [-1], [[0.5, -1.0, 2.0]], turn)
    vertices, triangles = bodies.box([1.0, 0.0, 0.0], [1.2, 0.6, 0.4])
    joint_from_world = np.linalg.inv(bodies.PoseSequence.rest(skeleton).world[0, 0])
    local = vertices @ joint_from_world[:3, :3].T + joint_from_world[:3, 3]
    character = bodies.of_mesh(skeleton, vertices, triangles, np.zeros(8, np.int64))
    body = body_of(character, density=500.0)
    mass = 500 * 0.2 * 0.6 * 0.4
    np.testing.assert_allclose(body.masses, [mass], rtol=1e-5)
    np.testing.assert_allclose(body.centres[0], local.mean(axis=0), atol=1e-5)
    principal = mass / 12 * np.array([0.6**2 + 0.4**2, 0.2**2 + 0.4**2, 0.2**2 + 0.6**2])
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(body.inertias[0])), np.sort(principal), rtol=1e-4)


def test_a_joint_with_a_scale_carries_the_same_weight() -> None:
    vertices, triangles = bodies.box([1.0, 0.0, 0.0], [1.2, 0.6, 0.4])
    found = []
    for scale in (1.0, 100.0):
        skeleton = Skeleton(["Box"], [-1], [[0.5, -1.0, 2.0]], scales=[[scale] * 3])
        body = body_of(bodies.of_mesh(skeleton, vertices, triangles, np.zeros(8, np.int64)))
        world = np.repeat(bodies.PoseSequence.rest(skeleton).world, 2, axis=0)
        found.append(mass_motion(world, body, 30.0))
    np.testing.assert_allclose(found[1].centres, found[0].centres, atol=1e-9)
    np.testing.assert_allclose(found[1].inertias, found[0].inertias, atol=1e-9)


def test_parallel_axis_theorem() -> None:
    body = bodies.brick()[1]
    moments = body.pseudo_inertias[0]
    about_joint = np.trace(moments[:3, :3]) * np.eye(3) - moments[:3, :3]
    d = body.centres[0]
    expected = body.inertias[0] + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(about_joint, expected, atol=1e-12)


def test_bones_without_skin_weigh_like_people() -> None:
    body = body_of(Character("bare", bodies.walker()[0]))
    assert 5 < body.mass < 120
    np.testing.assert_allclose(body.masses[1:4], body.masses[4:7])


def test_contact_points_ride_on_their_joints() -> None:
    skeleton, body = bodies.walker()
    poses = bodies.flight(skeleton)
    places = body.contact_positions(poses.world)
    world = poses.world[7, body.contacts[1].joint]
    np.testing.assert_allclose(places[7, 1], world[:3, :3] @ body.contacts[1].offset + world[:3, 3])
    assert body.names == ("Left.toe", "Left.heel", "Right.toe", "Right.heel")


@pytest.mark.parametrize(
    ("masses", "contacts", "message"),
    [
        ([0.0], [], "not all zero"),
        ([-1.0], [], "negative"),
        ([1.0], [ContactPoint("a", 3, [0, 0, 0])], "joints of contact points"),
        ([1.0], [ContactPoint("a", 0, [0, 0, 0])] * 2, "appears twice"),
    ],
)
def test_what_is_no_body_is_refused(masses: list[float], contacts: list[ContactPoint], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Body(masses, [[0, 0, 0]], [np.zeros((3, 3))], contacts)
