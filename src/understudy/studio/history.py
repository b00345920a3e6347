"""Undo and redo: a bounded number of documents before and after the current one, in memory and on disk.

The file `history.json` beside `project.json` lets undo reach back beyond a restart. Documents of neighbouring steps
differ in one or two lists, so each different field value is stored once (a part), and a step lists its parts. Fields
that undo does not change (`FIELDS_OUTSIDE_UNDO`) are not stored. The file is written before the document that it leads
to, with a digest of that document: if the process is killed between the two writes, the history is one step ahead, and
that step is dropped.
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

MAX_UNDO_STEPS = 200  # documents share equal parts, so a step costs some kilobytes
FIELDS_OUTSIDE_UNDO = ("stage", "selection", "game", "paths")  # fields of a document that undo does not change

HistoryStep = tuple[Document, str]
"""A document, and a note of the change."""

LOG = logging.getLogger(__name__)
HISTORY_VERSION = 1
HISTORY_FILE_NAME = "history.json"
MAX_SAVED_STEPS = 50  # steps each way
MAX_HISTORY_BYTES = 8 << 20  # bytes of all parts; the oldest steps are left out first
UNDO_FIELDS = tuple(each.name for each in dataclasses.fields(Document) if each.name not in FIELDS_OUTSIDE_UNDO)


@dataclass
class History:
    """The current document, and those that undo and redo lead to, each with a note of the change."""

    now: Document
    past: list[HistoryStep] = field(default_factory=list)
    future: list[HistoryStep] = field(default_factory=list)

    def with_change(self, document: Document, note: str) -> History:
        """The history after a change."""
        return History(document, [*self.past, (self.now, note)][-MAX_UNDO_STEPS:])

    def change(self, document: Document, note: str) -> None:
        """Add one step; the steps of redo are dropped."""
        after = self.with_change(document, note)
        self.now, self.past, self.future = after.now, after.past, after.future

    def adjust(self, document: Document) -> None:
        """A change that is no undo step: stage, playhead, selection."""
        self.now = document

    def undo(self) -> str | None:
        """Go back by one step; returns its note, or None if there is none."""
        return self._go(self.past, self.future)

    def redo(self) -> str | None:
        """Go forward by one step; returns its note, or None if there is none."""
        return self._go(self.future, self.past)

    def _go(self, source: list[HistoryStep], target: list[HistoryStep]) -> str | None:
        if not source:
            return None
        document, note = source.pop()
        target.append((self.now, note))
        now = self.now
        kept = {name: getattr(now, name) for name in FIELDS_OUTSIDE_UNDO}
        self.now = replace(document, **kept | {"stage": valid_stage(now.stage, document)})
        return note


def valid_stage(stage: StageState, document: Document) -> StageState:
    """The stage if the document still has what it shows, else the rest pose: undo does not change the view."""
    character = document.character(stage.character)
    if character is None:
        first = next((each for each in document.characters if each.visible), None)
        return StageState(character=first.id if first else "", rate=stage.rate, loop=stage.loop)
    exists = {
        "rest": True,
        "clip": document.clip(character.id, stage.drives) is not None,
        "take": document.take(stage.drives) is not None,
        "model": document.model(stage.drives) is not None,
        "edit": document.edit(stage.drives) is not None,
    }
    return stage if exists[stage.driver] else StageState(character=character.id, rate=stage.rate, loop=stage.loop)


class HistoryFile:
    """Reads and writes the history of one project."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / HISTORY_FILE_NAME
        self._texts: dict[int, tuple[Any, str]] = {}  # by id(): a value of the last save, and its text

    def save(self, history: History) -> None:
        """Write the newest steps atomically."""
        parts, self._texts = _Parts(self._texts), {}
        now = parts.part_numbers(history.now)
        steps = {}
        for name, documents in (("future", history.future), ("past", history.past)):
            kept: list[dict[str, Any]] = []
            for document, note in reversed(documents[-MAX_SAVED_STEPS:]):
                step = {"note": note, "parts": parts.part_numbers(document)}
                if parts.size > MAX_HISTORY_BYTES:
                    break
                kept.insert(0, step)
            steps[name] = kept
        self._texts = parts.texts
        rest = json_text({"version": HISTORY_VERSION, "of": parts.digest(now), **steps})
        with files.write_atomically(self.place, flush=False) as temporary:
            temporary.write_text(f'{rest[:-1]},"parts":[{",".join(parts.listed)}]}}\n', encoding="utf-8")

    def read(self, document: Document) -> History:
        """The history that leads to a document; empty if the file cannot be read or leads to another document."""
        if not self.place.exists():
            return History(document)
        try:
            saved = json.loads(files.read_text(self.place, 2 * MAX_HISTORY_BYTES))
            if saved["version"] != HISTORY_VERSION:
                return History(document)
            shared = [{} for _ in saved["parts"]]  # type: list[dict[str, Any]]
            past, future = (
                [_read_step(step, saved["parts"], shared) for step in saved[name]] for name in ("past", "future")
            )
        except (UnderstudyError, ValueError, TypeError, LookupError, RecursionError) as error:
            LOG.warning("the project's history cannot be read, so undo starts empty: %s", error)
            return History(document)
        parts = _Parts({})
        wanted = parts.digest(parts.part_numbers(document))
        if saved["of"] == wanted:
            return History(document, past, future)
        if past and parts.digest(parts.part_numbers(past[-1][0])) == wanted:
            return History(document, past[:-1])  # killed before the document of the last step was written
        return History(document)


class _Parts:
    """The JSON of field values, each different value once."""

    def __init__(self, known: dict[int, tuple[Any, str]]) -> None:
        self._known, self._number = known, {}  # type: dict[int, tuple[Any, str]], dict[str, int]
        self.texts: dict[int, tuple[Any, str]] = {}
        self.listed: list[str] = []
        self.size = 0

    def part_numbers(self, document: Document) -> list[int]:
        """The numbers of a document's parts, in the order of UNDO_FIELDS."""
        return [self._part(getattr(document, name)) for name in UNDO_FIELDS]

    def _part(self, value: Any) -> int:
        known = self.texts.get(id(value)) or self._known.get(id(value))
        text = known[1] if known is not None and known[0] is value else json_text(value)
        self.texts[id(value)] = value, text  # the value stays referenced, so that no other object gets its id()
        if text not in self._number:
            self._number[text] = len(self.listed)
            self.listed.append(text)
            self.size += len(text)
        return self._number[text]

    def digest(self, parts: list[int]) -> str:
        """A digest of a document's parts."""
        return hashlib.sha256("\0".join(self.listed[part] for part in parts).encode()).hexdigest()


def _read_step(step: dict[str, Any], parts: list[Any], shared: list[dict[str, Any]]) -> HistoryStep:
    """One step; documents share the values of equal parts, as they did before saving."""
    values = {}
    for name, number in zip(UNDO_FIELDS, step["parts"], strict=True):
        known = shared[number]
        if name not in known:
            known[name] = getattr(read_plain(Document, {camel(name): parts[number]}, "history"), name)
        values[name] = known[name]
    return Document(**values), str(step["note"])
