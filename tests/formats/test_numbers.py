"""Decimal numbers out of text: the bits that `float` gives, and a refusal with its line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import BadFile
from understudy.formats import conventions


def parse(data: bytes) -> np.ndarray:
    return conventions.parse_numbers(data, "file.txt", first_line=10)


def test_forms():
    text = b" .5 5. +1 -0 1e-400 1E+05\r\n\t-3.25e-2\n\n 007"
    expected = np.array([0.5, 5.0, 1.0, -0.0, 0.0, 1e5, -0.0325, 7.0])
    np.testing.assert_array_equal(parse(text), expected)
    assert np.signbit(parse(b"-0.0")[0])


@pytest.mark.parametrize("text", [b"", b" \n\t "])
def test_nothing_is_no_numbers(text):
    assert parse(text).shape == (0,)


def test_rounded_as_float_does():
    rng = np.random.default_rng(7)
    values = rng.normal(size=2000) * 10.0 ** rng.integers(-20, 20, 2000)
    for form in ("%r", "%.3f", "%.15g", "%.6e", "%d", "%.25f"):
        words = [form % float(v) for v in values]
        np.testing.assert_array_equal(parse(" ".join(words).encode()), [float(w) for w in words], err_msg=form)


BAD_TOKENS = (
    *("x", "1_0", "nan", "inf", "1e999", "1e31", "1.2.3", "--1", "1e", ".", "-", "1,2", "0x10"),
    *("1\0", "\0", "1\x01", "\x1f2", "\x7f", "é", "\u3000"),
)


def test_refused_with_the_line():
    mistakes = {}
    for bad in BAD_TOKENS:
        try:
            mistakes[bad] = parse(f"1 2\n3 4\n5 {bad} 6\n7".encode())
        except BadFile as error:
            if "line 12" not in str(error):
                mistakes[bad] = error
    assert mistakes == {}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e30, 1e30), max_size=20), st.sampled_from([" ", "\n", "\t", " \r\n"]))
def test_any_float_survives(values, gap):
    text = gap.join(map(repr, values)).encode()
    np.testing.assert_array_equal(conventions.parse_numbers(text, "x"), values)
