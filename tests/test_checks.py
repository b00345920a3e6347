"""Checks say what was found and what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from understudy import checks
from understudy.errors import BadFile, InvalidInput, MissingExtra, UnderstudyError, Unsupported


def test_array_is_a_frozen_copy_of_the_right_type() -> None:
    given = [[1, 2, 3]]
    result = checks.array(given, "points", ("N", 3), np.float32)
    assert result.dtype == np.float32
    assert not result.flags.writeable


@pytest.mark.parametrize(
    ("value", "shape", "words"),
    [
        ([1, 2], ("N", 3), r"points should have shape \(N, 3\), but has shape \(2,\)"),
        ([[1, 2]], ("N", 3), r"but has shape \(1, 2\)"),
        (np.zeros((2, 3)), ("N", "N"), r"should have shape \(N, N\)"),
        ([[1, np.inf, 3]], ("N", 3), r"points\[0, 1\] is inf"),
        ([["a", "b", "c"]], ("N", 3), "array of float64"),
        ([[1], [1, 2]], ("N", 3), "points"),
    ],
)
def test_array_refuses(value: object, shape: tuple, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        checks.array(value, "points", shape)


def test_indices_and_names_and_choices() -> None:
    checks.indices(np.array([0, 2]), "faces", 3)
    with pytest.raises(InvalidInput, match="between 0 and 2, but holds 3"):
        checks.indices(np.array([0, 3]), "faces", 3)
    with pytest.raises(InvalidInput, match="faces should be empty"):
        checks.indices(np.array([0]), "faces", 0)
    with pytest.raises(InvalidInput, match="'b' appears twice"):
        checks.unique_names(["a", "b", "b"], "joints")
    with pytest.raises(InvalidInput, match=r"no joint 'knee'; available: 'hip', 'toe'"):
        checks.one_of("knee", "joint", ["hip", "toe"])


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "fast", None])
def test_positive_refuses(value: Any) -> None:
    with pytest.raises(InvalidInput, match="above zero"):
        checks.positive(value, "rate")


def test_quaternions_are_normalised_and_zero_is_refused() -> None:
    np.testing.assert_allclose(checks.unit_quaternions([[0, 0, 0, 2]], "q", ("N", 4)), [[0, 0, 0, 1]])
    with pytest.raises(InvalidInput, match="length 0"):
        checks.unit_quaternions([[0, 0, 0, 0]], "q", ("N", 4))


def test_quaternions_near_unit_length_stay_as_given() -> None:
    given = np.array([[0, 0, 0.707, 0.707], [0, 0, 0, 1 + 0.9 * checks.NEAR_UNIT]])
    np.testing.assert_array_equal(checks.unit_quaternions(given, "q", ("N", 4)), given)


def test_results_go_where_they_are_asked_to() -> None:
    mine = np.empty((2, 3))
    assert checks.output(mine, (2, 3), np.float64) is mine
    assert checks.output(None, (2, 3), np.float32).dtype == np.float32
    for wrong in (np.empty((3, 2)), np.empty((2, 3), np.float32), np.empty((3, 2)).T, checks.freeze(np.empty((2, 3)))):
        with pytest.raises(InvalidInput, match=r"C-contiguous float64 array of shape \(2, 3\)"):
            checks.output(wrong, (2, 3), np.float64)


def test_one_tree_of_errors() -> None:
    for error in (
        InvalidInput("x"),
        BadFile("a.glb", "x", "nodes[0]"),
        Unsupported("a", "x"),
        MissingExtra("USD", "usd"),
    ):
        assert isinstance(error, UnderstudyError)
    assert str(BadFile("a.glb", "is cut short", "nodes[0]")) == "a.glb, nodes[0]: is cut short"
    assert "understudy[usd]" in str(MissingExtra("reading USD", "usd"))
