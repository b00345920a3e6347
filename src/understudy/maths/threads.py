"""Several jobs at once in threads of this process, with one progress and one way to stop.

The kernels and LAPACK release Python's lock, so threads are as fast as processes, start at once and share the compiled
code. BLAS is limited to one thread (`one_thread`): with more, the threads of several jobs compete for the cores.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from understudy.errors import UnderstudyError

Result = TypeVar("Result")
_LOCK = threading.Lock()
_INSIDE: list[Any] = []  # the limit on BLAS threads, then a None for each further block inside it


class ThreadStopped(UnderstudyError):
    """The work was stopped; finished jobs are kept."""


def map_in_threads(
    function: Callable[[Any, Callable[[int, int], None]], Result],
    jobs: Sequence[Any],
    workers: int | None = None,
    report: Callable[[int], None] | None = None,
) -> Iterator[Result]:
    """Results of `function(job, progress)` in the order of the jobs; `report` gets the sum of hundredths of jobs.

    Where the caller is interrupted, the jobs stop at their next progress call.
    """
    done = [0.0] * len(jobs)
    stop, lock = threading.Event(), threading.Lock()

    def run(number: int) -> Result:
        def progress(step: int, steps: int) -> None:
            if stop.is_set():
                raise ThreadStopped("stopped")
            with lock:
                done[number] = max(done[number], min(1.0, step / max(steps, 1)))
                if report is not None:
                    report(int(100 * sum(done)))

        result = function(jobs[number], progress)
        progress(1, 1)
        return result

    with one_thread(), ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(run, number) for number in range(len(jobs))]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread: two of them on small matrices wait for each other, most of all beside another job.

    The limit is the process's, not the thread's: the first block to enter sets it, the last to leave lifts it.
    """
    with _LOCK:
        if not _INSIDE:
            _release_thread_limit()
            _INSIDE.append(_libraries().limit(limits=1, user_api="blas"))
        else:
            _INSIDE.append(None)
    try:
        yield
    finally:
        with _LOCK:
            if len(_INSIDE) > 1:
                _INSIDE.pop()
            else:
                _release_thread_limit()
                _INSIDE.pop().restore_original_limits()
                _release_thread_limit()


@cache
def _libraries() -> Any:
    """The libraries to be limited. Finding them takes a millisecond, about as long as a search in a live frame.

    NumPy's and SciPy's are loaded by then; libraries that are loaded later are not used here.
    """
    import scipy.linalg  # noqa: F401  loaded first, since only loaded libraries are found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _release_thread_limit() -> None:
    """Clear the owner of OpenBLAS's limit: from 3.8 on threadpoolctl obeys only the thread that set it last."""
    import threadpoolctl

    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)
