"""Undo and redo: the documents before and after, a bounded number of them.

The history on disk: `history.json` beside `project.json`, so that undo reaches back beyond a restart.

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from understudy import files
from understudy.errors import UnderstudyError
from understudy.studio.document import Document, StageState, json_text
from understudy.studio.messages.message import camel, read_plain

MAX_UNDO_STEPS = 200  # documents share what they have in common, so a step costs some kilobytes
FIELDS_OUTSIDE_UNDO = ("stage", "selection", "game", "paths")  # fields of a document that undo does not take back

HistoryStep = tuple[Document, str]
"""A document, and a note of what was changed."""


@dataclass
class History:
    """The document of now, and those that undo and redo lead to, each with a note of what was changed."""

    now: Document
    past: list[HistoryStep] = field(default_factory=list)
    future: list[HistoryStep] = field(default_factory=list)

    def with_change(self, document: Document, note: str) -> History:
        """The history after a change."""
        return History(document, [*self.past, (self.now, note)][-MAX_UNDO_STEPS:])

    def change(self, document: Document, note: str) -> None:
        """One step on; what could be made again is forgotten."""
        after = self.with_change(document, note)
        self.now, self.past, self.future = after.now, after.past, after.future

    def adjust(self, document: Document) -> None:
        """A change that is no step: what is on stage, where the playhead is, what is selected."""
        self.now = document

    def undo(self) -> str | None:
        """Back by one step; returns its note, or None where there is none."""
        return self._go(self.past, self.future)

    def redo(self) -> str | None:
        """Forward again."""
        return self._go(self.future, self.past)

    def _go(self, source: list[HistoryStep], target: list[HistoryStep]) -> str | None:
        if not source:
            return None
        document, note = source.pop()
        target.append((self.now, note))
        now = self.now
        alone = {name: getattr(now, name) for name in FIELDS_OUTSIDE_UNDO}
        self.now = replace(document, **alone | {"stage": valid_stage(now.stage, document)})
        return note


def valid_stage(stage: StageState, document: Document) -> StageState:
    """The stage of now, as far as what it shows is still there: undo takes back changes, not where one looks."""
    character = document.character(stage.character)
    if character is None:
        first = next((each for each in document.characters if each.visible), None)
        return StageState(character=first.id if first else "", rate=stage.rate, loop=stage.loop)
    there = {
        "rest": True,
        "clip": document.clip(character.id, stage.drives) is not None,
        "take": document.take(stage.drives) is not None,
        "model": document.model(stage.drives) is not None,
        "edit": document.edit(stage.drives) is not None,
    }
    return stage if there[stage.driver] else StageState(character=character.id, rate=stage.rate, loop=stage.loop)


LOG = logging.getLogger(__name__)
HISTORY_VERSION = 1
HISTORY_FILE_NAME = "history.json"
MAX_SAVED_STEPS = 50  # steps each way
MAX_HISTORY_BYTES = 8 << 20  # bytes of its parts; the oldest steps are left out first
UNDO_FIELDS = tuple(each.name for each in dataclasses.fields(Document) if each.name not in FIELDS_OUTSIDE_UNDO)


class HistoryFile:
    """Writes and reads the history of one project."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / HISTORY_FILE_NAME
        self._texts: dict[int, tuple[Any, str]] = {}  # by identity: a value of the last save, and its text

    def save(self, history: History) -> None:
        """Write the newest steps, whole or not at all."""
        parts, self._texts = _Parts(self._texts), {}
        now = parts.part_numbers(history.now)
        steps = {}
        for name, each in (("future", history.future), ("past", history.past)):
            kept: list[dict[str, Any]] = []
            for document, note in reversed(each[-MAX_SAVED_STEPS:]):
                found = {"note": note, "parts": parts.part_numbers(document)}
                if parts.size > MAX_HISTORY_BYTES:
                    break
                kept.insert(0, found)
            steps[name] = kept
        self._texts = parts.texts
        rest = json_text({"version": HISTORY_VERSION, "of": parts.digest(now), **steps})
        with files.write_atomically(self._place) as temporary:
            temporary.write_text(f'{rest[:-1]},"parts":[{",".join(parts.listed)}]}}\n', encoding="utf-8")

    def read(self, document: Document) -> History:
        """The history that leads to a document; one that cannot be read, or leads elsewhere, is none."""
        if not self._place.exists():
            return History(document)
        try:
            found = json.loads(files.read_text(self._place, 2 * MAX_HISTORY_BYTES))
            if found["version"] != HISTORY_VERSION:
                return History(document)
            shared = [{} for _ in found["parts"]]  # type: list[dict[str, Any]]
            past, future = (
                [_read_step(each, found["parts"], shared) for each in found[name]] for name in ("past", "future")
            )
        except (UnderstudyError, ValueError, TypeError, LookupError, RecursionError) as error:
            LOG.warning("the project's history cannot be read and begins anew: %s", error)
            return History(document)
        parts = _Parts({})
        wanted = parts.digest(parts.part_numbers(document))
        if found["of"] == wanted:
            return History(document, past, future)
        if past and parts.digest(parts.part_numbers(past[-1][0])) == wanted:
            return History(document, past[:-1])  # killed before the document of the last step was written
        return History(document)


class _Parts:
    """Texts of fields, each once."""

    def __init__(self, known: dict[int, tuple[Any, str]]) -> None:
        self._known, self._number = known, {}  # type: dict[int, tuple[Any, str]], dict[str, int]
        self.texts: dict[int, tuple[Any, str]] = {}
        self.listed: list[str] = []
        self.size = 0

    def part_numbers(self, document: Document) -> list[int]:
        """The parts of a document, in the order of FIELDS."""
        return [self._part(getattr(document, name)) for name in UNDO_FIELDS]

    def _part(self, value: Any) -> int:
        known = self.texts.get(id(value)) or self._known.get(id(value))
        text = known[1] if known is not None and known[0] is value else json_text(value)
        self.texts[id(value)] = value, text  # the value is kept, so that no other takes over its identity
        if text not in self._number:
            self._number[text] = len(self.listed)
            self.listed.append(text)
            self.size += len(text)
        return self._number[text]

    def digest(self, parts: list[int]) -> str:
        """Of a document's parts."""
        return hashlib.sha256("\0".join(self.listed[part] for part in parts).encode()).hexdigest()


def _read_step(found: dict[str, Any], parts: list[Any], shared: list[dict[str, Any]]) -> HistoryStep:
    """A step; documents share what they have in common, as they did when they were made."""
    values = {}
    for name, number in zip(UNDO_FIELDS, found["parts"], strict=True):
        known = shared[number]
        if name not in known:
            known[name] = getattr(read_plain(Document, {camel(name): parts[number]}, "history"), name)
        values[name] = known[name]
    return Document(**values), str(found["note"])
