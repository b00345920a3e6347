"""Decimal numbers out of text, fast, each rounded exactly as Python's `float` does.

Motion files are long columns of numbers. The kernel takes about a nanosecond a byte, NumPy's own parser thirty.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.maths import jit

NUMBERS_PER_BLOCK = 1024  # numbers that Python parses at once


def parse(data: bytes, path: str | Path, first_line: int = 1) -> Array:
    """(N,) float64: the numbers in `data`, separated by white space.

    Anything that is not a finite number is refused with its line, the first of `data` being `first_line`.
    """
    values = _parse_words(data)
    # not (|x| <= most) is also true of NaN
    if values is None or not np.abs(values).max(initial=0.0) <= checks.LARGEST_NUMBER:
        raise _error(data, path, first_line)
    return values


def _parse_words(data: bytes) -> Array | None:
    """(N,) the numbers, or None where a word is none."""
    kernels = jit.kernels("understudy.formats.numbers_kernels")
    content = np.frombuffer(data + b" ", np.uint8)  # white space at the end, as the kernel needs
    count = kernels.count(content)
    if count < 0:
        return None
    values = np.empty(count)
    # a number with more digits than a double holds exactly is left to Python, which rounds it correctly
    hard = np.empty((count, 3), np.int64)
    hard_count = kernels.parse(content, values, hard)
    try:
        for first in range(0, int(hard_count), NUMBERS_PER_BLOCK):  # a text without numbers fails in its first block
            for index, start, stop in hard[first : min(first + NUMBERS_PER_BLOCK, int(hard_count))].tolist():
                values[index] = float(data[start:stop].replace(b"_", b"?"))  # Python allows 1_000
    except ValueError:
        return None
    return values


def _error(data: bytes, path: str | Path, first_line: int) -> BadFile:
    for offset, line in enumerate(data.split(b"\n")):
        for token in line.split():
            try:
                good = abs(float(token)) <= checks.LARGEST_NUMBER and b"_" not in token
            except ValueError:
                good = False
            if not good:
                shown = token[:40].decode("latin-1")
                return BadFile(path, f"{shown!r} is not a usable number", f"line {first_line + offset}")
    return BadFile(path, "the numbers cannot be read", f"line {first_line}")
