"""Surfaces, lines, dots and the stage check what they are given and keep it."""

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.maths.colour import to_srgb
from understudy.render.scene import Dots, Floor, Lines, Surface, floor_of, linear_from_srgb

ONE = np.array([[0, 1, 2]])


def test_srgb_is_the_inverse_of_encode():
    encoded = np.linspace(0.0, 1.0, 256)
    np.testing.assert_allclose(to_srgb(linear_from_srgb(encoded)), encoded, atol=1e-6)
    np.testing.assert_allclose(linear_from_srgb("#ff0080"), linear_from_srgb(np.array([255, 0, 128]) / 255))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"triangles": [[0, 1, -1]]}, "triangles should lie between 0"),
        ({"triangles": [[0, 1]]}, "shape"),
        ({"colours": np.zeros((3, 2))}, "colours should have shape"),
        ({"uvs": np.zeros((3, 2))}, "uvs and maps come together"),
        ({"uvs": np.zeros((3, 2)), "texture": np.zeros((4, 4, 3), np.uint8)}, "texture should have shape"),
        ({"alpha_mode": "glass"}, "available: 'opaque', 'mask', 'blend'"),
        ({"texture": np.zeros((4, 4, 4), np.uint8)}, "uvs and maps come together"),
        ({"uvs": np.zeros((3, 2)), "normal_map": np.zeros((0, 4, 4), np.uint8)}, "normal_map should have at least one"),
    ],
)
def test_a_bad_surface_is_refused_with_a_reason(changes, words):
    with pytest.raises(InvalidInput, match=words.replace("(", r"\(")):
        Surface(**{"triangles": ONE, **changes})


def test_surface_arrays_are_frozen_copies():
    colours = np.full((3, 3), 0.5)
    surface = Surface(ONE, colours)
    colours[:] = 0.0
    assert (surface.colours == 0.5).all()
    with pytest.raises(ValueError):
        surface.colours[0, 0] = 1.0


def test_lines_and_dots_spread_their_colours():
    lines = Lines(np.zeros((4, 2, 3)), np.arange(12.0).reshape(4, 3))
    assert lines.colours.shape == (4, 2, 3)
    np.testing.assert_array_equal(lines.colours[2, 0], lines.colours[2, 1])
    assert Dots(np.zeros((5, 3)), linear_from_srgb("#ffffff")).colours.shape == (5, 3)
    with pytest.raises(InvalidInput, match="colours of 4 lines"):
        Lines(np.zeros((4, 2, 3)), np.zeros((3, 3)))


@pytest.mark.parametrize(("size", "spacing"), [(1.8, 1.0), (0.3, 0.2), (4.4, 2.0), (180.0, 100.0), (9.0, 5.0)])
def test_the_grid_has_round_spacing(size, spacing):
    assert Floor(size=size).grid == pytest.approx(spacing)


def test_the_stage_holds_every_frame():
    rng = np.random.default_rng(1)
    frames = [rng.normal(size=(20, 3)) * [1.0, 2.0, 1.0] for _ in range(5)]
    stage = floor_of(frames)
    assert stage.ground == min(frame[:, 1].min() for frame in frames)
    for frame in frames:
        centre = 0.5 * (frame.min(axis=0) + frame.max(axis=0))
        assert np.linalg.norm(frame - centre, axis=1).max() <= stage.reach + 1e-12
    assert floor_of([[f[:7], f[7:]] for f in frames]) == stage
    assert floor_of(frames, ground=-9.0).ground == -9.0
