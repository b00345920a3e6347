"""Tubes and balls are closed, face outwards and have the size they should."""

from __future__ import annotations

import numpy as np
import pytest
from tools.latent.shapes import balls, join_shapes, smooth_path, tube


def volume(shape):
    """Of what the triangles enclose, positive where they face outwards [divergence theorem]."""
    a, b, c = np.moveaxis(shape.vertices[shape.triangles], 1, 0)
    return np.einsum("ti,ti->", a, np.cross(b, c)) / 6


def is_closed(shape):
    """Each edge is run along once in each direction."""
    edges = shape.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    return sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))


def helix(F=200):
    t = np.linspace(0, 4 * np.pi, F)
    return np.stack([np.cos(t), 0.3 * t, np.sin(t)], axis=1)


def test_a_tube_encloses_length_times_section():
    path = helix()
    shape = tube(path, 0.05)
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    section = 0.5 * 10 * np.sin(2 * np.pi / 10) * 0.05**2  # a decagon
    assert is_closed(shape) and volume(shape) == pytest.approx(length * section, rel=0.01)
    np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=1), 1.0, atol=1e-12)


def test_a_tube_keeps_its_distance_and_does_not_twist():
    path = helix()
    shape = tube(path, 0.05)
    rings = shape.vertices.reshape(len(path), -1, 3)
    np.testing.assert_allclose(np.linalg.norm(rings - path[:, None], axis=2), 0.05, atol=1e-12)
    # the straight way from a corner to its follower leaves the tube's direction by less than the path bends
    along = rings[1:] - rings[:-1]
    middle = path[1:] - path[:-1]
    cosine = (
        np.einsum("fsi,fi->fs", along, middle) / np.linalg.norm(along, axis=2) / np.linalg.norm(middle, axis=1)[:, None]
    )
    assert cosine.min() > 0.995


def test_a_path_that_stands_still_is_a_shorter_path_or_a_ball():
    path = helix(20)
    held = np.repeat(path, 3, axis=0)
    assert volume(tube(held, 0.05)) == pytest.approx(volume(tube(path, 0.05)), rel=1e-9)
    ball = tube(np.zeros((5, 3)), 0.5)
    assert is_closed(ball) and volume(ball) == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=0.1)


@pytest.mark.parametrize(("rounds", "error"), [(0, 0.69), (1, 0.35), (2, 0.1), (3, 0.03)])
def test_balls_come_nearer_to_round(rounds, error):
    shape = balls([[0, 0, 0], [5, 1, 2]], 2.0, rounds)
    assert is_closed(shape)
    assert 2 * (1 - error) < volume(shape) / (4 / 3 * np.pi * 2.0**3) < 2


def test_joined_shapes_are_their_sum():
    one, two = tube(helix(), 0.05), balls([[9.0, 0, 0]], 1.0)
    both = join_shapes([one, two])
    assert is_closed(both) and volume(both) == pytest.approx(volume(one) + volume(two))
    assert len(join_shapes([]).vertices) == 0


def test_a_rounded_path_goes_through_its_points_without_a_corner():
    points = np.random.default_rng(0).normal(size=(9, 3))
    path = smooth_path(points, 5)
    assert path.shape == (41, 3)
    np.testing.assert_allclose(path[::5], points, atol=1e-12)
    fine = smooth_path(points, 1000)
    before, after = fine[1000:-1:1000] - fine[999:-2:1000], fine[1001::1000] - fine[1000:-1:1000]
    cosine = np.einsum("fi,fi->f", before, after) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    assert cosine.min() > 0.999
    line = np.outer(np.arange(4.0), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(smooth_path(line, 2), np.outer(np.arange(0, 3.1, 0.5), [1.0, 2.0, 3.0]), atol=1e-12)
    assert len(smooth_path(points[:2])) == 2
