"""The session: one truth, whoever changes it, and whatever takes its time meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.acrobat import acrobat

from understudy import formats
from understudy.errors import InvalidInput
from understudy.studio.app import call_handler
from understudy.studio.document import Document
from understudy.studio.messages.shell import Notice, SetPlaying
from understudy.studio.project import Origin, Project
from understudy.studio.server import Server
from understudy.studio.session import Session
from understudy.studio.shell.open_file import open_origin


def run(folder: Path, script: Callable[[Session], Coroutine[Any, Any, None]]) -> Session:
    """A session with the acrobat, for as long as the script takes."""

    async def whole() -> Session:
        formats.write(acrobat(), folder / "acrobat.glb")
        session = Session(folder / "project")
        await session.start()
        await open_origin(session, Origin(path=str(folder / "acrobat.glb")), "acrobat.glb")
        await script(session)
        await session.stop()
        return session

    return asyncio.run(whole())


def slowed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on it takes a while until a character is there."""
    get = session.assets.get

    def slow(id: str) -> Any:
        time.sleep(0.2)
        return get(id)

    monkeypatch.setattr(session.assets, "get", slow)


def test_a_change_while_the_stage_is_set_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(session: Session) -> None:
        slowed(session, monkeypatch)
        showing = asyncio.create_task(session.show(session.document.characters[0].id, "clip", "sway"))
        await asyncio.sleep(0.05)
        session.change(replace(session.document, name="meanwhile"), "rename")
        await showing
        assert session.document.name == "meanwhile" and session.document.stage.drives == "sway"

    assert Project(run(tmp_path, script).folder).open().name == "meanwhile"


def test_a_pause_while_the_stage_is_set_pauses_what_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(session: Session) -> None:
        slowed(session, monkeypatch)
        showing = asyncio.create_task(session.show(session.document.characters[0].id, "clip", "sway"))
        await asyncio.sleep(0.05)
        await call_handler(session, SetPlaying(playing=False))
        await showing
        assert session.document.stage.drives == "sway" and not session.document.stage.playing

    run(tmp_path, script)


def test_what_is_closed_while_the_stage_is_set_stays_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(session: Session) -> None:
        slowed(session, monkeypatch)
        showing = asyncio.create_task(session.show(session.document.characters[0].id, "clip", "sway"))
        await asyncio.sleep(0.05)
        await session.undo()  # of its opening
        with pytest.raises(InvalidInput, match="there is no character"):
            await showing
        assert session.document.stage.character == "" and session.source is None

    run(tmp_path, script)


def test_what_cannot_be_shown_leaves_the_stage_as_it_was(tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        before, source = session.document, session.source
        with pytest.raises(InvalidInput):
            await session.show(session.document.characters[0].id, "clip", "no such clip")
        with pytest.raises(InvalidInput):
            await session.show(session.document.characters[0].id, "model", "no such model")
        assert session.document == before and session.source is source

    run(tmp_path, script)


def test_a_change_that_cannot_be_saved_did_not_happen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(session: Session) -> None:
        def full(document: Document) -> None:
            raise InvalidInput("no space left")

        before, past = session.document, list(session.history.past)
        told: list[Any] = []
        with monkeypatch.context() as patch:
            patch.setattr(session.project, "save", full)
            patch.setattr(session, "emit", told.append)
            with pytest.raises(InvalidInput):
                session.change(replace(before, name="lost"), "rename")
            assert session.document == before and session.history.past == past
            session.adjust(before.with_stage(time=0.5))
            await asyncio.sleep(0.5)
            assert any(isinstance(event, Notice) and "no space" in event.sentence for event in told)

    run(tmp_path, script)


def test_a_project_whose_file_has_gone_opens_without_it(tmp_path: Path) -> None:
    async def nothing(session: Session) -> None:
        return

    run(tmp_path, nothing)
    (tmp_path / "acrobat.glb").unlink()

    async def again() -> None:
        session = Session(tmp_path / "project")
        await session.start()
        assert session._reviving is not None
        await session._reviving
        assert session.source is None and len(session.document.characters) == 1
        await session.stop()

    asyncio.run(again())


def test_one_studio_a_project(tmp_path: Path) -> None:
    first = Server(Session(tmp_path), port=0)
    with pytest.raises(InvalidInput, match="open in another studio"):
        Server(Session(tmp_path), port=0)
    first.session.project.release()
    Server(Session(tmp_path), port=0).socket.close()
    first.socket.close()


def test_closing_lets_go_of_the_file(tmp_path: Path) -> None:
    from understudy.studio.messages.shell import Close
    from understudy.studio.shell.handlers import close

    async def script(session: Session) -> None:
        assert session.assets._files and session.assets._loaded
        await close(session, Close(session.document.characters[0].id))
        assert not session.assets._files and not session.assets._loaded and session.source is None
        assert await session.undo() == "close acrobat"
        assert len(session.document.characters) == 1
        await session.show(session.document.characters[0].id, "clip", "bow")
        assert session.source is not None

    run(tmp_path, script)
