"""Long work beside the stage: progress, elapsed time, and a cancel that works.

    job = session.jobs.run("learn dragon", lambda progress, cancelled: fit(..., progress), "learn")
    result = await job.result()

The function runs in a thread and calls `progress(done, total)` now and then, which raises `JobCancelled` once the job
is cancelled, so that the work stops at its next report. For the user a cancelled job ends at once: work that does not
report runs on unseen, and its result is dropped. Work that holds the interpreter lock should start a process of its own
and check `cancelled()` while it waits.
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
from understudy.studio.messages.shell import JobChanged, JobTask, Progress

LOG = logging.getLogger(__name__)
REPORT_SECONDS = 0.1  # seconds between two events of one job
MAX_RUNNING_JOBS = 8
Work = Callable[[Callable[[float, float], None], Callable[[], bool]], Any]


class JobCancelled(UnderstudyError):
    """The user has stopped a job."""

    def __init__(self) -> None:
        super().__init__("it was cancelled")


class Job:
    """One piece of work."""

    def __init__(self, name: str, emit: Callable[[JobChanged], None], task: JobTask = "other") -> None:
        self.id, self.name, self.task = secrets.token_hex(4), name, task
        self.state: Progress = "running"
        self.done = self.total = 0.0
        self.sentence = ""
        self._emit, self._began, self._reported = emit, time.monotonic(), 0.0
        self._stop = threading.Event()
        self._stopped = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        """Ask the job to stop; call it from the server's loop."""
        self._stop.set()
        self._stopped.set()

    def is_cancelled(self) -> bool:
        """Whether the job was asked to stop."""
        return self._stop.is_set()

    def progress(self, done: float, total: float) -> None:
        """Report progress, from any thread; raises `JobCancelled` after a cancel."""
        if self._stop.is_set():
            raise JobCancelled
        self.done, self.total = float(done), float(total)
        if time.monotonic() - self._reported > REPORT_SECONDS:
            self._reported = time.monotonic()
            self.tell()

    def tell(self) -> None:
        """Emit the state of the job."""
        seconds = time.monotonic() - self._began
        self._emit(JobChanged(self.id, self.name, self.done, self.total, seconds, self.state, self.sentence, self.task))

    async def result(self) -> Any:
        """The result of the work; raises its error, or `JobCancelled`."""
        assert self._task is not None
        return await asyncio.shield(self._task)

    async def _run(self, work: Work) -> Any:
        self.tell()
        try:
            result = await self._first(asyncio.create_task(asyncio.to_thread(work, self.progress, self.is_cancelled)))
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
        return result

    async def _first(self, working: asyncio.Task[Any]) -> Any:
        """The result of the work, or `JobCancelled` if the cancel comes first."""
        stopped = asyncio.create_task(self._stopped.wait())
        await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if working.done():
            return working.result()
        working.add_done_callback(lambda task: task.cancelled() or task.exception())  # its result is dropped
        raise JobCancelled

    def _end(self, state: Progress, sentence: str) -> None:
        self.state, self.sentence = state, sentence
        self.tell()


class JobQueue:
    """The running jobs of a session."""

    def __init__(self, emit: Callable[[JobChanged], None]) -> None:
        self._emit = emit
        self._jobs: dict[str, Job] = {}

    def run(self, name: str, work: Work, task: JobTask = "other") -> Job:
        """Start a job; call from the server's loop."""
        if len(self._jobs) >= MAX_RUNNING_JOBS:
            raise InvalidInput(f"{MAX_RUNNING_JOBS} jobs are running already; wait for one or cancel it")
        job = Job(name, self._emit, task)
        self._jobs[job.id] = job
        job._task = asyncio.get_running_loop().create_task(job._run(work))
        job._task.add_done_callback(lambda task: self._finish_job(job, task))
        return job

    def _finish_job(self, job: Job, task: asyncio.Task[Any]) -> None:
        self._jobs.pop(job.id, None)
        if not task.cancelled():
            task.exception()  # fetched, so that asyncio does not report it as never retrieved

    def running(self) -> tuple[Job, ...]:
        """The jobs that are not done."""
        return tuple(self._jobs.values())

    def cancel(self, id: str) -> None:
        """Stop a job; an unknown id is ignored, since the job may just have ended."""
        if id in self._jobs:
            self._jobs[id].cancel()

    def cancel_all(self) -> None:
        """Stop all jobs."""
        for job in self._jobs.values():
            job.cancel()
