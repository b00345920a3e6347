"""Pixar's USD library: asked for only where it is needed, and kept from writing to standard error."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy.errors import MissingExtra, Unsupported


def require(purpose: str) -> None:
    """Raise `MissingExtra` where the library is not installed."""
    try:
        found = importlib.util.find_spec("pxr.Usd") is not None
    except ImportError:
        found = False
    if not found:
        raise MissingExtra(purpose, "usd")


def check_name(path: str | Path) -> None:
    """Refuse the name of a file that the library cannot be told: it takes UTF-8 only, a file system any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise Unsupported(path, "the name is not UTF-8, which the USD library needs") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Collect and drop the library's diagnostics: what matters of them is said by our own notes and errors."""
    from pxr import UsdUtils

    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        delegate.TakeUncoalescedDiagnostics()
        del delegate


def first_message(error: Exception) -> str:
    """The first sentence of a library error, without the C++ place it comes from."""
    try:
        said = str(error)
    except UnicodeDecodeError:  # the library quotes the file's own bytes
        return "it holds text that is not UTF-8"
    found = re.search(r": '(.+?)'\s*(?:\n|$)", said, re.DOTALL)
    text = " ".join((found.group(1) if found else said).split())
    place = re.search(r":(\d+):(\d+): (.*)", text)
    if place:
        what = "syntax error" if place.group(3).startswith("parse error") else place.group(3)
        text = f"line {place.group(1)}: {what}"
    return text[:200]
