"""Reading what a browser says: every field is checked, and what is unknown is refused with one sentence.

Nothing here trusts the sender: the length of the text, the depth of its nesting, the type and range of each field.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import types
import typing
from typing import Annotated, Any, Literal

from understudy.errors import InvalidInput, listed
from understudy.studio.messages.message import Bound, Request, camel, requests

LARGEST = 1 << 20  # characters of a message: a long script has some thousands
LONGEST_TEXT, LONGEST_LIST = 1_000, 10_000  # unless a field says otherwise
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # control characters but tab and line ends


def parse(text: str) -> Request:
    """The request that a text holds."""
    if len(text) > LARGEST:
        raise InvalidInput(f"a message should have at most {LARGEST:,} characters, but has {len(text):,}")
    try:
        found = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once_each)
    except InvalidInput:
        raise
    except (ValueError, RecursionError):
        raise InvalidInput("a message should be JSON, but cannot be read as that") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"a message should be a JSON object, but is {_shown(found)}")
    kind = found.pop("kind", None)
    wanted = requests().get(kind) if isinstance(kind, str) else None
    if wanted is None:
        raise InvalidInput(f"there is no request of the kind {_shown(kind)}")
    request = Reader(LONGEST_TEXT, LONGEST_LIST).read(wanted, found, kind)
    assert isinstance(request, Request)
    return request


def id_of(text: str) -> int:
    """The id of a message that may be anything, so that a refusal can be addressed; 0 where there is none."""
    found = re.search(r'"id"\s*:\s*(\d{1,15})\s*[,}]', text[:LARGEST])
    return int(found[1]) if found else 0


def read_plain(kind: type, found: dict[str, Any], place: str) -> Any:
    """A dataclass of what `message.plain` made of it; texts and lists may be as long as a file holds."""
    return Reader(LARGEST * 64, LARGEST * 64).read(kind, found, place)


@functools.cache
def _fields(kind: type) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {camel(each.name): (each, hints[each.name]) for each in dataclasses.fields(kind)}


class Reader:
    """Makes dataclasses of JSON objects; fields that set no bounds of their own may be as long as this says."""

    def __init__(self, longest_text: int, longest_list: int) -> None:
        self.longest_text, self.longest_list = longest_text, longest_list

    def read(self, kind: type, found: dict[str, Any], place: str) -> Any:
        fields = _fields(kind)
        unknown = [name for name in found if name not in fields]
        if unknown:
            raise InvalidInput(f"{place} has no field {_shown(unknown[0])}; it has {listed(fields)}")
        values = {}
        for name, (each, hint) in fields.items():
            if name in found:
                values[each.name] = self._value(hint, found[name], f"{place}.{name}", Bound())
            elif each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING:
                raise InvalidInput(f"{place} should have the field {name!r}")
        return kind(**values)

    def _value(self, hint: Any, found: Any, place: str, bound: Bound) -> Any:
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin is Annotated:
            return self._value(inner[0], found, place, next(each for each in inner[1:] if isinstance(each, Bound)))
        if origin in (typing.Union, types.UnionType):
            return self._either(inner, found, place, bound)
        if origin is Literal:
            if not any(found == one and type(found) is type(one) for one in inner):
                raise InvalidInput(f"{place} should be one of {listed(map(str, inner), 12)}, but is {_shown(found)}")
            return found
        if origin in (list, tuple):
            return self._sequence(origin, inner, found, place, bound)
        if origin is dict:
            return self._mapping(inner[1], found, place, bound)
        if dataclasses.is_dataclass(hint):
            if not isinstance(found, dict):
                raise InvalidInput(f"{place} should be an object, but is {_shown(found)}")
            return self.read(typing.cast(type, hint), found, place)
        return self._plain(hint, found, place, bound)

    def _either(self, kinds: tuple[Any, ...], found: Any, place: str, bound: Bound) -> Any:
        if found is None and type(None) in kinds:
            return None
        others = [kind for kind in kinds if kind is not type(None)]
        for kind in others[:-1]:
            try:
                return self._value(kind, found, place, bound)
            except InvalidInput:
                continue
        return self._value(others[-1], found, place, bound)

    def _sequence(self, kind: Any, inner: tuple[Any, ...], found: Any, place: str, bound: Bound) -> Any:
        if not isinstance(found, list):
            raise InvalidInput(f"{place} should be a list, but is {_shown(found)}")
        fixed = kind is tuple and inner[1:] != (...,)
        longest = len(inner) if fixed else (bound.longest or self.longest_list)
        if len(found) > longest or (fixed and len(found) < longest):
            count = str(longest) if fixed else f"at most {longest:,}"
            raise InvalidInput(f"{place} should have {count} entries, but has {len(found):,}")
        kinds = inner if fixed else inner[:1] * len(found)
        return kind(self._value(one, each, f"{place}[{i}]", Bound()) for i, (one, each) in enumerate(zip(kinds, found)))

    def _mapping(self, inner: Any, found: Any, place: str, bound: Bound) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise InvalidInput(f"{place} should be an object, but is {_shown(found)}")
        if len(found) > (bound.longest or self.longest_list):
            raise InvalidInput(f"{place} should have at most {bound.longest or self.longest_list:,} entries")
        for key in found:
            self._plain(str, key, f"a key of {place}", Bound())
        return {key: self._value(inner, each, f"{place}.{key[:40]}", Bound()) for key, each in found.items()}

    def _plain(self, hint: Any, found: Any, place: str, bound: Bound) -> Any:
        if hint is bool and isinstance(found, bool):
            return found
        if hint is str and isinstance(found, str):
            longest = bound.longest or self.longest_text
            if len(found) > longest:
                raise InvalidInput(f"{place} should have at most {longest:,} characters, but has {len(found):,}")
            if UNSEEN.search(found):
                raise InvalidInput(f"{place} should be plain text, but holds a control character")
            return found
        if hint in (int, float) and isinstance(found, int | float) and not isinstance(found, bool):
            return self._number(hint, found, place, bound)
        words = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}
        raise InvalidInput(f"{place} should be {words.get(hint, hint)}, but is {_shown(found)}")

    def _number(self, hint: Any, found: int | float, place: str, bound: Bound) -> Any:
        if hint is int and (isinstance(found, float) and not found.is_integer()):
            raise InvalidInput(f"{place} should be a whole number, but is {_shown(found)}")
        least = -(2.0**53) if bound.least is None else bound.least  # what JSON numbers hold exactly
        most = 2.0**53 if bound.most is None else bound.most
        if not (math.isfinite(found) if isinstance(found, float) else True) or not least <= found <= most:
            raise InvalidInput(f"{place} should be a number from {least:g} to {most:g}, but is {_shown(found)}")
        return hint(found)


def _shown(value: Any) -> str:
    """A value for a sentence, cut short; what it holds inside is not shown."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    text = UNSEEN.sub("?", json.dumps(value)) if not isinstance(value, int) or abs(value) < 2**64 else "a huge number"
    return text if len(text) <= 60 else text[:57] + "..."


def _no_constant(name: str) -> float:
    raise InvalidInput(f"a message should hold finite numbers, but holds {name}")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInput("a message should have each field once, but one appears twice")
    return found
