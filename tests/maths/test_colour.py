"""Laws of colours: there and back, order kept, and the ends and the middle where the standard puts them."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.maths import colour


def test_there_and_back() -> None:
    c = np.linspace(0.0, 1.0, 1001).reshape(7, 11, 13)
    # the two pieces of the standard's curve meet within 3e-8 of each other only
    np.testing.assert_allclose(colour.to_srgb(colour.to_linear(c)), c, atol=1e-6)
    np.testing.assert_allclose(colour.to_linear(colour.to_srgb(c)), c, atol=1e-6)


def test_light_rises_with_the_code() -> None:
    assert (np.diff(colour.to_linear(np.arange(256) / 255)) > 0).all()
    np.testing.assert_array_equal(colour.to_linear([0.0, 1.0]), [0.0, 1.0])
    assert colour.to_linear(0.5) == pytest.approx(0.21404, abs=1e-5)


def test_light_beyond_the_range_is_cut() -> None:
    np.testing.assert_allclose(colour.to_srgb([-1.0, 2.0]), [0.0, 1.0], atol=1e-12)


def test_colours_as_people_write_them() -> None:
    np.testing.assert_allclose(255 * colour.from_hex("#0A80ff"), [10, 128, 255])
    np.testing.assert_array_equal(colour.from_hex("0a80FF"), colour.from_hex("#0A80ff"))
    with pytest.raises(InvalidInput, match="#rrggbb, but is 'teal'"):
        colour.from_hex("teal")
