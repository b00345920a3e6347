from __future__ import annotations

import numpy as np
from tests.deform.rigging.shapes import box, tube

from understudy.deform.rigging.surface import VoxelSolid


def test_inside_and_outside_of_a_box() -> None:
    solid = VoxelSolid.from_surface(*box([0, 0, 0], [1, 2, 3]), resolution=32)
    random = np.random.default_rng(0)
    points = random.uniform(-1, 4, (4000, 3))
    deep = ((points > 0.1) & (points < np.array([1, 2, 3]) - 0.1)).all(axis=1)
    far = ((points < -0.2) | (points > np.array([1, 2, 3]) + 0.2)).any(axis=1)
    assert deep.any() and solid.contains(points[deep]).all() and not solid.contains(points[far]).any()


def test_a_missing_triangle_of_a_fine_mesh_lets_nothing_out() -> None:
    vertices, triangles = tube(rings=80, sides=40)
    solid = VoxelSolid.from_surface(vertices, np.delete(triangles, 500, axis=0))
    assert solid.contains(np.array([1.0, 0, 0]))


def test_an_open_mesh_keeps_its_skin() -> None:
    vertices, triangles = tube(rings=9, sides=6)
    solid = VoxelSolid.from_surface(vertices, triangles[::2])
    assert solid.contains(vertices).all() and not solid.contains(np.array([1.0, 0, 0]))


def test_reach_ends_at_the_skin() -> None:
    solid = VoxelSolid.from_surface(*box([0, 0, 0], [1, 1, 1]))
    assert abs(solid.reach(np.array([0.5, 0.5, 0.5]), np.array([1.0, 0, 0]), 9.0) - 0.5) < 2 * solid.step
    assert solid.reach(np.array([2.5, 0.5, 0.5]), np.array([1.0, 0, 0]), 9.0) == 0
