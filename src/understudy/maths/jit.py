"""Kernels: loops that numba compiles.

Kernels live in modules of their own, named `*_kernels.py`, so that numba (a third of a second to import) is loaded only
by the call that needs it:

    kernels = jit.kernels("understudy.character.skinning.blend_kernels")
    with jit.LOCK:
        kernels.blend(...)

numba's default threading layer does not allow two Python threads in a parallel kernel at once, hence `LOCK`.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
            user = getattr(os, "getuid", int)()  # Windows has no user numbers, but a temporary folder for each user
            folder = str(Path(tempfile.gettempdir(), f"understudy-kernels-{user}"))
            numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder  # type: ignore[attr-defined]
            return numba.njit(cache=True, **options)(function)

    return decorate
