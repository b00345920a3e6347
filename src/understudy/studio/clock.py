"""The clock of the stage: 60 frames a second while something plays or has changed, none otherwise.

Time stops while no page is connected. `FramePacer` gives even frames by a clock that is shared with other work:

    pace.begin()
    while True:
        work(seconds)                        # of the frame that is due
        seconds = pace.next(cost)            # until the next frame
        await asyncio.sleep(pace.wait)

Due times follow from each other and not from when the work was done, t[k + 1] = t[k] + T. A sleep that lasts too long
therefore costs nothing: the next one is shorter. A late frame is followed at once by those that were due meanwhile.
Only frames that are later than `late` seconds are dropped, so that a pause of the machine is not caught up with.
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
    from understudy.render.viewport.surface import FramePacker
    from understudy.studio.assets import LoadedCharacter
    from understudy.studio.session import Session

# Weight of a new frame in the moving average of the cost: one slow frame is caught up with, many are not.
COST_SMOOTHING = 0.05
LOG = logging.getLogger(__name__)
STAGE_RATE_HZ = 60.0
MAX_STEP_SECONDS = 0.25  # seconds of one step: after a pause of the machine the character does not jump
MAX_FRAME_TIME_SHARE = 0.7  # of the time that frames may take; a slow rig gets fewer than 60 a second
MAX_CATCH_UP_SECONDS = 6 / STAGE_RATE_HZ  # seconds of delay: as many steps as a performance makes at once


class StageClock:
    """Advances the source of a session and sends its frames."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._packers: WeakKeyDictionary[LoadedCharacter, FramePacker] = WeakKeyDictionary()
        self._show_once = False
        self._costs: list[float] = []
        self._reported = time.monotonic()

    def start(self) -> None:
        """Start the task."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop the task."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def request_redraw(self) -> None:
        """Send a frame, even if nothing plays."""
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
            self._halt("The character stopped for a reason that was not foreseen.")
        if isinstance(source, ClipSource) and source.has_ended and session.document.stage.playing:
            session.adjust(session.document.with_stage(playing=False, time=source.time))
        self._measure(time.thread_time() - began)

    def prepare(self, loaded: LoadedCharacter) -> None:
        """Load and compile what the first frame of a character needs. Call it in a thread."""
        if loaded not in self._packers:
            from understudy.render.viewport.surface import FramePacker

            packer = FramePacker(loaded.rig)
            packer.pack(loaded.rig.rest)
            self._packers[loaded] = packer

    def packer(self, loaded: LoadedCharacter) -> FramePacker:
        """The packer of a character; it is made on first use."""
        self.prepare(loaded)
        return self._packers[loaded]

    def _halt(self, sentence: str) -> None:
        session = self._session
        session.adjust(session.document.with_stage(playing=False))
        session.emit(Notice("error", sentence, "Playback is paused; choose another clip, or play again."))

    def _measure(self, cost: float) -> None:
        """Report the cost of a frame once a second."""
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


class FramePacer:
    """`rate` frames a second, or fewer, so that `1 - share` of the time is left for other work."""

    def __init__(self, rate: float, share: float, late: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """`late` is the delay that is caught up with, seconds."""
        self._period, self._share, self._late, self._clock = 1 / rate, share, late, clock
        self._usual = 0.0
        self._due = clock()

    def begin(self) -> None:
        """A frame is due now."""
        self._due = self._clock()

    def next(self, cost: float) -> float:
        """Seconds from this frame to the next, after a frame that took `cost` seconds."""
        self._usual += COST_SMOOTHING * (cost - self._usual)
        last, period = self._due, max(self._period, self._usual / self._share)
        self._due = max(last + period, self._clock() - self._late)
        return self._due - last

    @property
    def wait(self) -> float:
        """Seconds until the next frame is due; 0 if it is late."""
        return max(0.0, self._due - self._clock())
