"""Surfaces from formulas: closed, facing out, of the size that the formula says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cast.surfaces import areas, is_closed

from assets.sculpting import geometry
from understudy.cast.archive import area_normals

CYLINDER = [(0, 0), (0.3, 0), (0.3, 0), (0.3, 2), (0.3, 2), (0, 2)]
TORUS = [(2.0, 0.0), (3.0, 0.0), (3.0, 1.0), (2.0, 1.0), (2.0, 0.0)]


def surfaces() -> dict[str, geometry.Surface]:
    line, away = geometry.helix((0, 0, 0), (0.3, 1, 0.2), 0.15, 7, 200)
    return {
        "lathe with hard edges": geometry.lathe(CYLINDER, 32),
        "lathe around a hole": geometry.lathe(TORUS, 32),
        "straight tube": geometry.tube(np.linspace([0, 0, 0], [1, 2, 3], 5), 0.1, 12, (1, 0, 0)),
        "tapered tube": geometry.tube(np.linspace([0, 0, 0], [0, 2, 0], 9), np.linspace(0.2, 0.05, 9), 12, (1, 0, 0)),
        "spring": geometry.tube(line, 0.02, 8, away),
        "box": geometry.box((1, 2, 3), (5, 6, 7)),
        "placed box": geometry.placed(geometry.box((1, 2, 3)), (1, 1, 0), 40, (1, 0, 0)),
    }


@pytest.mark.parametrize("name", surfaces())
def test_every_surface_is_closed_faces_out_and_has_no_slivers(name: str) -> None:
    vertices, triangles = surfaces()[name]
    assert is_closed(vertices, triangles)
    assert geometry.signed_volume(vertices, triangles) > 0
    assert areas(vertices, triangles).min() > 1e-6
    assert set(np.unique(triangles)) == set(range(len(vertices)))


def test_volumes_are_those_of_the_formulas() -> None:
    found = {name: geometry.signed_volume(*surface) for name, surface in surfaces().items()}
    polygon = 32 / (2 * np.pi) * np.sin(2 * np.pi / 32)  # area of the regular 32-gon over that of its circle
    assert found["lathe with hard edges"] == pytest.approx(np.pi * 0.3**2 * 2 * polygon)
    assert found["lathe around a hole"] == pytest.approx(np.pi * (3**2 - 2**2) * polygon)
    assert found["box"] == pytest.approx(6)
    assert found["placed box"] == pytest.approx(6)


def test_a_doubled_point_makes_a_hard_edge_and_a_single_one_a_soft_edge() -> None:
    hard, soft = geometry.lathe(CYLINDER, 24), geometry.lathe([(0, 0), (0.3, 0), (0.3, 2), (0, 2)], 24)
    assert len(hard[0]) == len(soft[0]) + 2 * 24
    upward = np.abs(area_normals(*hard)[:, 1])
    assert ((upward < 1e-9) | (upward > 1 - 1e-9)).all()
    rings = np.abs(area_normals(*soft)[1:-1, 1])
    assert ((rings > 0.02) & (rings < 0.98)).all()


def test_normals_are_unit_and_point_away_from_the_middle_of_a_ball() -> None:
    angle = np.linspace(-np.pi / 2, np.pi / 2, 17)
    vertices, triangles = geometry.lathe(np.stack([np.cos(angle), np.sin(angle)], axis=1), 32)
    normals = area_normals(vertices, triangles)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    assert ((normals * vertices).sum(axis=1) > 0.99).all()


def test_quarter_turns_of_a_lathe_lie_exactly_on_the_axes() -> None:
    vertices, _ = geometry.lathe([(0, 0), (0.24, 0), (0, 1)], 64)
    places = {tuple(v) for v in vertices.tolist()}
    assert {(0.24, 0.0, 0.0), (-0.24, 0.0, 0.0), (0.0, 0.0, 0.24), (0.0, 0.0, -0.24)} <= places


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=3, max_size=8, unique_by=lambda p: round(p[0], 2)),
    st.integers(4, 40),
)
def test_smooth_begins_and_ends_in_its_points_and_is_evenly_spaced(points: list, count: int) -> None:
    curve = geometry.smooth(points, count)
    assert curve.shape == (count, 2)
    assert np.array_equal(curve[0], points[0]) and np.array_equal(curve[-1], points[-1])
    fine = geometry.smooth(points, 50 * count)
    length = np.linalg.norm(np.diff(fine, axis=0), axis=1).sum()
    # a chord is never longer than its share of the way; 2 % covers the polyline that stands for the spline
    assert np.linalg.norm(np.diff(curve, axis=0), axis=1).max() <= length / (count - 1) * 1.02 + 1e-9


def test_smooth_keeps_a_straight_line_straight() -> None:
    curve = geometry.smooth([(0, 0), (1, 2), (3, 6), (4, 8)], 11)
    assert np.allclose(curve[:, 1], 2 * curve[:, 0])


def test_along_names_the_station_of_every_vertex_of_a_tube() -> None:
    path = np.linspace([0, 0, 0], [0, 3, 0], 7)
    vertices, _ = geometry.tube(path, 0.1, 10, (1, 0, 0))
    assert np.allclose(geometry.along(path[:, 1], 10), vertices[:, 1])


def test_helix_keeps_its_distance_from_the_axis_between_its_ends() -> None:
    line, away = geometry.helix((0, 0, 0), (0, 2, 0), 0.3, 8, 161)
    distance = np.hypot(line[:, 0], line[:, 2])
    inner = slice(20, -20)  # the first and the last turn close in
    assert np.allclose(distance[inner], 0.3) and distance[0] == pytest.approx(0.15)
    assert np.allclose(line[:, [0, 2]] / distance[:, None], away[:, [0, 2]])
    assert np.allclose(np.diff(line[:, 1]), 2 / 160)
