"""Kernels, which are loops that numba compiles, and threads that run them.

**Kernels** live in modules of their own, named `*_kernels.py`, so that numba (a third of a second to import) is
loaded only by the call that needs it:

    kernels = jit.kernels("understudy.character.skinning.blend_kernels")
    with jit.LOCK:
        kernels.blend(...)

numba's default threading layer does not allow two Python threads in a parallel kernel at once, hence `LOCK`.

**Threads** (`map_in_threads`) run several jobs at once, with one progress and one way to stop. The kernels and LAPACK
release Python's lock, so threads are as fast as processes, start at once and share the compiled code. BLAS is limited
to one thread (`one_blas_thread`): with more, the threads of several jobs compete for the cores.
"""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from understudy.errors import UnderstudyError

LOCK = threading.Lock()
_IMPORT_LOCK = threading.RLock()
_BLAS_LOCK = threading.Lock()
_INSIDE: list[Any] = []  # the limit on BLAS threads, then a None for each further block inside it
Result = TypeVar("Result")

FASTMATH_FLAGS = {"contract"}
"""Kernels may fuse a product and a sum, and nothing else, so that NaN and infinity reach the result."""


def kernels(module: str) -> ModuleType:
    """The kernel module of that name, imported on the first call."""
    loaded = sys.modules.get(module)  # ten times as fast, but another thread may still be importing it
    if loaded is not None and not getattr(loaded.__spec__, "_initializing", False):
        return loaded
    try:
        with _IMPORT_LOCK:  # of two threads that import numba at once, one may see half of it
            return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("numba", "llvmlite"):
            raise
        raise UnderstudyError("numba, which understudy needs, cannot be imported: pip install numba") from error


@contextmanager
def one_kernel_thread() -> Iterator[None]:
    """Run kernels on the calling thread alone: other threads, or the browser, have the other cores."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def compile_kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with the compiled code cached on disk, also where neither package nor home folder can be written."""
    import numba

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # "no locator available": numba found no writable folder
            folder = str(private_cache_folder())
            numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder  # type: ignore[attr-defined]
            return numba.njit(cache=True, **options)(function)

    return decorate


def private_cache_folder() -> Path:
    """A folder for compiled kernels below the system's temporary one, which no other user can write.

    numba unpickles what lies in its cache, so a folder that another user made or may write is not used: kernels are
    then compiled into a new folder, which is removed at the end.
    """
    user = getattr(os, "getuid", int)()  # Windows has no user numbers, but a temporary folder for each user
    folder = Path(tempfile.gettempdir(), f"understudy-kernels-{user}")
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    others_write = os.name == "posix" and (status.st_uid != user or status.st_mode & 0o022)
    if stat.S_ISDIR(status.st_mode) and not others_write:
        return folder
    warnings.warn(
        f"{folder} belongs to another user or can be written by others, so compiled code is not kept. "
        "Remove it, or set NUMBA_CACHE_DIR to a folder of your own.",
        stacklevel=2,
    )
    own = Path(tempfile.mkdtemp(prefix="understudy-kernels-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


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
    from concurrent.futures import ThreadPoolExecutor

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

    with one_blas_thread(), ThreadPoolExecutor(workers or os.cpu_count()) as pool:
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
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: two of them on small matrices wait for each other, most of all beside another job.

    The limit is the process's, not the thread's: the first block to enter sets it, the last to leave lifts it.
    """
    with _BLAS_LOCK:
        if not _INSIDE:
            _release_thread_limit()
            _INSIDE.append(_libraries().limit(limits=1, user_api="blas"))
        else:
            _INSIDE.append(None)
    try:
        yield
    finally:
        with _BLAS_LOCK:
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
