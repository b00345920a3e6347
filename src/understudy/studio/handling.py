"""Who answers which request, and what can drive the stage.

    @handles(Play)
    async def play(session: Session, request: Play) -> None: ...

    @drives("model")
    async def performing(session: Session, stage: StageState) -> Source: ...

A handler returns the result (a dataclass or a dictionary) or nothing, and raises `UnderstudyError` to refuse. Handlers
live in `studio/*/handlers.py`, which are all loaded at the start; one that names a `MODE` adds it to the page.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from understudy.studio.document import Driver, StageState
from understudy.studio.messages.message import Request

if TYPE_CHECKING:
    from understudy.studio.session import Session
    from understudy.studio.source import Source

    Handler = Callable[[Session, Any], Awaitable[Any]]
    Maker = Callable[[Session, StageState], Awaitable[Source]]

F = TypeVar("F", bound="Callable[..., Any]")

_HANDLERS: dict[type[Request], Handler] = {}
_MAKERS: dict[str, Maker] = {}


def handles(request: type[Request]) -> Callable[[F], F]:
    """Registers a handler of one type of request."""

    def register(function: F) -> F:
        if request in _HANDLERS and _HANDLERS[request].__module__ != function.__module__:
            raise TypeError(f"{request.__name__} has a handler already, in {_HANDLERS[request].__module__}")
        _HANDLERS[request] = function
        return function

    return register


def drives(driver: Driver) -> Callable[[F], F]:
    """Registers what makes a source of a stage whose `driver` is this; called at every start, undo and change."""

    def register(function: F) -> F:
        _MAKERS[driver] = function
        return function

    return register


def handler_of(request: type[Request]) -> Handler | None:
    """The handler of a type of request."""
    load()
    return _HANDLERS.get(request)


def maker_of(driver: str) -> Maker | None:
    """What makes a source for this driver."""
    load()
    return _MAKERS.get(driver)


@functools.cache
def load() -> tuple[str, ...]:
    """Load every handler module; returns the modes that they bring, in the order of their names."""
    package = importlib.import_module("understudy.studio")
    found = []
    for entry in pkgutil.iter_modules(package.__path__):
        if not entry.ispkg or entry.name == "messages":
            continue
        inner = importlib.import_module(f"{package.__name__}.{entry.name}")
        if "handlers" in {each.name for each in pkgutil.iter_modules(inner.__path__)}:
            module = importlib.import_module(f"{inner.__name__}.handlers")
            found.append(getattr(module, "MODE", ""))
    return tuple(mode for mode in found if mode)
