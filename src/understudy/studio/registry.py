"""Who answers which request, what can drive the stage, and what the page can fetch.

    @handles(Play)
    async def play(session: Session, request: Play) -> None: ...

    @drives("model")
    async def performing(session: Session, stage: StageState) -> Source: ...

    @serves("/map/{model}")
    async def latent_map(session: Session, model: str) -> Content: ...

A handler returns the result (a dataclass or a dictionary) or nothing, and raises `UnderstudyError` to refuse. Handlers
live in `studio/*/handlers.py`, which are all loaded at the start; one that names a `MODE` adds it to the page.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from understudy.studio.document import Driver, StageState
from understudy.studio.messages.message import Request

if TYPE_CHECKING:
    from understudy.studio.session import Session
    from understudy.studio.source import PlaybackSource

    Handler = Callable[[Session, Any], Awaitable[Any]]
    Maker = Callable[[Session, StageState], Awaitable[PlaybackSource]]

F = TypeVar("F", bound="Callable[..., Any]")

_HANDLERS: dict[type[Request], Handler] = {}
_MAKERS: dict[str, Maker] = {}
_PAGES: dict[str, Callable[..., Awaitable[Content]]] = {}


@dataclass(frozen=True)
class Content:
    """What a page fetches: bytes, or a file; `name` where the browser should save it under one."""

    data: bytes | Path
    type: str = "application/octet-stream"
    name: str = ""
    kept: bool = False  # never changes, so that the browser may keep it


def handles_request(request: type[Request]) -> Callable[[F], F]:
    """Registers a handler of one type of request."""

    def register(function: F) -> F:
        if request in _HANDLERS and _HANDLERS[request].__module__ != function.__module__:
            raise TypeError(f"{request.__name__} has a handler already, in {_HANDLERS[request].__module__}")
        _HANDLERS[request] = function
        return function

    return register


def creates_source(driver: Driver) -> Callable[[F], F]:
    """Registers what makes a source of a stage whose `driver` is this; called at every start, undo and change."""

    def register(function: F) -> F:
        _MAKERS[driver] = function
        return function

    return register


def serves_content(address: str) -> Callable[[F], F]:
    """Registers what answers GET at an address such as `/map/{model}`; the parts in braces are given by name."""

    def register(function: F) -> F:
        _PAGES[address] = function
        return function

    return register


def content_routes() -> dict[str, Callable[..., Awaitable[Content]]]:
    """Everything that can be fetched, by address."""
    load()
    return dict(_PAGES)


def handler_of(request: type[Request]) -> Handler | None:
    """The handler of a type of request."""
    load()
    return _HANDLERS.get(request)


def source_maker(driver: str) -> Maker | None:
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
