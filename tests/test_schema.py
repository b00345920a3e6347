"""Hand-written TOML: numbers that no float holds, and keys of thousands of parts, are refused in one sentence."""

from __future__ import annotations

import math

import pytest

from understudy import schema
from understudy.errors import BadFile


@pytest.mark.parametrize("number", ["1" + "0" * 400, "inf", "nan", "-" + "9" * 400, "true"])
def test_numbers_that_no_float_holds(number: str) -> None:
    table = schema.parse_toml(f"seconds = {number}", "scene.toml", 10_000)
    with pytest.raises(BadFile, match="seconds should be a number") as caught:
        schema.TableReader("scene.toml").number(table["seconds"], "seconds", "step 1")
    assert len(str(caught.value)) < 200


def test_an_integer_of_more_digits_than_python_reads() -> None:
    with pytest.raises(BadFile, match="is not TOML"):
        schema.parse_toml(f"seconds = {'9' * 5_000}", "scene.toml", 10_000)


def test_the_largest_float_is_a_number() -> None:
    assert schema.is_number(1.7e308) and schema.is_number(10**308) and not schema.is_number(math.inf)


@pytest.mark.parametrize("text", ["{} = 1", "[{}]", "x = {{ {} = 1 }}", "a = 1\n\n  {} = 2"])
def test_keys_of_thousands_of_parts_are_refused_at_once(text: str) -> None:
    with pytest.raises(BadFile, match="a key of more than 64 parts"):
        schema.parse_toml(text.format(".".join("a" * 20_000)), "scene.toml", 1 << 20)


def test_long_words_and_dotted_prose_are_read() -> None:
    table = schema.parse_toml(
        f"a.b.c = '{'x' * 200_000}'\nabout = 'One. Two. Three. {'and so on. ' * 50}'", "s", 1 << 20
    )
    assert len(table["a"]["b"]["c"]) == 200_000
