"""The clock of the stage: 60 times a second while something plays or has changed, and not at all otherwise.

Where no page looks, time stands still.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from understudy.errors import UnderstudyError
from understudy.studio.messages.shell import Notice, Stats
from understudy.studio.pacing import Pace
from understudy.studio.source import ClipSource

if TYPE_CHECKING:
    from understudy.studio.assets import Loaded
    from understudy.studio.session import Session
    from understudy.studio.stage.packing import Packer

LOG = logging.getLogger(__name__)
RATE = 60.0
LONGEST_STEP = 0.25  # seconds: after a pause of the machine the character goes on, it does not leap
SHARE = 0.7  # of the time at most is spent on frames; a rig that is too slow for 60 a second gets fewer
LATE = 6 / RATE  # seconds that are caught up with, as many as a performance takes at once


class Ticker:
    """Moves the session's source on and shows the row."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._packers: WeakKeyDictionary[Loaded, Packer] = WeakKeyDictionary()
        self._show_once = False
        self._costs: list[float] = []
        self._reported = time.monotonic()

    def start(self) -> None:
        """Begin to tick."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def changed(self) -> None:
        """Something has changed: show it, even where nothing plays."""
        self._show_once = True
        self._wake.set()

    @property
    def _playing(self) -> bool:
        session = self._session
        return session.source is not None and session.document.stage.playing and bool(session.clients)

    async def _run(self) -> None:
        pace, seconds = Pace(RATE, SHARE, LATE), 0.0
        while True:
            if not self._playing and not self._show_once:
                self._wake.clear()
                await self._wake.wait()
                pace.begin()
                seconds = 0.0
            began = time.perf_counter()
            self._tick(min(seconds, LONGEST_STEP) if self._playing else 0.0)
            seconds = pace.next(time.perf_counter() - began)
            await asyncio.sleep(pace.wait)

    def _tick(self, seconds: float) -> None:
        began = time.thread_time()
        session = self._session
        once, self._show_once = self._show_once, False
        source, loaded = session.source, session.loaded
        if source is None or loaded is None:
            return
        try:
            row = source.advance(seconds * session.document.stage.rate)
            if once or session.wanted():
                packer = self._packers[loaded]
                session.send_frame(packer.form, source.time, *packer.pack(row))
        except UnderstudyError as error:
            self._halt(str(error))
        except Exception:
            LOG.exception("a frame could not be made")
            self._halt("The character could not go on for a reason that was not foreseen.")
        if isinstance(source, ClipSource) and source.ended and session.document.stage.playing:
            session.adjust(session.document.staged(playing=False, time=source.time))
        self._measure(time.thread_time() - began)

    def prepare(self, loaded: Loaded) -> None:
        """Load and compile what the first frame of a character needs, in a thread: nothing else waits for it."""
        if loaded not in self._packers:
            from understudy.studio.stage.packing import Packer

            packer = Packer(loaded.rig)
            packer.pack(loaded.rig.rest)
            self._packers[loaded] = packer

    def packer(self, loaded: Loaded) -> Packer:
        """The packer of a character, made where there is none yet."""
        self.prepare(loaded)
        return self._packers[loaded]

    def _halt(self, sentence: str) -> None:
        session = self._session
        session.adjust(session.document.staged(playing=False))
        session.emit(Notice("error", sentence, "It is paused; choose another clip, or play again."))

    def _measure(self, cost: float) -> None:
        """Once a second, what a frame costs."""
        self._costs.append(cost)
        seconds = time.monotonic() - self._reported
        if seconds < 1.0:
            return
        clients = self._session.clients
        sent, dropped = sum(client.sent_bytes for client in clients), sum(client.dropped for client in clients)
        for client in clients:
            client.sent_bytes = client.dropped = 0
        mean = 1000 * sum(self._costs) / len(self._costs)
        fps = len(self._costs) / seconds
        self._session.emit(Stats(round(mean, 3), round(fps, 1), int(sent / seconds), dropped))
        self._costs.clear()
        self._reported = time.monotonic()
