"""The registry of request handlers, playback sources and content routes.

    @handles_request(SetPlaying)
    async def play(session: Session, request: SetPlaying) -> None: ...

    @creates_source("model")
    async def model_source(session: Session, stage: StageState) -> PlaybackSource: ...

    @serves_content("/map/{model}")
    async def latent_map(session: Session, model: str) -> Content: ...

A handler returns its result (a dataclass or a dictionary) or None, and raises `UnderstudyError` to refuse. Handlers
live in `studio/*/handlers.py`, which are all imported at the start; a module with a constant `MODE` adds that mode to
the page.
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
    """Content that the page fetches: bytes or a file. With a `name` the browser saves it as a file."""

    data: bytes | Path
    type: str = "application/octet-stream"
    name: str = ""
    kept: bool = False  # it never changes, so the browser may cache it


def handles_request(request: type[Request]) -> Callable[[F], F]:
    """Register the handler of one type of request."""

    def register(function: F) -> F:
        if request in _HANDLERS and _HANDLERS[request].__module__ != function.__module__:
            raise TypeError(f"{request.__name__} has a handler already, in {_HANDLERS[request].__module__}")
        _HANDLERS[request] = function
        return function

    return register


def creates_source(driver: Driver) -> Callable[[F], F]:
    """Register the function that makes the source for this `driver`; it is called at every start, undo and change."""

    def register(function: F) -> F:
        _MAKERS[driver] = function
        return function

    return register


def serves_content(address: str) -> Callable[[F], F]:
    """Register the answer to GET at an address such as `/map/{model}`; parts in braces become keyword arguments."""

    def register(function: F) -> F:
        _PAGES[address] = function
        return function

    return register


def content_routes() -> dict[str, Callable[..., Awaitable[Content]]]:
    """The content functions by address."""
    load()
    return dict(_PAGES)


def handler_of(request: type[Request]) -> Handler | None:
    """The handler of a type of request."""
    load()
    return _HANDLERS.get(request)


def source_maker(driver: str) -> Maker | None:
    """The function that makes the source for this driver."""
    load()
    return _MAKERS.get(driver)


@functools.cache
def load() -> tuple[str, ...]:
    """Import every handler module; returns their modes, in the order of the packages' names."""
    package = importlib.import_module("understudy.studio")
    modes = []
    for entry in pkgutil.iter_modules(package.__path__):
        if not entry.ispkg or entry.name == "messages":
            continue
        inner = importlib.import_module(f"{package.__name__}.{entry.name}")
        if "handlers" in {each.name for each in pkgutil.iter_modules(inner.__path__)}:
            module = importlib.import_module(f"{inner.__name__}.handlers")
            modes.append(getattr(module, "MODE", ""))
    return tuple(mode for mode in modes if mode)
