"""Undo and redo: the documents before and after, a bounded number of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from understudy.studio.document import Document, StageState

DEEPEST = 200  # documents share what they have in common, so a step costs some kilobytes


@dataclass
class History:
    """The document of now, and those that undo and redo lead to, each with a note of what was changed."""

    now: Document
    past: list[tuple[Document, str]] = field(default_factory=list)
    future: list[tuple[Document, str]] = field(default_factory=list)

    def change(self, document: Document, note: str) -> None:
        """One step on; what could be made again is forgotten."""
        self.past.append((self.now, note))
        del self.past[:-DEEPEST]
        self.future.clear()
        self.now = document

    def adjust(self, document: Document) -> None:
        """A change that is no step: what is on stage, where the playhead is, what is selected."""
        self.now = document

    def undo(self) -> str | None:
        """Back by one step; returns its note, or None where there is none."""
        return self._go(self.past, self.future)

    def redo(self) -> str | None:
        """Forward again."""
        return self._go(self.future, self.past)

    def _go(self, source: list[tuple[Document, str]], target: list[tuple[Document, str]]) -> str | None:
        if not source:
            return None
        document, note = source.pop()
        target.append((self.now, note))
        self.now = replace(document, stage=kept(self.now.stage, document), selection=self.now.selection)
        return note


def kept(stage: StageState, document: Document) -> StageState:
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
    }
    return stage if there[stage.driver] else StageState(character=character.id, rate=stage.rate, loop=stage.loop)
