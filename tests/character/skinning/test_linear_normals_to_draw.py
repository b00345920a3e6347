"""Normals to draw with are never of length zero."""

import numpy as np
from tests.render.shapes import ball

from understudy.character.skinning.linear import smooth_normals


def test_a_sphere_has_its_own_directions_as_normals():
    vertices, triangles = ball()
    agree = np.einsum("vi,vi->v", smooth_normals(vertices, triangles), vertices)
    assert agree.min() > 0.95 and np.median(agree) > 0.999


def test_vertices_without_area_point_up():
    normals = smooth_normals(np.zeros((4, 3)), np.array([[0, 1, 2]]))
    np.testing.assert_array_equal(normals, [[0, 1, 0]] * 4)
