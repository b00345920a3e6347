"""A project whose document is lost is put together from its content; earlier versions are offered and opened."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.acrobat import acrobat
from tests.studio.talking import Page, Studio

from understudy import formats
from understudy.studio.edit.edit_clip import write_curves
from understudy.studio.edit.reduction import original_keys
from understudy.studio.perform.recording import RecordedTake, write_take
from understudy.studio.project import Project
from understudy.studio.session import Session


def film(folder: Path) -> dict[str, Any]:
    """A project with an uploaded character, a take and an edit of it; returns its document."""
    files = folder / "files" / "ab"
    files.mkdir(parents=True)
    formats.write(acrobat(), files / "acrobat.glb")
    with Studio(Session(folder)) as studio, studio.page() as page:
        page.ask("open", path="lamp")
        studio.session.folders.allow([files])
        page.ask("open", path="acrobat.glb")
        entry = next(each for each in page.document["characters"] if each["name"] == "acrobat")
        rig = studio.session.assets.get(entry["id"]).rig
        rows = rig.pose(acrobat().animations[0])[:30].astype(np.float32)
        write_take(RecordedTake(rows, 30.0, ("idle",), "acrobat"), folder / "takes" / "t1.npz")
        curves = original_keys(acrobat().animations[0])
        write_curves(curves, folder / "edits")
        return page.document


@pytest.mark.parametrize("damage", ["{", "missing"])
def test_a_project_is_put_together_from_its_content(tmp_path: Path, damage: str) -> None:
    film(tmp_path)
    shutil.rmtree(tmp_path / "versions", ignore_errors=True)
    place = tmp_path / "project.json"
    place.unlink() if damage == "missing" else place.write_text(damage)
    with Studio(Session(tmp_path)) as studio, studio.page() as page:
        notice = page.until(lambda event: event["kind"] == "notice")
        assert "put together from the files" in notice["sentence"] and notice["level"] == "error"
        wait_until(page, lambda document: document["edits"])
        document = page.document
        [character] = document["characters"]
        assert character["name"] == "acrobat"
        [take] = document["takes"]
        assert (take["character"], take["frames"], take["rate"]) == (character["id"], 30, 30.0)
        [edit] = document["edits"]
        assert edit["character"] == character["id"] and edit["file"]
        page.ask("show", character=character["id"], take=take["id"])
    again = Project(tmp_path)
    assert len(again.open().takes) == 1 and again.recovery == ""


def wait_until(page: Page, wanted: Any, seconds: float = 30) -> None:
    ends = time.monotonic() + seconds
    while not wanted(page.document):
        assert time.monotonic() < ends, "this does not come"
        page.ask("ping")
        time.sleep(0.02)


def test_versions_are_listed_and_opened_and_undo_returns(tmp_path: Path) -> None:
    film(tmp_path)
    with Studio(Session(tmp_path)) as studio, studio.page() as page:
        page.ask("rename", what="project", target="", name="first")
        page.ask("rename", what="project", target="", name="second")
        studio.in_loop(studio.session.project.keep_version)
        newest, *_ = page.ask("versions")["versions"]
        count = len(page.document["characters"])
        assert newest["characters"] == count > 1 and newest["time"].endswith("UTC")
        for character in page.document["characters"]:
            page.ask("close", character=character["id"])
        page.ask("rename", what="project", target="", name="third")
        page.ask("openVersion", version=newest["name"])
        assert page.document["name"] == "second" and len(page.document["characters"]) == count
        page.ask("undo")
        assert page.document["name"] == "third" and not page.document["characters"]
        newest, *_ = page.ask("versions")["versions"]
        assert newest["characters"] == 0, "what was left is a version, too"
