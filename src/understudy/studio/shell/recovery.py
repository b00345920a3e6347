"""Put a project together from its content, where its document and all versions of it are lost.

Uploaded files and models are opened as if they were dropped onto the page. A take goes to the character that it names,
or to the first one with as many columns. Of the edits of a clip, each step of which is a file, the newest is kept.
What cannot be opened stays in the folder, and goes to its trash at the next start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import InvalidInput, UnderstudyError, join_names
from understudy.perform.pose_model import MODEL_SUFFIX
from understudy.studio.document import EditEntry, TakeEntry
from understudy.studio.project import Origin
from understudy.studio.shell.open_file import new_id, open_origin

if TYPE_CHECKING:
    from understudy.studio.perform.recording import RecordedTake
    from understudy.studio.session import Session


async def rebuild(session: Session) -> None:
    """Open the content of the project's folder, and tell the pages what could not be opened."""
    from understudy.studio.perform.handlers import open_model
    from understudy.studio.shell.open_file import open_uploaded

    failed: list[str] = []

    async def attempt(name: str, work: Awaitable[object]) -> None:
        try:
            await work
        except UnderstudyError:
            failed.append(name)

    def content(kind: str) -> list[Path]:
        return sorted((session.project.folder / kind).iterdir(), key=lambda place: place.stat().st_mtime)

    for folder in content("files"):
        names = sorted(place.name for place in folder.iterdir() if place.is_file())
        if names:
            await attempt(names[0], open_uploaded(session, folder, names))
    for number, place in enumerate(content("models"), 1):
        await attempt(place.name, open_model(session, place, f"model {number}{MODEL_SUFFIX}", show=False))
    for number, place in enumerate(content("takes"), 1):
        await attempt(place.name, _open_take(session, place, f"take {number}"))
    for place in reversed(content("edits")):
        await attempt(place.name, _open_edit(session, place))
    session.project.is_lost = False
    if failed:
        session.greet("error", f"These could not be opened: {join_names(failed)}", "They stay in the project's folder.")


async def _open_take(session: Session, place: Path, name: str) -> None:
    from understudy.studio.perform.recording import read_take

    recorded = await asyncio.to_thread(read_take, place, place.name)
    character = await asyncio.to_thread(_character_of_take, session, recorded)
    if character is None:
        member = await asyncio.to_thread(_cast_member_of_take, recorded)
        character = (await open_origin(session, Origin(cast=member), member, show=False)).characters[0]
    entry = TakeEntry(new_id("t"), name, character, place.name, recorded.seconds, len(recorded.rows), recorded.rate)
    session.change(replace(session.document, takes=(*session.document.takes, entry)), f"find {name}")


def _character_of_take(session: Session, recorded: RecordedTake) -> str | None:
    """An open character with the columns of a take, preferably the one of its name."""
    for entry in sorted(session.document.characters, key=lambda entry: entry.name != recorded.character):
        if session.assets.get(entry.id).rig.channels.width == recorded.rows.shape[1]:
            return entry.id
    return None


def _cast_member_of_take(recorded: RecordedTake) -> str:
    from understudy import cast
    from understudy.character.rig import rig_of

    for name in sorted(cast.names(), key=lambda name: name != recorded.character):
        if rig_of(cast.load(name).character()).channels.width == recorded.rows.shape[1]:
            return name
    raise InvalidInput("the take belongs to no character of the project")


async def _open_edit(session: Session, place: Path) -> None:
    """Add the newest curves of a clip as its edit; older curves of the same clip are steps of undo, and left out."""
    from understudy.studio.edit.edit_clip import read_curves

    curves = await asyncio.to_thread(read_curves, place, place.name)
    document = session.document
    owner = next((each for each in document.characters if document.clip(each.id, curves.name)), None)
    if owner is None:
        raise InvalidInput("the edit belongs to no clip of the project")
    if any((each.character, each.clip) == (owner.id, curves.name) for each in document.edits):
        return
    entry = EditEntry(new_id("e"), curves.name, owner.id, curves.name, place.name, curves.key_count)
    session.change(replace(document, edits=(*document.edits, entry)), f"find the edit of {curves.name}")
