"""Settings: those of everything that learns, and the tables of hand-written TOML files.

**`Estimator`**: settings are given to `__init__` and kept under their own names; data is given to `fit`, which returns
the estimator; what was learnt ends in an underscore and is not there before.

**Tables**: every mistake in a file is one sentence with the file, the place and the reason.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import sys
import tomllib
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from understudy.errors import BadFile, NotFitted, spelling_hint


class Estimator:
    """Base of the learners: settings that can be read back, and a clear word when `fit` was forgotten."""

    def settings(self) -> dict[str, Any]:
        """The arguments of `__init__` as plain values: numbers, words, dictionaries of these, None."""
        return {name: _plain(getattr(self, name)) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.settings())})"

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise NotFitted(f"{type(self).__name__} has no {name!r} yet: call fit first")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


def _plain(value: Any) -> Any:
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


MAX_KEY_PARTS = 64  # of a dotted key; those of our files have three
DEEP_KEY_PATTERN = re.compile(rf"(?<![^\s\[{{,])(?:[^\s.=#,]+[ \t]*\.[ \t]*){{{MAX_KEY_PARTS}}}")


def parse_toml(text: str, path: str, largest: int) -> dict[str, Any]:
    """The table of a text; `path` is named in errors."""
    if len(text) > largest:
        raise BadFile(path, f"should have at most {largest:,} characters, but has {len(text):,}")
    if deep := DEEP_KEY_PATTERN.search(text):  # each part of a key is a table: megabytes for some thousand dots
        line = text.count("\n", 0, deep.start()) + 1
        raise BadFile(path, f"has a key of more than {MAX_KEY_PARTS} parts", f"line {line}")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also an integer of more digits than Python reads
        reason, _, where = str(error).partition(" (at ")
        raise BadFile(path, f"is not TOML: {reason[:1].lower()}{reason[1:]}", where.rstrip(")")) from None


class TableReader:
    """One file being read: each method returns a value of one type, or raises `BadFile` with the place in the file."""

    def __init__(self, path: str) -> None:
        self.path = str(path)

    def fail(self, reason: str, place: str = "") -> NoReturn:
        """Raise `BadFile` with a reason and the place in the file."""
        raise BadFile(self.path, reason, place)

    def keys(
        self, table: Mapping[str, Any], known: Collection[str], place: str, what: str, also: Collection[str] = ()
    ) -> None:
        """Raise for the first unknown key, with the nearest known one; `also` are known keys, read elsewhere."""
        for key in table:
            if key not in known:
                every = (*also, *known)
                self.fail(f"{what} has no key {key!r}{spelling_hint(key, every)}; keys are {join_words(every)}", place)

    def table(self, value: Any, name: str, place: str) -> dict[str, Any]:
        """A table."""
        if not isinstance(value, dict):
            self.fail(f"{name} should be a table, but is {format_value(value)}", place)
        return value

    def entries(self, value: Any, name: str, place: str) -> list[Any]:
        """A list of any values; a single table or text is a list of one."""
        if isinstance(value, (dict, str)):
            return [value]
        if not isinstance(value, list):
            self.fail(f"{name} should be a list, but is {format_value(value)}", place)
        return value

    def number(self, value: Any, name: str, place: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A finite number between two bounds."""
        if not is_number(value) or not least <= value <= most:
            low = f"{least:g}" if least >= 1e-3 or least <= 0 else "above 0"
            bounds = f" from {low} to {most:g}" if math.isfinite(least) and math.isfinite(most) else ""
            bounds = bounds or (f" of {low} or more" if math.isfinite(least) else "")
            self.fail(f"{name} should be a number{bounds}, but is {format_value(value)}", place)
        return float(value)

    def numbers(self, value: Any, name: str, place: str, count: int, what: str) -> tuple[float, ...]:
        """`count` finite numbers; `what` describes them, as in "a place [x, y, z] in metres"."""
        if not isinstance(value, list) or len(value) != count or not all(is_number(number) for number in value):
            self.fail(f"{name} should be {what}, but is {format_value(value)}", place)
        return tuple(map(float, value))

    def flag(self, value: Any, name: str, place: str) -> bool:
        """true or false."""
        if not isinstance(value, bool):
            self.fail(f"{name} should be true or false, but is {format_value(value)}", place)
        return value

    def word(self, value: Any, name: str, place: str, known: Collection[str] = ()) -> str:
        """A name, one of `known` where that is given."""
        if not isinstance(value, str) or not value.strip():
            self.fail(f"{name} should be a name, but is {format_value(value)}", place)
        if known and value not in known:
            self.fail(
                f"{name} should be one of {join_words(known)}, but is {value!r}{spelling_hint(value, known)}", place
            )
        return value


def is_number(value: Any) -> bool:
    """Whether a value of TOML is a finite number that a float can hold."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def format_value(value: Any) -> str:
    """A value for a message."""
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def join_words(words: Collection[str]) -> str:
    """Words for a message: `'a', 'b' and 'c'`."""
    listed = [f"'{word}'" for word in words]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
