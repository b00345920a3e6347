"""Kernels: loops that numba compiles.

Kernels live in modules of their own, named `*_kernels.py`, so that numba (a third of a second to import) is loaded only
by the call that needs it:

    kernels = jit.kernels("understudy.character.skinning.blend_kernels")
    with jit.LOCK:
        kernels.blend(...)

numba's default threading layer does not allow two Python threads in a parallel kernel at once, hence `LOCK`.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from understudy.errors import UnderstudyError

LOCK = threading.Lock()
_IMPORT_LOCK = threading.RLock()

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
def one_thread() -> Iterator[None]:
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
