"""Polygons cut into triangles: the area is kept, the order of the file too."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import mesh


def area(points, corners, triangles):
    a, b, c = np.moveaxis(points[corners[triangles]], 1, 0)
    return 0.5 * np.cross(b - a, c - a).sum(axis=0)


def cut(points, *faces):
    corners = np.concatenate([np.array(face) for face in faces]) if faces else np.zeros(0, int)
    sizes = np.array([len(face) for face in faces], int)
    return corners, *mesh.fans(np.asarray(points, float), corners, sizes)


def test_sizes_and_owners_in_the_order_of_the_file():
    ring = [[np.cos(t), np.sin(t), 0] for t in np.linspace(0, 2 * np.pi, 7)[:-1]]
    corners, triangles, owner, folded = cut(ring, [0, 1], [0, 1, 2, 3, 4, 5], [0, 1, 2], [5], [0, 2, 3, 4])
    assert list(owner) == [1, 1, 1, 1, 2, 4, 4] and folded == 0
    assert corners[triangles].tolist()[:4] == [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
    assert corners[triangles].tolist()[4:] == [[0, 1, 2], [0, 2, 3], [0, 3, 4]]


@pytest.mark.parametrize("start", range(4))
def test_an_arrowhead_is_cut_at_its_notch(start):
    arrow = np.array([[0, 0, 0], [2, 1, 0], [0, 4, 0], [-2, 1, 0]], float)
    arrow[0] = [0, 2, 0]  # the notch
    face = np.roll(np.arange(4), -start)
    corners, triangles, _, folded = cut(arrow, face)
    assert folded == 0
    normals = [area(arrow, corners, triangle[None])[2] for triangle in triangles]
    assert min(normals) > 0  # no triangle faces the other way
    assert sum(normals) == pytest.approx(4.0)


def test_what_no_fan_covers_is_counted():
    comb = [[0, 0], [9, 0], [9, 1], [8, 5], [7, 1], [6, 5], [5, 1], [4, 5], [3, 1], [0, 5]]
    points = np.pad(np.array(comb, float), ((0, 0), (0, 1)))
    *_, folded = cut(points, np.arange(10))
    assert folded == 1


def test_nothing():
    _, triangles, owner, folded = cut(np.zeros((3, 3)))
    assert triangles.shape == (0, 3) and owner.shape == (0,) and folded == 0
    _, triangles, *_ = cut(np.zeros((4, 3)), [0, 1, 2, 3])  # no area at all
    assert len(triangles) == 2
