"""The history on disk: undo reaches back beyond a restart, and never to a document that was not there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from understudy.studio import history
from understudy.studio.document import CharacterEntry, ClipEntry, Document, GameRecord, ScriptEntry, TakeEntry
from understudy.studio.history import FIELDS_OUTSIDE_UNDO, History, HistoryFile
from understudy.studio.project import Origin, Project
from understudy.studio.session import Session

HERO = CharacterEntry("c1", "hero", "hero.glb", "glb", clips=(ClipEntry("walk", "walk", 0.1 + 0.2, 25, 24.0),))


def undoable(document: Document) -> Document:
    plain = Document()
    return replace(document, **{name: getattr(plain, name) for name in FIELDS_OUTSIDE_UNDO})


def steps(found: list[tuple[Document, str]]) -> list[tuple[Document, str]]:
    return [(undoable(document), note) for document, note in found]


def told(count: int) -> History:
    found = History(Document(characters=(HERO,)))
    for number in range(count):
        script = ScriptEntry(f"s{number}", f"script {number}", "TRANSITION happy")
        found.change(replace(found.now, scripts=(*found.now.scripts, script)), f"write {number}")
    return found


def test_it_comes_back_with_both_ways(tmp_path: Path) -> None:
    before = told(6)
    before.undo()
    before.undo()
    HistoryFile(tmp_path).save(before)
    after = HistoryFile(tmp_path).read(before.now)
    assert after.past == steps(before.past) and after.future == steps(before.future)
    assert all(document.characters is after.past[0][0].characters for document, _ in after.past)  # shared, as before
    assert [after.redo(), after.redo(), after.redo(), after.undo()] == ["write 4", "write 5", None, "write 5"]


def test_what_undo_leaves_alone_is_not_compared(tmp_path: Path) -> None:
    before = told(3)
    before.adjust(replace(before.now.with_stage(character="c1", time=2.0), selection=("x",), game=GameRecord(player=3)))
    HistoryFile(tmp_path).save(before)
    elsewhere = before.now.with_stage(time=7.0)
    after = HistoryFile(tmp_path).read(elsewhere)
    assert after.now == elsewhere and len(after.past) == 3
    after.undo()
    assert after.now.stage.time == 7.0 and after.now.game.player == 3


def test_a_step_that_was_never_told_of_is_dropped(tmp_path: Path) -> None:
    before = told(4)
    HistoryFile(tmp_path).save(before.with_change(replace(before.now, name="lost"), "rename"))
    after = HistoryFile(tmp_path).read(before.now)
    assert after.past == steps(before.past)
    assert HistoryFile(tmp_path).read(Document("quite another")) == History(Document("quite another"))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"version": 9}', '{"version": 1}', '{"version": 1, "parts": 3}']
)
def test_what_cannot_be_read_is_no_history(tmp_path: Path, text: str) -> None:
    (tmp_path / history.HISTORY_FILE_NAME).write_text(text)
    assert HistoryFile(tmp_path).read(Document("a")) == History(Document("a"))


def test_parts_that_are_no_part_of_a_document(tmp_path: Path) -> None:
    file = HistoryFile(tmp_path)
    file.save(told(2))
    place = tmp_path / history.HISTORY_FILE_NAME
    place.write_text(place.read_text().replace("TRANSITION happy", "\\u0000").replace('"frames":25', '"frames":"x"'))
    assert file.read(told(2).now).past == []


def test_it_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = told(3 * history.MAX_SAVED_STEPS)
    HistoryFile(tmp_path).save(long)
    found = HistoryFile(tmp_path).read(long.now).past
    assert [note for _, note in found] == [note for _, note in long.past[-history.MAX_SAVED_STEPS :]]
    monkeypatch.setattr(history, "MAX_HISTORY_BYTES", 40_000)
    HistoryFile(tmp_path).save(long)
    fewer = HistoryFile(tmp_path).read(long.now).past
    assert 0 < len(fewer) < len(found) and fewer == found[-len(fewer) :]
    assert (tmp_path / history.HISTORY_FILE_NAME).stat().st_size < 60_000


def test_content_of_the_past_stays(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.project.origins["c1"] = Origin(file="files/ab/hero.glb")
    places = [session.folder / name for name in ("files/ab/hero.glb", "takes/t1.npz", "takes/loose.npz")]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"x")
    take = TakeEntry("t1", "take", "c1", "t1.npz", 1.0, 24, 24.0)
    session.change(replace(session.document, characters=(HERO,), takes=(take,)), "open hero.glb")
    session.change(Document(), "close hero")
    again = Session(tmp_path)
    assert [place.exists() for place in places] == [True, True, False]
    assert again.project.origins == {"c1": Origin(file="files/ab/hero.glb")}
    assert again.history.undo() == "close hero" and again.document.takes == (take,)


@pytest.mark.parametrize("written", ["history", "both"])
def test_killed_in_the_midst_of_a_change(tmp_path: Path, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(tmp_path)
    session.change(Document("first"), "one")
    session.change(Document("second"), "two")
    if written == "history":
        monkeypatch.setattr(Project, "save", lambda self, document: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            session.change(Document("third"), "three")
        monkeypatch.undo()
    again = Session(tmp_path)
    assert again.document.name == "second"
    assert [again.history.undo(), again.history.undo(), again.history.undo()] == ["two", "one", None]
