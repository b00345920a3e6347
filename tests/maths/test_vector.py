from __future__ import annotations

import numpy as np
from hypothesis import given
from tests.maths.strategies import vectors

from understudy.maths import vector


@given(vectors, vectors)
def test_products_agree_with_numpy(a, b):
    assert np.allclose(vector.cross(a, b), np.cross(a, b))
    assert np.isclose(vector.dot(a, b), np.dot(a, b))
    assert np.isclose(vector.length(a), np.linalg.norm(a))
    assert np.allclose(vector.skew(a) @ b, np.cross(a, b))


@given(vectors)
def test_perpendicular_is_a_unit_vector_at_a_right_angle(v):
    p = vector.perpendicular(v)
    assert np.isclose(np.linalg.norm(p), 1.0)
    assert abs(p @ v) <= 1e-12 * max(1.0, np.linalg.norm(v))


def test_normalise_gives_the_asked_direction_for_zero_only():
    v = np.array([[3.0, 0, 4.0], [0, 0, 0], [1e-90, 0, 0]])
    assert np.allclose(vector.normalise(v, otherwise=(0, 1, 0)), [[0.6, 0, 0.8], [0, 1, 0], [1, 0, 0]])


def test_broadcasting():
    a, b = np.ones((5, 1, 3)), np.arange(12.0).reshape(4, 3)
    assert vector.cross(a, b).shape == (5, 4, 3)
    assert vector.dot(a, b).shape == (5, 4)
