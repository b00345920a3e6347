"""Laws of forward kinematics: composition, root motion, the walk back, and kernels equal to their oracle."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from understudy.character import kinematics
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion, transform


def tree(rng, joints, roots=1):
    return np.array([-1 if j < roots else rng.integers(max(0, j - 5), j) for j in range(joints)])


def pose(rng, joints, frames=None, scaled=True):
    lead = () if frames is None else (frames,)
    q = rng.normal(size=(*lead, joints, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    s = rng.uniform(0.5, 1.5, size=(*lead, joints, 3)) if scaled else np.ones((*lead, joints, 3))
    return rng.normal(size=(*lead, joints, 3)), q, s


def slow_world(parents, t, q, s):
    """One joint at a time, with SciPy's rotations."""
    world = np.zeros((len(parents), 4, 4))
    for j, p in enumerate(parents):
        local = np.eye(4)
        local[:3, :3] = Rotation.from_quat(q[j]).as_matrix() @ np.diag(s[j])
        local[:3, 3] = t[j]
        world[j] = local if p < 0 else world[p] @ local
    return world


@pytest.mark.parametrize(("joints", "frames"), [(1, 1), (9, 3), (40, 150)])  # below and above the size for threads
def test_equals_one_joint_at_a_time(joints, frames):
    rng = np.random.default_rng(joints)
    parents = tree(rng, joints, roots=min(2, joints))
    t, q, s = pose(rng, joints, frames)
    world = kinematics.world_transforms(parents, t, q, s)
    expected = np.stack([slow_world(parents, t[f], q[f], s[f]) for f in range(frames)])
    np.testing.assert_allclose(world, expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), joints=st.integers(1, 20))
def test_motion_of_the_root_moves_everything_rigidly(seed, joints):
    rng = np.random.default_rng(seed)
    parents = tree(rng, joints)
    t, q, s = pose(rng, joints)
    g_t, g_q, _ = pose(rng, 1)
    turn = Rotation.from_quat(g_q[0])
    moved_t, moved_q = t.copy(), q.copy()
    moved_t[0] = turn.apply(t[0]) + g_t[0]
    moved_q[0] = (turn * Rotation.from_quat(q[0])).as_quat()
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = turn.as_matrix(), g_t[0]
    before = kinematics.world_transforms(parents, t, q, s)
    after = kinematics.world_transforms(parents, moved_t, moved_q, s)
    np.testing.assert_allclose(after, g @ before, atol=1e-9 * (1 + np.abs(before).max()))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), joints=st.integers(2, 20))
def test_a_subtree_is_its_own_skeleton(seed, joints):
    """FK of the whole = W of the cut joint's parent times FK of the part below."""
    rng = np.random.default_rng(seed)
    parents = np.arange(joints) - 1
    cut = int(rng.integers(1, joints))
    t, q, s = pose(rng, joints)
    whole = kinematics.world_transforms(parents, t, q, s)
    part = kinematics.world_transforms(np.arange(joints - cut) - 1, t[cut:], q[cut:], s[cut:])
    np.testing.assert_allclose(whole[cut:], whole[cut - 1] @ part, atol=1e-9 * (1 + np.abs(whole).max()))


def test_local_transforms_walk_back():
    rng = np.random.default_rng(3)
    parents = tree(rng, 12, roots=2)
    t, q, s = pose(rng, 12, 7)
    s[..., 0] *= -1  # mirrored joints are legal
    world = kinematics.world_transforms(parents, t, q, s)
    local = kinematics.local_transforms(parents, world)
    np.testing.assert_allclose(local, transform.compose(t, q, s), atol=1e-9)
    assert kinematics.local_transforms(parents, world[0]).shape == (12, 4, 4)


def test_a_flattened_parent_is_refused_by_name():
    rng = np.random.default_rng(4)
    parents = np.array([-1, 0, 1, 2])
    t, q, s = pose(rng, 4, 3)
    s[1, 1, 2] = 0.0
    with pytest.raises(InvalidInput, match=r"joint 1 is flattened.*\(1,\)"):
        kinematics.local_transforms(parents, kinematics.world_transforms(parents, t, q, s))
    s[1, 1, 2] = 1e-4  # small is not zero
    kinematics.local_transforms(parents, kinematics.world_transforms(parents, t, q, s))


def test_single_pose_and_leading_axes():
    rng = np.random.default_rng(5)
    parents = tree(rng, 8)
    t, q, s = pose(rng, 8, 6)
    all_frames = kinematics.world_transforms(parents, t, q, s)
    np.testing.assert_allclose(kinematics.world_transforms(parents, t[2], q[2], s[2]), all_frames[2], atol=1e-12)
    folded = kinematics.world_transforms(parents, t.reshape(2, 3, 8, 3), q.reshape(2, 3, 8, 4), s.reshape(2, 3, 8, 3))
    np.testing.assert_array_equal(folded.reshape(6, 8, 4, 4), all_frames)
    fixed = kinematics.world_transforms(parents, t[0], q)
    np.testing.assert_array_equal(
        fixed, kinematics.world_transforms(parents, np.broadcast_to(t[0], t.shape), q, np.ones((8, 3)))
    )
    mixed = kinematics.world_transforms(parents, t.reshape(2, 3, 8, 3), q[:3])
    assert mixed.shape == (2, 3, 8, 4, 4)
    np.testing.assert_allclose(mixed[1, 2], kinematics.world_transforms(parents, t[5], q[2]), atol=1e-12)


def test_out_is_filled_and_checked():
    rng = np.random.default_rng(6)
    parents = tree(rng, 5)
    t, q, s = pose(rng, 5, 4)
    out = np.full((4, 5, 4, 4), np.nan)
    assert kinematics.world_transforms(parents, t, q, s, out=out) is out
    np.testing.assert_array_equal(out, kinematics.world_transforms(parents, t, q, s))
    with pytest.raises(InvalidInput, match="out should be"):
        kinematics.world_transforms(parents, t, q, s, out=out.astype(np.float32))


def test_quaternions_count_as_they_are():
    """The sign does not matter; a length l gives l^2 R + (1 - l^2), as in three.js."""
    rng = np.random.default_rng(7)
    t, q, s = pose(rng, 1, 2)
    once, minus, short = (
        kinematics.world_transforms([-1], t, k * q, np.ones_like(s))[..., :3, :3] for k in (1, -1, 0.9)
    )
    np.testing.assert_allclose(once, minus, atol=1e-12)
    np.testing.assert_allclose(short, 0.81 * once + 0.19 * np.eye(3), atol=1e-12)


def test_no_frames_and_no_joints():
    assert kinematics.world_transforms([-1, 0], np.zeros((0, 2, 3)), np.zeros((0, 2, 4))).shape == (0, 2, 4, 4)
    assert kinematics.world_transforms([], np.zeros((3, 0, 3)), np.zeros((3, 0, 4))).shape == (3, 0, 4, 4)
    assert kinematics.local_transforms([-1], np.zeros((0, 1, 4, 4))).shape == (0, 1, 4, 4)


@pytest.mark.parametrize("parents", [[0], [-1, 1], [-1, 2, 0], [-2]])
def test_children_before_parents_are_refused(parents):
    with pytest.raises(InvalidInput, match="parents should come before their children"):
        kinematics.check_parents(parents)


def test_wrong_shapes_are_named():
    with pytest.raises(InvalidInput, match=r"rotations should have shape \(\.\.\., 2, 4\)"):
        kinematics.world_transforms([-1, 0], np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InvalidInput, match="do not have the same frames"):
        kinematics.world_transforms([-1], np.zeros((2, 1, 3)), np.zeros((3, 1, 4)))
    with pytest.raises(InvalidInput, match=r"world_from_joint should have shape \(\.\.\., 1, 4, 4\)"):
        kinematics.local_transforms([-1], np.eye(4))


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(8)
    parents = tree(rng, 40)
    t, q, s = pose(rng, 40, 200)
    results = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        results.append(kinematics.world_transforms(parents, t, q, s))
        numba.set_num_threads(before)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("order", ["XYZ", "ZXY", "ZYX", "YXZ", "XYX", "ZXZ"])
def test_euler_axes_are_the_rates_of_the_angles(order):
    angles, step = np.random.default_rng(9).uniform(-np.pi, np.pi, size=(20, 3)), 1e-6
    axes = kinematics.euler_axes(angles, order)
    for k, nudge in enumerate(step * np.eye(3)):
        up, down = (euler.from_euler(angles + sign * nudge, order) for sign in (1, -1))
        rate = quaternion.to_rotation_vector(quaternion.multiply(up, quaternion.conjugate(down))) / (2 * step)
        np.testing.assert_allclose(axes[..., k], rate, atol=1e-8)


def test_euler_axes_lose_rank_in_gimbal_lock():
    assert abs(np.linalg.det(kinematics.euler_axes([0.3, np.pi / 2, 0.1], "XYZ"))) < 1e-12
    assert abs(np.linalg.det(kinematics.euler_axes([0.3, 0.0, 0.1], "ZXZ"))) < 1e-12
    assert abs(np.linalg.det(kinematics.euler_axes([0.3, 0.4, 0.1], "XYZ"))) == pytest.approx(np.cos(0.4))


def test_ancestors_are_the_joint_and_all_above_it():
    above = kinematics.ancestors([-1, 0, 1, 0, -1])
    assert [np.flatnonzero(row).tolist() for row in above] == [[0], [0, 1], [0, 1, 2], [0, 3], [4]]
