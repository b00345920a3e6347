"""A studio within this process, and a page without a browser that talks to it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import websockets.sync.client as client

from understudy.studio.server import Server
from understudy.studio.session import Session

HEADER = struct.Struct("<IIIIdII")


class Refused(Exception):
    """The server answered `failed`."""


@dataclass
class Frame:
    """A binary message, taken apart."""

    stream: int
    sequence: int
    form: int
    time: float
    a: int
    b: int
    payload: bytes

    @classmethod
    def of(cls, data: bytes) -> Frame:
        magic, *rest = HEADER.unpack_from(data)
        assert magic == 0x31465355
        return cls(*rest, data[HEADER.size :])


@dataclass
class Page:
    """One WebSocket. What is not an answer is kept in `events`; frames are answered as drawn, unless told not to."""

    socket: client.ClientConnection
    draws: bool = True
    events: list[dict[str, Any]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(5000))

    def send(self, text: str | bytes) -> None:
        self.socket.send(text)

    def ask(self, kind: str, **fields: Any) -> Any:
        """The result of a request; a refusal is raised."""
        number = next(self._ids)
        self.send(json.dumps({"kind": kind, "id": number, **fields}))
        found = self.until(lambda event: event["kind"] in ("done", "failed") and event["id"] == number)
        if found["kind"] == "failed":
            raise Refused(found["sentence"])
        return found["result"]

    def until(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
        """The next event that is wanted, within so many seconds."""
        end = time.monotonic() + seconds
        while True:
            event = self.take(max(end - time.monotonic(), 0.0))
            if isinstance(event, dict) and wanted(event):
                return event

    def next_frame(self, wanted: Callable[[Frame], bool] = lambda frame: True, seconds: float = 60) -> Frame:
        """The next frame that is wanted, within so many seconds."""
        end = time.monotonic() + seconds
        while True:
            found = self.take(max(end - time.monotonic(), 0.0))
            if isinstance(found, Frame) and wanted(found):
                return found

    def take(self, seconds: float = 60) -> dict[str, Any] | Frame:
        """The next message of any sort."""
        found = self.socket.recv(timeout=seconds)
        if isinstance(found, str):
            event: dict[str, Any] = json.loads(found)
            self.events.append(event)
            return event
        frame = Frame.of(found)
        self.frames.append(frame)
        if self.draws:
            self.seen(frame)
        return frame

    def seen(self, frame: Frame) -> None:
        self.send(json.dumps({"kind": "seen", "sequence": frame.sequence, "stream": frame.stream}))

    @property
    def document(self) -> dict[str, Any]:
        """As it was last told."""
        found: dict[str, Any] = next(e for e in reversed(self.events) if e["kind"] == "document")["document"]
        return found


class Studio:
    """A server in a thread of this process."""

    def __init__(self, session: Session, static: Path | None = None) -> None:
        self.session = session
        self.server = Server(session, port=0, static=static or Path("nowhere"))
        self._up = threading.Event()
        self._thread = threading.Thread(target=self.server.run, args=(self._up.set,))

    def __enter__(self) -> Studio:
        self._thread.start()
        assert self._up.wait(60)
        return self

    def __exit__(self, *found: object) -> None:
        self.server.stop()
        self._thread.join(60)

    @property
    def address(self) -> str:
        return self.server.address.rstrip("/")

    @contextlib.contextmanager
    def page(self, draws: bool = True, **options: Any) -> Iterator[Page]:
        """A page that has heard of the document."""
        address = f"{self.address.replace('http', 'ws')}/live"
        with client.connect(address, max_size=None, compression=None, **options) as socket:
            page = Page(socket, draws)
            page.until(lambda event: event["kind"] == "document")
            yield page

    def in_loop(self, function: Callable[[], Any]) -> Any:
        """What a function of the session returns, called in the server's own loop."""

        async def called() -> Any:
            found = function()
            return await found if asyncio.iscoroutine(found) else found

        loop = self.session._loop
        assert loop is not None
        return asyncio.run_coroutine_threadsafe(called(), loop).result(60)
