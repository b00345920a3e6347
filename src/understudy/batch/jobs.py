"""Many jobs at once: the same function over a list of items, with results in the order of the items.

    models = batch.run(learn_label, labels)                          processes, one for each core
    models = batch.run(learn_label, labels, cluster="dask")          a Dask cluster, see `clusters`

The result does not depend on where a job runs or on the number of workers: each job has its linear algebra on one
thread, so that sums are taken in the same order. An error in a worker is returned as text and not as an exception
object: an exception with required arguments cannot be unpickled, and the whole batch would fail.
"""

from __future__ import annotations

import signal
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from understudy.batch import clusters
from understudy.errors import InvalidInput, UnderstudyError, join_names

Job = Callable[[Any], Any]
Progress = Callable[[int, int], None]
Mapper = Callable[[Job, Iterable[Any], Progress | None], Iterator[Any]]


@dataclass(frozen=True)
class JobOutcome:
    """The outcome of job `index`: its `result`, or a `failure` in one sentence with its traceback in `details`."""

    index: int
    result: Any = None
    failure: str = ""
    details: str = ""


class JobFailed(UnderstudyError):
    """A job failed. The message names its item; `finished` {index: result} has the results until then."""

    def __init__(self, message: str, finished: dict[int, Any]) -> None:
        super().__init__(message)
        self.finished = finished


class JobsInterrupted(KeyboardInterrupt):
    """Ctrl+C while jobs ran. `finished` {index: result} has the results until then."""

    def __init__(self, finished: dict[int, Any], total: int) -> None:
        super().__init__(f"stopped with {len(finished)} of {total} jobs done")
        self.finished = finished


def run(
    function: Job,
    items: Iterable[Any],
    workers: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
    threads: bool = False,
    keep_going: bool = False,
) -> list[Any]:
    """`[function(item) for item in items]`, many at a time.

    workers: how many at a time; all cores by default, or all of a cluster that is running already.
    cluster: None for this machine, or the name of a cluster (see `clusters`).
    progress(done, total) is called as jobs end.
    threads: threads instead of processes; for functions that spend their time in code which releases Python's lock.
    keep_going: do all other jobs before the failed ones are reported.

    `JobFailed` names the item that failed, `JobsInterrupted` is Ctrl+C; both have the finished results.
    """
    work = list(items)
    finished: dict[int, Any] = {}
    with attach_finished(work, finished):
        for index, result in arrivals(function, work, workers, cluster, threads, keep_going):
            finished[index] = result
            if progress:
                progress(len(finished), len(work))
    return [finished[index] for index in range(len(work))]


def mapper(workers: int | None = None, cluster: str | None = None, threads: bool = False) -> Mapper:
    """A function `(function, items, progress=None)` that yields results in order, each as soon as possible.

    For code that maps a function over items and should not know where the jobs run.
    """
    clusters.check(cluster)

    def map_items(function: Job, items: Iterable[Any], progress: Progress | None = None) -> Iterator[Any]:
        work = list(items)
        finished: dict[int, Any] = {}
        yielded = 0
        with attach_finished(work, finished):
            for index, result in arrivals(function, work, workers, cluster, threads):
                finished[index] = result
                if progress:
                    progress(len(finished), len(work))
                while yielded in finished:
                    yield finished[yielded]
                    yielded += 1

    return map_items


def arrivals(
    function: Job,
    items: Sequence[Any],
    workers: int | None = None,
    cluster: str | None = None,
    threads: bool = False,
    keep_going: bool = False,
) -> Iterator[tuple[int, Any]]:
    """(index, result) of each job as it ends, in any order."""
    if not callable(function):
        raise InvalidInput(f"a job should be a function, but is {type(function).__name__}")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InvalidInput(f"workers should be a whole number above zero, but is {workers!r}")
    clusters.check(cluster)
    failures = []
    for outcome in _outcomes(function, items, workers, cluster, threads):
        if not outcome.failure:
            yield outcome.index, outcome.result
            continue
        failures.append(outcome)
        if not keep_going:
            break
    if failures:
        raise _job_error(failures, items)


def _outcomes(
    function: Job, items: Sequence[Any], workers: int | None, cluster: str | None, threads: bool
) -> Iterator[JobOutcome]:
    import joblib
    from threadpoolctl import threadpool_limits

    if cluster is None:
        workers = min(workers or joblib.cpu_count(), len(items))
        if workers <= 1:
            for index, item in enumerate(items):
                yield attempt_on_one_thread(function, index, item)
            return
    kind = "threads" if cluster is None and threads else clusters.check(cluster)
    job = {"threads": attempt, "here": attempt_in_child, "dask": attempt_on_dask, "ray": attempt_on_one_thread}[kind]
    with (
        clusters.open_backend(workers, cluster, threads) as where,
        threadpool_limits(limits=1 if kind == "threads" else None),
        joblib.parallel_config(**where),
    ):
        # Arrays are sent, not shared through files: the largest is a few megabytes, and a job may write into its own.
        parallel = joblib.Parallel(return_as="generator_unordered", max_nbytes=None)
        outcomes = parallel(joblib.delayed(job)(function, index, item) for index, item in enumerate(items))
        with _stop_workers(outcomes):
            for outcome in outcomes:  # noqa: UP028 - `yield from` would close it, with a warning
                yield outcome


class _Stop(Exception):
    """Tells joblib's generator to end its workers."""


@contextmanager
def _stop_workers(outcomes: Any) -> Iterator[None]:
    """End all jobs after the block."""
    try:
        yield
    finally:
        try:
            outcomes.throw(_Stop)
        except (_Stop, StopIteration):
            outcomes.close()


@contextmanager
def attach_finished(items: Sequence[Any], finished: dict[int, Any]) -> Iterator[None]:
    """Add the finished results to errors. If a worker died, the error names the items that are not done."""
    try:
        yield
    except JobFailed as error:
        error.finished = finished
        raise
    except KeyboardInterrupt as stop:
        raise JobsInterrupted(finished, len(items)) from stop
    except UnderstudyError:
        raise
    except Exception as error:
        missing = join_names([_name(items, i) for i in range(len(items)) if i not in finished], 3)
        reason = textwrap.shorten(f"{type(error).__name__}: {error}", 160, placeholder="...")
        raise JobFailed(f"the workers ended too early; not done: {missing} ({reason})", finished) from error


def _job_error(failures: Sequence[JobOutcome], items: Sequence[Any]) -> JobFailed:
    first = failures[0]
    name = _name(items, first.index)
    others = [_name(items, outcome.index) for outcome in failures[1:]]
    message = f"the job for {name!r} failed: {first.failure}" + (
        f" (and so did {join_names(others)})" if others else ""
    )
    error = JobFailed(message, {})
    error.add_note(f"in the worker:\n{first.details}")
    return error


def _name(items: Sequence[Any], index: int) -> str:
    """The name of an item in messages: its text, its `name` or `label`, the first text of a tuple, or its number."""
    item = items[index]
    if isinstance(item, tuple | list) and item and isinstance(item[0], str | PurePath):
        item = item[0]
    for word in (item, getattr(item, "name", None), getattr(item, "label", None)):
        if isinstance(word, str | PurePath):
            return str(word)
    return str(item) if isinstance(item, int | float) else f"number {index + 1} of {len(items)}"


def attempt(function: Callable[[Any], Any], index: int, item: Any) -> JobOutcome:
    """Run one job; an error becomes an outcome, an interruption passes through."""
    try:
        return JobOutcome(index, function(item))
    except UnderstudyError as error:
        return JobOutcome(index, failure=str(error), details=traceback.format_exc())
    except Exception as error:
        message = " ".join(str(error).split())
        failure = f"{type(error).__name__}: {message}" if message else type(error).__name__
        return JobOutcome(index, failure=failure, details=traceback.format_exc())


def attempt_on_one_thread(function: Callable[[Any], Any], index: int, item: Any) -> JobOutcome:
    """`attempt` with one BLAS thread: workers times threads must not exceed the cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return attempt(function, index, item)


def attempt_on_dask(function: Callable[[Any], Any], index: int, item: Any) -> JobOutcome:
    """`attempt_on_one_thread` with a check that the result can be pickled: else Dask would wait forever."""
    import cloudpickle  # a dependency of Dask

    outcome = attempt_on_one_thread(function, index, item)
    try:
        cloudpickle.dumps(outcome.result)
    except Exception as error:
        return JobOutcome(index, failure=f"its result cannot be sent: {error}", details=traceback.format_exc())
    return outcome


def attempt_in_child(function: Callable[[Any], Any], index: int, item: Any) -> JobOutcome:
    """`attempt_on_one_thread` in a child of this process, which leaves Ctrl+C to its parent.

    A terminal sends it to all processes, and each child would print a traceback; the parent ends them anyway.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return attempt_on_one_thread(function, index, item)
