"""The demo in the studio: the page first, then learning, then the files.

Somebody who has typed a command should see the dragon move within seconds. So the page is served at once, with the
dragon playing a clip; it learns beside that, and goes live as soon as it has; the video and the GLB are written by a
process of their own. A model that an earlier demo has left is used again, and the dragon is live from the start.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.studio import announce
from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from understudy.studio.document import CharacterEntry, ModelEntry
    from understudy.studio.session import Session

MODE = "play"


def show(who: str, folder: Path, settings: list[str], port: int | None, browser: bool | None, quiet: bool) -> None:
    """Serve the demo until Ctrl+C."""
    from understudy.studio.server import Server
    from understudy.studio.session import Session

    async def begin(session: Session) -> None:
        await performing(session, who, folder, settings, quiet)

    server = Server(Session(folder / "studio"), port=port, begin=begin)
    server.run(lambda: announce(server, browser, quiet, MODE))


async def performing(session: Session, who: str, folder: Path, settings: list[str], quiet: bool) -> None:
    """Somebody on stage, then somebody who has learned, then the files."""
    from understudy.studio.starting import open_all

    await open_all(session, [who])
    entry = next((each for each in session.document.characters if each.cast == who), None)
    if entry is None:
        return
    try:
        model = await _model(session, entry, folder)
    except UnderstudyError as error:
        click.echo(f"not learned: {error}", err=True)
        return
    await session.show(entry.id, "model", model.id)
    shutil.copyfile(session.project.place("models", model.file), folder / f"{who}.understudy")
    await _files(who, folder, settings, quiet)


async def _model(session: Session, entry: CharacterEntry, folder: Path) -> ModelEntry:
    """The model of the project, of an earlier demo, or a new one."""
    from understudy.studio.perform import learning_job
    from understudy.studio.perform.models import adopt, with_model

    known = next((each for each in session.document.models if each.character == entry.id), None)
    if known is not None:
        return known
    left = folder / f"{entry.cast}.understudy"
    try:
        found = await asyncio.to_thread(adopt, session, left, entry.id, entry.name)
    except UnderstudyError:  # none there, or one of another version
        task = learning_job.task_of(session, entry, ())
        job = session.jobs.run(
            f"learn {entry.name}",
            lambda progress, cancelled: learning_job.learned(task, entry.name, progress, cancelled),
        )
        found = await job.result()
    session.change(with_model(session.document, found), f"learn {found.name}")
    return found


async def _files(who: str, folder: Path, settings: list[str], quiet: bool) -> None:
    """The video and the GLB, by a process that ends with this one."""
    command = [sys.executable, "-m", "understudy", "demo", who, "-o", str(folder), "--no-serve", "--learned", *settings]
    child = subprocess.Popen([*command, *(["-q"] if quiet else [])])
    try:
        while child.poll() is None:
            await asyncio.sleep(0.2)
    finally:
        if child.poll() is None:
            child.terminate()
