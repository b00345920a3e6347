"""The overlay: areas come out right, overlaps never add up, nothing is drawn outside of the picture."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.render.overlay import SHAPES, Overlay

RED = np.array([1.0, 0.0, 0.0, 1.0])


def black(width: int = 60, height: int = 40) -> Overlay:
    return Overlay(np.zeros((height, width, 3), np.uint8))


def ink(overlay: Overlay) -> float:
    """Pixels' worth of red."""
    return float(overlay.picture[..., 0].sum() / 255.0)


def stroke(overlay: Overlay, a: tuple[float, float], b: tuple[float, float], width: float, colour=RED) -> None:
    overlay.strokes(np.array([a]), np.array([b]), width, np.tile(colour, (1, 2, 1)))


@pytest.mark.parametrize("kind", sorted(SHAPES))
@pytest.mark.parametrize("at", [(30.0, 20.0), (30.31, 20.77)])
def test_shapes_cover_their_area(kind: str, at: tuple[float, float]) -> None:
    r = 9.0
    area = {
        "disc": np.pi * r**2,
        "ring": np.pi * (r**2 - (0.64 * r) ** 2),
        "diamond": 2 * r**2,
        "square": (1.6 * r) ** 2,
        "triangle": 0.75 * 3**0.5 * r**2,
    }[kind]
    overlay = black()
    overlay.shapes(kind, np.array([at]), r, RED)
    assert ink(overlay) == pytest.approx(area, rel=0.02)


@pytest.mark.parametrize("end", [(50.0, 20.0), (50.0, 33.0), (10.0, 35.0)])
def test_a_stroke_covers_its_area_whatever_its_direction(end: tuple[float, float]) -> None:
    overlay = black()
    stroke(overlay, (10.0, 8.0), end, 3.0)
    length = np.hypot(end[0] - 10.0, end[1] - 8.0)
    assert ink(overlay) == pytest.approx(3.0 * length + np.pi * 1.5**2, rel=0.02)


def test_a_line_in_pieces_is_the_line() -> None:
    """Also where it is see-through: joints are not darker."""
    half = RED * [1, 1, 1, 0.5]
    whole, pieces = black(), black()
    stroke(whole, (5.0, 5.0), (55.0, 30.0), 4.0, half)
    t = np.linspace(0, 1, 12)[:, None]
    points = np.array([5.0, 5.0]) + t * np.array([50.0, 25.0])
    pieces.strokes(points[:-1], points[1:], 4.0, np.tile(half, (11, 2, 1)))
    assert np.abs(whole.picture.astype(int) - pieces.picture.astype(int)).max() <= 1
    assert whole.picture[..., 0].max() == 128


def test_colours_blend_along_a_stroke() -> None:
    overlay = black()
    overlay.strokes(np.array([[10.0, 20.0]]), np.array([[50.0, 20.0]]), 6.0, np.array([[[1, 0, 0, 1], [0, 0, 1, 1.0]]]))
    row = overlay.picture[20, 10:50].astype(int)
    assert np.all(np.diff(row[:, 0]) <= 0) and np.all(np.diff(row[:, 2]) >= 0)
    assert row[0, 0] > 245 and row[-1, 2] > 245


@pytest.mark.parametrize("far", [1e3, 1e7])
def test_what_lies_outside_is_cut(far: float) -> None:
    inside, through = black(), black()
    stroke(inside, (-20.0, 20.0), (80.0, 20.0), 3.0)
    stroke(through, (-far, 20.0), (far, 20.0), 3.0)
    np.testing.assert_array_equal(inside.picture, through.picture)
    nothing = black()
    stroke(nothing, (-far, -50.0), (far, -50.0), 3.0)
    nothing.shapes("disc", np.array([[far, far], [-30.0, 5.0]]), 4.0, RED)
    nothing.strokes(np.zeros((0, 2)), np.zeros((0, 2)), 3.0, np.zeros((0, 2, 4)))
    assert not nothing.picture.any()


def test_words_stand_where_they_should() -> None:
    overlay = black(120, 40)
    overlay.words("Hand", 30.0, 20.0, 14.0, RED, np.array([0, 0, 1.0, 1.0]))
    rows, columns = np.nonzero(overlay.picture[..., 0] > 128)
    assert 28 <= columns.min() <= 33 and columns.max() < 75
    assert abs(0.5 * (rows.min() + rows.max()) - 20) < 4
    blue = overlay.picture[..., 2] > 128
    assert blue.any() and blue.sum() > (overlay.picture[..., 0] > 128).sum() / 2
    overlay.words("cut off", 110.0, 39.0, 14.0, RED, RED)


def test_unknown_shapes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="diamond"):
        black().shapes("star", np.zeros((1, 2)), 3.0, RED)
