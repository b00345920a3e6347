"""A project in which somebody has learned to act, as a studio finds it when it starts."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.learned import lamp_model

from understudy.studio.perform.models import copy_into_project, with_model
from understudy.studio.security import AllowedFolders
from understudy.studio.server import open_all
from understudy.studio.session import Session


def learned_project(folder: Path) -> Path:
    """The lamp and its model, in a project folder."""
    model = folder.parent / "lamp.understudy"
    lamp_model().save(model)

    async def make() -> None:
        session = Session(folder, AllowedFolders())
        await session.start()
        await open_all(session, ["lamp"])
        entry = copy_into_project(session, model, session.document.characters[0].id)
        session.change(with_model(session.document, entry), "learn the lamp")
        await session.stop()

    with ThreadPoolExecutor(1) as thread:  # the one that a browser is driven from has a loop of its own
        thread.submit(asyncio.run, make()).result()
    return folder
