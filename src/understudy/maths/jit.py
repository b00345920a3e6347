"""Compiled kernels, where numba is installed.

Where a kernel has a NumPy twin, that is the oracle in the tests, and runs where numba is absent (inside Blender, for
example) or switched off with `UNDERSTUDY_NUMBA=0`. Kernels live in modules of their own, named `*_kernels.py`, so that
numba (a third of a second to import) is loaded only by the call that needs it:

    kernels = jit.kernels("understudy.character.skinning.blend_kernels")
    if kernels is None: ...NumPy... else: with jit.LOCK: kernels.blend(...)

numba's default threading layer does not allow two Python threads in a parallel kernel at once, hence `LOCK`.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOCK = threading.Lock()
_IMPORT_LOCK = threading.RLock()

FASTMATH_FLAGS = {"contract"}
"""Kernels may fuse a product and a sum, and nothing else, so that NaN and infinity reach the result as they do in the
NumPy twins."""


def kernels(module: str) -> Any:
    """The kernel module of that name, or None where compiled code is unavailable or switched off."""
    if os.environ.get("UNDERSTUDY_NUMBA", "1") == "0":
        return None
    try:
        loaded = sys.modules.get(module)  # ten times as fast, but another thread may still be importing it
        partial = loaded is None or getattr(loaded.__spec__, "_initializing", False)
        if not partial:
            return loaded
        with _IMPORT_LOCK:  # of two threads that import numba at once, one may see half of it and be told it is absent
            return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").split(".")[0] in ("numba", "llvmlite"):
            return None
        raise


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
