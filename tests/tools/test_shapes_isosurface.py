"""Surfaces of equal value: closed, facing downhill, where the value is, and of the right volume."""

from __future__ import annotations

import numpy as np
import pytest
from tools.latent.shapes import isosurface


def grid(n):
    return np.stack(np.meshgrid(*[np.linspace(-1, 1, n)] * 3, indexing="ij"), -1)


def enclosed(vertices, triangles):
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return np.einsum("ti,ti->", a, np.cross(b, c)) / 6


def test_a_ball():
    n = 33
    vertices, triangles = isosurface(0.8 - np.linalg.norm(grid(n), axis=-1), 0.0)
    places = vertices * 2 / (n - 1) - 1
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 0.8, atol=0.003)
    assert enclosed(places, triangles) == pytest.approx(4 / 3 * np.pi * 0.8**3, rel=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_any_function_gives_a_closed_surface_inside_the_grid(seed):
    values = np.pad(np.random.default_rng(seed).normal(size=(7, 8, 9)), 1, constant_values=-9.0)
    vertices, triangles = isosurface(values, 0.1)
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    assert len(triangles) and sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))
    assert (vertices >= 0).all() and (vertices <= np.array(values.shape) - 1).all()
    assert enclosed(vertices, triangles) > 0


def test_a_linear_function_is_met_exactly():
    slope = np.array([0.3, -0.7, 0.5])
    vertices, triangles = isosurface(grid(9) @ slope, 0.11)
    np.testing.assert_allclose((vertices / 4 - 1) @ slope, 0.11, atol=1e-12)
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normal = np.cross(b - a, c - a)
    assert (normal @ slope < 1e-12).all()


def test_nothing_where_the_value_is_not_reached():
    for level in (2.0, -2.0):
        vertices, triangles = isosurface(np.zeros((4, 5, 6)), level)
        assert vertices.shape == (0, 3) and triangles.shape == (0, 3)
