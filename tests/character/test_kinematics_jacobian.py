"""Every Jacobian of the kinematics against central differences: chains, trees, scaled joints, turns of nearly pi."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character.kinematics import (
    ORIENTATION_KINDS,
    POINT_KINDS,
    ancestors,
    euler_axes,
    orientation_jacobian,
    point_jacobian,
    world_transforms,
)
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion

CHAIN = [-1, 0, 1, 2, 3]
TREE = [-1, 0, 1, 0, 3, 3, -1, 6]
ORDERS = ["XYZ", "ZXY", "ZYX", "YXZ", "XYX", "ZXZ", "YZX", "XZY"]


class Body:
    """A pose with everything that a freedom can change."""

    def __init__(self, parents, seed, scaled=False, nearly_pi=False, frames=()):
        rng = np.random.default_rng(seed)
        count = len(parents)
        self.parents = np.array(parents)
        self.orders = ORDERS[:count]
        self.angles = rng.uniform(-np.pi, np.pi, size=(*frames, count, 3))
        self.t = rng.normal(size=(*frames, count, 3))
        if nearly_pi:
            axis = rng.normal(size=(*frames, count, 3))
            axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
            self.q = quaternion.from_rotation_vector(axis * (np.pi - 1e-9))
            by_joint = [euler.to_euler(self.q[..., j, :], o) for j, o in enumerate(self.orders)]
            self.angles = np.stack(by_joint, axis=-2)
        else:
            self.q = self.turned(self.angles)
        self.s = rng.uniform(0.5, 2.0, size=(*frames, count, 3)) if scaled else np.ones((*frames, count, 3))
        if scaled:
            self.s[..., 1, 0] *= -1
        self.local_point = rng.normal(size=(*frames, 3))

    def turned(self, angles):
        return np.stack([euler.from_euler(angles[..., j, :], o) for j, o in enumerate(self.orders)], axis=-2)

    def changed(self, kind, j, k, step):
        """(t, q, s) with component k of one freedom of joint j changed."""
        t, q, s = self.t.copy(), self.q.copy(), self.s.copy()
        turn = quaternion.from_rotation_vector(step * np.eye(3)[k])
        if kind == "translation":
            t[..., j, k] += step
        elif kind == "scale":
            s[..., j, k] += step
        elif kind == "rotation":
            q[..., j, :] = quaternion.multiply(q[..., j, :], turn)
        elif kind == "rotation_in_parent":
            q[..., j, :] = quaternion.multiply(turn, q[..., j, :])
        else:
            angles = self.angles.copy()
            angles[..., j, k] += step
            q = self.turned(angles)
        return t, q, s

    def world(self, tqs=None):
        return world_transforms(self.parents, *(tqs or (self.t, self.q, self.s)))

    def point(self, joint, tqs=None):
        w = self.world(tqs)[..., joint, :, :]
        return (w[..., :3, :3] @ self.local_point[..., None])[..., 0] + w[..., :3, 3]

    def orientation(self, joint, tqs=None):
        _, q, _ = tqs or (self.t, self.q, self.s)
        return world_transforms(self.parents, np.zeros(q[..., :3].shape), q)[..., joint, :3, :3]


def differences(body, kind, difference, step=1e-5):
    """(..., 3, J, 3) by central differences: `difference(after, before)` of two changed poses, divided by 2 steps."""
    columns = [
        np.stack(
            [difference(body.changed(kind, j, k, step), body.changed(kind, j, k, -step)) for k in range(3)], axis=-1
        )
        for j in range(len(body.parents))
    ]
    return np.stack(columns, axis=-2) / (2 * step)


def assert_jacobian(ours, body, kind, difference):
    expected = differences(body, kind, difference)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-7 * (1 + np.abs(expected).max()))
    assert np.abs(ours).max() > 0.1


@pytest.mark.parametrize("kind", POINT_KINDS)
@pytest.mark.parametrize("parents", [CHAIN, TREE])
@pytest.mark.parametrize("case", [{}, {"scaled": True}, {"nearly_pi": True}, {"scaled": True, "frames": (2, 3)}])
def test_points_follow_every_freedom(parents, kind, case):
    body = Body(parents, seed=len(parents), **case)
    for joint in (len(parents) - 1, 2, 0):
        ours = point_jacobian(
            body.parents, body.world(), joint, body.point(joint), kind,
            rotations=body.q, angles=body.angles, orders=body.orders,
        )  # fmt: skip
        assert_jacobian(ours, body, kind, lambda a, b, joint=joint: body.point(joint, a) - body.point(joint, b))


@pytest.mark.parametrize("kind", ORIENTATION_KINDS)
@pytest.mark.parametrize("parents", [CHAIN, TREE])
@pytest.mark.parametrize("case", [{}, {"scaled": True, "frames": (2,)}, {"nearly_pi": True}])
def test_orientations_follow_every_turn(parents, kind, case):
    body = Body(parents, seed=3, **case)
    joint = len(parents) - 1

    def turn(a, b):
        between = body.orientation(joint, a) @ np.swapaxes(body.orientation(joint, b), -1, -2)
        return quaternion.to_rotation_vector(quaternion.from_matrix(between))

    ours = orientation_jacobian(body.parents, body.q, joint, kind, angles=body.angles, orders=body.orders)
    assert_jacobian(ours, body, kind, turn)


def test_without_scale_it_is_axis_cross_arm():
    body = Body(CHAIN, seed=5)
    world, x = body.world(), body.point(4)
    ours = point_jacobian(CHAIN, world, 4, x, "rotation", rotations=body.q)
    for j in range(5):
        np.testing.assert_allclose(
            ours[:, j], np.cross(world[j, :3, :3], (x - world[j, :3, 3])[:, None], axis=0), atol=1e-12
        )


def test_many_points_and_picked_columns_are_parts_of_the_whole():
    body = Body(TREE, seed=6, scaled=True, frames=(4,))
    joints, picked = [2, 5, 7], [6, 0, 3]
    points = np.stack([body.point(j) for j in joints], axis=-2)
    for kind in POINT_KINDS:
        given = {"rotations": body.q, "angles": body.angles, "orders": body.orders}
        ours = point_jacobian(TREE, body.world(), joints, points, kind, columns=picked, **given)
        assert ours.shape == (4, 3, 3, 3, 3)
        for m, j in enumerate(joints):
            alone = point_jacobian(TREE, body.world(), j, points[:, m], kind, **given)
            np.testing.assert_allclose(ours[:, m], alone[..., picked, :], atol=1e-12)
    turns = orientation_jacobian(TREE, body.q, joints, columns=picked)
    np.testing.assert_allclose(turns[:, 1], orientation_jacobian(TREE, body.q, 5)[..., picked, :], atol=1e-12)


def test_joints_beside_the_chain_do_not_move_the_point():
    body = Body(TREE, seed=7, scaled=True)
    ours = point_jacobian(TREE, body.world(), 5, body.point(5), "rotation_in_parent")
    moved = np.abs(ours).max(axis=(0, 2)) > 0
    assert moved.tolist() == ancestors(TREE)[5].tolist() == [True, False, False, True, False, True, False, False]


def test_flat_joints_matter_only_above_the_point():
    body = Body(TREE, seed=8, scaled=True)
    body.s[3, 1] = 0.0
    world = body.world()
    point_jacobian(TREE, world, 2, body.point(2), "scale", rotations=body.q)
    point_jacobian(TREE, world, 3, body.point(3), "rotation_in_parent")
    with pytest.raises(InvalidInput, match="joint 3 is flattened"):
        point_jacobian(TREE, world, 5, body.point(5), "rotation_in_parent")
    with pytest.raises(InvalidInput, match="joint 3 is flattened"):
        point_jacobian(TREE, world, 3, body.point(3), "scale", rotations=body.q)


def test_euler_axes_lose_rank_in_gimbal_lock():
    assert abs(np.linalg.det(euler_axes([0.3, np.pi / 2, 0.1], "XYZ"))) < 1e-12
    assert abs(np.linalg.det(euler_axes([0.3, 0.0, 0.1], "ZXZ"))) < 1e-12
    assert abs(np.linalg.det(euler_axes([0.3, 0.4, 0.1], "XYZ"))) == pytest.approx(np.cos(0.4))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda b: point_jacobian(CHAIN, b.world(), 4, b.point(4), "spin"), "there is no kind of freedom 'spin'"),
        (lambda b: point_jacobian(CHAIN, b.world(), 5, b.point(4)), "joint should lie between 0 and 4, but holds 5"),
        (lambda b: point_jacobian(CHAIN, b.world(), 4, b.point(4)), "needs the local rotations"),
        (lambda b: point_jacobian(CHAIN, b.world(), 4, b.point(4), "euler"), "needs the angles"),
        (lambda b: point_jacobian(CHAIN, b.world()[:3], 4, b.point(4)), "world_from_joint should have shape"),
        (lambda b: point_jacobian(CHAIN, b.world(), [1, 2], b.point(4)), "point should have shape"),
        (lambda b: euler_axes([0, 0, 0], "XXY"), "there is no Euler order 'XXY'"),
        (lambda b: euler_axes(np.zeros((3, 3)), ["XYZ", "ZXY"]), "orders should be one or as many"),
    ],
)
def test_wrong_inputs_are_named(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call(Body(CHAIN, seed=9))
