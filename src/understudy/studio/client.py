"""One connected page: texts go out in order, frames only as fast as the page draws them.

A page answers each frame that it has drawn. At most `WINDOW` frames are on their way; while they are, a newer frame
replaces the one that waits, so a slow page drops frames and never falls behind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

WINDOW = 2  # one that is drawn and one that is on its way; more would only add delay
MOST_TEXTS = 2_000  # waiting; a page that takes none of them has gone


@dataclass
class Stream:
    """Frames of one stream: the numbers on their way, and the newest that waits."""

    away: deque[int] = field(default_factory=deque)
    waiting: tuple[int, bytes] | None = None


class Client:
    """What is to be sent to one page. `send_text` and `send_bytes` are the socket's."""

    def __init__(
        self, send_text: Callable[[str], Awaitable[None]], send_bytes: Callable[[bytes], Awaitable[None]]
    ) -> None:
        self._send_text, self._send_bytes = send_text, send_bytes
        self._texts: deque[tuple[str, str]] = deque()  # kind, text
        self._streams: dict[int, Stream] = {}
        self._something = asyncio.Event()
        self.lost = False
        self.dropped = 0
        self.sent_bytes = 0

    def tell(self, kind: str, text: str) -> None:
        """Send a text. A document that still waits is replaced by the newer one."""
        if kind == "document":
            self._texts = deque(each for each in self._texts if each[0] != kind)
        self._texts.append((kind, text))
        self.lost = self.lost or len(self._texts) > MOST_TEXTS
        self._something.set()

    def takes(self, stream: int) -> bool:
        """Whether a frame would be sent at once."""
        found = self._streams.get(stream)
        return not self.lost and (found is None or len(found.away) < WINDOW)

    def waits(self, stream: int) -> bool:
        """Whether a frame is still here, which the next would replace."""
        found = self._streams.get(stream)
        return found is not None and found.waiting is not None

    def show(self, stream: int, sequence: int, frame: bytes) -> None:
        """Send a frame now, or in place of the one that waits."""
        found = self._streams.setdefault(stream, Stream())
        self.dropped += found.waiting is not None
        found.waiting = (sequence, frame)
        self._something.set()

    def seen(self, stream: int, sequence: int) -> None:
        """The page has drawn a frame, and with it all before; numbers that were never sent mean nothing."""
        found = self._streams.get(stream)
        if found is None or sequence not in found.away:
            return
        while found.away and found.away.popleft() != sequence:
            pass
        self._something.set()

    async def run(self) -> None:
        """Send what there is to send, until cancelled or lost."""
        while not self.lost:
            await self._something.wait()
            self._something.clear()
            while self._texts:
                await self._send_text(self._texts.popleft()[1])
            for found in list(self._streams.values()):
                if found.waiting is None or len(found.away) >= WINDOW:
                    continue
                sequence, frame = found.waiting
                found.waiting = None
                found.away.append(sequence)
                self.sent_bytes += len(frame)
                await self._send_bytes(frame)
