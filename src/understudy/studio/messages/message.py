"""Request and Event: the two kinds of text messages, and the register of all of them.

A subclass is registered by being one:

    @dataclass(frozen=True)
    class Play(Request):
        kind: ClassVar[str] = "play"
        playing: bool

Fields may be str, int, float, bool, Literal, Optional, lists and tuples, dict[str, X] and other frozen dataclasses;
`Annotated[..., Bound(...)]` sets other bounds than the usual ones. Names are `snake_case` here and `camelCase` on the
wire. A request that is answered with something names its type in `result`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True)
class Bound:
    """Limits of a field: characters of a text or entries of a list, and the range of a number."""

    longest: int | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Request:
    """Browser to server. It is answered with `done` or `failed` of the same id; without an id (0) it is not."""

    kind: ClassVar[str] = ""
    result: ClassVar[Any] = None  # the dataclass of the answer, None where there is none
    id: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class Event:
    """Server to browser, unasked."""

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
    """The modules of this package, all of which are loaded before messages are registered."""
    package = importlib.import_module("understudy.studio.messages")
    names = sorted(entry.name for entry in pkgutil.iter_modules(package.__path__))
    return tuple(f"{package.__name__}.{name}" for name in names)


def _register(base: Any) -> dict[str, Any]:
    for name in modules():
        importlib.import_module(name)
    found: dict[str, Any] = {}
    for message in base.__subclasses__():
        if not message.__module__.startswith("understudy.studio.messages"):
            continue  # those that tests make
        if not message.kind or message.kind in found:
            raise TypeError(f"{message.__qualname__} should have a kind of its own, but has {message.kind!r}")
        found[message.kind] = message
    return dict(sorted(found.items()))


@functools.cache
def camel(name: str) -> str:
    """`can_undo` as the browser writes it: `canUndo`."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def plain(value: Any) -> Any:
    """A message or a part of one as JSON holds it; keys of dictionaries are names of the user's and stay."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {camel(each.name): plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    return value


def wire(event: Event) -> str:
    """The text of an event; numbers are finite, or it is refused here rather than by the browser."""
    return json.dumps({"kind": event.kind, **plain(event)}, allow_nan=False, separators=(",", ":"))
