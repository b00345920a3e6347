"""Undo and redo: the documents before and after, a bounded number of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from understudy.studio.document import Document, StageState

DEEPEST = 200  # documents share what they have in common, so a step costs some kilobytes
LEFT_ALONE = ("stage", "selection", "game", "paths")  # fields of a document that undo does not take back

Step = tuple[Document, str]
"""A document, and a note of what was changed."""


@dataclass
class History:
    """The document of now, and those that undo and redo lead to, each with a note of what was changed."""

    now: Document
    past: list[Step] = field(default_factory=list)
    future: list[Step] = field(default_factory=list)

    def changed(self, document: Document, note: str) -> History:
        """The history after a change."""
        return History(document, [*self.past, (self.now, note)][-DEEPEST:])

    def change(self, document: Document, note: str) -> None:
        """One step on; what could be made again is forgotten."""
        after = self.changed(document, note)
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

    def _go(self, source: list[Step], target: list[Step]) -> str | None:
        if not source:
            return None
        document, note = source.pop()
        target.append((self.now, note))
        now = self.now
        alone = {name: getattr(now, name) for name in LEFT_ALONE}
        self.now = replace(document, **alone | {"stage": kept(now.stage, document)})
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
        "edit": document.edit(stage.drives) is not None,
    }
    return stage if there[stage.driver] else StageState(character=character.id, rate=stage.rate, loop=stage.loop)
