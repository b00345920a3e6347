"""The project on disk: what was saved comes back, whatever happened in between."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data_folder import PROJECT

from understudy.errors import BadFile, InvalidInput
from understudy.studio.document import CharacterEntry, Document, ModelEntry, ScriptEntry
from understudy.studio.project import Origin, Project

WRITER = """
import sys
from dataclasses import replace
from understudy.studio.document import ScriptEntry
from understudy.studio.session import Session

session = Session(sys.argv[1])
number = int(session.document.name.removeprefix("untitled") or 0)
while True:
    number += 1
    script = ScriptEntry(f"s{number}", f"script {number}", "x" * 2000)
    (session.project.folder / "takes" / f"take{number}").write_bytes(b"rows")
    session.change(replace(session.document, name=str(number), scripts=(script,)), "write")
    print(number, flush=True)
"""


def hero() -> Document:
    entry = CharacterEntry("c1", "hero", "hero.glb", "glb")
    return Document("film", (entry,), models=(ModelEntry("m1", "hero", "c1", "m1.understudy"),))


def test_it_comes_back(tmp_path: Path) -> None:
    project = Project(tmp_path / "film")
    assert project.open() == Document()
    project.origins["c1"] = Origin(file="files/ab/hero.glb")
    project.save(hero())
    again = Project(tmp_path / "film")
    assert again.open() == hero() and again.origins == project.origins


def test_what_nothing_names_is_cleared_away(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.origins = {"c1": Origin(file="files/ab/hero.glb"), "c2": Origin(file="files/old/x.glb")}
    project.save(hero())
    kept = ["files/ab/hero.glb", "files/ab/hero.bin", "models/m1.understudy"]
    left = ["files/old/x.glb", "models/m2.understudy", "takes/t.npz", "exports/a.glb", ".project-x.part.json"]
    for name in (*kept, *left):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    Project(tmp_path).open()
    assert [name for name in (*kept, *left) if (tmp_path / name).exists()] == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"version": 2}',
        '{"version": 1, "document": 5}',
        '{"version": 1, "document": {"name": 1}}',
        '{"version": 1, "more": 1}',
        "[" * 100_000,
        "\0",
    ],
)
def test_a_damaged_project_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "project.json").write_text(text)
    with pytest.raises(BadFile, match=r"project\.json"):
        Project(tmp_path).open()
    assert (tmp_path / "project.json").read_text() == text


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/etc/passwd"])
def test_content_has_plain_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        Project(tmp_path).place("models", name)
    with pytest.raises(InvalidInput):
        Project(tmp_path).place("elsewhere", "x")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="cannot make the project"):
        Project(tmp_path / "file" / "project")


def test_killed_at_any_moment_nothing_is_lost(tmp_path: Path) -> None:
    """A child saves as fast as it can and says each time that it has; it is killed four times in the middle of it."""
    rng, last = random.Random(0), 0
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=PROJECT
        )
        assert child.stdout is not None
        said = [int(child.stdout.readline())]
        time.sleep(rng.uniform(0, 0.1))
        child.send_signal(signal.SIGKILL)
        said += [int(line) for line in child.stdout.read().splitlines() if line.strip()]
        child.wait()
        document = Project(tmp_path).open()
        assert int(document.name) >= said[-1] > last, "a change that was told of was lost"
        assert document.scripts == (replace(ScriptEntry("", "", ""), **_script(document.name)),)
        assert json.loads((tmp_path / "project.json").read_text())["document"]["name"] == document.name
        last = said[-1]
    assert not list(tmp_path.glob(".*part*"))


def _script(number: str) -> dict[str, str]:
    return {"id": f"s{number}", "name": f"script {number}", "text": "x" * 2000}
