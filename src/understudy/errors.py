"""One tree of exceptions.

Everything that understudy raises on purpose is an `UnderstudyError`, so a caller can catch all of them and the command
line can turn each into one sentence and a non-zero exit. Each message says what was given and what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

MAX_QUOTE_CHARACTERS = 200
LONG_QUOTE_PATTERN = re.compile(
    r"'[^']{201,}'|\"[^\"]{201,}\"|[^\s'\"]{401,}"
)  # in quotes, or a word of a hostile file


def shorten_quotes(message: str) -> str:
    """The message with the middle of every long quote left out."""
    half = MAX_QUOTE_CHARACTERS // 2 - 5
    return LONG_QUOTE_PATTERN.sub(lambda quote: f"{quote[0][:half]} ... {quote[0][-half:]}", message)


class UnderstudyError(Exception):
    """Base of every error raised on purpose.

    A message quotes at most `MAX_QUOTE_CHARACTERS` of what it was given.

    Example:
        >>> try:
        ...     us.load("unknown")
        ... except us.UnderstudyError as error:
        ...     print(str(error)[:30])
        unknown: there is no such file
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(shorten_quotes(message))


class InvalidInput(UnderstudyError, ValueError):
    """An argument does not have the required shape, range or meaning."""


class FileError(UnderstudyError):
    """A file cannot be used. The message names the file, the place in it, what was found and what was expected.

    `reason` is the sentence without the file, `place` where in the file (a line, a JSON path), either may be empty.
    """

    def __init__(self, path: str | Path, reason: str, place: str = "") -> None:
        self.path, self.reason, self.place = str(path), reason, place
        where = f"{self.path}, {place}" if place else self.path
        super().__init__(f"{where}: {reason}")


class BadFile(FileError):
    """The file is damaged, or is not what its name says."""


class Unsupported(FileError):
    """The file is valid, but holds something that understudy does not read or write."""


class NotFitted(UnderstudyError):
    """Something learnt was asked for before `fit`.

    Example:
        >>> try:
        ...     us.PoseModel().labels
        ... except us.NotFitted as error:
        ...     print(error)
        PoseModel has no 'model_' yet: call fit first
    """


class MissingExtra(UnderstudyError):
    """An optional dependency is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs an optional part: pip install 'understudy[{extra}]'")


def join_names(names: Iterable[str], most: int = 5) -> str:
    """Names for a message, each once, at most `most`: `'Hips', 'Spine' and 30 more`."""
    known = list(dict.fromkeys(names))
    return ", ".join(map(repr, known[:most])) + (f" and {len(known) - most} more" if len(known) > most else "")


def spelling_hint(word: object, known: Iterable[str]) -> str:
    """A hint for a message, where a word is similar to a known one: ` (did you mean 'Idle'?)`."""
    close = get_close_matches(str(word), list(known), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""
