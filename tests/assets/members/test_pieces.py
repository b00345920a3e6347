"""Assembly of pieces into a character."""

from __future__ import annotations

import numpy as np
import pytest

from assets.members.lamp import Piece, assemble_pieces, blend, linear_colour
from assets.sculpting import geometry
from assets.sculpting.fields import ramp
from understudy.character import Material, Skeleton
from understudy.errors import InvalidInput


def two_boxes() -> tuple[Skeleton, list[Piece]]:
    skeleton = Skeleton(["a", "b", "unused"], [-1, 0, 1], [[0, 1, 0], [0, 1, 0], [0, 1, 0]])
    share = np.linspace(0, 1, 24)
    pieces = [
        Piece("one", "red", geometry.box((1, 1, 1)), linear_colour("#ff0000"), "a"),
        Piece(
            "two", "blue", geometry.box((1, 1, 1), (3, 0, 0)), linear_colour("#0000ff"), {"a": 1 - share, "b": share}
        ),
        Piece("three", "red", geometry.box((1, 1, 1), (6, 0, 0)), linear_colour("#800000"), "b"),
    ]
    return skeleton, pieces


def test_one_part_a_material_with_the_joints_that_carry_something() -> None:
    skeleton, pieces = two_boxes()
    character = assemble_pieces("boxes", skeleton, pieces, {"red": Material("r"), "blue": Material("b")})
    assert [part.name for part in character.parts] == ["red", "blue"]
    assert [skeleton.names[j] for j in character.joints] == ["a", "b"]
    red, blue = character.parts
    assert len(red.mesh.vertices) == 48 and red.mesh.triangles[12:].min() == 24
    assert red.skin.weights.shape == (48, 1) and blue.skin.weights.shape == (24, 2)
    assert (red.skin.influences[:24] == 0).all() and (red.skin.influences[24:] == 1).all()
    assert np.allclose(red.mesh.colours[:24], [1, 0, 0, 1]) and np.all(red.mesh.colours[24:, 0] < 0.25)
    assert np.allclose(blue.skin.weights.sum(axis=1), 1)
    assert np.allclose(red.skin.inverse_binds[1] @ [0, 2, 0, 1], [0, 0, 0, 1])


def test_a_material_without_a_piece_is_refused() -> None:
    skeleton, pieces = two_boxes()
    with pytest.raises(InvalidInput, match="'green'"):
        assemble_pieces("boxes", skeleton, pieces, {"red": Material(), "blue": Material(), "green": Material()})


def test_paint_is_linear_light() -> None:
    assert np.allclose(linear_colour("#ffffff"), 1) and np.allclose(linear_colour("#000000"), 0)
    assert linear_colour("#808080")[0] == pytest.approx(
        0.2158605, abs=1e-6
    )  # the sRGB standard's own value of 128 / 255


def test_ramp_and_blend_run_from_one_end_to_the_other() -> None:
    x = np.linspace(-1, 2, 31)
    share = ramp(0, 1, x)
    assert share[0] == 0 and share[-1] == 1 and (np.diff(share) >= 0).all()
    assert np.allclose(ramp(1, 0, x), 1 - share)
    colours = blend(np.zeros(3), np.array([1.0, 2.0, 3.0]), share)
    assert np.allclose(colours[-1], [1, 2, 3]) and np.allclose(colours[0], 0)
