"""The z-buffer against a test of every pixel with every triangle."""

import numpy as np

from understudy.render.software import raster
from understudy.render.software.raster import barycentric_weights, clip_near, rasterise


def slow(corners, width, height):
    """Nearest triangle at each pixel centre, one at a time."""
    seen, depth = np.full((height, width), -1), np.ones((height, width))
    for t, (a, b, c) in enumerate(corners):
        matrix = np.array([[*a[:2], 1.0], [*b[:2], 1.0], [*c[:2], 1.0]]).T
        for y in range(height):
            for x in range(width):
                w = np.linalg.solve(matrix, [x + 0.5, y + 0.5, 1.0])
                z = w @ [a[2], b[2], c[2]]
                if w.min() >= 0 and z < depth[y, x]:
                    seen[y, x], depth[y, x] = t, z
    return seen, depth


def test_the_nearest_triangle_wins_as_in_the_slow_way(monkeypatch):
    monkeypatch.setattr(raster, "CHUNK_PIXELS", 300)  # several chunks
    rng = np.random.default_rng(5)
    corners = np.concatenate([rng.uniform(-5, 25, size=(25, 3, 2)), rng.uniform(-1, 1, size=(25, 3, 1))], axis=2)
    got = rasterise(corners, 20, 16)
    seen, depth = slow(corners, 20, 16)
    np.testing.assert_array_equal(got.triangle, seen)
    np.testing.assert_allclose(got.depth, depth, atol=1e-9)


def test_triangles_that_share_an_edge_leave_no_gap():
    square = np.array([[2.0, 2.0, 0.0], [11.3, 2.0, 0.0], [11.3, 9.7, 0.0], [2.0, 9.7, 0.0]])
    seen = rasterise(square[np.array([[0, 1, 2], [0, 2, 3]])], 16, 12).triangle >= 0
    expected = np.zeros((12, 16), dtype=bool)
    expected[2:10, 2:11] = True
    np.testing.assert_array_equal(seen, expected)


def test_weights_at_recover_a_point_in_perspective():
    rng = np.random.default_rng(2)
    w = rng.uniform(1.0, 4.0, size=3)
    screen = rng.uniform(0, 50, size=(3, 3))
    inside = np.array([0.2, 0.5, 0.3])
    on_screen = (inside * w) @ screen[:, :2] / (inside @ w)
    got = barycentric_weights(screen[None], w[None], on_screen[:1] - 0.5, on_screen[1:] - 0.5)
    np.testing.assert_allclose(got[0], inside, atol=1e-9)


def test_clipping_keeps_exactly_what_lies_before_the_near_plane():
    rng = np.random.default_rng(9)
    clip = rng.normal(size=(120, 4))
    triangles = np.arange(120).reshape(-1, 3)
    pieces, source, weights = clip_near(clip, triangles)
    assert (pieces[..., 2] + pieces[..., 3]).min() > -1e-12
    np.testing.assert_allclose(pieces, weights @ clip[triangles[source]], atol=1e-12)
    # Areas in barycentric coordinates add up to the part in front, found by sampling.
    area = np.bincount(source, np.abs(np.linalg.det(weights)), minlength=40)
    samples = rng.dirichlet([1, 1, 1], size=20_000)
    distance = clip[triangles][..., 2] + clip[triangles][..., 3]
    np.testing.assert_allclose(area, (samples @ distance.T > 0).mean(axis=0), atol=0.02)
