from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.maths.strategies import random_rotations, rotations, signs, vectors

from understudy.maths import dual_quaternion, quaternion, transform

motions = st.builds(dual_quaternion.from_rotation_translation, rotations, vectors)
seeds = st.integers(0, 2**32 - 1)


@given(rotations, vectors, vectors)
def test_motions_and_matrices_move_alike(r, t, p):
    motion, matrix = dual_quaternion.from_rotation_translation(r, t), transform.compose(t, r)
    assert np.allclose(dual_quaternion.to_matrix(motion), matrix)
    assert np.allclose(dual_quaternion.apply(motion, p), transform.apply(matrix, p))
    back, stretch = dual_quaternion.from_matrix(matrix)
    assert np.allclose(dual_quaternion.to_matrix(back), matrix, atol=1e-12) and np.allclose(stretch, np.eye(3))


@given(motions, motions, motions)
def test_group_axioms(a, b, c):
    times = dual_quaternion.multiply
    assert np.allclose(times(times(a, b), c), times(a, times(b, c)), atol=1e-12)
    assert np.allclose(times(a, dual_quaternion.inverse(a)), (0, 0, 0, 1, 0, 0, 0, 0), atol=1e-12)
    product = dual_quaternion.to_matrix(a) @ dual_quaternion.to_matrix(b)
    assert np.allclose(dual_quaternion.to_matrix(times(a, b)), product, atol=1e-12)


@given(seeds)
def test_scale_and_shear_are_handed_back(seed):
    matrix = np.eye(4) + np.concatenate((np.random.default_rng(seed).normal(size=(3, 4)), np.zeros((1, 4))))
    rigid, stretch = dual_quaternion.from_matrix(matrix)
    whole = dual_quaternion.to_matrix(rigid)
    whole[:3, :3] = whole[:3, :3] @ stretch
    assert np.allclose(whole, matrix, atol=1e-12)


@given(motions, signs, seeds)
def test_blend_of_equal_motions_is_that_motion(motion, sign, seed):
    weights = np.random.default_rng(seed).random(3) + 0.01
    many = np.stack((motion, sign * motion, -motion))
    assert np.allclose(
        dual_quaternion.to_matrix(dual_quaternion.blend(many, weights)), dual_quaternion.to_matrix(motion)
    )


@given(motions, seeds)
def test_blend_moves_with_its_inputs(motion, seed):
    rng = np.random.default_rng(seed)
    many = dual_quaternion.from_rotation_translation(
        quaternion.exp(0.5 * rng.normal(size=(4, 3))), rng.normal(size=(4, 3))
    )
    weights = rng.random(4) + 0.01
    together = dual_quaternion.blend(dual_quaternion.multiply(motion, many), weights)
    apart = dual_quaternion.multiply(motion, dual_quaternion.blend(many, weights, pivot=0))
    assert np.allclose(dual_quaternion.to_matrix(together), dual_quaternion.to_matrix(apart), atol=1e-9)


def test_blend_aligns_with_the_pivot():
    turns = quaternion.from_axis_angle((0, 0, 1), np.array((0.0, 2.0, 4.5)))
    many = dual_quaternion.from_rotation_translation(turns, np.zeros((3, 3)))
    weights = (0.1, 0.6, 0.3)
    # From the second, 2.5 radians to the third is the short way; from the first, the long way round.
    forward, backward = dual_quaternion.blend(many, weights), dual_quaternion.blend(many, weights, pivot=0)
    assert np.allclose(dual_quaternion.blend(many, weights, pivot=1), forward)
    assert quaternion.angle_between(forward[:4], backward[:4]) > 0.5


@given(seeds)
def test_blends_are_rigid(seed):
    rng = np.random.default_rng(seed)
    many = dual_quaternion.from_rotation_translation(random_rotations((6, 4), seed), rng.normal(size=(6, 4, 3)))
    motion = dual_quaternion.blend(many, rng.random((6, 4)))
    assert np.allclose(np.linalg.norm(motion[:, :4], axis=-1), 1.0)
    assert np.allclose(np.sum(motion[:, :4] * motion[:, 4:], axis=-1), 0.0, atol=1e-12)


@given(motions)
def test_twist_round_trip(motion):
    back = dual_quaternion.from_twist(dual_quaternion.to_twist(motion))
    assert np.allclose(dual_quaternion.to_matrix(back), dual_quaternion.to_matrix(motion), atol=1e-9)


@given(motions, motions, signs)
def test_sclerp_has_ends_and_constant_speed(a, b, sign):
    path = dual_quaternion.sclerp(a, sign * b, np.linspace(0, 1, 5))
    matrices = dual_quaternion.to_matrix(path)
    assert np.allclose(matrices[0], dual_quaternion.to_matrix(a), atol=1e-9)
    assert np.allclose(matrices[-1], dual_quaternion.to_matrix(b), atol=1e-9)
    steps = transform.invert_rigid(matrices[:-1]) @ matrices[1:]
    assert np.allclose(steps, steps[0], atol=1e-8)


@given(vectors, vectors, st.floats(0, 1))
def test_sclerp_of_translations_is_a_line(p, q, t):
    one = quaternion.identity()
    a, b = (dual_quaternion.from_rotation_translation(one, v) for v in (p, q))
    assert np.allclose(dual_quaternion.apply(dual_quaternion.sclerp(a, b, t), (0, 0, 0)), p + t * (q - p), atol=1e-12)
