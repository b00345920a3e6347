"""Jobs: progress, results, failures, and a cancel that works."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from understudy.errors import InvalidInput
from understudy.studio import jobs as module
from understudy.studio.jobs import JobCancelled, JobQueue
from understudy.studio.messages.shell import JobChanged


def run(script: Callable[[JobQueue], Coroutine[Any, Any, None]]) -> list[JobChanged]:
    events: list[JobChanged] = []
    asyncio.run(script(JobQueue(events.append)))
    return events


def test_the_result_and_the_way_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPORT_SECONDS", 0.0)

    def work(progress: Any, cancelled: Any) -> int:
        for number in range(3):
            progress(number, 3)
        return 42

    async def script(jobs: JobQueue) -> None:
        job = jobs.run("count", work, "reduce")
        assert jobs.running() == (job,)
        assert await job.result() == 42
        await asyncio.sleep(0)
        assert jobs.running() == ()

    events = run(script)
    assert [(event.done, event.state) for event in events] == [
        *((0, "running"), (0, "running"), (1, "running"), (2, "running"), (3, "done"))
    ]
    assert len({event.id for event in events}) == 1
    assert {event.task for event in events} == {"reduce"}


def test_a_refusal_is_the_jobs_sentence() -> None:
    def work(progress: Any, cancelled: Any) -> None:
        raise InvalidInput("the lamp has no legs")

    async def script(jobs: JobQueue) -> None:
        with pytest.raises(InvalidInput, match="no legs"):
            await jobs.run("walk", work).result()

    last = run(script)[-1]
    assert (last.state, last.sentence) == ("failed", "the lamp has no legs")


def test_a_mistake_of_ours_tells_nothing_of_the_inside() -> None:
    def work(progress: Any, cancelled: Any) -> None:
        raise RuntimeError("/home/somebody/secret.py")

    async def script(jobs: JobQueue) -> None:
        with pytest.raises(InvalidInput, match="not foreseen"):
            await jobs.run("walk", work).result()

    assert "secret" not in run(script)[-1].sentence


@pytest.mark.parametrize("reports", [True, False])
def test_cancelled_at_once_whether_the_work_reports_or_not(reports: bool) -> None:
    release, stopped = threading.Event(), threading.Event()

    def work(progress: Any, cancelled: Any) -> None:
        try:
            while not release.wait(0.005):
                if reports:
                    progress(1, 2)
        finally:
            stopped.set()

    async def script(jobs: JobQueue) -> None:
        job = jobs.run("long", work)
        await asyncio.sleep(0.02)
        jobs.cancel(job.id)
        with pytest.raises(JobCancelled):
            await job.result()
        assert job.is_cancelled()
        if not reports:
            assert not stopped.is_set()
            release.set()
        assert await asyncio.to_thread(stopped.wait, 5)

    assert run(script)[-1].state == "cancelled"


def test_an_unknown_job_is_nothing_to_complain_about() -> None:
    async def script(jobs: JobQueue) -> None:
        jobs.cancel("nobody")

    assert run(script) == []


def test_only_so_many_at_once() -> None:
    release = threading.Event()

    async def script(jobs: JobQueue) -> None:
        started = [
            jobs.run("wait", lambda progress, cancelled: release.wait(5)) for _ in range(module.MAX_RUNNING_JOBS)
        ]
        with pytest.raises(InvalidInput, match="already"):
            jobs.run("more", lambda progress, cancelled: None)
        release.set()
        for job in started:
            await job.result()

    run(script)
