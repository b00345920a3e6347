"""Pacing: even beats by a clock that others share.

    pace.begin()
    while True:
        work(seconds)                        # of the beat that is due
        seconds = pace.next(cost)            # to the next beat
        await asyncio.sleep(pace.wait)

Beats are due at times that follow from each other and not from when the work was done, t[k + 1] = t[k] + T, so what a
sleep oversleeps is no loss: the next one is shorter. A beat that comes late is followed at once by those that were due
meanwhile. Only what is later than `late` is given up: after a pause of the machine nothing has to be run after.

The clock of the stage: 60 times a second while something plays or has changed, and not at all otherwise.

Where no page looks, time stands still.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from understudy.errors import UnderstudyError
from understudy.studio.messages.shell import Notice, Stats
from understudy.studio.source import ClipSource

if TYPE_CHECKING:
    from understudy.studio.assets import LoadedCharacter
    from understudy.studio.session import Session
    from understudy.studio.viewport.packing import FramePacker

COST_SMOOTHING = (
    0.05  # how fast what a beat usually costs follows what one did: one slow beat is caught up with, many are not
)


class FramePacer:
    """`rate` beats a second, or as few as leave `1 - share` of the time to others."""

    def __init__(self, rate: float, share: float, late: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """`late` are seconds that are caught up with."""
        self._period, self._share, self._late, self._clock = 1 / rate, share, late, clock
        self._usual = 0.0
        self._due = clock()

    def begin(self) -> None:
        """A beat is due now."""
        self._due = self._clock()

    def next(self, cost: float) -> float:
        """Seconds from this beat to the next, after a beat that took `cost` seconds."""
        self._usual += COST_SMOOTHING * (cost - self._usual)
        last, period = self._due, max(self._period, self._usual / self._share)
        self._due = max(last + period, self._clock() - self._late)
        return self._due - last

    @property
    def wait(self) -> float:
        """Seconds until the next beat is due, 0 where it is late."""
        return max(0.0, self._due - self._clock())


LOG = logging.getLogger(__name__)
STAGE_RATE_HZ = 60.0
MAX_STEP_SECONDS = 0.25  # seconds: after a pause of the machine the character goes on, it does not leap
MAX_FRAME_TIME_SHARE = 0.7  # of the time at most is spent on frames; a rig that is too slow for 60 a second gets fewer
MAX_CATCH_UP_SECONDS = 6 / STAGE_RATE_HZ  # seconds that are caught up with, as many as a performance takes at once


class StageClock:
    """Moves the session's source on and shows the row."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._packers: WeakKeyDictionary[LoadedCharacter, FramePacker] = WeakKeyDictionary()
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

    def request_redraw(self) -> None:
        """Something has changed: show it, even where nothing plays."""
        self._show_once = True
        self._wake.set()

    @property
    def _playing(self) -> bool:
        session = self._session
        return session.source is not None and session.document.stage.playing and bool(session.clients)

    async def _run(self) -> None:
        pace, seconds = FramePacer(STAGE_RATE_HZ, MAX_FRAME_TIME_SHARE, MAX_CATCH_UP_SECONDS), 0.0
        while True:
            if not self._playing and not self._show_once:
                self._wake.clear()
                await self._wake.wait()
                pace.begin()
                seconds = 0.0
            began = time.perf_counter()
            self._tick(min(seconds, MAX_STEP_SECONDS) if self._playing else 0.0)
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
            if once or session.wants_frame():
                packer = self._packers[loaded]
                session.send_frame(packer.form, source.time, *packer.pack(row))
        except UnderstudyError as error:
            self._halt(str(error))
        except Exception:
            LOG.exception("a frame could not be made")
            self._halt("The character could not go on for a reason that was not foreseen.")
        if isinstance(source, ClipSource) and source.has_ended and session.document.stage.playing:
            session.adjust(session.document.with_stage(playing=False, time=source.time))
        self._measure(time.thread_time() - began)

    def prepare(self, loaded: LoadedCharacter) -> None:
        """Load and compile what the first frame of a character needs, in a thread: nothing else waits for it."""
        if loaded not in self._packers:
            from understudy.studio.viewport.packing import FramePacker

            packer = FramePacker(loaded.rig)
            packer.pack(loaded.rig.rest)
            self._packers[loaded] = packer

    def packer(self, loaded: LoadedCharacter) -> FramePacker:
        """The packer of a character, made where there is none yet."""
        self.prepare(loaded)
        return self._packers[loaded]

    def _halt(self, sentence: str) -> None:
        session = self._session
        session.adjust(session.document.with_stage(playing=False))
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
