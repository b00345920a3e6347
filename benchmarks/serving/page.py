"""A page without a browser: it answers every frame as drawn at once, and looks at what it gets."""

from __future__ import annotations

import itertools
import json
import struct
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import websockets.sync.client as client

from understudy.checks import Array

HEADER = struct.Struct("<IIIIdII")


@dataclass(frozen=True)
class Frame:
    """A frame and when it came."""

    stream: int
    sequence: int
    time: float
    vertices: Array  # (V, 3) of form 2; else the payload as it is
    size: int
    came: float


class Page:
    """`with Page(address) as page:`"""

    def __init__(self, address: str) -> None:
        self._address = address.replace("http", "ws", 1) + "/live"
        self._ids = itertools.count(1)
        self.document: dict[str, Any] = {}
        self.failures: list[str] = []
        self.stats: list[dict[str, Any]] = []

    def __enter__(self) -> Page:
        self._socket = client.connect(self._address, max_size=None, compression=None, open_timeout=60)
        while not self.document:
            self.take()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._socket.close()

    def ask(self, kind: str, **fields: Any) -> int:
        """Send a request; returns its number."""
        number = next(self._ids)
        self._socket.send(json.dumps({"kind": kind, "id": number, **fields}))
        return number

    def answered(self, number: int) -> Any:
        """The result of a request; frames that come meanwhile are drawn."""
        while True:
            found = self.take()
            if isinstance(found, dict) and found.get("id") == number:
                if found["kind"] == "failed":
                    raise RuntimeError(found["sentence"])
                return found.get("result")

    def frame(self, stream: int = 0) -> Frame:
        """The next frame of a stream."""
        while True:
            found = self.take()
            if isinstance(found, Frame) and found.stream == stream:
                return found

    def take(self, seconds: float = 60) -> Frame | dict[str, Any]:
        """The next message."""
        data = self._socket.recv(timeout=seconds)
        if isinstance(data, str):
            return self._event(json.loads(data))
        came = time.perf_counter()
        _, stream, sequence, form, at, a, _ = HEADER.unpack_from(data)
        self._socket.send(f'{{"kind":"seen","sequence":{sequence},"stream":{stream}}}')
        floats = np.frombuffer(data, np.float32, offset=HEADER.size)
        return Frame(stream, sequence, at, floats[: 3 * a].reshape(-1, 3) if form == 2 else floats, len(data), came)

    def _event(self, event: dict[str, Any]) -> dict[str, Any]:
        if event["kind"] == "document":
            self.document = event["document"]
        elif event["kind"] == "failed" or (event["kind"] == "notice" and event["level"] == "error"):
            self.failures.append(event["sentence"])
        elif event["kind"] in ("stats", "crowdStats"):
            self.stats.append(event)
        return event
