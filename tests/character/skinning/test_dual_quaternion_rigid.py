"""The polar decomposition behind dual quaternion skinning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import polar
from tests.deform.cases import rigid_matrices

from understudy.character.skinning.dual_quaternion import nearest_rotation, rigid_and_scale
from understudy.maths import quaternion


def rebuild(dual_quaternion, scale):
    """(R S | t) of dual quaternions (..., 8) and S (..., 3, 3)."""
    a, b = dual_quaternion[..., :4], dual_quaternion[..., 4:]
    t = 2 * quaternion.multiply(b, quaternion.conjugate(a))[..., :3]
    return np.concatenate([quaternion.to_matrix(a) @ scale, t[..., None]], axis=-1)


@pytest.mark.parametrize("smallest", [1.0, 0.5, 1e-2, 1e-5, 0.0])
@pytest.mark.parametrize("mirrored", [False, True])
def test_parts_make_the_whole_and_are_what_they_say(smallest, mirrored):
    rng = np.random.default_rng(0)
    m = rigid_matrices(rng, 4, 5)
    s = np.stack([np.full((4, 5), smallest), np.ones((4, 5)), rng.uniform(1, 3, (4, 5))], axis=-1)
    s[..., 1] *= -1 if mirrored else 1
    m[..., :3, :3] = m[..., :3, :3] * s[..., None, :] @ rigid_matrices(rng, 4, 5)[..., :3, :3]
    rigid, scale, scaled = rigid_and_scale(m)
    assert scaled.all()
    np.testing.assert_allclose(rebuild(rigid, scale), m[..., :3, :], atol=1e-9)
    np.testing.assert_allclose(scale, np.swapaxes(scale, -1, -2), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(rigid[..., :4], axis=-1), 1, atol=1e-12)


def test_equals_scipy_up_to_the_sign_of_mirrors():
    rng = np.random.default_rng(1)
    for linear in rng.normal(size=(50, 3, 3)):
        u, _ = polar(linear)
        np.testing.assert_allclose(nearest_rotation(linear[None])[0], u * np.sign(np.linalg.det(u)), atol=1e-9)


def test_rigid_bones_are_told_from_scaled_ones():
    rng = np.random.default_rng(2)
    m = rigid_matrices(rng, 3, 4).astype(np.float32).astype(np.float64)  # rounded rotations are still rotations
    m[1, 2, :3, :3] *= 1.01
    _, scale, scaled = rigid_and_scale(m)
    assert scaled.tolist() == [False, False, True, False]
    np.testing.assert_array_equal(scale[0, 2], np.eye(3))
    np.testing.assert_allclose(scale[1, 2], 1.01 * np.eye(3), atol=1e-6)


def test_bad_numbers_stay_with_their_bone():
    rng = np.random.default_rng(3)
    m = rigid_matrices(rng, 2, 3)
    m[0, 1, 0, 0], m[1, 2, 1, 1] = np.nan, np.inf
    rigid, _, _ = rigid_and_scale(m)
    bad = np.isnan(rigid).any(axis=-1)
    assert bad.tolist() == [[False, True, False], [False, False, True]]
