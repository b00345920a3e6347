"""Several jobs at once in threads of this process, with one progress and one way to stop.

The kernels and LAPACK let go of Python's lock, so threads are as fast as processes, need no start of their own and
share the compiled code. BLAS is held to one thread: with more, the threads of several jobs fight for the cores.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from understudy.errors import UnderstudyError
from understudy.gp.threads import one_thread

Result = TypeVar("Result")


class Interrupted(UnderstudyError):
    """The work was stopped; what was finished is kept."""


def map_in_threads(
    function: Callable[[Any, Callable[[int, int], None]], Result],
    jobs: Sequence[Any],
    workers: int | None = None,
    report: Callable[[int], None] | None = None,
) -> Iterator[Result]:
    """Results of `function(job, progress)` in the order of the jobs; `report` is told hundredths of jobs, summed up.

    Where the caller is interrupted, the jobs stop at their next progress call.
    """
    done = [0.0] * len(jobs)
    stop, lock = threading.Event(), threading.Lock()

    def run(number: int) -> Result:
        def progress(step: int, steps: int) -> None:
            if stop.is_set():
                raise Interrupted("stopped")
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
