"""Laws of normals, on the kernels and on the NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from tests.deform.cases import rigid_matrices
from tests.reference import character as reference

from understudy.character.skinning.linear import vertex_normals
from understudy.errors import InvalidInput


def sphere(rng, count):
    """Points on the unit sphere and their hull, counter-clockwise from outside."""
    v = rng.normal(size=(count, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    t = ConvexHull(v).simplices
    a, b, c = v[t[:, 0]], v[t[:, 1]], v[t[:, 2]]
    inward = np.einsum("tc,tc->t", np.cross(b - a, c - a), a) < 0
    t[inward] = t[inward][:, ::-1]
    return v, t


@pytest.mark.parametrize("weighting", ["angle", "area"])
def test_sphere_points_outward(weighting):
    v, t = sphere(np.random.default_rng(0), 2000)
    n = vertex_normals(v, t, weighting)
    assert n.shape == v.shape
    assert np.einsum("vc,vc->v", n, v).min() > 0.98


@pytest.mark.parametrize("weighting", ["angle", "area"])
@pytest.mark.parametrize("frames", [1, 5])
def test_normals_turn_with_the_mesh_and_ignore_its_size(weighting, frames):
    rng = np.random.default_rng(1)
    v, t = sphere(rng, 60)
    g = rigid_matrices(rng, frames, 1)[:, 0]
    moved = np.einsum("fab,vb->fva", 1e-3 * g[:, :3, :3], v) + g[:, None, :3, 3] * 1e-3
    expected = np.einsum("fab,vb->fva", g[:, :3, :3], vertex_normals(v, t, weighting))
    np.testing.assert_allclose(vertex_normals(moved, t, weighting), expected, atol=1e-3)


def test_weights_at_the_corner_of_a_cube():
    """Three faces, one of them cut in two at the corner: angles give the diagonal, areas lean to the cut face."""
    v = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], float)
    t = [[0, 4, 1], [0, 2, 4], [0, 3, 2], [0, 1, 3]]  # seen from outside, the solid being x, y, z > 0
    np.testing.assert_allclose(vertex_normals(v, t)[0], -np.ones(3) / np.sqrt(3), atol=1e-6)
    np.testing.assert_allclose(vertex_normals(v, t, "area")[0], np.array([-1, -1, -2]) / np.sqrt(6), atol=1e-6)


def test_lone_vertices_and_empty_triangles_give_zero():
    v = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], float)
    for weighting in ("angle", "area"):
        np.testing.assert_array_equal(vertex_normals(v, [[0, 1, 2]], weighting), np.zeros((4, 3)))
        np.testing.assert_array_equal(vertex_normals(v, np.zeros((0, 3), int), weighting), np.zeros((4, 3)))
    assert vertex_normals(np.zeros((0, 4, 3)), [[0, 1, 2]]).shape == (0, 4, 3)


@pytest.mark.parametrize("weighting", ["angle", "area"])
def test_the_kernel_agrees_with_its_oracle(weighting):
    rng = np.random.default_rng(2)
    v, t = rng.normal(size=(3, 80, 3)), rng.integers(0, 80, size=(200, 3))
    ours = vertex_normals(v, t, weighting)
    slow = [reference.vertex_normals(frame, t, weighting == "angle") for frame in v]
    np.testing.assert_allclose(ours, slow, atol=1e-5)


def test_wrong_inputs_are_named():
    with pytest.raises(InvalidInput, match="triangles should lie between 0 and 2, but holds 3"):
        vertex_normals(np.zeros((3, 3)), [[0, 1, 3]])
    with pytest.raises(InvalidInput, match=r"triangles should have shape \(T, 3\)"):
        vertex_normals(np.zeros((3, 3)), [[0, 1]])
    with pytest.raises(InvalidInput, match="there is no weighting 'none'"):
        vertex_normals(np.zeros((3, 3)), [[0, 1, 2]], "none")
