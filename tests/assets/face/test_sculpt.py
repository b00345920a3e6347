"""The sculpture's formulas, uncompiled: carved where it should be, one side as the other; tubes and frames."""

from __future__ import annotations

import numpy as np

from assets.face import measures, sculpt_kernels
from assets.face.measures import EYE
from assets.sculpting import clay, geometry


def _at(field: str, *points: tuple[float, float, float]) -> np.ndarray:
    return np.asarray(getattr(sculpt_kernels, field)(*np.array(points, dtype=float).T))


def test_the_head_is_solid_but_for_mouth_and_sockets() -> None:
    inside = [(0.0, 0.1, 0.0), (0.0, -0.35, 0.2), (0.1, -0.6, -0.13)]
    assert (_at("skin", *inside) < 0).all()
    hollow = [EYE, (0.0, -0.255, 0.185), (0.9, 0.0, 0.0)]
    assert (_at("skin", *hollow) > 0).all()
    assert (_at("closed", *hollow[:2]) < 0).all()


def test_both_sides_are_the_same() -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform(-0.5, 0.5, (200, 3))
    for field in ("skin", "without_mouth", "shirt"):
        one = getattr(sculpt_kernels, field)(*points.T)
        other = getattr(sculpt_kernels, field)(*(points * [-1, 1, 1]).T)
        assert np.array_equal(one, other), field


def test_distances_change_no_faster_than_places() -> None:
    rng = np.random.default_rng(2)
    points = rng.uniform(-0.4, 0.4, (500, 3))
    ways = rng.normal(size=(500, 3))
    ways *= 1e-4 / np.linalg.norm(ways, axis=1, keepdims=True)
    slope = np.abs(sculpt_kernels.closed(*np.abs(points + ways).T) - sculpt_kernels.closed(*np.abs(points).T)) / 1e-4
    assert np.quantile(slope, 0.95) < 1.3


def test_units_are_the_inverse_of_metres() -> None:
    points = np.random.default_rng(3).normal(size=(20, 3))
    assert np.allclose(measures.units(measures.metres(points)), points)


def test_frames_and_turns_are_rotations() -> None:
    for matrix in (measures.eye_frame(), clay.turn(20, -30, 40)):
        assert np.allclose(matrix @ matrix.T, np.eye(3)) and np.isclose(np.linalg.det(matrix), 1.0)
    assert np.allclose(measures.jaw_opened(np.array([measures.HINGE])), measures.HINGE)


def test_a_tube_is_closed() -> None:
    path = np.stack([np.linspace(0, 1, 6), np.zeros(6), 0.1 * np.linspace(0, 1, 6) ** 2], axis=1)
    vertices = geometry.oval_tube(path, np.full(6, 0.1), np.full(6, 0.05), 8, (0, 1, 0))
    triangles = geometry.oval_tube_triangles(6, 8)
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert len(vertices) == triangles.max() + 1
    assert np.allclose(vertices[0], path[0] + [0, 0.1, 0])
