"""One BLAS thread while many small matrices are worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_LOCK = threading.Lock()
_INSIDE: list[Any] = []  # the limit on BLAS threads, then a None for each further block inside it


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS on one thread: two of them on small matrices wait for each other, most of all beside another job.

    The limit is the process's, not the thread's: the first to come sets it, the last to go lifts it.
    """
    with _LOCK:
        if not _INSIDE:
            _let_go()
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
                _let_go()
                _INSIDE.pop().restore_original_limits()
                _let_go()


@cache
def _libraries() -> Any:
    """The libraries to be limited, which takes a millisecond to find out: a search in a live frame takes not much more.

    NumPy's and SciPy's are there; what else may be loaded later is not used here.
    """
    import scipy.linalg  # noqa: F401  loaded first, since only what is there is found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _let_go() -> None:
    """No thread owns OpenBLAS's limit any more: from 3.8 on threadpoolctl heeds only the one that set it last."""
    import threadpoolctl

    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)
