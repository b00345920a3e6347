"""Learning in a child: it can be cancelled at any moment, goes on from there, and its complaints are sentences."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.studio.talking import Refused, Studio

from understudy.errors import InvalidInput
from understudy.studio.jobs import JobCancelled
from understudy.studio.perform import learning
from understudy.studio.perform.learning import LearningTask


@pytest.fixture
def task(studio: Studio) -> LearningTask:
    document = studio.session.document
    entry = document.character(document.stage.character)
    assert entry is not None
    return learning.learning_task(studio.session, entry, (), iterations=15)


def test_cancelled_at_the_first_report_and_gone_on(task: LearningTask) -> None:
    task = replace(task, labels=("sway",))
    told: list[tuple[float, float]] = []
    began = time.monotonic()
    with pytest.raises(JobCancelled):
        learning.fit_in_process(task, "x", lambda *how: told.append(how), lambda: bool(told))
    assert time.monotonic() - began < 120  # it ended although it was not done
    assert not Path(task.target).exists()
    assert Path(task.kept).is_dir()  # what was finished
    told.clear()
    entry = learning.fit_in_process(task, "a name", lambda *how: told.append(how), lambda: False)
    assert (entry.labels, entry.name, entry.frames) == (("sway",), "a name", 36)
    assert told[-1][0] == told[-1][1] > 0 and sorted(told) == told
    assert Path(task.target).exists() and not Path(task.kept).exists()


def test_what_cannot_be_learned_is_said(studio: Studio, task: LearningTask) -> None:
    with pytest.raises(InvalidInput, match="label"):
        learning.fit_in_process(replace(task, labels=("fly",)), "x", lambda *how: None, lambda: False)
    with studio.page() as page:
        page.ask("open", path="small.glb")
        opened = page.document["characters"][-1]
        if not opened["clips"]:
            with pytest.raises(Refused, match="no clips to learn from"):
                page.ask("learn", character=opened["id"])
