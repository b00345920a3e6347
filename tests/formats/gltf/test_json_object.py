"""Fields of JSON objects: read as what they should be, or refused with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import BadFile
from understudy.formats.gltf.json_object import (
    JsonObject,
    finite_json,
    format_place,
    format_value,
    integer_rows,
    printable,
)

FILE = Path("x.gltf")


def test_places_read_as_people_write_them() -> None:
    assert format_place(("accessors", 3, "count")) == "accessors[3].count"
    assert format_place(()) == ""


def test_long_values_are_cut_in_messages() -> None:
    assert len(format_value("x" * 1000)) <= 60
    assert (format_value({}), format_value([1]), format_value(3)) == ("an object", "a list", "3")


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("integer", 1.5),
        ("integer", True),
        ("integer", -1),
        ("number", "1"),
        ("number", 1e39),
        ("numbers", [1, None]),
        ("text", 3),
        ("flag", 1),
        ("child", []),
        ("children", {}),
        ("names", [1]),
    ],
)
def test_a_wrong_field_is_refused_with_its_place(method: str, value: object) -> None:
    with pytest.raises(BadFile, match=r"x\.gltf, nodes\[2\]\.field"):
        getattr(JsonObject(FILE, {"field": value}, ("nodes", 2)), method)("field")


@pytest.mark.parametrize("method", ["numbers", "text", "flag", "child", "children", "names"])
def test_an_absent_field_has_its_default(method: str) -> None:
    found = getattr(JsonObject(FILE, {}, ()), method)("field")
    assert not (found.value if isinstance(found, JsonObject) else found)


def test_whole_numbers_may_be_written_with_a_point() -> None:
    assert JsonObject(FILE, {"n": 3.0}, ()).integer("n") == 3
    with pytest.raises(BadFile, match="is missing, but should be a whole number"):
        JsonObject(FILE, {}, ()).integer("n")


def test_rows_of_integers_or_none() -> None:
    entries = [JsonObject(FILE, {"a": 1}, ()), JsonObject(FILE, {"a": 2, "b": 3}, ())]
    assert integer_rows(entries, {"a": 0, "b": -1}) == [(1, -1), (2, 3)]
    assert integer_rows([*entries, JsonObject(FILE, {"a": 2.0}, ())], {"a": 0}) is None
    assert integer_rows([*entries, JsonObject(FILE, {"a": True}, ())], {"a": 0}) is None


def test_what_no_file_can_hold_is_found() -> None:
    assert printable("caf\u00e9") == "caf\u00e9"
    assert printable("a\ud800b").encode()
    assert finite_json({"a": [1, {"b": 2.5}]})
    assert not finite_json({"a": [1, {"b": float("inf")}]})
