"""Coarse meshes: fewer vertices of the same surface, borders and charts kept."""

from __future__ import annotations

import numpy as np
import pytest
from tests.render.viewport.puppets import tube

from understudy.character import Mesh
from understudy.checks import Array
from understudy.render.stick_figure import bone_mesh
from understudy.render.viewport.decimate import decimate_triangles, thin_part


def ball(rings: int = 24, sides: int = 32) -> tuple[Array, Array]:
    """A closed unit sphere."""
    high = np.pi * np.arange(1, rings) / rings
    around = 2 * np.pi * np.arange(sides) / sides
    body = np.stack(
        [
            np.outer(np.sin(high), np.cos(around)),
            np.outer(np.cos(high), np.ones(sides)),
            np.outer(np.sin(high), np.sin(around)),
        ],
        axis=2,
    ).reshape(-1, 3)
    points = np.concatenate([[(0, 1, 0)], body, [(0, -1, 0)]])
    row = 1 + sides * np.arange(rings - 1)[:, None]
    here, there = row + np.arange(sides), row + (np.arange(sides) + 1) % sides
    a, b, c, d = (x.reshape(-1) for x in (here[:-1], there[:-1], here[1:], there[1:]))
    caps = [
        np.stack([np.zeros(sides, int), there[0], here[0]], 1),
        np.stack([np.full(sides, len(points) - 1), here[-1], there[-1]], 1),
    ]
    return points, np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1), *caps])


def edges_of(triangles: Array) -> Array:
    """How many triangles share each edge."""
    pairs = np.sort(triangles[:, ((0, 1), (1, 2), (2, 0))].reshape(-1, 2), axis=1)
    return np.unique(pairs, axis=0, return_counts=True)[1]


@pytest.mark.parametrize("wanted", [400, 120])
def test_a_ball_stays_a_ball(wanted: int) -> None:
    points, triangles = ball()
    coarse, which = decimate_triangles(points, triangles, wanted)
    kept = np.unique(coarse)
    assert len(kept) <= wanted and len(which) == len(coarse)
    assert (edges_of(coarse) == 2).all() and len(kept) - len(coarse) // 2 == 2  # closed, and without a hole
    middle = np.linalg.norm(points[coarse].mean(axis=1), axis=1)
    assert middle.min() > 1 - 14 / wanted  # triangles of this size lie about 4 / n below it, long ones thrice that
    a, b, c = (points[coarse[:, k]] for k in range(3))
    volume = np.einsum("ti,ti->", a, np.cross(b, c)) / 6
    assert (
        abs(volume) == pytest.approx(4 * np.pi / 3, rel=0.12)
        and volume * np.einsum("ti,ti->", *_first(points, triangles)) > 0
    )


def _first(points: Array, triangles: Array) -> tuple[Array, Array]:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return a, np.cross(b, c)


def test_a_border_keeps_its_place() -> None:
    points, triangles = tube(rings=30, sides=24)
    coarse, _ = decimate_triangles(points, triangles, 200)
    kept = points[np.unique(coarse)]
    assert len(kept) <= 200
    for height in (0.0, 2.0):
        rim = kept[np.isclose(kept[:, 1], height)]
        assert len(rim) >= 5 and np.ptp(rim[:, 0]) > 0.38  # still as wide as it was
    assert set(edges_of(coarse)) <= {1, 2}


def test_charts_keep_their_triangles() -> None:
    points, triangles = ball()
    charts = (points[triangles].mean(axis=1)[:, 0] > 0).astype(np.int64)
    coarse, which = decimate_triangles(points, triangles, 150, charts)
    of_vertex = [set(charts[(triangles == v).any(axis=1)]) for v in range(len(points))]
    for triangle, chart in zip(coarse, charts[which]):
        assert all(chart in of_vertex[v] for v in triangle)


def test_a_thin_mesh_has_its_own_uvs() -> None:
    points, triangles = ball()
    corners = points[triangles]
    uvs = corners[..., :2] + np.where(corners.mean(axis=1)[:, None, 2:] > 0, 10.0, 0.0)  # two charts, far apart
    thin, origin = thin_part(Mesh("ball", points, triangles, uvs=[uvs]), 200)
    np.testing.assert_allclose(thin.vertices, points[origin], atol=1e-6)
    spread = np.ptp(thin.uvs[0][thin.triangles], axis=1).max()
    assert len(thin.vertices) < 320 and spread < 2  # no triangle reaches from one chart to the other


def test_what_is_small_already_stays() -> None:
    vertices, triangles, _ = bone_mesh(np.array([(0, 0, 0), (0, 1, 0)]), [-1, 0])
    thin, origin = thin_part(Mesh("bone", vertices, triangles), 10_000)
    assert len(thin.vertices) == len(vertices) and (origin == np.arange(len(vertices))).all()
