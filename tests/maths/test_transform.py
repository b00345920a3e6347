from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.maths.strategies import random_rotations, rotations, vectors

from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform

scales = st.tuples(*[st.floats(0.05, 20)] * 3).map(np.array)


@given(vectors, rotations, scales, st.tuples(*[st.sampled_from((-1.0, 1.0))] * 3))
def test_decompose_undoes_compose(t, r, s, signs):
    matrix = transform.compose(t, r, s * signs)
    translation, rotation, scale = transform.decompose(matrix)
    assert np.allclose(transform.compose(translation, rotation, scale), matrix, atol=1e-12)
    assert np.allclose(np.abs(scale), s)
    assert (scale[1:] > 0).all() and (scale[0] < 0) == (np.prod(signs) < 0)
    assert transform.shear_error(matrix) < 1e-12


@pytest.mark.parametrize("scale", [(0, 1, 2), (1, 0, 2), (1, 2, 0), (0, 0, 3), (0, 3, 0), (3, 0, 0), (0, 0, 0)])
def test_flattened_transforms_decompose_without_loss(scale):
    matrix = transform.compose((1, 2, 3), random_rotations((20,), 5), scale)
    t, r, s = transform.decompose(matrix)
    assert np.allclose(np.linalg.norm(r, axis=-1), 1.0)
    assert np.allclose(s, scale) and np.allclose(transform.compose(t, r, s), matrix)


def test_shear_error_is_what_is_missing():
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    kept = transform.compose(*transform.decompose(matrix))
    lost = np.linalg.norm((matrix - kept)[:3, :3]) / np.linalg.norm(matrix[:3, :3])
    assert lost > 0.1 and np.isclose(transform.shear_error(matrix), lost)


@given(vectors, rotations, scales, vectors)
def test_inverse_brings_points_back(t, r, s, p):
    matrix = transform.compose(t, r, s)
    assert np.allclose(transform.apply(transform.invert(matrix), transform.apply(matrix, p)), p, atol=1e-9)
    rigid = transform.compose(t, r)
    assert np.allclose(transform.invert_rigid(rigid), np.linalg.inv(rigid), atol=1e-12)
    assert np.allclose(transform.invert(rigid), transform.invert_rigid(rigid), atol=1e-12)


def test_a_flat_transform_has_no_inverse():
    with pytest.raises(InvalidInput, match=r"\[1\] is flat"):
        transform.invert(transform.compose((0, 0, 0), random_rotations((2,), 1), np.array([[1.0, 1, 1], [1, 0, 1]])))


@given(st.integers(0, 2**32 - 1))
def test_polar_factors(seed):
    matrix = np.random.default_rng(seed).normal(size=(5, 4, 4))
    rotation, stretch = transform.polar(matrix)
    assert np.allclose(rotation @ stretch, matrix[:, :3, :3])
    assert np.allclose(stretch, np.swapaxes(stretch, -1, -2))
    assert np.allclose(rotation @ np.swapaxes(rotation, -1, -2), np.eye(3)) and (np.linalg.det(rotation) > 0).all()


def test_apply_broadcasts_as_its_text_says():
    points = np.random.default_rng(0).normal(size=(7, 3))
    matrices = transform.compose(points[:5], random_rotations((5,), 0), 2.0)
    one = np.concatenate((points, np.ones((7, 1))), axis=1)
    expected = np.einsum("fij,vj->fvi", matrices, one)[..., :3]
    assert np.allclose(transform.apply(matrices[0], points), expected[0])
    assert np.allclose(transform.apply(matrices[:, None], points), expected)
    assert np.allclose(transform.apply(matrices, points[:5]), expected[range(5), range(5)])
    assert np.allclose(transform.apply_direction(matrices[0], points), expected[0] - matrices[0, :3, 3])


@given(vectors, rotations, scales)
def test_determinant_is_the_volume(t, r, s):
    assert np.isclose(transform.determinant(transform.compose(t, r, s)), np.prod(s))
    assert np.isclose(transform.determinant(quaternion.to_matrix(r)), 1.0)
