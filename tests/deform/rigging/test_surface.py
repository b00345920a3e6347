from __future__ import annotations

import numpy as np
from tests.deform.rigging.shapes import box, joined, split, tube

from understudy.deform.rigging.surface import WeldedSurface


def test_welds_what_files_split() -> None:
    mesh = tube(rings=5, sides=6)
    vertices, triangles, origin = split(mesh)
    surface = WeldedSurface.from_mesh(vertices, triangles)
    assert len(surface.points) == len(mesh[0])
    np.testing.assert_allclose(surface.points[surface.point_of], mesh[0][origin])
    assert len(np.unique(surface.pieces)) == 1


def test_areas_and_normals_of_a_box() -> None:
    surface = WeldedSurface.from_mesh(*box([0, 0, 0], [1, 2, 3]))
    np.testing.assert_allclose(surface.areas.sum(), 22)
    assert (np.sign(surface.normals) == np.sign(surface.points - [0.5, 1, 1.5])).all()


def test_the_laplacian_is_an_m_matrix() -> None:
    vertices, triangles = tube(rings=5, sides=6)
    triangles = np.concatenate([triangles, [[0, 6, 20], [0, 6, 25], [0, 12, 24]]])
    matrix = WeldedSurface.from_mesh(vertices, triangles).laplacian().toarray()
    np.testing.assert_allclose(matrix, matrix.T)
    np.testing.assert_allclose(matrix.sum(axis=1), 0, atol=1e-8)
    assert (matrix - np.diag(np.diag(matrix))).max() <= 0


def test_pieces() -> None:
    surface = WeldedSurface.from_mesh(*joined(tube(rings=3, sides=5), box([5, 5, 5], [6, 6, 6])))
    assert len(np.unique(surface.pieces)) == 2
