"""What happens in a worker: one job, its linear algebra on one thread, and whatever goes wrong put into words.

An exception does not travel back as an object: one that asks for more than a message when it is made cannot be unpacked
on the other side, and the whole batch would fall with it. Words always arrive.
"""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from understudy.errors import UnderstudyError


@dataclass(frozen=True)
class Outcome:
    """The end of job number `index`: its `result`, or a `failure` in one sentence and where it came from."""

    index: int
    result: Any = None
    failure: str = ""
    details: str = ""


def attempt(function: Callable[[Any], Any], index: int, item: Any) -> Outcome:
    """Do one job; an error becomes an outcome, an interruption passes through."""
    try:
        return Outcome(index, function(item))
    except UnderstudyError as error:
        return Outcome(index, failure=str(error), details=traceback.format_exc())
    except Exception as error:
        said = " ".join(str(error).split())
        failure = f"{type(error).__name__}: {said}" if said else type(error).__name__
        return Outcome(index, failure=failure, details=traceback.format_exc())


def attempt_apart(function: Callable[[Any], Any], index: int, item: Any) -> Outcome:
    """`attempt` in a process of its own: workers times BLAS threads must not be more than there are cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return attempt(function, index, item)


def attempt_on_dask(function: Callable[[Any], Any], index: int, item: Any) -> Outcome:
    """`attempt_apart`, its result known to be one that can be sent: Dask would wait for any other for ever."""
    import cloudpickle  # comes with Dask

    outcome = attempt_apart(function, index, item)
    try:
        cloudpickle.dumps(outcome.result)
    except Exception as error:
        return Outcome(index, failure=f"its result cannot be sent: {error}", details=traceback.format_exc())
    return outcome


def attempt_beside(function: Callable[[Any], Any], index: int, item: Any) -> Outcome:
    """`attempt_apart` in a child of this process, which leaves Ctrl+C to its parent.

    A terminal sends it to all of them, and each child would print a traceback of its own; the parent ends them anyway.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return attempt_apart(function, index, item)
