"""Sculptures: solids have the distances that they should, melt as promised, and mirror."""

from __future__ import annotations

import numpy as np

from assets.sculpting import kernels
from assets.sculpting.clay import Clay, above, bar, below, chain, ellipsoid, lopsided, ring


def at(clay: Clay, *points: tuple[float, float, float]) -> np.ndarray:
    """Distances by the uncompiled kernels."""
    return np.array([kernels.clay_at(clay.rows, *point) for point in points])


def test_distances_of_single_solids() -> None:
    ball = Clay((ellipsoid("a", (1, 0, 0), (0.5, 0.5, 0.5)),))
    assert np.allclose(at(ball, (1, 2, 0), (1, 0, 0.75)), [1.5, 0.25], atol=1e-6)
    rod = Clay((bar("a", (0, 0, 0), (0, 2, 0), 0.5, 0.5),))
    assert np.allclose(at(rod, (1, 1, 0), (0, 3, 0), (0, 1, 0)), [0.5, 0.5, -0.5])
    torus = Clay((ring("a", (0, 0, 0), 2.0, 0.5, 0.05),))
    assert np.allclose(at(torus, (2, 0, 0), (0, 0, 3), (0, 1, 2)), [-0.5, 0.5, 0.5])
    assert np.allclose(at(Clay((ring("a", (0, 0, 0), 2.0, 0.5, 0.05, (90, 0, 0)),)), (0, 2, 0)), [-0.5])


def test_both_sides_are_the_same_unless_lopsided() -> None:
    solid = ellipsoid("a", (0.4, 0.1, 0.2), (0.3, 0.2, 0.1), 0.05, (20, 30, 40))
    points = np.random.default_rng(1).uniform(-1, 1, (30, 3))
    clay = Clay((solid,))
    assert np.array_equal(at(clay, *points), at(clay, *(points * [-1, 1, 1])))
    own = Clay(tuple(lopsided([solid])))
    assert at(own, (0.4, 0.1, 0.2))[0] < 0 < at(own, (-0.4, 0.1, 0.2))[0]


def test_melting_only_adds_and_no_more_than_a_quarter_of_the_blend() -> None:
    a, b = ellipsoid("a", (0, 0, 0), (0.5, 0.5, 0.5)), ellipsoid("b", (0, 0.6, 0), (0.3, 0.3, 0.3), 0.2)
    points = np.random.default_rng(2).uniform(-1, 1, (200, 3))
    apart = np.minimum(at(Clay((a,)), *points), at(Clay((b,)), *points))
    gain = apart - at(Clay((a, b)), *points)
    assert gain.min() > -1e-12 and 0.01 < gain.max() <= 0.05 + 1e-12


def test_a_chain_melts_as_one() -> None:
    points, radii = [(0, 0, 0), (0, 1, 0), (0, 2, 0.5)], (0.2, 0.15, 0.1)
    whole = Clay(tuple(chain("a", points, radii, 0.3)))
    places = np.random.default_rng(3).uniform(-1, 2, (100, 3))
    bars = [Clay((bar("a", *points[i : i + 2], *radii[i : i + 2]),)) for i in range(2)]
    assert np.array_equal(at(whole, *places), np.minimum(at(bars[0], *places), at(bars[1], *places)))


def test_what_is_cut_off_and_what_is_carved() -> None:
    ball = ellipsoid("a", (0, 0, 0), (1, 1, 1))
    assert np.array_equal(at(Clay((ball, above(0.0, 0.01))), (0, -0.5, 0), (0, 0.5, 0)) < 0, [False, True])
    assert np.array_equal(at(Clay((ball, below((0, 0, 0), 0.01))), (0, -0.5, 0), (0, 0.5, 0)) < 0, [True, False])
    hollow = Clay((ball, ellipsoid("", (0, 0, 1), (0.4, 0.4, 0.4), 0.01, way="carve")))
    assert at(hollow, (0, 0, 0.9))[0] > 0 and hollow.tags == ("a",)


def test_each_solid_by_itself_is_what_the_loop_over_points_gives() -> None:
    clay = Clay((ellipsoid("a", (0, 0, 0), (1, 0.5, 1)), bar("b", (0, 0, 0), (1, 1, 1), 0.2, 0.1)))
    points = np.random.default_rng(4).uniform(-1, 1, (5, 3))
    table = kernels.solids_at_points.py_func(clay.rows, points)
    assert np.allclose(table[:, 1], [kernels.solid_at(clay.rows[1], *point) for point in points])
    assert np.allclose(kernels.clay_at_points.py_func(clay.rows, points), at(clay, *points))
