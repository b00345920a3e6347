from __future__ import annotations

import numpy as np
from tests.deform.rigging.shapes import tube

from understudy.deform.rigging.heat_weights import solve_heat
from understudy.deform.rigging.surface import WeldedSurface


def test_against_the_dense_solve() -> None:
    surface = WeldedSurface.from_mesh(*tube(rings=7, sides=6))
    random = np.random.default_rng(3)
    distance = random.uniform(0.1, 1, (len(surface.points), 3))
    nearest = np.eye(3)[distance.argmin(axis=1)]
    inflow = surface.areas * 4.0 / distance.min(axis=1) ** 2
    expected = np.linalg.solve(surface.laplacian().toarray() + np.diag(inflow), inflow[:, None] * nearest)
    np.testing.assert_allclose(solve_heat(surface, distance), expected, atol=1e-9)
    np.testing.assert_allclose(expected.sum(axis=1), 1, atol=1e-9)
    assert expected.min() > -1e-12


def test_equal_distances_are_shared() -> None:
    surface = WeldedSurface.from_mesh(*tube(rings=7, sides=6))
    distance = np.full((len(surface.points), 2), 0.3)
    np.testing.assert_allclose(solve_heat(surface, distance), 0.5, atol=1e-9)


def test_what_cannot_be_solved_is_not_a_number() -> None:
    vertices, triangles = tube(rings=7, sides=6)
    surface = WeldedSurface.from_mesh(np.concatenate([vertices, [[0, 9, 9]]]), triangles)
    lost = np.flatnonzero(~surface.in_triangle)
    weights = solve_heat(surface, np.ones((len(surface.points), 2)))
    assert len(lost) == 1 and np.isnan(weights[lost]).all()
    assert np.isfinite(np.delete(weights, lost, axis=0)).all()
