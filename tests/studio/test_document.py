"""The document as text: the same as without remembering."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from understudy.studio.document import CharacterEntry, Document, DocumentText, ScriptEntry
from understudy.studio.messages.message import to_plain, to_wire
from understudy.studio.messages.shell import DocumentChanged
from understudy.studio.session import Session


def test_parts_that_stay_are_not_written_anew_and_those_that_change_are() -> None:
    text, document = DocumentText(), Document(characters=(CharacterEntry("c1", 'he"ro', "hero.glb", "glb"),))
    for step in (
        document,
        document.with_stage(time=1.5, playing=True),
        replace(document, name="film", scripts=(ScriptEntry("s1", "a", "b\n"),)),
        document,
        Document(),
    ):
        assert json.loads(text.to_json(step)) == to_plain(step)


def test_the_event_is_the_dataclass(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.change(replace(session.document, name="film"), 'rename to "film"')
    expected = DocumentChanged(session.document, True, False, 'rename to "film"', "")
    assert json.loads(session.document_text()) == json.loads(to_wire(expected))
