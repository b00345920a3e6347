"""A project that is opened again: who performed performs from the first frame on, and nothing pops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.studio.game.learned_project import learned_project
from tests.studio.talking import Studio

from understudy.perform.runtime.performer import Performer
from understudy.studio.perform.live_source import LiveSource
from understudy.studio.security import AllowedFolders
from understudy.studio.session import Session


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which the lamp performs."""
    folder = learned_project(tmp_path_factory.mktemp("live") / "project")
    with Studio(Session(folder, AllowedFolders())) as studio, studio.page() as page:
        page.ask("perform", model=page.document["models"][0]["id"])
    return folder


def test_every_frame_is_of_the_performance(project: Path) -> None:
    with Studio(Session(project, AllowedFolders())) as studio, studio.page() as page:
        frames = [page.next_frame() for _ in range(30)]
        source, loaded = studio.session.source, studio.session.loaded
        assert isinstance(source, LiveSource) and loaded is not None
        packer = studio.session.ticker.packer(loaded)
        rest, home = (np.frombuffer(packer.pack(row)[2], np.float32) for row in (loaded.rig.rest, source._row))
        shown = [np.frombuffer(frame.payload, np.float32) for frame in frames]
        assert np.abs(rest - home).max() > 20 * np.abs(np.diff(shown, axis=0)).max(), "at rest it looks otherwise"
        assert np.abs(shown[0] - rest).max() > 0.5 * np.abs(home - rest).max()


def test_a_command_waits_until_all_is_ready(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to who is ready for it, while frames go on."""
    begun, done = [], []
    prepare = Performer.prepare

    def slowly(performer: Performer) -> None:
        begun.append(performer)
        prepare(performer)
        done.append(performer)

    monkeypatch.setattr(Performer, "prepare", slowly)
    with Studio(Session(project, AllowedFolders())) as studio, studio.page() as page:
        label = page.document["models"][0]["labels"][-1]
        page.ask("tell", command="transition", label=label)
        assert begun and done == begun
        page.until(lambda event: event["kind"] == "performing" and event["label"] == label)
