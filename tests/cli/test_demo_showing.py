"""The demo in the studio: somebody moves at once, a model that is there is used again, the files are written beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.learned import lamp_model
from tests.studio.talking import Studio

from understudy.cli import demo
from understudy.studio.session import Session


class Child:
    """A process that ends at once, or when it is told to."""

    started: list[list[str]]

    def __init__(self, command: list[str]) -> None:
        Child.started.append(command)

    def poll(self) -> int:
        return 0


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of processes that would have been started."""
    Child.started = []
    monkeypatch.setattr(demo.subprocess, "Popen", Child)
    return Child.started


def perform(folder: Path, studio: Studio, character: str = "lamp") -> None:
    settings = ["--seed", "3", "--size", "64x48"]
    studio.in_loop(lambda: demo.prepare_demo(studio.session, character, folder, settings, False, True))


def test_the_dragon_performs_at_once(
    tmp_path: Path, children: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from understudy import cast
    from understudy.studio.perform import learning

    monkeypatch.delattr(learning, "fit_in_process")  # nothing is learned
    with Studio(Session(tmp_path / "studio")) as studio:
        perform(tmp_path, studio, "dragon")
        stage, (model,) = studio.session.document.stage, studio.session.document.models
        assert (stage.driver, stage.drives) == ("model", model.id)
    assert (tmp_path / "dragon.understudy").read_bytes() == cast.model_file("dragon").read_bytes()


def test_it_performs_what_an_earlier_demo_has_learned(tmp_path: Path, children: list[list[str]]) -> None:
    lamp_model().save(tmp_path / "lamp.understudy")
    with Studio(Session(tmp_path / "studio")) as studio:
        perform(tmp_path, studio)
        stage, (model,) = studio.session.document.stage, studio.session.document.models
        assert (stage.driver, stage.drives, stage.playing) == ("model", model.id, True)
        with studio.page() as page:
            assert page.next_frame().time < page.next_frame(lambda frame: frame.time > 0.1).time
    (command,) = children
    assert command[1:5] == ["-m", "understudy", "demo", "lamp"]
    assert {"--no-serve", "--learned", "64x48", "-q"} <= set(command)
    with Studio(Session(tmp_path / "studio")) as studio:  # and again, with the project of last time
        perform(tmp_path, studio)
        assert len(studio.session.document.models) == 1 and len(studio.session.document.characters) == 1


def test_without_a_model_it_plays_a_clip_and_learns(
    tmp_path: Path, children: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from understudy.studio.perform import learning, models

    seen: list[str] = []

    def learned(task: Any, name: str, progress: Any, cancelled: Any) -> Any:
        seen.append(studio.session.document.stage.driver)
        progress(1, 2)
        target = Path(task.target)
        lamp_model().save(target)
        return models.entry_of(lamp_model(), target.stem, name, task.character, target.name)

    monkeypatch.setattr(learning, "fit_in_process", learned)
    with Studio(Session(tmp_path / "studio")) as studio:
        perform(tmp_path, studio)
        assert seen == ["clip"] and studio.session.document.stage.driver == "model"
    assert (tmp_path / "lamp.understudy").is_file() and len(children) == 1


def test_cancelled_learning_leaves_the_clip(
    tmp_path: Path, children: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from understudy.studio.jobs import JobCancelled
    from understudy.studio.perform import learning

    def learned(*what: Any) -> Any:
        raise JobCancelled

    monkeypatch.setattr(learning, "fit_in_process", learned)
    with Studio(Session(tmp_path / "studio")) as studio:
        perform(tmp_path, studio)
        assert studio.session.document.stage.driver == "clip"
    assert children == [] and "not learned" in capsys.readouterr().err
