from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from tests.maths.strategies import angles, directions, random_rotations, rotations, same_rotation, signs, small, vectors

from understudy.errors import InvalidInput
from understudy.maths import quaternion


@given(rotations, rotations, rotations)
def test_group_axioms(a, b, c):
    one = quaternion.identity()
    assert np.allclose(
        quaternion.multiply(quaternion.multiply(a, b), c), quaternion.multiply(a, quaternion.multiply(b, c))
    )
    assert np.array_equal(quaternion.multiply(a, one), a) and np.array_equal(quaternion.multiply(one, a), a)
    assert np.allclose(quaternion.multiply(a, quaternion.inverse(a)), one)
    assert np.allclose(
        quaternion.conjugate(quaternion.multiply(a, b)), quaternion.multiply(*map(quaternion.conjugate, (b, a)))
    )


@given(rotations, rotations, vectors)
def test_matrices_and_vectors_turn_alike(a, b, v):
    matrix = quaternion.to_matrix(a)
    assert np.allclose(matrix, Rotation.from_quat(a).as_matrix(), atol=1e-14)
    assert np.allclose(quaternion.rotate(a, v), matrix @ v)
    assert np.allclose(quaternion.to_matrix(quaternion.multiply(a, b)), matrix @ quaternion.to_matrix(b))


@given(rotations)
def test_matrix_round_trip_keeps_all_digits(q):
    back = quaternion.from_matrix(quaternion.to_matrix(q))
    assert same_rotation(back, q, 1e-14)
    assert np.max(back) >= np.max(np.abs(back)) - 1e-15  # two may be equally large


@given(directions, angles, signs)
def test_exponential_and_logarithm_undo_each_other(axis, angle, sign):
    vector = axis * angle
    back = quaternion.log(sign * quaternion.exp(vector))
    if angle < np.pi - 1e-14:
        assert np.allclose(back, vector, rtol=1e-12, atol=1e-300) or np.linalg.norm(back - vector) < 1e-14
    else:  # a half turn has two vectors
        assert min(np.linalg.norm(back - vector), np.linalg.norm(back + vector)) < 1e-13


@given(rotations)
def test_both_signs_have_one_logarithm(q):
    assert np.array_equal(quaternion.log(q), quaternion.log(-q))
    assert np.linalg.norm(quaternion.log(q)) <= np.pi + 1e-15
    assert same_rotation(quaternion.exp(quaternion.log(q)), q, 1e-14)


@pytest.mark.parametrize("axis", [(1, 0, 0), (-1, 0, 0), (0, -1, 0), (0, 0, -1), (0.6, 0, -0.8), (-0.0, -0.6, 0.8)])
def test_half_turns_have_one_logarithm_for_both_signs(axis):
    q = np.array((*axis, 0.0))
    for zero in (0.0, -0.0):
        q[3] = zero
        assert np.array_equal(quaternion.log(q), quaternion.log(-q))
        assert np.allclose(np.linalg.norm(quaternion.log(q)), np.pi)


@given(directions, angles)
def test_axis_and_angle(axis, angle):
    assert np.allclose(quaternion.from_axis_angle(5.0 * axis, angle), quaternion.exp(axis * angle), atol=1e-15)
    assert np.array_equal(quaternion.from_axis_angle((0, 0, 0), angle), quaternion.identity())


@given(rotations, directions, angles, signs)
def test_angle_between_is_the_angle_turned(q, axis, angle, sign):
    turned = sign * quaternion.multiply(quaternion.from_axis_angle(axis, angle), q)
    assert np.isclose(quaternion.angle_between(q, turned), angle, rtol=1e-9, atol=4e-15)


@given(rotations, rotations, st.floats(0, 1), signs)
def test_slerp_has_ends_and_constant_speed(a, b, t, sign):
    middle = quaternion.slerp(a, sign * b, t)
    whole = quaternion.angle_between(a, b)
    assert np.isclose(np.linalg.norm(middle), 1.0)
    assert np.isclose(quaternion.angle_between(a, middle), t * whole, rtol=1e-9, atol=1e-14)
    assert np.isclose(quaternion.angle_between(middle, b), (1 - t) * whole, rtol=1e-9, atol=1e-14)
    assert np.array_equal(quaternion.slerp(a, b, 0.0), a)
    assert np.array_equal(np.abs(quaternion.slerp(a, b, 1.0)), np.abs(b))


def _slerp_of_three_js(a, b, t):
    """The formula of three.js, for one pair: the oracle of what the browser shows."""
    cosine = float(a @ b)
    if cosine < 0:
        b, cosine = -b, -cosine
    if cosine < 0.9995:
        o = np.arccos(cosine)
        return a * (np.sin((1 - t) * o) / np.sin(o)) + b * (np.sin(t * o) / np.sin(o))
    line = a * (1 - t) + b * t
    return line / np.linalg.norm(line)


@given(rotations, rotations, st.floats(0, 1))
def test_slerp_agrees_with_three_js(a, b, t):
    assert same_rotation(quaternion.slerp(a, b, t), _slerp_of_three_js(a, b, t), 1.1e-6)


def test_unroll_is_continuous_and_changes_no_rotation():
    rng = np.random.default_rng(3)
    steps = quaternion.exp(0.3 * rng.normal(size=(50, 4, 3)))
    q = np.empty((50, 4, 4))
    q[0] = steps[0]
    for i in range(1, 50):
        q[i] = quaternion.multiply(steps[i], q[i - 1])
    scrambled = q * rng.choice((-1.0, 1.0), size=(50, 4, 1))
    out = quaternion.unroll(scrambled)
    first = np.sign(np.sum(scrambled[0] * q[0], axis=-1))
    assert np.array_equal(out, q * first[:, None])
    assert np.array_equal(quaternion.unroll(np.swapaxes(scrambled, 0, 1), axis=1), np.swapaxes(out, 0, 1))
    with pytest.raises(InvalidInput, match="time axis"):
        quaternion.unroll(q, axis=-1)


@given(rotations, rotations)
def test_two_blend_as_they_interpolate(a, b):
    if quaternion.angle_between(a, b) > np.pi - 1e-6:
        return  # the ways round are equally long
    pair, half = np.stack((a, -b)), quaternion.slerp(a, b, 0.5)
    assert same_rotation(quaternion.mean(pair), half, 1e-8)
    assert same_rotation(quaternion.blend(pair, (0.5, 0.5)), half, 1e-8)


@given(rotations, st.integers(0, 2**32 - 1))
def test_mean_moves_with_its_inputs_and_ignores_signs(turn, seed):
    rng = np.random.default_rng(seed)
    spread = quaternion.exp(0.4 * rng.normal(size=(7, 3)))
    weights = rng.random(7) + 0.01
    for average in (quaternion.mean, quaternion.blend):
        plain = average(spread, weights)
        turned = average(quaternion.multiply(turn, spread), 3.0 * weights)
        assert same_rotation(turned, quaternion.multiply(turn, plain), 1e-9)
        flipped = average(spread * rng.choice((-1.0, 1.0), size=(7, 1)), weights)
        assert same_rotation(flipped, plain, 1e-9)
    oracle = Rotation.from_quat(spread).mean(weights).as_quat()
    assert same_rotation(quaternion.mean(spread, weights), oracle, 1e-9)


def test_blend_of_opposites_falls_back_to_the_heaviest():
    pair = np.array([[0, 0, 0, 1.0], [1.0, 0, 0, 0]])
    assert same_rotation(quaternion.blend(pair, (1.0, 0.0)), pair[0])
    assert np.allclose(quaternion.blend(pair, (0.0, 0.0)), pair[0])


@given(directions, directions)
def test_between_turns_one_direction_into_the_other(a, b):
    q = quaternion.from_two_vectors(2.0 * a, 0.5 * b)
    assert np.allclose(quaternion.rotate(q, a), b, atol=1e-14)
    angle = 2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    assert np.isclose(quaternion.angle_between(q, quaternion.identity()), angle, atol=1e-12)


@given(directions, directions, small, signs)
def test_between_nearly_equal_and_nearly_opposite(a, nudge, size, sign):
    b = sign * a + size * nudge
    b = b / np.linalg.norm(b)
    assert np.allclose(quaternion.rotate(quaternion.from_two_vectors(a, b), a), b, atol=2e-12)
    assert np.allclose(quaternion.rotate(quaternion.from_two_vectors(a, -a), a), -a, atol=1e-14)


def test_between_with_nothing_is_the_identity():
    assert np.array_equal(quaternion.from_two_vectors((0, 0, 0), (1, 0, 0)), quaternion.identity())


def test_zero_normalises_to_the_identity():
    assert np.array_equal(quaternion.normalise(np.zeros((2, 4))), quaternion.identity((2,)))


def test_leading_dimensions_broadcast():
    a, b = random_rotations((5, 1), 1), random_rotations((3,), 2)
    assert quaternion.multiply(a, b).shape == quaternion.slerp(a, b, 0.3).shape == (5, 3, 4)
    assert quaternion.slerp(b[0], b[1], np.linspace(0, 1, 6)).shape == (6, 4)
    assert quaternion.rotate(a, np.ones((3, 3))).shape == (5, 3, 3)
    assert quaternion.mean(random_rotations((2, 7, 9), 3)).shape == (2, 7, 4)
    assert quaternion.blend(random_rotations((2, 7, 9), 3), np.ones(9)).shape == (2, 7, 4)
    assert quaternion.unroll(np.empty((0, 3, 4))).shape == (0, 3, 4)
