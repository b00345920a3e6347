"""The project on disk: what was saved comes back, whatever happened in between."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data_folder import PROJECT

from understudy.errors import InvalidInput, Unsupported
from understudy.studio.document import CharacterEntry, Document, EditEntry, ModelEntry, ScriptEntry, TakeEntry
from understudy.studio.project import Origin, Project, read_project, version_time

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


CONTENT = ("files/ab/hero.glb", "files/ab/hero.bin", "models/m1.understudy", "takes/t1.npz", "edits/e1.npz")


def film(folder: Path) -> Project:
    """A project with content of every kind, saved and closed."""
    project = Project(folder)
    project.origins = {"c1": Origin(file="files/ab/hero.glb")}
    document = replace(
        hero(),
        takes=(TakeEntry("t1", "take 1", "c1", "t1.npz", 1.0, 60, 60.0),),
        edits=(EditEntry("e1", "walk", "c1", "walk", "e1.npz"),),
    )
    for name in CONTENT:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(name.encode())
    project.save(document)
    return project


def content_of(folder: Path) -> list[str]:
    return [name for name in CONTENT if (folder / name).exists()]


def test_what_nothing_names_goes_to_the_trash_and_comes_back(tmp_path: Path) -> None:
    film(tmp_path)
    saved = (tmp_path / "project.json").read_text()
    left = ["files/old/x.glb", "models/m2.understudy", "takes/t.npz", "exports/a.glb", ".understudy-x.part.json"]
    for name in left:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    Project(tmp_path).open()
    assert content_of(tmp_path) == list(CONTENT)
    assert not any((tmp_path / name).exists() for name in left)
    assert all((tmp_path / "trash" / name).exists() for name in left[:3])
    # an older document takes the place of this one, as from a backup: nothing of the film is lost
    Project(tmp_path).save(Document())
    assert Project(tmp_path).open() == Document() and content_of(tmp_path) == []
    (tmp_path / "project.json").write_text(saved)
    Project(tmp_path).open()
    assert content_of(tmp_path) == list(CONTENT)
    assert (tmp_path / "takes/t1.npz").read_bytes() == b"takes/t1.npz"


def test_the_trash_is_emptied_after_a_month(tmp_path: Path) -> None:
    film(tmp_path)
    for name in ("takes/old.npz", "files/old"):
        (tmp_path / "trash" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "trash" / name).mkdir() if "files" in name else (tmp_path / "trash" / name).write_bytes(b"x")
        os.utime(tmp_path / "trash" / name, (0, 0))
    (tmp_path / "takes/new.npz").write_bytes(b"x")
    os.utime(tmp_path / "takes/new.npz", (0, 0))  # recorded long ago, but thrown away now
    Project(tmp_path).open()
    assert [place.name for place in (tmp_path / "trash").glob("*/*")] == ["new.npz"]


DAMAGE = [
    "",
    "[]",
    "{",
    '{"version": 0}',
    '{"version": 1, "document": 5}',
    '{"version": 1, "document": {"name": 1}}',
    '{"version": 1, "more": 1}',
    "[" * 100_000,
    "\0",
    "missing",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_project_opens_as_its_last_version(tmp_path: Path, damage: str) -> None:
    """Twice, since the second start of a studio once deleted what the first had lost sight of."""
    project = film(tmp_path)
    project.save(replace(Project(tmp_path).open(), name="second"))  # the first save becomes a version
    place = tmp_path / "project.json"
    place.unlink() if damage == "missing" else place.write_text(damage)
    project.keep_version()  # a damaged file among the versions is passed over
    again = Project(tmp_path)
    document = again.open()
    assert document.name == "film" and document.takes and again.origins
    assert "was opened" in again.recovery and not again.is_lost
    if damage != "missing":
        assert [each.read_text() for each in (tmp_path / "versions").glob("damaged-*")] == [damage]
    again.save(document)
    later = Project(tmp_path)
    assert later.open() == document and later.recovery == "" and content_of(tmp_path) == list(CONTENT)


@pytest.mark.parametrize("damage", ["{", "missing"])
def test_without_versions_all_content_stays(tmp_path: Path, damage: str) -> None:
    film(tmp_path)
    place = tmp_path / "project.json"
    place.unlink() if damage == "missing" else place.write_text(damage)
    for _ in range(2):
        project = Project(tmp_path)
        assert project.open() == Document() and project.is_lost and "put together" in project.recovery
        assert content_of(tmp_path) == list(CONTENT)


def test_a_project_of_a_newer_understudy_is_refused_and_stays(tmp_path: Path) -> None:
    film(tmp_path)
    (tmp_path / "project.json").write_text('{"version": 2}')
    with pytest.raises(Unsupported, match=r"project\.json.*newer"):
        Project(tmp_path).open()
    assert (tmp_path / "project.json").read_text() == '{"version": 2}' and content_of(tmp_path) == list(CONTENT)


def test_versions_are_kept_and_thinned_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.studio.project.VERSION_SECONDS", 0.0)
    project = Project(tmp_path)
    for number in range(30):
        project.save(Document(f"film {number}"))
    assert [read_project(each).document.name for each in project.versions()] == [f"film {n}" for n in range(28, 8, -1)]
    for day in range(1, 29):
        for hour in (10, 20):
            shutil.copy(tmp_path / "project.json", tmp_path / f"versions/2020-02-{day:02}T{hour}-00-00.000000Z.json")
    project.save(Document("another"))
    old = [each.name for each in project.versions() if each.name.startswith("2020")]
    assert len(old) == 28 and all("T20-" in name for name in old), "the last of each day"
    assert version_time(tmp_path / "versions" / old[0]) == "2020-02-28 20:00 UTC"


def test_an_unchanged_document_is_no_new_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.studio.project.VERSION_SECONDS", 0.0)
    project = film(tmp_path)
    for _ in range(3):
        project.keep_version()
    assert len(project.versions()) == 1


def test_going_back_to_a_version_brings_its_content_back(tmp_path: Path) -> None:
    film(tmp_path).keep_version()
    project = Project(tmp_path)
    project.open()
    project.save(Document("empty"))
    project = Project(tmp_path)
    assert project.open().name == "empty" and content_of(tmp_path) == []
    [version] = project.versions()
    assert project.open_version(version.name).name == "film"
    assert content_of(tmp_path) == list(CONTENT) and project.origins == {"c1": Origin(file="files/ab/hero.glb")}
    for name in ("../project.json", "", "2020-01-01.json"):
        with pytest.raises(InvalidInput, match="no such version"):
            project.open_version(name)


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
