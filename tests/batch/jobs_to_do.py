"""Jobs for the tests, in a module of their own: workers import it by its name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from understudy.errors import BadFile, InvalidInput


def square(x):
    return x * x


def nap(seconds):
    time.sleep(seconds)
    return seconds


def latest_first(x):
    """The later an item, the sooner it is done."""
    time.sleep(0.1 * (3 - x))
    return x


def decomposed(seed):
    """Numbers whose last bits depend on how many threads add them up."""
    return np.linalg.svd(np.random.default_rng(seed).normal(size=(120, 90)))


def blas_threads(_):
    np.ones((4, 4)) @ np.ones((4, 4))
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def process(_):
    return os.getpid()


def none_of_three(x):
    if x == 3:
        raise InvalidInput("three is one too many")
    return x


def broken_file(name):
    """An error that cannot be unpacked from what it was packed into: it is made of more than a message."""
    raise BadFile(name, "it is damaged", "line 3")


def surprised(_):
    raise ZeroDivisionError("two\nlines")


def dying(x):
    if x == 1:
        os._exit(3)
    return x


def never_sent(_):
    return (i for i in range(3))


def started(folder):
    """Leave a mark, then work for much longer than a test may last; the first item is quick."""
    if folder is None:
        return "quick"
    Path(folder, str(os.getpid())).touch()
    end = time.monotonic() + 120.0
    while time.monotonic() < end:
        sum(range(1000))
    return "slow"
