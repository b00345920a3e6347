"""The history on disk: `history.json` beside `project.json`, so that undo reaches back beyond a restart.

Documents of neighbouring steps differ in one list or two, so their fields are kept as parts, each once, and a step
names those it is made of. What undo leaves alone (`history.LEFT_ALONE`) is not in it. The file is written before the
document that it leads to, and says which that is: whoever is killed between the two leaves a history that is one step
ahead, and that step is dropped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from understudy import files
from understudy.errors import UnderstudyError
from understudy.studio.document import Document
from understudy.studio.history import LEFT_ALONE, History, Step
from understudy.studio.messages.message import camel
from understudy.studio.messages.reading import read_plain
from understudy.studio.telling import text_of

LOG = logging.getLogger(__name__)
VERSION = 1
NAME = "history.json"
DEEPEST = 50  # steps each way
LARGEST = 8 << 20  # bytes of its parts; the oldest steps are left out first
FIELDS = tuple(each.name for each in dataclasses.fields(Document) if each.name not in LEFT_ALONE)


class HistoryFile:
    """Writes and reads the history of one project."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / NAME
        self._texts: dict[int, tuple[Any, str]] = {}  # by identity: a value of the last save, and its text

    def save(self, history: History) -> None:
        """Write the newest steps, whole or not at all."""
        parts, self._texts = _Parts(self._texts), {}
        now = parts.of(history.now)
        steps = {}
        for name, each in (("future", history.future), ("past", history.past)):
            kept: list[dict[str, Any]] = []
            for document, note in reversed(each[-DEEPEST:]):
                found = {"note": note, "parts": parts.of(document)}
                if parts.size > LARGEST:
                    break
                kept.insert(0, found)
            steps[name] = kept
        self._texts = parts.texts
        rest = text_of({"version": VERSION, "of": parts.digest(now), **steps})
        with files.written_whole(self._place) as temporary:
            temporary.write_text(f'{rest[:-1]},"parts":[{",".join(parts.listed)}]}}\n', encoding="utf-8")

    def read(self, document: Document) -> History:
        """The history that leads to a document; one that cannot be read, or leads elsewhere, is none."""
        if not self._place.exists():
            return History(document)
        try:
            found = json.loads(files.read_text(self._place, 2 * LARGEST))
            if found["version"] != VERSION:
                return History(document)
            shared = [{} for _ in found["parts"]]  # type: list[dict[str, Any]]
            past, future = (
                [_step(each, found["parts"], shared) for each in found[name]] for name in ("past", "future")
            )
        except (UnderstudyError, ValueError, TypeError, LookupError, RecursionError) as error:
            LOG.warning("the project's history cannot be read and begins anew: %s", error)
            return History(document)
        parts = _Parts({})
        wanted = parts.digest(parts.of(document))
        if found["of"] == wanted:
            return History(document, past, future)
        if past and parts.digest(parts.of(past[-1][0])) == wanted:
            return History(document, past[:-1])  # killed before the document of the last step was written
        return History(document)


class _Parts:
    """Texts of fields, each once."""

    def __init__(self, known: dict[int, tuple[Any, str]]) -> None:
        self._known, self._number = known, {}  # type: dict[int, tuple[Any, str]], dict[str, int]
        self.texts: dict[int, tuple[Any, str]] = {}
        self.listed: list[str] = []
        self.size = 0

    def of(self, document: Document) -> list[int]:
        """The parts of a document, in the order of FIELDS."""
        return [self._part(getattr(document, name)) for name in FIELDS]

    def _part(self, value: Any) -> int:
        known = self.texts.get(id(value)) or self._known.get(id(value))
        text = known[1] if known is not None and known[0] is value else text_of(value)
        self.texts[id(value)] = value, text  # the value is kept, so that no other takes over its identity
        if text not in self._number:
            self._number[text] = len(self.listed)
            self.listed.append(text)
            self.size += len(text)
        return self._number[text]

    def digest(self, parts: list[int]) -> str:
        """Of a document's parts."""
        return hashlib.sha256("\0".join(self.listed[part] for part in parts).encode()).hexdigest()


def _step(found: dict[str, Any], parts: list[Any], shared: list[dict[str, Any]]) -> Step:
    """A step; documents share what they have in common, as they did when they were made."""
    values = {}
    for name, number in zip(FIELDS, found["parts"], strict=True):
        known = shared[number]
        if name not in known:
            known[name] = getattr(read_plain(Document, {camel(name): parts[number]}, "history"), name)
        values[name] = known[name]
    return Document(**values), str(found["note"])
