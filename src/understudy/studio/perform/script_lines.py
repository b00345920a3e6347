"""Scripts in an editor: what is wrong, in one sentence, and at which line it stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from understudy.errors import BadFile, InvalidInput
from understudy.live.script import parse
from understudy.studio.messages.perform import Checked

if TYPE_CHECKING:
    from understudy.posespace import Model

STEP = re.compile(r"^\s*\[\[\s*do\s*\]\]", re.MULTILINE)
SET = re.compile(r"^\s*\[\[\s*set\s*\.\s*[\"']?(?P<name>[^\]\"']+?)[\"']?\s*\]\]", re.MULTILINE)
NAME = "script"


def checked(text: str, model: Model) -> Checked:
    """A script read and held against a model."""
    lines = tuple(_line(text, match.end()) for match in STEP.finditer(text))
    try:
        script = parse(text, NAME).check(model)
    except BadFile as error:
        return Checked(sentence_of(error), line_of(text, error.place, error.reason), 0, lines)
    except InvalidInput as error:
        return Checked(str(error), 0, 0, lines)
    return Checked("", 0, len(script.steps), lines)


def sentence_of(error: BadFile) -> str:
    """The complaint without the name of a file that there is not."""
    return f"{error.place}: {error.reason}" if error.place else error.reason


def line_of(text: str, place: str, reason: str = "") -> int:
    """The line, from 1, of a place such as `do 3` or `set answer 2, do 1`, or that a TOML error names; 0 if unknown."""
    named = re.search(r"line (\d+)", f"{place} {reason}")
    if named:
        return int(named[1])
    step = re.match(r"do (\d+)", place)
    if step:
        return _nth(text, list(STEP.finditer(text)), int(step[1]))
    variant = re.match(r"set (?P<name>.+?) (?P<number>\d+)(?:,|$)", place)
    if variant:
        own = [match for match in SET.finditer(text) if match["name"].strip() == variant["name"]]
        return _nth(text, own, int(variant["number"]))
    return 0


def _nth(text: str, matches: list[re.Match[str]], number: int) -> int:
    return _line(text, matches[number - 1].end()) if 1 <= number <= len(matches) else 0


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
