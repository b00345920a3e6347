"""Laws of dual quaternion skinning, on the kernels and on the NumPy twin."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from tests.deform.cases import rigid_matrices, skin
from tests.reference import character as reference

from understudy.character.skinning.dual_quaternion import dual_blend
from understudy.character.skinning.linear import linear_blend

LENGTHS = [1, 3, 8, 29, 100, 131]


def scaled_matrices(rng, frames, bones):
    """Rigid motions after general scale and shear; bone 0 stays rigid and bone 1 mirrors."""
    m = rigid_matrices(rng, frames, bones)
    m[:, 1:, :3, :3] = m[:, 1:, :3, :3] @ (np.eye(3) + rng.uniform(-0.3, 0.3, size=(frames, bones - 1, 3, 3)))
    m[:, 1, :3, 0] *= -1
    return m


@pytest.mark.parametrize("frames", LENGTHS)
@pytest.mark.parametrize("make", [rigid_matrices, scaled_matrices])
def test_one_influence_is_the_matrix_itself(frames, make):
    rng = np.random.default_rng(frames)
    v, j, w = skin(rng, 53, 1, 5)
    m = make(rng, frames, 5)
    np.testing.assert_allclose(dual_blend(v, j, w, m), linear_blend(v, j, w, m), rtol=1e-4, atol=2e-5)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 140), count=st.integers(1, 100), k=st.integers(1, 9),
    scaled=st.booleans(), moving=st.booleans(),
)  # fmt: skip
def test_kernels_equal_their_twin(seed, frames, count, k, scaled, moving):
    rng = np.random.default_rng(seed)
    v, j, w = skin(rng, count, k, 5)
    v = rng.normal(size=(frames, count, 3)).astype(np.float32) if moving else v
    m = (scaled_matrices if scaled else rigid_matrices)(rng, frames, 5)
    ours, twin = dual_blend(v, j, w, m), reference.dual_blend(v, j, w, m)
    # a joint at a right angle (in the quaternions) to the pivot may round to either side: leave such vertices out
    steady = np.abs(ours - twin).max(axis=-1) < 1e-3 + 1e-3 * np.abs(twin).max(axis=-1)
    assert steady.mean() > 0.99 or (~steady).sum() <= 1
    np.testing.assert_allclose(ours[steady], twin[steady], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("frames", [1, 30])
def test_blends_of_rigid_motions_are_rigid(frames):
    """Vertices with the same weights keep their distances, whatever the joints do: no candy wrapper."""
    rng = np.random.default_rng(1)
    v = rng.normal(size=(40, 3)).astype(np.float32)
    j, w = np.tile([0, 1, 2], (40, 1)), np.tile([0.5, 0.3, 0.2], (40, 1))
    out = dual_blend(v, j, w, rigid_matrices(rng, frames, 3))
    lengths = np.linalg.norm(out[:, :, None] - out[:, None], axis=-1)
    np.testing.assert_allclose(lengths, np.tile(np.linalg.norm(v[:, None] - v, axis=-1), (frames, 1, 1)), atol=1e-4)


def test_half_way_of_a_twist_is_half_the_angle():
    """Two joints, turned by 0 and 170 degrees: equal weights turn by 85, and the radius stays."""
    m = np.tile(np.eye(4), (1, 2, 1, 1))
    m[0, 1, :3, :3] = Rotation.from_euler("z", 170, degrees=True).as_matrix()
    out = dual_blend([[1.0, 0, 0.5]], [[0, 1]], [[0.5, 0.5]], m)[0, 0]
    angle = np.deg2rad(85)
    np.testing.assert_allclose(out, [np.cos(angle), np.sin(angle), 0.5], atol=1e-6)


@pytest.mark.parametrize("frames", [1, 30])
def test_is_equivariant_under_rigid_motion(frames):
    rng = np.random.default_rng(2)
    v, j, w = skin(rng, 30, 2, 4)
    m, g = scaled_matrices(rng, frames, 4), rigid_matrices(rng, 1, 1)[0, 0]
    moved = dual_blend(v, j, w, m) @ g[:3, :3].T + g[:3, 3]
    steady = np.abs(dual_blend(v, j, w, g @ m) - moved).max(axis=-1) < 1e-3
    assert steady.mean() > 0.97  # the side of a joint at a right angle to its pivot may round differently


def test_only_the_ratio_of_the_weights_matters_and_no_weight_stays():
    rng = np.random.default_rng(3)
    v, j, w = skin(rng, 60, 3, 4)
    for frames in (2, 30):
        for m in (rigid_matrices(rng, frames, 4), scaled_matrices(rng, frames, 4)):
            np.testing.assert_allclose(dual_blend(v, j, 0.25 * w, m), dual_blend(v, j, w, m), rtol=1e-4, atol=1e-4)
            np.testing.assert_array_equal(dual_blend(v, j, 0 * w, m), np.tile(v, (frames, 1, 1)))


def test_flattened_joints_stay_finite_and_exact():
    rng = np.random.default_rng(4)
    v, j, w = skin(rng, 20, 1, 2)
    for frames in (1, 30):
        m = rigid_matrices(rng, frames, 2)
        m[:, 0, :3, 2] = 0
        m[0, 1, :3, :3] = 0
        np.testing.assert_allclose(dual_blend(v, j, w, m), linear_blend(v, j, w, m), atol=1e-5)


@pytest.mark.parametrize("frames", [1, 30])
def test_a_bad_joint_reaches_only_what_hangs_on_it(frames):
    rng = np.random.default_rng(5)
    v, j, w = skin(rng, 60, 3, 4)
    m = rigid_matrices(rng, frames, 4)
    m[0, 2, 0, 0] = np.nan
    hangs = ((j == 2) & (w != 0)).any(axis=1)
    out = dual_blend(v, j, w, m)
    assert np.isnan(out[0, hangs]).all()
    assert np.isfinite(out[0, ~hangs]).all()
    assert np.isfinite(out[1:]).all()


@pytest.mark.parametrize(
    ("frames", "count", "influences", "bones"), [(0, 5, 2, 2), (3, 0, 2, 2), (3, 5, 0, 2), (30, 5, 0, 0)]
)
def test_empty_inputs(frames, count, influences, bones):
    j = np.zeros((count, influences), np.int32)
    out = dual_blend(np.ones((count, 3)), j, j, np.ones((frames, bones, 4, 4)))
    np.testing.assert_array_equal(out, np.ones((frames, count, 3)))


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(6)
    v, j, w = skin(rng, 500, 4, 6)
    before = numba.get_num_threads()
    for frames in (1, 30):
        m = scaled_matrices(rng, frames, 6)
        results = []
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            results.append(dual_blend(v, j, w, m))
        numba.set_num_threads(before)
        np.testing.assert_array_equal(*results)
