"""Undo and redo."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.studio import history
from understudy.studio.document import CharacterEntry, ClipEntry, Document, StageState
from understudy.studio.history import History

HERO = CharacterEntry("c1", "hero", "hero.glb", "glb", clips=(ClipEntry("walk", "walk", 1.0, 25, 24.0),))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["change", "undo", "redo"]), max_size=40))
def test_it_is_a_walk_along_a_line(steps: list[str]) -> None:
    found = History(Document("0"))
    line, here = ["0"], 0
    for number, step in enumerate(steps, 1):
        if step == "change":
            line, here = [*line[: here + 1], str(number)], here + 1
            found.change(replace(found.now, name=str(number)), f"step {number}")
        elif step == "undo":
            assert (found.undo() is None) == (here == 0)
            here = max(here - 1, 0)
        else:
            assert (found.redo() is None) == (here == len(line) - 1)
            here = min(here + 1, len(line) - 1)
        assert found.now.name == line[here]


def test_notes_tell_what_would_be_taken_back() -> None:
    found = History(Document())
    found.change(Document("a"), "first")
    found.change(Document("b"), "second")
    assert [found.undo(), found.undo(), found.redo()] == ["second", "first", "first"]


def test_what_is_on_stage_is_not_undone() -> None:
    found = History(Document(characters=(HERO,)))
    found.change(replace(found.now, name="film"), "rename")
    found.adjust(found.now.with_stage(character="c1", driver="clip", drives="walk", time=0.5))
    found.undo()
    assert found.now.name == "untitled"
    assert found.now.stage == StageState("c1", "clip", "walk", 0.5)


def test_what_has_gone_leaves_the_stage() -> None:
    found = History(Document())
    found.change(Document(characters=(HERO,)), "open")
    found.adjust(found.now.with_stage(character="c1", driver="clip", drives="walk"))
    found.undo()
    assert found.now.stage.character == ""
    found.redo()
    found.adjust(found.now.with_stage(character="c1", driver="model", drives="gone"))
    assert history.valid_stage(found.now.stage, found.now).driver == "rest"


def test_it_does_not_grow_for_ever() -> None:
    found = History(Document())
    for number in range(3 * history.MAX_UNDO_STEPS):
        found.change(Document(str(number)), "x")
    assert len(found.past) == history.MAX_UNDO_STEPS
