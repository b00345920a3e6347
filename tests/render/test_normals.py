"""Smooth normals against the slow way to compute them."""

import numpy as np
from tests.render.shapes import ball

from understudy.render.normals import smooth_normals


def test_normals_are_the_area_weighted_sum_of_faces():
    rng = np.random.default_rng(0)
    vertices, triangles = rng.normal(size=(30, 3)), rng.integers(0, 30, size=(80, 3))
    expected = np.zeros((30, 3))
    for a, b, c in triangles:
        face = np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a])
        for corner in (a, b, c):
            expected[corner] += face
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(smooth_normals(vertices, triangles), expected, atol=2e-5)


def test_a_sphere_has_its_own_directions_as_normals():
    vertices, triangles = ball()
    agree = np.einsum("vi,vi->v", smooth_normals(vertices, triangles), vertices)
    assert agree.min() > 0.95 and np.median(agree) > 0.999


def test_vertices_without_area_point_up():
    normals = smooth_normals(np.zeros((4, 3)), np.array([[0, 1, 2]]))
    np.testing.assert_array_equal(normals, [[0, 1, 0]] * 4)
