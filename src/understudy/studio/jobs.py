"""Long work beside the stage: how far it is, how long it takes, and a cancel that works.

    job = session.jobs.run("learn dragon", lambda progress, cancelled: learned(..., progress))
    result = await job.result()

The function runs in a thread; it calls `progress(done, total)` now and then, which raises `Cancelled` once the job is
cancelled, so that work stops at its next report. For the user it is over at once: work that does not report goes on
unseen, and what it returns is dropped. Work that holds the interpreter should start a process of its own and watch
`cancelled()` while it waits.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio.messages.shell import JobChanged, Progress

LOG = logging.getLogger(__name__)
REPORT_SECONDS = 0.1  # seconds between two events of a job
MAX_RUNNING_JOBS = 8  # at once
Work = Callable[[Callable[[float, float], None], Callable[[], bool]], Any]


class JobCancelled(UnderstudyError):
    """The user has stopped a job."""

    def __init__(self) -> None:
        super().__init__("it was cancelled")


class Job:
    """One piece of work."""

    def __init__(self, name: str, emit: Callable[[JobChanged], None]) -> None:
        self.id, self.name = secrets.token_hex(4), name
        self.state: Progress = "running"
        self.done = self.total = 0.0
        self.sentence = ""
        self._emit, self._began, self._reported = emit, time.monotonic(), 0.0
        self._stop = threading.Event()
        self._stopped = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        """Ask it to stop; call from the server's loop."""
        self._stop.set()
        self._stopped.set()

    def is_cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def progress(self, done: float, total: float) -> None:
        """Called by the work, from any thread."""
        if self._stop.is_set():
            raise JobCancelled
        self.done, self.total = float(done), float(total)
        if time.monotonic() - self._reported > REPORT_SECONDS:
            self._reported = time.monotonic()
            self.tell()

    def tell(self) -> None:
        """Emit how it stands."""
        seconds = time.monotonic() - self._began
        self._emit(JobChanged(self.id, self.name, self.done, self.total, seconds, self.state, self.sentence))

    async def result(self) -> Any:
        """What the work returned; its error, or `Cancelled`, is raised."""
        assert self._task is not None
        return await asyncio.shield(self._task)

    async def _run(self, work: Work) -> Any:
        self.tell()
        try:
            found = await self._first(asyncio.create_task(asyncio.to_thread(work, self.progress, self.is_cancelled)))
        except JobCancelled:
            self._end("cancelled", "")
            raise
        except UnderstudyError as error:
            self._end("failed", str(error))
            raise
        except Exception as error:
            LOG.exception("the job %s failed", self.name)
            self._end("failed", f"{self.name} failed for a reason that was not foreseen")
            raise InvalidInput(self.sentence) from error
        self.done = self.total = self.total or 1.0
        self._end("done", "")
        return found

    async def _first(self, working: asyncio.Task[Any]) -> Any:
        """The result of the work, unless it is cancelled before."""
        stopped = asyncio.create_task(self._stopped.wait())
        await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if working.done():
            return working.result()
        working.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody waits for it any more
        raise JobCancelled

    def _end(self, state: Progress, sentence: str) -> None:
        self.state, self.sentence = state, sentence
        self.tell()


class JobQueue:
    """The jobs that run."""

    def __init__(self, emit: Callable[[JobChanged], None]) -> None:
        self._emit = emit
        self._jobs: dict[str, Job] = {}

    def run(self, name: str, work: Work) -> Job:
        """Start a job; call from the server's loop."""
        if len(self._jobs) >= MAX_RUNNING_JOBS:
            raise InvalidInput(f"{MAX_RUNNING_JOBS} things are being done already; wait for one or cancel it")
        job = Job(name, self._emit)
        self._jobs[job.id] = job
        job._task = asyncio.get_running_loop().create_task(job._run(work))
        job._task.add_done_callback(lambda task: self._finish_job(job, task))
        return job

    def _finish_job(self, job: Job, task: asyncio.Task[Any]) -> None:
        self._jobs.pop(job.id, None)
        if not task.cancelled():
            task.exception()  # fetched, so that one whom nobody awaits is not reported as lost

    def running(self) -> tuple[Job, ...]:
        """Those that are not done."""
        return tuple(self._jobs.values())

    def cancel(self, id: str) -> None:
        """Stop one of them; one that has just ended is nothing to complain about."""
        if id in self._jobs:
            self._jobs[id].cancel()

    def cancel_all(self) -> None:
        """Stop all of them."""
        for job in self._jobs.values():
            job.cancel()
