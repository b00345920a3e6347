"""`Request` and `Event`: the two kinds of text messages, their registry, and the reader of requests.

A subclass registers itself:

    @dataclass(frozen=True)
    class SetPlaying(Request):
        kind: ClassVar[str] = "play"
        playing: bool

Fields may be str, int, float, bool, Literal, Optional, lists and tuples, dict[str, X] and other frozen dataclasses;
`Annotated[..., Range(...)]` sets other limits than the usual ones. Names are `snake_case` here and `camelCase` on the
wire. A request with an answer names the type of the answer in `result`.

The reader trusts nothing: it checks the length of the text, the depth of its nesting, and the type and range of each
field. Unknown fields are refused with one sentence.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import math
import pkgutil
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from understudy.errors import InvalidInput, join_names

MAX_MESSAGE_CHARACTERS = 1 << 20  # a long script has some thousands
MAX_TEXT_LENGTH, MAX_LIST_LENGTH = 1_000, 10_000  # characters and entries, unless a field has its own `Range`
# All but tab and line ends.
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Range:
    """Limits of a field: the length of a text or list, and the range of a number."""

    longest: int | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Request:
    """Browser to server. Its answer is `done` or `failed` with the same id; without an id (0) there is none."""

    kind: ClassVar[str] = ""
    result: ClassVar[Any] = None  # the dataclass of the answer, None for none
    id: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class Event:
    """Server to browser, without a request."""

    kind: ClassVar[str] = ""


@functools.cache
def requests() -> dict[str, type[Request]]:
    """Every request, by its kind."""
    return _register(Request)


@functools.cache
def events() -> dict[str, type[Event]]:
    """Every event, by its kind."""
    return _register(Event)


def modules() -> tuple[str, ...]:
    """The modules of this package, which are all imported before messages are registered."""
    package = importlib.import_module("understudy.studio.messages")
    names = sorted(entry.name for entry in pkgutil.iter_modules(package.__path__))
    return tuple(f"{package.__name__}.{name}" for name in names)


def _register(base: Any) -> dict[str, Any]:
    for name in modules():
        importlib.import_module(name)
    messages: dict[str, Any] = {}
    for message in base.__subclasses__():
        if not message.__module__.startswith("understudy.studio.messages"):
            continue  # made by a test
        if not message.kind or message.kind in messages:
            raise TypeError(f"{message.__qualname__} should have a kind of its own, but has {message.kind!r}")
        messages[message.kind] = message
    return dict(sorted(messages.items()))


@functools.cache
def camel(name: str) -> str:
    """`can_undo` as the browser writes it: `canUndo`."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def to_plain(value: Any) -> Any:
    """A message or a part of one as plain JSON values; keys of dictionaries are the user's names and stay."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {camel(each.name): to_plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(each) for key, each in value.items()}
    return value


def to_wire(event: Event) -> str:
    """The text of an event; a number that is not finite raises ValueError."""
    return json.dumps({"kind": event.kind, **to_plain(event)}, allow_nan=False, separators=(",", ":"))


def parse_request(text: str) -> Request:
    """Parse a request; raises `InvalidInput`."""
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise InvalidInput(
            f"a message should have at most {MAX_MESSAGE_CHARACTERS:,} characters, but has {len(text):,}"
        )
    try:
        fields = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once_each)
    except InvalidInput:
        raise
    except (ValueError, RecursionError):
        raise InvalidInput("a message should be JSON, but cannot be parsed") from None
    if not isinstance(fields, dict):
        raise InvalidInput(f"a message should be a JSON object, but is {_format_value(fields)}")
    kind = fields.pop("kind", None)
    wanted = requests().get(kind) if isinstance(kind, str) else None
    if wanted is None:
        raise InvalidInput(f"there is no request of the kind {_format_value(kind)}")
    request = MessageReader(MAX_TEXT_LENGTH, MAX_LIST_LENGTH).read(wanted, fields, kind)
    assert isinstance(request, Request)
    return request


def id_of(text: str) -> int:
    """The id in a text that may not be valid, so that a refusal can be addressed; 0 if there is none."""
    found = re.search(r'"id"\s*:\s*(\d{1,15})\s*[,}]', text[:MAX_MESSAGE_CHARACTERS])
    return int(found[1]) if found else 0


def read_plain(kind: type, found: dict[str, Any], place: str) -> Any:
    """A dataclass from the values of `to_plain`; texts and lists may be as long as those of a file."""
    return MessageReader(MAX_MESSAGE_CHARACTERS * 64, MAX_MESSAGE_CHARACTERS * 64).read(kind, found, place)


@functools.cache
def _fields(kind: type) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {camel(each.name): (each, hints[each.name]) for each in dataclasses.fields(kind)}


class MessageReader:
    """Makes dataclasses from JSON objects; the lengths limit fields without a `Range` of their own."""

    def __init__(self, longest_text: int, longest_list: int) -> None:
        self.longest_text, self.longest_list = longest_text, longest_list

    def read(self, kind: type, found: dict[str, Any], place: str) -> Any:
        fields = _fields(kind)
        unknown = [name for name in found if name not in fields]
        if unknown:
            raise InvalidInput(f"{place} has no field {_format_value(unknown[0])}; it has {join_names(fields)}")
        values = {}
        for name, (each, hint) in fields.items():
            if name in found:
                values[each.name] = self._value(hint, found[name], f"{place}.{name}", Range())
            elif each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING:
                raise InvalidInput(f"{place} should have the field {name!r}")
        return kind(**values)

    def _value(self, hint: Any, found: Any, place: str, bound: Range) -> Any:
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin is Annotated:
            return self._value(inner[0], found, place, next(each for each in inner[1:] if isinstance(each, Range)))
        if origin in (typing.Union, types.UnionType):
            return self._either(inner, found, place, bound)
        if origin is Literal:
            if not any(found == one and type(found) is type(one) for one in inner):
                raise InvalidInput(
                    f"{place} should be one of {join_names(map(str, inner), 12)}, but is {_format_value(found)}"
                )
            return found
        if origin in (list, tuple):
            return self._sequence(origin, inner, found, place, bound)
        if origin is dict:
            return self._mapping(inner[1], found, place, bound)
        if dataclasses.is_dataclass(hint):
            if not isinstance(found, dict):
                raise InvalidInput(f"{place} should be an object, but is {_format_value(found)}")
            return self.read(typing.cast(type, hint), found, place)
        return self._plain(hint, found, place, bound)

    def _either(self, kinds: tuple[Any, ...], found: Any, place: str, bound: Range) -> Any:
        if found is None and type(None) in kinds:
            return None
        others = [kind for kind in kinds if kind is not type(None)]
        for kind in others[:-1]:
            try:
                return self._value(kind, found, place, bound)
            except InvalidInput:
                continue
        return self._value(others[-1], found, place, bound)

    def _sequence(self, kind: Any, inner: tuple[Any, ...], found: Any, place: str, bound: Range) -> Any:
        if not isinstance(found, list):
            raise InvalidInput(f"{place} should be a list, but is {_format_value(found)}")
        fixed = kind is tuple and inner[1:] != (...,)
        longest = len(inner) if fixed else (bound.longest or self.longest_list)
        if len(found) > longest or (fixed and len(found) < longest):
            count = str(longest) if fixed else f"at most {longest:,}"
            raise InvalidInput(f"{place} should have {count} entries, but has {len(found):,}")
        kinds = inner if fixed else inner[:1] * len(found)
        return kind(self._value(one, each, f"{place}[{i}]", Range()) for i, (one, each) in enumerate(zip(kinds, found)))

    def _mapping(self, inner: Any, found: Any, place: str, bound: Range) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise InvalidInput(f"{place} should be an object, but is {_format_value(found)}")
        if len(found) > (bound.longest or self.longest_list):
            raise InvalidInput(f"{place} should have at most {bound.longest or self.longest_list:,} entries")
        for key in found:
            self._plain(str, key, f"a key of {place}", Range())
        return {key: self._value(inner, each, f"{place}.{key[:40]}", Range()) for key, each in found.items()}

    def _plain(self, hint: Any, found: Any, place: str, bound: Range) -> Any:
        if hint is bool and isinstance(found, bool):
            return found
        if hint is str and isinstance(found, str):
            longest = bound.longest or self.longest_text
            if len(found) > longest:
                raise InvalidInput(f"{place} should have at most {longest:,} characters, but has {len(found):,}")
            if CONTROL_CHARACTERS.search(found):
                raise InvalidInput(f"{place} should be plain text, but holds a control character")
            return found
        if hint in (int, float) and isinstance(found, int | float) and not isinstance(found, bool):
            return self._number(hint, found, place, bound)
        types_text = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}
        raise InvalidInput(f"{place} should be {types_text.get(hint, hint)}, but is {_format_value(found)}")

    def _number(self, hint: Any, found: int | float, place: str, bound: Range) -> Any:
        if hint is int and (isinstance(found, float) and not found.is_integer()):
            raise InvalidInput(f"{place} should be a whole number, but is {_format_value(found)}")
        least = -(2.0**53) if bound.least is None else bound.least  # integers that JSON numbers hold exactly
        most = 2.0**53 if bound.most is None else bound.most
        if not (math.isfinite(found) if isinstance(found, float) else True) or not least <= found <= most:
            raise InvalidInput(f"{place} should be a number from {least:g} to {most:g}, but is {_format_value(found)}")
        return hint(found)


def _format_value(value: Any) -> str:
    """A value for a sentence, shortened; the content of lists and objects is not shown."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    text = (
        CONTROL_CHARACTERS.sub("?", json.dumps(value))
        if not isinstance(value, int) or abs(value) < 2**64
        else "a huge number"
    )
    return text if len(text) <= 60 else text[:57] + "..."


def _no_constant(name: str) -> float:
    raise InvalidInput(f"a message should hold finite numbers, but holds {name}")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInput("a message should have each field once, but one appears twice")
    return found
