"""One JSON object of a file and its place there, read field by field, each checked for type and range."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from understudy.errors import BadFile

Place = tuple[str | int, ...]

REQUIRED: Any = object()  # stands for "no default"
# Beyond this a number does not fit into the 32 bits that the format has for it, and squares of squares would overflow.
MAX_FLOAT32 = 3.4e38


def format_place(place: Place) -> str:
    """A place as in JavaScript: ("accessors", 3, "count") is accessors[3].count."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def format_value(value: Any) -> str:
    """A value in a message, cut short."""
    text = repr(value) if not isinstance(value, (dict, list)) else "an object" if isinstance(value, dict) else "a list"
    return text if len(text) <= 60 else text[:57] + "..."


class JsonObject:
    """A JSON object. Each method reads one field: its default where that is absent, `BadFile` where it is wrong."""

    __slots__ = ("file", "place", "value")

    def __init__(self, file: Path, value: Any, place: Place) -> None:
        self.file, self.value, self.place = file, value, place
        if type(value) is not dict:
            raise BadFile(file, f"should be an object, but is {format_value(value)}", format_place(place))

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def bad(self, key: str | Place, reason: str) -> BadFile:
        """The error to raise for one field (or "" for the object itself)."""
        steps = key if isinstance(key, tuple) else (key,) if key else ()
        return BadFile(self.file, reason, format_place((*self.place, *steps)))

    def integer(self, key: str, default: Any = REQUIRED, low: int = 0, below: int | None = None) -> Any:
        """A whole number in [low, below)."""
        value = self.value.get(key)
        if value is None:
            return self._absent(key, default, "a whole number")
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise self.bad(key, f"should be a whole number, but is {format_value(value)}")
        if value < low or (below is not None and value >= below):
            bound = (
                f"at least {low}" if below is None else f"between {low} and {below - 1}" if below > low else "absent"
            )
            raise self.bad(key, f"is {format_value(value)}, but should be {bound}")
        return value

    def _absent(self, key: str, default: Any, what: str) -> Any:
        if default is REQUIRED:
            raise self.bad(key, f"is missing, but should be {what}")
        return default

    def number(self, key: str, default: Any = REQUIRED) -> Any:
        """A finite number."""
        value = self.value.get(key)
        if value is None:
            return self._absent(key, default, "a number")
        return self._finite(value, key)

    def _finite(self, value: Any, key: str | Place) -> float:
        if type(value) is not float and type(value) is not int:
            raise self.bad(key, f"should be a number, but is {format_value(value)}")
        if not -MAX_FLOAT32 <= value <= MAX_FLOAT32:
            raise self.bad(key, f"should be a finite 32-bit number, but is {format_value(value)}")
        return float(value)

    def numbers(self, key: str, size: int | None = None, default: Any = None) -> Any:
        """A list of finite numbers, `size` of them where that is given."""
        value = self.value.get(key)
        if value is None:
            return default
        if type(value) is not list or (size is not None and len(value) != size):
            count = f"{len(value)} values" if type(value) is list else format_value(value)
            raise self.bad(key, f"should be a list of {size or 'any number of'} numbers, but is {count}")
        return [self._finite(item, (key, i)) for i, item in enumerate(value)]

    def text(self, key: str, default: Any = "") -> Any:
        """A string."""
        value = self.value.get(key)
        if value is None:
            return self._absent(key, default, "a string")
        if type(value) is not str:
            raise self.bad(key, f"should be a string, but is {format_value(value)}")
        return printable(value)

    def flag(self, key: str) -> bool:
        """True or false; false where absent."""
        value = self.value.get(key, False)
        if type(value) is not bool:
            raise self.bad(key, f"should be true or false, but is {format_value(value)}")
        return value

    def indices(self, key: str, below: int) -> list[int]:
        """A list of indices into something with `below` items; empty where absent."""
        value = self.value.get(key)
        if value is None:
            return []
        if type(value) is not list:
            raise self.bad(key, f"should be a list of indices, but is {format_value(value)}")
        for i, item in enumerate(value):
            if type(item) is not int or not 0 <= item < below:
                raise self.bad((key, i), f"is {format_value(item)}, but there are {below} to refer to")
        return value

    def child(self, key: str) -> JsonObject:
        """The object under `key`; an empty one where absent."""
        return JsonObject(self.file, self.value.get(key, {}), (*self.place, key))

    def children(self, key: str) -> list[JsonObject]:
        """The objects in the list under `key`; an empty list where absent."""
        value = self.value.get(key, [])
        if type(value) is not list:
            raise self.bad(key, f"should be a list, but is {format_value(value)}")
        place = (*self.place, key)
        return [JsonObject(self.file, item, (*place, i)) for i, item in enumerate(value)]

    def names(self, key: str) -> list[str]:
        """A list of strings; empty where absent."""
        value = self.value.get(key, [])
        if type(value) is not list or not all(type(item) is str for item in value):
            raise self.bad(key, f"should be a list of strings, but is {format_value(value)}")
        return value

    def extra(self) -> dict[str, Any]:
        """`extensions` and `extras`, as far as present, to be kept as they are."""
        fields = {key: self.value.get(key) for key in ("extensions", "extras")}
        return {key: value for key, value in fields.items() if value and finite_json(value)}


def integer_rows(entries: list[JsonObject], fields: dict[str, int]) -> list[tuple[int, ...]] | None:
    """The same fields (each with the value that stands for its absence) of many objects at once, all of them integers.

    None where one is not an integer; reading them one by one then finds it. A file may have ten thousand such objects.
    """
    columns = [[entry.value.get(key, default) for entry in entries] for key, default in fields.items()]
    if any(set(map(type, column)) - {int} for column in columns):
        return None
    return list(zip(*columns))


def printable(text: str) -> str:
    """The same text without halves of surrogate pairs, which JSON can spell but no file or terminal can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def finite_json(value: Any) -> bool:
    """Whether a piece of JSON that is kept as it is can be written again (1e999 is read as infinity)."""
    open_ends = [value]
    while open_ends:
        item = open_ends.pop()
        if isinstance(item, dict):
            open_ends.extend(item.values())
        elif isinstance(item, list):
            open_ends.extend(item)
        elif isinstance(item, float) and not math.isfinite(item):
            return False
    return True
