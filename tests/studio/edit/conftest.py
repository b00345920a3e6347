"""A studio with the robot on stage, ready to be edited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.acrobat import acrobat
from tests.studio.edit.robot import robot
from tests.studio.talking import Page, Studio

from understudy import formats
from understudy.studio.edit import edit_clip
from understudy.studio.edit.controller import EditController, edit_controller
from understudy.studio.security import AllowedFolders
from understudy.studio.session import Session


class Editor:
    """A page that edits, and the controller behind it."""

    def __init__(self, studio: Studio, page: Page) -> None:
        self.studio, self.page = studio, page
        self.character = page.document["characters"][0]
        self.state: dict[str, Any] = {}
        self.drags = 0

    @property
    def controller(self) -> EditController:
        return edit_controller(self.studio.session)

    def open(self, clip: str = "flight") -> dict[str, Any]:
        self.state = self.page.ask("editOpen", character=self.character["id"], clip=clip)["edit"]
        return self.state

    def begin(self, joint: str, time: float, operation: str = "move", **fields: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.page.ask("editBegin", operation=operation, point=point(joint), time=time, **fields)
        return found

    def drag(self, gesture: int, kind: str = "editDrag", **goal: Any) -> dict[str, Any]:
        """One goal, and the outcome that answers it."""
        self.drags += 1
        number = self.drags
        self.page.send(json.dumps({"kind": kind, "gesture": gesture, "number": number, **goal}))
        return self.page.until(lambda event: event["kind"] == "editOutcome" and event["number"] == number)

    def end(self, gesture: int, commit: bool = True) -> dict[str, Any]:
        found: dict[str, Any] = self.page.ask("editEnd", gesture=gesture, commit=commit)
        return found

    def move(self, joint: str, time: float, by: tuple[float, float, float], steps: int = 3) -> dict[str, Any]:
        """A whole gesture, in a few steps as a pointer makes them; returns the last outcome."""
        begun = self.begin(joint, time)
        for step in range(1, steps + 1):
            to = [a + b * step / steps for a, b in zip(begun["place"], by)]
            outcome = self.drag(begun["gesture"], to=to)
        self.end(begun["gesture"])
        return outcome

    @property
    def bytes(self) -> bytes:
        """The curves that are kept."""
        return edit_clip.pack_curves(self.controller.editing.committed)

    def edits(self) -> list[dict[str, Any]]:
        """What the document has of edits."""
        self.page.ask("ping")
        found: list[dict[str, Any]] = self.page.document["edits"]
        return found

    def last_state(self) -> dict[str, Any]:
        """The state as it was told last."""
        self.page.ask("ping")
        found: dict[str, Any] = next(e for e in reversed(self.page.events) if e["kind"] == "edit")["state"]
        return found


def point(joint: str) -> dict[str, Any]:
    """A joint as the page names it."""
    return {"joint": joint, "offset": [0, 0, 0], "vertex": None}


@pytest.fixture(scope="session")
def robot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The robot as the studio opens it."""
    path = tmp_path_factory.mktemp("robot") / "robot.glb"
    formats.write(robot(), path)
    return path


@pytest.fixture(scope="module")
def robot_studio(robot_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with the robot, and a dense clip of another character, for a file of tests."""
    folders = AllowedFolders()
    formats.write(acrobat(), robot_file.parent / "acrobat.glb")
    folders.allow([robot_file.parent])
    with Studio(Session(tmp_path_factory.mktemp("project"), folders)) as studio:
        with studio.page() as page:
            page.ask("open", path="robot.glb")
            page.ask("open", path="acrobat.glb")
        yield studio


@pytest.fixture
def editor(robot_studio: Studio) -> Iterator[Editor]:
    """The robot's flight, open for editing, as if for the first time."""
    with robot_studio.page() as page:
        for entry in page.document["edits"]:
            page.ask("delete", what="edit", target=entry["id"])
        editor = Editor(robot_studio, page)
        for curve in editor.open()["curves"]:
            page.ask("editCurve", shown=False, curve=curve["curve"])
        editor.open()
        yield editor
