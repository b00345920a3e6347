"""The tiles that are shaded hold everything that is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from tests.render.shapes import ball, figure

from understudy.render import Surface, frame_camera
from understudy.render.opengl.figure import TILE_PIXELS, find_touched_tiles, mark_tiles
from understudy.render.renderer import prepare_frame

SIZE = (213, 147)


def parts(*shapes):
    surfaces = [Surface(triangles) for _, triangles in shapes]
    camera = frame_camera(np.concatenate([v for v, _ in shapes]), aspect=SIZE[0] / SIZE[1])
    frame = prepare_frame(camera, SIZE[1], surfaces, [v for v, _ in shapes], None, (), (), None)
    return frame.parts, camera


@pytest.mark.parametrize("shape", [ball, figure])
def test_every_vertex_lies_in_a_touched_tile_and_the_corners_are_empty(shape):
    found, camera = parts(shape())
    tiles = {tuple(tile) for tile in find_touched_tiles(found, camera, SIZE)}
    places = (camera.project(found[0].vertices)[:, :2] * 0.5 + 0.5) * SIZE
    assert {tuple(tile) for tile in (places // TILE_PIXELS).astype(int)} <= tiles
    assert (0, 0) not in tiles
    assert (
        max(x for x, _ in tiles) <= (SIZE[0] - 1) // TILE_PIXELS
        and max(y for _, y in tiles) <= (SIZE[1] - 1) // TILE_PIXELS
    )


def test_a_figure_around_the_eye_touches_all():
    found, _ = parts(ball())
    inside = frame_camera(found[0].vertices * 0.01)
    assert len(find_touched_tiles(found, inside, SIZE)) == -(-SIZE[0] // TILE_PIXELS) * -(-SIZE[1] // TILE_PIXELS)


def test_nothing_touches_nothing():
    assert find_touched_tiles([], frame_camera(np.eye(3)), SIZE).shape == (0, 2)


def test_tiles_are_those_of_every_box():
    rng = np.random.default_rng(0)
    for _ in range(20):
        low = rng.integers(-6, 20, size=(30, 2)).astype(np.int32)
        high = low + rng.integers(0, 2, size=(30, 2)).astype(np.int32)
        triangles = rng.integers(0, 30, size=(8, 3)).astype(np.int32)
        touched, expected = np.zeros((9, 14), bool), np.zeros((9, 14), bool)
        mark_tiles(low, high, triangles, touched)
        for corners in triangles:
            (left, bottom), (right, top) = low[corners].min(axis=0), high[corners].max(axis=0) + 1
            expected[max(bottom, 0) : max(top, 0), max(left, 0) : max(right, 0)] = True
        np.testing.assert_array_equal(touched, expected)
